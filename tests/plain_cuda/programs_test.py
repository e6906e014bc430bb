#!/usr/bin/env python3
"""Programs in plain CUDA that check themselves: `tessera check` runs each of programs/*.cu and finds nothing, or what the file's
first line says: `// expect: race at 12` (a code of the report, a line; several by commas), `// refused: TEXT` (exit code 4, with that
text on stderr) or `// unknown: TEXT` (exit code 4, and the report says so). A line `// launch: WORDS` is given to --launch, `// flags: WORDS`
are further words of the command. A program with a mistake has its right twin in the same file: with -DFIXED nothing is found."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

PROGRAMS = sorted((pathlib.Path(__file__).parent / "programs").glob("*.cu"))


def launch_of(program):
    found = re.search(r"^// launch: (.*(?:\n//   .*)*)$", program.read_text(), re.MULTILINE)
    return found and found[1].replace("\n//   ", " ")


class Programs(unittest.TestCase):
    longMessage = True

    def check(self, program, fixed):
        head = "" if fixed else program.read_text().split("\n", 1)[0]
        flags = ["-D", "FIXED"] if fixed else []
        if launch := launch_of(program):
            flags += ["--launch", launch]
        if further := re.search(r"^// flags: (.*)$", program.read_text(), re.MULTILINE):
            flags += further[1].split()
        run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--json", *flags], capture_output=True,
                             text=True, timeout=300)
        said = f"{program.name}: code {run.returncode}\n{run.stderr[-2000:]}"
        if refused := re.match(r"// refused: (.*)", head):
            self.assertEqual(run.returncode, 4, said)
            self.assertIn(refused[1], run.stderr, said)
            return
        self.assertTrue(run.stdout, said)
        if unknown := re.match(r"// unknown: (.*)", head):
            self.assertEqual(run.returncode, 4, said)
            self.assertIn(unknown[1], json.loads(run.stdout)["summary"]["incomplete"], said)
            return
        found = [(each["kind"], (each["location"] or {"line": 0})["line"]) for each in json.loads(run.stdout)["findings"]]
        expected = re.findall(r"([\w-]+) at (\d+)", head) if head.startswith("// expect: ") else []
        self.assertEqual(found, [(kind, int(line)) for kind, line in expected], said)
        self.assertEqual(run.returncode, 1 if expected else 0, said)


    def test_counters_are_those_of_the_same_kernel_in_the_language(self):
        def counters(*words):
            run = subprocess.run([cases.options.build / "bin/tessera", "check", *words, "--json"], capture_output=True, text=True,
                                 timeout=300)
            total = json.loads(run.stdout)["counters"]["total"]
            return {name: value for name, value in total.items() if "flops" not in name and name != "fma_threads"}  # not seen

        plain = counters(next(each for each in PROGRAMS if each.stem == "tiled"))
        self.assertGreater(plain["shared_load_requests"], 0)
        self.assertEqual(plain, counters("tiled", "--tile", "16x16x16", "-m", "64", "-n", "64", "-k", "64"))


    def test_a_launch_is_swept(self):
        program = next(each for each in PROGRAMS if each.stem == "launch_guard_one_too_far")
        launch = launch_of(program)
        words = [cases.options.build / "bin/tessera", "check", program, "--sweep"]
        run = subprocess.run([*words, "--launch", launch, "--json"], capture_output=True, text=True, timeout=300)
        said = json.loads(run.stdout)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(said["smallest_failing"]["findings"][0]["kind"], "out-of-bounds")
        self.assertIn("--launch '", said["smallest_failing"]["command"])
        self.assertEqual({each["strides"] for each in said["cases"]}, {"rows"})
        self.assertEqual({each["status"] for each in said["cases"] if 0 in (each["m"], each["n"])}, {"clean"})
        run = subprocess.run([*words, "--launch", launch, "--json", "--cxxflags", "-DFIXED"], capture_output=True, text=True,
                             timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        run = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("--launch with a grid", run.stderr)


    def test_launches_that_cannot_be(self):
        program = next(each for each in PROGRAMS if each.stem == "launch_guard_one_too_far")
        for launch, code, text in [
                ("product", 2, "no launch is found"), ("product<<<1, 2>>>", 2, "no arguments"),
                ("product<<<1, 2>>(A: f32[2])", 2, "has no >>>"), ("product<<<1, 2>>>(A: f33[2])", 2, "unknown element type 'f33'"),
                ("product<<<1, 2>>>(A: f32[])", 2, "A has no extents"), ("product<<<1, 2>>>(A: f32[2] = five)", 2, "= zeros"),
                ("product<<<1, 2>>>(A: f32[2],, n: 1)", 2, "an argument is missing"), ("product<<<1, 2>>>(A:)", 2, "A has no value"),
                ("product<<<1, 2>>>(A: i32[2])", 2, "product takes 6 arguments, not 1"), ("product<<<1, 2>>>(1); f()", 2, "text follows the launch"),
                ("prodct<<<1, 2>>>(A: f32[2])", 2, "no kernel prodct"), ("product<<<1, 2>>>(A: f32[two])", 2, "column 26")]:
            with self.subTest(launch):
                run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--launch", launch], capture_output=True,
                                     text=True, timeout=300)
                self.assertEqual(run.returncode, code, run.stderr)
                self.assertIn(text, run.stderr)


    def test_inputs_of_a_launch_that_are_not_all_read(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "sums.cu"
            program.write_text("""__global__ void sums(const float* x, float* out, int n) {
  float sum = 0;
  for (int i = 0; i + 8 <= n; i += 8)
    for (int k = i; k < i + 8; ++k) sum += x[k * 32 + threadIdx.x];
  out[threadIdx.x] = sum;
}
""")
            for n, notes in (20, ["x: 512 of 640 elements were read"]), (16, []):
                run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--json", "-n", str(n), "--launch",
                                      "sums<<<1, 32>>>(x: f32[n, 32], out: f32[32], n)"], capture_output=True, text=True, timeout=300)
                self.assertEqual(run.returncode, 0, run.stderr)
                found = json.loads(run.stdout)["findings"]
                self.assertEqual([(each["kind"], each["problem"]) for each in found], [("never-read", each) for each in notes])


    def test_warps_of_64_lanes(self):
        program = next(each for each in PROGRAMS if each.stem == "lanes")
        for flags, code in ([], 1), (["--cxxflags", "-DFIXED"], 0):
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--warp", "64", "--json", *flags],
                                 capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)
            self.assertEqual([each["kind"] for each in json.loads(run.stdout)["findings"]], ["program-failed"] * code)
        for words in ["tiled", "--warp", "64"], [program, "--warp", "48"]:
            run = subprocess.run([cases.options.build / "bin/tessera", "check", *words], capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("--warp", run.stderr)


    def test_a_time_limit_is_no_endless_loop(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "many.cu"
            program.write_text("""__global__ void work(int* x, int rounds) {
  for (int i = 0; i < rounds; ++i) { x[threadIdx.x] += i; __syncthreads(); }
}
int main() {
  int* x;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMemset(x, 0, 256 * sizeof *x);
  for (;;) work<<<1, 256>>>(x, 300);
}
""")
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--json", "--time-limit", "3"],
                                 capture_output=True, text=True, timeout=300)
        self.assertNotIn("endless", [each["kind"] for each in json.loads(run.stdout)["findings"]], run.stderr)
        self.assertEqual(run.returncode, 4, run.stderr)


    def test_a_program_that_allocates_without_end(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_RSS, (1 << 30, 1 << 30))

        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "grows.cu"
            program.write_text("""#include <cstdlib>
