#!/usr/bin/env python3
"""tessera check FILE: the user's own files, compiled and run; every outcome of their programs gives a report and leaves no files."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness

CCACHE = "ccache " if shutil.which("ccache") else ""

FILE = """
#include "tessera/check/file.hpp"
using namespace tessera;
struct Mine {
  static constexpr Dim3 block{64};
  struct Shared { Tile<float, 1, 64> a; };
  void operator()(auto t, auto A, auto C) const {
    auto& s = shared<Shared>(t);
    s.a(0, t.thread) = A(0, t.thread);
    BARRIER
    C(0, t.thread) = s.a(0, 63 - t.thread);
  }
};
check::Report check_kernel(const check::Options& options) {
  const HostTensor<float> A(1, 64);
  HostTensor<float> C(1, 64);
  return check::check(options, Dim3{1}, Mine{}, A.view(), C.view());
}
"""


EMPTY = """
#include "tessera/check/file.hpp"
using namespace tessera;
struct Empty {
  static constexpr Dim3 block{32};
  void operator()(auto t, auto C) const {
    Tile<float, 1, 4> f; Tile<int, 1, 4> i, ones; Tile<double, 1, 4> d;
    double sum = f(0, 1);
    sum += i(0, 2);
    sum += d(0, 3);
    for (int k = 0; k < 4; ++k) ones(0, k) = -1;
    C(0, t.thread) = static_cast<float>(sum + ones(0, 1));
  }
};
check::Report check_kernel(const check::Options& options) {
  HostTensor<float> C(1, 32);
  return check::check(options, Dim3{1}, Empty{}, C.view());
}
"""

SLOW = """
#include <chrono>
#include <thread>
#include "tessera/check/file.hpp"
using namespace tessera;
struct Slow {
  static constexpr Dim3 block{1};
  void operator()(auto t, auto C) const {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    C(0, t.block) = 1;
  }
};
check::Report check_kernel(const check::Options& options) {
  HostTensor<float> C(1, 1000);
  return check::check(options, Dim3{1000}, Slow{}, C.view());
}
"""


TOO_SMALL = """
#include <vector>
#include "tessera/check/file.hpp"
using namespace tessera;
struct Twice {
  static constexpr Dim3 block{64};
  void operator()(auto t, auto A, auto C) const { C(0, t.thread) = 2 * A(0, t.thread); }
};
check::Report check_kernel(const check::Options& options) {
  std::vector<float> a(ELEMENTS), c(64);
  const float* const first = a.data();
  return check::check(options, Dim3{1}, Twice{}, tensor<kRowMajorMatrix>(first, 1, 64, 64), tensor<kRowMajorMatrix>(c.data(), 1, 64, 64));
}
"""


class File(harness.CommandTest):
    def test_a_tensor_that_is_a_little_larger_than_its_block_of_the_heap(self):
        self.path("small.cpp").write_text(TOO_SMALL.replace("ELEMENTS", "62"))
        run = self.tessera("check", "small.cpp", "--json", env={"CXX": CCACHE + "c++"})
        self.assertEqual(run.code, 1, run.err)
        found = [each for each in run.json["findings"] if each["severity"] == "error"]
        self.assertEqual([(each["kind"], each["tensor"], each["element"], each["location"]["line"], each["count"]) for each in found],
                         [("out-of-bounds", "A", [0, 62], 7, 2)])
        self.assertIn("A(0,62): the tensor is larger than its memory", found[0]["problem"])
        self.path("large.cpp").write_text(TOO_SMALL.replace("ELEMENTS", "64"))
        self.succeeds("check", "large.cpp", env={"CXX": CCACHE + "c++"})

    def test_a_race_and_its_twin(self):
        self.path("racy.cpp").write_text(FILE.replace("BARRIER", ""))
        run = self.tessera("check", "racy.cpp", "--json", "--junit", "racy.xml")
        self.assertEqual(run.code, 1, run.err)
        [race] = run.json["findings"]
        self.assertEqual((race["kind"], race["severity"], race["memory"]), ("race", "error", "shared"))
        self.assertEqual((race["location"]["line"], race["other"]["line"]), (9, 11))
        self.assertTrue(race["location"]["file"].endswith("racy.cpp"))
        self.assertEqual(len(race["threads"]), 2)
        self.assertIn('failures="1"', self.path("racy.xml").read_text())
        self.path("clean.cpp").write_text(FILE.replace("BARRIER", "t.barrier();"))
        self.assertIn("clean: no findings in 1 block", self.succeeds("check", "clean.cpp").out)

    def test_variables_without_a_value_are_seen_whatever_the_compiler(self):
        self.path("empty.cpp").write_text(EMPTY)
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        self.assertTrue(compilers)
        for name in compilers:
            run = self.tessera("check", "empty.cpp", "--json", env={"CXX": name})
            self.assertEqual(run.code, 1, run.err)
            found = [(each["kind"], each["memory"], each["location"]["line"]) for each in run.json["findings"]]
            self.assertEqual(found, [("uninitialized-read", "local", line) for line in (8, 9, 10)], name)

    def test_a_slow_kernel_could_not_be_checked(self):
        self.path("slow.cpp").write_text(SLOW)
        run = self.tessera("check", "slow.cpp", "--time-limit", 1, "--json")
        self.assertEqual(run.code, 4, run.out)
        self.assertEqual(run.json["findings"], [])
        self.assertRegex(run.json["summary"]["incomplete"],
                         r"^time limit of 1 s reached after \d+ of 1000 blocks: raise --time-limit, or --blocks N for a sample$")
        self.succeeds("check", "slow.cpp", "--blocks", 2)

    def test_what_cannot_be_checked(self):
        self.fails(3, "check", "missing.cpp", says="there is no file missing.cpp")
        self.path("broken.cpp").write_text(FILE.replace("BARRIER", "t.barier();"))
        run = self.tessera("check", "broken.cpp")
        self.assertEqual(run.code, 4)
        self.assertIn("broken.cpp:10:", run.err)
        self.assertIn("broken.cpp does not compile", run.lines[-1])
        self.path("wrong.cpp").write_text(FILE.replace("BARRIER", "t.barrier(); A.no_such_member(1); s.a(0);"))
        run = self.tessera("check", "wrong.cpp")
        self.assertEqual(run.code, 4)
        self.assertRegex(run.err, r"wrong\.cpp:10:\d+: error: .*no_such_member")
        self.assertNotIn("9223372036854775807", run.err)  # the values of layouts
        self.assertLess(max(map(len, run.lines)), 800)
        self.fails(4, "check", "broken.cpp", env={"CXX": "no-such-compiler"}, says="cannot be started")
        self.fails(4, "check", "broken.cpp", env={"TMPDIR": "/no/such/folder"}, says=["cannot create a folder for the compiled kernel", "TMPDIR"])


DYING = """
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include "tessera/check/file.hpp"
using namespace tessera;
struct Dying {
  static constexpr const char* name = "dying";
  static constexpr Dim3 block{64};
  void operator()(auto t, auto C) const {
    t.superstep("first", [&] { C(0, t.thread) = 1.0f; });
    t.superstep("second", [&] {
      const char* how = std::getenv("HOW");
      if (t.block.x == 1 && t.thread == 5 && how != nullptr) {
        C(0, t.thread) = 2.0f;
        const std::string end = how;
        if (end == "exit") std::exit(0);
        if (end == "_exit") _exit(0);
        if (end == "kill") kill(getpid(), SIGKILL);
        if (end == "null") *static_cast<int* volatile>(nullptr) = 1;
        if (end == "forever") for (;;) {}
      }
    });
  }
};
check::Report check_kernel(const check::Options& options) {
  if (const char* how = std::getenv("HOW"); how && std::string(how) == "host") std::abort();
  HostTensor<float> C(1, 64);
  return check::check(options, Dim3{2}, Dying{}, C.view());
}
"""


class Dying(harness.CommandTest):
    """One file, compiled by ccache where that is installed."""

    def dies(self, how, *arguments):
        self.path("dying.cpp").write_text(DYING)
        run = self.tessera("check", "dying.cpp", "--json", "--junit", f"{how}.xml", "--html", f"{how}.html",
                           "--text", f"{how}.txt", *arguments, env={"HOW": how, "CXX": CCACHE + "c++"})
        self.assertEqual(run.code, 1, f"{how}: {run.err}")
        errors = [each for each in run.json["findings"] if each["severity"] == "error"]
        [crash] = [each for each in errors if each["kind"] in ("crash", "endless")]
        self.assertFalse(run.json["summary"]["clean"])
        failures = run.json["summary"]["errors"] + run.json["summary"]["warnings"]
        self.assertIn(f'failures="{failures}"', self.path(f"{how}.xml").read_text())
        self.assertIn(crash["kind"], self.path(f"{how}.xml").read_text())
        self.assertIn(f'error: {crash["kind"]}', self.path(f"{how}.html").read_text())
        self.assertIn(crash["problem"], self.path(f"{how}.txt").read_text())
        return run.json, crash

    @unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the file's program would need it too")
    def test_whatever_ends_the_program_is_a_finding_in_every_format(self):
        out, crash = self.dies("null")
        self.assertEqual((out["kernel"], crash["kind"], crash["block"], crash["threads"]), ("dying", "crash", [1, 0, 0], [[5, 0, 0]]))
        self.assertEqual((crash["superstep"], crash["location"]["line"]), ("second", 15))
        self.assertGreater(out["counters"]["total"]["global_store_requests"], 0)
        out, crash = self.dies("exit")
        self.assertEqual((out["kernel"], out["grid"], crash["kind"], crash["block"]), ("dying", [2, 1, 1], "crash", [1, 0, 0]))
        self.assertEqual((crash["threads"], crash["superstep"], crash["location"]["line"]), ([[5, 0, 0]], "second", 15))
        self.assertIn("called exit()", crash["problem"])
        for how, said in (("_exit", "ended with exit code 0 before its report"), ("kill", "signal 9"), ("host", "signal 6")):
            out, crash = self.dies(how)
            self.assertEqual((out["kernel"], crash["kind"]), ("dying.cpp", "crash"))
            self.assertIn(said, crash["problem"])
        out, crash = self.dies("forever", "--time-limit", 2)
        self.assertEqual((crash["kind"], crash["superstep"]), ("endless", "second"))
        run = self.tessera("check", "dying.cpp", env={"HOW": "_exit", "CXX": CCACHE + "c++"})
        self.assertIn("error: crash", run.out)
        self.assertEqual(run.out.splitlines()[-1], "NOT clean: 1 error in 0 blocks")

    @unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the file's program would need it too")
    def test_a_signal_leaves_neither_folders_nor_programs(self):
        self.path("dying.cpp").write_text(DYING)
        for wanted, when in ((signal.SIGTERM, "compiling"), (signal.SIGINT, "running")):
            scratch = tempfile.TemporaryDirectory()
            self.addCleanup(scratch.cleanup)
            run = subprocess.Popen([harness.COMMAND, "check", "dying.cpp"], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   env=harness.environment(TMPDIR=scratch.name, HOW="forever"))
            marks = "kernel.o" if when == "compiling" else "check"
            deadline = time.time() + 300
            programs = []
            while not programs and time.time() < deadline:
                programs = programs_of(f"{scratch.name}/", f"/{marks}")
                time.sleep(0.05)
            self.assertTrue(programs, when)
            for _ in range(2):  # as timeout(1) does
                run.send_signal(wanted)
            said = run.communicate(timeout=harness.PATIENCE)[1].decode()
            self.assertEqual(run.returncode, 128 + wanted, said)
            self.assertEqual(len(said.splitlines()), 1, said)
            time.sleep(0.5)
            self.assertEqual(os.listdir(scratch.name), [], when)
            self.assertEqual(programs_of(f"{scratch.name}/", ""), [], when)


def programs_of(*texts):
    """Command lines of running programs that hold all texts."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace") if entry.name.isdigit() else ""
        except OSError:
            continue
        if line and all(text in line for text in texts):
            found.append(line)
    return found


