#!/usr/bin/env python3
"""tessera check: kernels of the ladder and files of one's own; what it prints, scripts against, refuses, and its exit codes."""
import shutil
import xml.etree.ElementTree

import harness

KERNELS = ["naive", "coalescing", "tiled", "tiled_register", "block_tiled", "block_tiled_vectorized", "tensor_core", "single_block",
           "tiled_by_hand", "tiled_idiomatic", "sarek_naive", "sarek_tiled"]

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


class Ladder(harness.CommandTest):
    def test_every_kernel_is_clean_and_says_so(self):
        for name in KERNELS:
            run = self.succeeds("check", name, "-m", 17, "-n", 31, "-k", 9)
            self.assertRegex(run.out.splitlines()[-1], r"^clean: no findings in \d+ blocks?$")
            self.assertIn("C (17,31): 527 of 527 elements written once", run.out)
            self.assertEqual(run.err, "")

    def test_the_document_has_the_names_others_script_against(self):
        out = self.succeeds("check", "tiled", "-m", 17, "-n", 31, "-k", 9, "--tile", "16,16,16", "--json").json
        self.assertEqual(out["kernel"], "tiled")
        self.assertEqual(out["summary"], {"clean": True, "errors": 0, "warnings": 0, "notes": 0, "blocks": 4, "checked_blocks": 4,
                                          "timed_out": False, "incomplete": None})
        self.assertEqual(out["findings"], [])
        self.assertEqual(out["counters"]["total"]["fma_threads"], 4 * 256 * 16)
        self.assertEqual(sum(line["counters"]["flops"] for line in out["counters"]["by_line"]), out["counters"]["total"]["flops"])
        for line in out["counters"]["by_line"]:
            self.assertIn("file", line)
            self.assertGreater(line["line"], 0)
        self.assertEqual([each["superstep"] for each in out["counters"]["by_superstep"]], ["load", "multiply", "end"])
        self.assertEqual([each["tensor"] for each in out["tensors"]], ["A", "B", "C"])
        self.assertEqual(out["device"]["name"], "h200")

    def test_the_report_is_the_same_for_any_number_of_threads_and_any_order_finds_nothing(self):
        reports = {self.succeeds("check", "tiled_register", "--threads", n, "--json").raw for n in (1, 2, 3)}
        self.assertEqual(len(reports), 1)
        self.succeeds("check", "sarek_tiled", "--order", "shuffled", "--seed", 5, "--dtype", "f16")

    def test_a_part_of_the_blocks(self):
        run = self.succeeds("check", "naive", "-m", 500, "-n", 500, "-k", 3, "--blocks", 5, "--counters-only", "--device", "a100")
        self.assertIn("in 5 of 256 blocks", run.out)
        self.assertIn("on a100", run.out)

    def test_junit(self):
        self.succeeds("check", "naive", "--junit", "report.xml", "--quiet")
        suite = xml.etree.ElementTree.parse(self.path("report.xml")).getroot().find("testsuite")
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("1", "0"))
        self.fails(2, "check", "naive", "--junit", "report.xml", says="report.xml")
        self.succeeds("check", "naive", "--junit", "report.xml", "--force", "--quiet")

    def test_what_is_refused(self):
        self.fails(2, "check", "tield", says=["unknown kernel 'tield'", "did you mean 'tiled'?"])
        self.fails(2, "check", "packed", says="unknown kernel 'packed'")
        self.fails(2, "check", "naive", "--device", "h20", says="h200")
        self.fails(2, "check", "tiled", "--tile", "5,5,5", says="not built in")
        self.fails(4, "check", "tiled_register", "--dtype", "f64", says="not compiled for the checker")
        self.fails(2, "check", says="NAME")


class File(harness.CommandTest):
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
        self.fails(4, "check", "broken.cpp", env={"CXX": "no-such-compiler"}, says="cannot be started")


if __name__ == "__main__":
    harness.main()