#include <cstring>
int main() {
  for (int i = 0; i < 4096; ++i) {
    void* const more = malloc(1 << 22);
    if (more == nullptr) return 5;
    memset(more, 1, 1 << 22);
  }
}
""")
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--json"], capture_output=True, text=True,
                                 timeout=300, preexec_fn=limit)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertIn("had taken 1024 MiB of memory", json.loads(run.stdout)["summary"]["incomplete"])


    def test_stop_at_stands_at_the_first_store(self):
        if shutil.which("gdb") is None:
            self.skipTest("--stop-at is NOT tested: gdb is not installed")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "stores.cu"
            program.write_text("""__global__ void stores(int* out) {
  out[threadIdx.x] = 1;
  __syncthreads();
}
int main() {
  int* out;
  cudaMalloc(&out, 128);
  stores<<<1, 32>>>(out);
  cudaFree(out);
}
""")
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--stop-at", "block=0 thread=3"],
                                 capture_output=True, text=True, timeout=300, input="kill\nquit\n")
        if "Operation not permitted" in run.stderr + run.stdout:
            self.skipTest("--stop-at is NOT tested: gdb may not trace programs here")
        self.assertIn("stores.cu:2", run.stdout, run.stderr)


    def test_folders_of_killed_commands_go(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "nothing.cu").write_text("int main() { void* p; cudaMalloc(&p, 4); cudaFree(p); }\n")
            for each in "tessera-check-killed", "tessera-check-new", "others":
                (folder / each).mkdir()
                (folder / each / "program").touch()
                if each != "tessera-check-new":
                    os.utime(folder / each, (1, 1))
            run = subprocess.run([cases.options.build / "bin/tessera", "check", folder / "nothing.cu"], capture_output=True, text=True,
                                 timeout=300, env={**os.environ, "TMPDIR": name})
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(sorted(each.name for each in folder.iterdir()), ["nothing.cu", "others", "tessera-check-new"])


    def test_a_launch_of_a_variable_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "variable.cu"
            program.write_text("""__global__ void k() {}