TALKING = """
#include <cstdio>
#include <iostream>
#include "tessera/check/file.hpp"
using namespace tessera;
struct Talking {
  static constexpr const char* name = "talking";
  static constexpr Dim3 block{32};
  void operator()(auto t, auto A, auto C) const {
    if (t.thread == 0) std::printf("{ from block %d }\\n", t.block.x);
    if (t.thread > 0) C(0, t.thread) = A(0, t.thread);
  }
};
check::Report check_kernel(const check::Options& options) {
  std::cout << "about to check\\n";
  const HostTensor<float> A(1, 32);
  HostTensor<float> C(1, 32);
  return check::check(options, Dim3{1}, Talking{}, A.view(), C.view());
}
"""

SAXPY = """#include <cuda_runtime.h>

__global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

int main() { saxpy<<<1, 256>>>(0, 1.0f, nullptr, nullptr); }
"""


class WaysIn(harness.CommandTest):
    def test_what_a_kernel_prints_is_not_mixed_with_the_report(self):
        self.path("talking.cpp").write_text(TALKING)
        run = self.tessera("check", "talking.cpp", "--json")
        self.assertEqual(run.code, 0, run.err)
        self.assertEqual(run.json["kernel"], "talking")
        self.assertIn("about to check\n", run.err)
        self.assertIn("{ from block 0 }\n", run.err)
        self.assertEqual({each["kind"]: each["severity"] for each in run.json["findings"]}, {"never-read": "note", "never-written": "note"})
        run = self.tessera("check", "talking.cpp", "--coverage")
        self.assertEqual(run.code, 1, run.err)
        self.assertTrue(run.out.startswith("kernel talking\n"), run.out)
        self.assertEqual(run.out.splitlines()[-1], "NOT clean: 2 errors in 1 block")

    def test_plain_cuda_is_a_program(self):
        for name in ("saxpy.cu", "saxpy.cpp"):
            self.path(name).write_text(SAXPY)
            run = self.succeeds("check", name, "--json")
            self.assertEqual([each["kernel"] for each in run.json["launches"]], ["saxpy"])
            self.path(name).write_text(SAXPY.replace("int main", "void other"))
            self.fails(4, "check", name, says=[f"{name} defines no main()", "a whole program"])
        self.path("half.cpp").write_text(FILE.replace("BARRIER", "__syncthreads();"))
        run = self.tessera("check", "half.cpp")
        self.assertEqual(run.code, 4, run.err)
        self.assertIn("__syncthreads in line 10 is CUDA", run.lines[-1])

    def test_suppressions(self):
        self.path("racy.cpp").write_text(FILE.replace("BARRIER", ""))
        self.path("known.txt").write_text('# known\nkind=race file=racy.cpp line=9 reason="looked at"\nkind=misaligned reason=no\n')
        run = self.succeeds("check", "racy.cpp", "--suppress", "known.txt", "--json")
        self.assertEqual((run.json["summary"]["clean"], run.json["summary"]["suppressed"], run.json["findings"]), (True, 1, []))
        [accepted] = run.json["suppressed"]
        self.assertEqual((accepted["kind"], accepted["reason"]), ("race", "looked at"))
        self.assertEqual(run.json["unused_suppressions"], ['known.txt:3: kind=misaligned reason="no"'])
        run = self.succeeds("check", "naive", "--suppress", "known.txt")
        self.assertIn("unused suppression: known.txt:2: kind=race", run.out)
        self.path("known.txt").write_text("kind=race\n")
        self.fails(3, "check", "naive", "--suppress", "known.txt", says="known.txt:1: a suppression without a reason")
        self.fails(3, "check", "naive", "--suppress", "none.txt", says="none.txt cannot be read")

    def test_names_of_files_and_words_for_the_compiler(self):
        odd = self.path("it's a \"kernel\".cxx")
        odd.write_text(FILE.replace("BARRIER", "EXTRA").replace("using", '#include "own.hpp"\nusing', 1))
        (self.folder / "my headers").mkdir()
        (self.folder / "my headers/own.hpp").write_text("")
        run = self.tessera("check", odd.name, "--cxxflags", "'-Imy headers' -DEXTRA=", "--json", env={"CXX": (CCACHE or "env ") + "g++"})
        self.assertEqual(run.code, 1, run.err)
        self.assertTrue(run.json["findings"][0]["location"]["file"].endswith(odd.name))
        self.path("kernel.cu").write_text(FILE.replace("BARRIER", "t.barrier();"))
        self.succeeds("check", "kernel.cu")

    def test_a_file_without_its_function(self):
        self.path("none.cc").write_text('#include "tessera/check/file.hpp"\n')
        self.fails(4, "check", "none.cc", says=["none.cc defines no function check_kernel", "tessera::check::Report check_kernel("])
        self.path("main.cc").write_text("#include <tessera/check/file.hpp>\ntessera::check::Report check_kernel(const tessera::check::Options&) "
                                        "{ return {}; }\nint main() {}\n")
        self.fails(4, "check", "main.cc", says="main.cc defines main()")

    def test_gdb_stops_at_block_thread_and_superstep(self):
        if shutil.which("gdb") is None or subprocess.run(["gdb", "-batch", "-ex", "run", "/bin/true"], capture_output=True).returncode != 0 \
                or b"exited normally" not in subprocess.run(["gdb", "-batch", "-ex", "run", "/bin/true"], capture_output=True).stdout:
            self.skipTest("--stop-at is NOT tested: gdb is not installed, or may not trace programs here")
        self.path("dying.cpp").write_text(DYING)
        said = self.stops("dying.cpp", "block=1 thread=7 superstep=second")
        self.assertRegex(said, r"tessera_stop \(\)")
        self.assertRegex(said, r"\n#\d+ .*Dying::operator\(\).*\n? *at [^\n]*/dying\.cpp:12\n")
        self.assertRegex(said, r'12\t *t.superstep\("second"')
        self.assertIn("$1 = 7", said)
        said = self.stops("tiled", "block=1,0 thread=3,2", "-m", 17, "-n", 40)
        self.assertRegex(said, r"tessera::Tiled<.*\n? *at [^\n]*/tiled\.hpp:\d+\n")
        outside = self.tessera("check", "dying.cpp", "--stop-at", "block=99")
        self.assertEqual(outside.code, 4, outside.out)
        self.assertIn("there is no block (99,0,0)", outside.out + outside.err)
        nowhere = self.tessera("check", "tiled", "--stop-at", "superstep=third")
        self.assertEqual(nowhere.code, 4, nowhere.out)
        self.assertIn("never reached that place", nowhere.out)

    def stops(self, name, where, *arguments):
        frame = "frame function " + ("Dying::operator()" if name.endswith("cpp") else "tessera_stop")
        commands = f"{frame}\nprint t.thread.linear\nkill\nquit\n".encode()
        run = self.tessera("check", name, "--stop-at", where, *arguments, stdin=commands)
        self.assertEqual(run.code, 0, run.err)
        return run.out


if __name__ == "__main__":
    harness.main()