int main() {
  const void* const kernel = (const void*)k;
  return cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, 0);
}
""")
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertRegex(run.stderr, r"variable\.cu:4(.|\n)*name it in the call")


    def refused(self, folder, *words, command="check", env=None):
        run = subprocess.run([cases.options.build / "bin/tessera", command, *words], cwd=folder, capture_output=True, text=True,
                             timeout=300, env={**os.environ, **(env or {})})
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertNotIn(f"tessera {command}: check:", run.stderr)
        return run.stderr


    def test_what_cannot_be_built_says_where_and_what_to_do(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "sum.cuh").write_text("#pragma once\n\n#include <cute/no_such_header.hpp>\n")
            (folder / "sum.cu").write_text('#include <cstdio>\n#include "sum.cuh"\nint main() {}\n')
            said = self.refused(folder, "sum.cu")
            self.assertRegex(said, r"sum\.cuh:3 needs cute/no_such_header\.hpp, which is not offered: got included from sum\.cu:2")
            (folder / "kernel.cu").write_text("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }\n")
            self.assertIn("--launch 'kernel<<<", self.refused(folder, "kernel.cu"))
            said = self.refused(folder, "kernel.cu", command="cuda-run")
            self.assertIn("tessera cuda-run: kernel.cu defines no main()", said)
            self.assertNotIn("--launch", said)
            if shutil.which("clang++"):
                self.assertIn("name g++ in the environment variable CXX", self.refused(folder, "kernel.cu", env={"CXX": "clang++"}))


    def test_a_sweep_has_the_extents_that_the_launch_uses(self):
        with tempfile.TemporaryDirectory() as name:
            program = pathlib.Path(name) / "scale.cu"
            program.write_text("__global__ void scale(float* x, int n) {\n  const int i = 8 * blockIdx.x + threadIdx.x;\n"
                               "  if (i < n) x[i] *= 2;\n}\n")
            run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--sweep", "--tile", "8x8x8", "--json", "--launch",
                                  "scale<<<(n + 7) / 8, 8>>>(x: f32[n] = ones, n)"], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        shapes = [(each["m"], each["n"], each["k"]) for each in json.loads(run.stdout)["cases"]]
        self.assertEqual(len(shapes), 3 * len(set(shapes)))
        self.assertEqual({(m, k) for m, _, k in shapes}, {(1, 1)})
        self.assertTrue({0, 1, 7, 8, 9, 17, 1021} <= {n for _, n, _ in shapes})


    def test_a_file_is_explained(self):
        program = next(each for each in PROGRAMS if each.stem == "tiled")
        words = [cases.options.build / "bin/tessera", "explain", program]
        run = subprocess.run(words, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"is bound by|is limited by|waits")
        self.assertRegex(run.stdout, r"tiled\.cu:13 +.*\d")
        run = subprocess.run([*words, "--json"], capture_output=True, text=True, timeout=300)
        said = json.loads(run.stdout)
        self.assertEqual(said["sectors_per_request"], 4)
        self.assertGreater(said["counters"]["shared_load_wavefronts"], 0)
        with tempfile.TemporaryDirectory() as name:
            scale = pathlib.Path(name) / "scale.cu"
            scale.write_text("__global__ void scale(float* x, int n) {\n  const int i = blockDim.x * blockIdx.x + threadIdx.x;\n"
                             "  if (2 * i < n) x[2 * i] *= 2;\n}\n")
            words = [*words[:2], scale, "--launch", "scale<<<(n + 511) / 512, 256>>>(x: f32[n] = ones, n)", "-n", "4096"]
            page = pathlib.Path(name) / "scale.html"
            run = subprocess.run([*words, "--html", page], capture_output=True, text=True, timeout=300)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"scale\.cu:3: each .* of a warp touches 8 sectors")
            self.assertIn("scale.cu", page.read_text())


    def test_hints_and_advice_speak_cuda(self):
        ours = re.compile(r"vectorize|zero_of|\bt\.|contains\(|tiles\(\)|split K|wait<|Mma")
        with tempfile.TemporaryDirectory() as name:
            add = pathlib.Path(name) / "add.cu"
            add.write_text("__global__ void add(float* x, const float* y, int n) {\n"
                           "  const int i = blockDim.x * blockIdx.x + threadIdx.x;\n  x[i] += y[i];\n}\n")
            words = [add, "--launch", "add<<<(n + 255) / 256, 256>>>(x: f32[n] = ones, y: f32[n], n)", "-n", "8191", "--json"]
            run = subprocess.run([cases.options.build / "bin/tessera", "check", *words], capture_output=True, text=True, timeout=300)
            hints = [each["hint"] for each in json.loads(run.stdout)["findings"]]
            self.assertTrue(hints, run.stderr)
            self.assertTrue(all("if (i < n)" in each for each in hints), hints)
            run = subprocess.run([cases.options.build / "bin/tessera", "explain", *words], capture_output=True, text=True, timeout=300)
            remedies = [each["remedy"] for each in json.loads(run.stdout)["advice"]]
            self.assertTrue(any("float4" in each for each in remedies), remedies)
            self.assertTrue(any("launch more blocks" in each for each in remedies), remedies)
            self.assertFalse([each for each in hints + remedies if ours.search(each)])


    def test_flags_of_the_compiler(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "my headers").mkdir()
            (folder / "my headers/value.h").write_text("constexpr int kValue = 2;\n")
            (folder / "flags.cu").write_text("#include <value.h>\n#if W != 3 || T != 4 || LONG != 1\n#error macros\n#endif\n"
                                             "int main() { void* p; cudaMalloc(&p, 4); return cudaFree(p) + kValue - 2; }\n")
            for words in (["-I", "my headers", "-D", "W=3", "-DT=4", "-DLONG"],
                          ["-Imy headers", "--cxxflags", "-D W=3 -DT=4 -D LONG -O3"]):
                for command in "check", "cuda-run":
                    run = subprocess.run([cases.options.build / "bin/tessera", command, "flags.cu", *words], cwd=folder,
                                         capture_output=True, text=True, timeout=300)
                    self.assertEqual(run.returncode, 0, run.stderr)


    def test_a_program_need_not_be_optimised(self):
        program = next(each for each in PROGRAMS if each.stem == "matrix")
        run = subprocess.run([cases.options.build / "bin/tessera", "check", program, "--json", "--cxxflags", "-O0"],
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(json.loads(run.stdout)["findings"], [], run.stderr)
        self.assertEqual(run.returncode, 0, run.stderr)


    def test_a_launch_has_arrays_of_files(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        source = "__global__ void k(const int* a, const int* b, int* c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }\n"
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "k.cu").write_text(source)
            numpy.save(folder / "a.npy", numpy.arange(4, dtype="i4"))
            words = [cases.options.build / "bin/tessera", "check", "k.cu"]

            def check(*more):
                return subprocess.run([*words, *more], capture_output=True, text=True, timeout=300, cwd=folder)

            run = check("--launch", 'k<<<1, 4>>>(a: i32[4] = "a.npy", a, c: i32[4])', "--results", "new/out")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual([each.name for each in (folder / "new/out").iterdir()], ["c.npy"])
            self.assertEqual(numpy.load(folder / "new/out/c.npy").tolist(), [0, 2, 4, 6])
            run = check("--launch", 'k<<<1, 4>>>(a: i32[4] = "a.npy", a, a)', "--results", "new/out", "--force")
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(numpy.load(folder / "new/out/a.npy").tolist(), [0, 2, 4, 6])
            for more, code, text in [
                    (["--launch", 'k<<<1, 4>>>(a: i32[2,2] = "a.npy", a, c: i32[4])'], 4, "i32 of shape (4,), got i32 of shape (2, 2)"),
                    (["--launch", 'k<<<1, 4>>>(a: i32[4] = "b.npy", a, c: i32[4])'], 4, "b.npy"),
                    (["--launch", "k<<<1, 4>>>(a: i32[4] = 'a', a, c: i32[4])"], 2, '= "FILE.npy"'),
                    (["--launch", "k<<<1, 4>>>(a: i32[4], a, a)", "--results", "new/out"], 3, "new/out is not empty"),
                    (["--launch", "k<<<1, 4>>>(a: i32[4], a, a)", "--results", "a.npy"], 3, "--results: a.npy"),
                    (["--launch", "k<<<1, 4>>>(a: i32[4], a, a)", "--results", "x", "--sweep"], 2, "exclude one another"),
                    (["--results", "x"], 2, "only a launch has arrays")]:
                with self.subTest(more):
                    run = check(*more)
                    self.assertEqual(run.returncode, code, run.stderr)
                    self.assertIn(text, run.stderr)
            self.assertFalse((folder / "x").exists())


    def test_a_program_runs_unchecked(self):
        program = next(each for each in PROGRAMS if each.stem == "tiled")
        run = subprocess.run([cases.options.build / "bin/tessera", "cuda-run", program], capture_output=True, text=True, timeout=300)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        early = program.with_name("ended_before_barrier.cu")
        run = subprocess.run([cases.options.build / "bin/tessera", "cuda-run", early], capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stderr)  # threads that have ended count as come
        broken = program.with_name("barrier_missing_after_load.cu")
        run = subprocess.run([cases.options.build / "bin/tessera", "cuda-run", broken, "nothing.cu"], capture_output=True, text=True,
                             timeout=300)
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("there is no file nothing.cu", run.stderr)


def kinds_of(variant):
    """The kinds of findings that a program with a mistake has."""
    return tuple(sorted(set(re.findall(r"([\w-]+) at \d+", variant[0].read_text().split("\n", 1)[0]))))


def variants():
    """Each program, and its right twin. Thinned: of a program one of the two in turn, and the first of each kind of findings."""
    twins = [each for each in PROGRAMS if "FIXED" in each.read_text()]
    for each in PROGRAMS:
        if each not in twins:
            yield each, False
    yield from cases.thinned([(each, False) for each in twins], 2, 0, kinds_of)
    yield from cases.thinned([(each, True) for each in twins], 2, 1)


for _program, _fixed in variants():
    setattr(Programs, f"test_{_program.stem}{'_fixed' if _fixed else ''}",
            lambda self, program=_program, fixed=_fixed: self.check(program, fixed))

if __name__ == "__main__":
    cases.main()
