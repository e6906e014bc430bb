#!/usr/bin/env python3
"""What is said of plain CUDA that does not compile: names that are not offered, launches that do not fit, the compiler's own errors,
and what cannot be checked."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

KERNELS = """__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
template <class T, int B>
__global__ void __launch_bounds__(B) scale(T* x, T f) { x[threadIdx.x] *= f; }
namespace mine {
__global__ void nothing(const int* all = nullptr) {}
}
"""
SAXPY = "saxpy(int n, float a, const float* x, float* y)"
SCALE = "template <class T, int B> scale(T* x, T f)"

PAST_THE_STACK = """int main() {
  float *x, y[4];
  cudaMalloc(&x, 65536), cudaMemset(x, 0, 65536);
  cudaMemcpy(y, x, 65536, cudaMemcpyDeviceToHost);
  cudaFree(x);
}
"""

# The second kernel cannot be checked; the first one can.
UNKNOWN_PTX = """__global__ void set(int* x) { *x = 1; }
__global__ void unknown(int* x) {
  int y;
  asm volatile("frob.s32 %0;" : "=r"(y));
  *x = y;
}
int main() {
  int* x;
  cudaMalloc(&x, sizeof *x);
  set<<<1, 1>>>(x);
  cudaMemset(x, 0, PAST);
  unknown<<<1, 1>>>(x);
}
"""


class Messages(unittest.TestCase):
    longMessage = True

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def refused(self, text, code=4, *words):
        (self.folder / "a.cu").write_text(text)
        run = subprocess.run([cases.options.build / "bin/tessera", "check", "a.cu", *words], cwd=self.folder, capture_output=True,
                             text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertNotIn("tessera::", run.stderr)
        self.assertNotIn("lambda", run.stderr)
        self.assertNotIn("tessera-check-", run.stderr)
        return run.stderr

    def launch(self, words):
        said = self.refused(KERNELS, 2, "--launch", words)
        self.assertTrue(said.startswith("tessera check: --launch: "), said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(f", got {words}", said)
        return said

    def test_one_sentence_names_what_is_not_offered(self):
        for line, name, advice in [
                ("texture<float, 1, cudaReadModeElementType> t;", "texture, a texture reference, which CUDA 12 has removed",
                 "cudaCreateTextureObject()"),
                ("surface<void, 2> s;", "surface, a surface reference, which CUDA 12 has removed", "cudaCreateSurfaceObject()"),
                ("__device__ int f(int x) { return __shfl(x, 0); }", "__shfl, a function of warps without a mask", "_sync"),
                ("template <class T> __device__ T f(T x) { return __any(1); }", "__any, a function of warps without a mask", "_sync"),
                ("void f() { cuInit(0); }", "cuInit, part of the driver interface", "the runtime"),
                ("void f() { cudaMaloc(nullptr, 1); }", "cudaMaloc, which is neither declared nor offered (did you mean cudaMalloc?)",
                 "docs/plain_cuda.md"),
                ("int f(cudaDeviceProp d) { return d.colour; }", "colour, no part of ", "docs/plain_cuda.md"),
                ("__device__ int f(int x) { return __vsum9(x); }", "__vsum9, which is neither declared nor offered", "docs/plain_cuda.md")]:
            with self.subTest(line):
                said = self.refused(f"// two lines\n{line}\nint main() {{ return t; }}\n")
                self.assertTrue(said.startswith(f"tessera check: a.cu:2 uses {name}"), said)
                self.assertIn(advice, said)
                self.assertEqual(said.count("\n"), 1, said)

    def test_each_that_is_missing_is_named_once(self):
        said = self.refused("#include <cublas_v2.h>\nint main() {\n  cublasSaxpy(1);\n  cublasSdot(1);\n  cublasSaxpy(2);\n  cuInit(0);\n}\n")
        self.assertEqual([said.count(each) for each in ("a.cu:3 uses", "a.cu:4 uses", "a.cu:5 uses", "a.cu:6 uses")], [1, 1, 0, 1], said)

    def test_an_error_before_an_unknown_name_may_be_its_cause(self):
        said = self.refused("void cudaCheck(int x) { return y; }\nint main() { texture = 1; cudaChecked(1); }\n")
        self.assertIn("a.cu:1:32: error: ", said)
        self.assertIn("a.cu does not compile", said)

    def test_the_compilers_messages_are_about_the_file_alone(self):
        said = self.refused("__global__ void k(float* a, int n) {\n  if (threadIdx.x < nn) a[0] = 1;\n  __syncthreads(1);\n}\n"
                            "int main() {\n  float* p;\n  cudaMalloc(p, 4);\n  cudaMemcpy(p, p);\n}\n")
        for each in ("a.cu:2:21: error: ", "a.cu:3:17: error: too many arguments", "a.cu:7:13: error: ", "a.cu:8:13: error: too few"):
            self.assertIn(each, said)
        self.assertNotIn("plain_cuda/", said)
        said = self.refused("__global__ void k(float* a) { a[0] = y; }\n", 4, "--launch", "k<<<1, 1>>>(a: f32[1])")
        self.assertIn("a.cu:1:38: error: ", said)
        self.assertNotIn("included from", said)

    def test_a_launch_that_does_not_fit_is_compared_with_the_kernel(self):
        for words, texts in [
                ("saxpi<<<1, 32>>>(n: 32)", ["there is no kernel saxpi: ", f"one of {SAXPY}, {SCALE}, nothing(const int* all = nullptr)"]),
                ("nothing<<<1, 32>>>()", ["nothing is not declared, at column 1", "did you mean mine::nothing?"]),
                ("saxpy<<<1, 32>>>(n: 32, x: f32[32], y: f32[32])", ["saxpy takes 4 arguments, not 3: ", SAXPY, "none for float a"]),
                ("saxpy<<<1, 32>>>(32, 2.0f, f32[32])", ["saxpy takes 4 arguments, not 3: ", "for each parameter"]),
                ("saxpy<<<1, 32>>>(n: 32, a: 2, x: f32[32], y: f32[32], z: 1)", ["saxpy takes 4 arguments, not 5: ", SAXPY]),
                ("mine::nothing<<<1, 32>>>(x: i32[3], n: 3)", ["nothing takes 1 argument, not 2: "]),
                ("saxpy<<<1, 32>>>(n: 32, a: 2, x: f64[32], y: f32[32])",
                 ["x is an array of double, and saxpy takes const float*, at column 31: ", SAXPY, "give an array: x: f32[32]"]),
                ("saxpy<<<1, 32>>>(n: f32[32], a: 2, x: f32[32], y: f32[32])",
                 ["n is an array of float, and saxpy takes int, at column 18: ", "give a value: n: 1"]),
                ("saxpy<<<1, 32>>>(32, 2, 3.0f, f32[32])", ["3.0f is float, and saxpy takes const float*, at column 25", "array: f32[n]"]),
                ("scale<float, 32><<<1, 32>>>(x: f64[m], f: 2)", ["x is an array of double, and scale takes float*", "x: f32[m]"]),
                ("scale<<<1, 32>>>(x: f32[32], f: 2.0f)", ["arguments of the template scale are not known: ", SCALE, "scale<...><<<"]),
                ("saxpy<<<1, b>>>(n: 32, a: 2, x: f32[32], y: f32[32])", ["b is not declared, at column 12", "m, n and k"]),
                ("saxpy<<<1, 32>>>(n: 32, a: 2, x: f32[N], y: f32[32])", ["N is not declared, at column 38", "m, n and k"]),
                ("saxpy<<<1, 32>>>(n: 32, a: 2 +, x: f32[2], y: f32[2])", ["at column 31"])]:
            with self.subTest(words):
                said = self.launch(words)
                for each in texts:
                    self.assertIn(each, said)

    def checked(self, text, *words):
        (self.folder / "a.cu").write_text(text)
        run = subprocess.run([cases.options.build / "bin/tessera", "check", "a.cu", "--launch", "k<<<1, 32>>>(a: i32[32])", *words],
                             cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stderr

    def test_files_are_compiled_as_cpp20_or_later(self):
        recent = "static_assert(__cplusplus >= 202002L);\n__global__ void k(int* a) { a[threadIdx.x] = 1; }\n"
        for flag in ("-std=c++17", "--std=gnu++14", "-std=c++03", "-ansi"):
            self.assertEqual(self.checked(recent, "--cxxflags", flag + " -Wall"),
                             f"{flag} is not used: plain CUDA is compiled as C++20 or later\n")
        newer = "static_assert(__cplusplus > 202002L);\n" + recent
        self.assertEqual(self.checked(newer, "--cxxflags", "-std=c++23"), "")
        self.assertEqual(self.checked(recent, "--cxxflags", "-std=c++20"), "")

    def test_what_cpp20_deprecates_is_no_message(self):
        self.assertEqual(self.checked("__global__ void k(int* a) {\n  volatile int x = 1;\n  x += 1;\n  a[threadIdx.x] = x;\n}\n"), "")

    def test_a_file_without_a_kernel_is_not_launched(self):
        said = self.refused("int main() {}\n", 2, "--launch", "k<<<1, 1>>>(n: 1)")
        self.assertIn("--launch: the file has no kernel", said)

    def tessera(self, code, *words):
        run = subprocess.run([cases.options.build / "bin/tessera", *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run

    def test_what_cannot_be_checked_is_said_at_its_place_with_what_was_found(self):
        (self.folder / "ptx.cu").write_text(UNKNOWN_PTX)
        found = json.loads(self.tessera(1, "check", "ptx.cu", "-D", "PAST=100", "--json").stdout)
        self.assertEqual([each["kind"] for each in found["findings"]], ["runtime-misuse"])
        self.assertIn("ptx.cu:4: inline PTX 'frob.s32 %0' is not supported", found["summary"]["incomplete"])
        self.assertIn("ptx.cu:4:3: error: could not check", self.tessera(4, "check", "ptx.cu", "-D", "PAST=4", "--format", "gcc").stdout)
        run = self.tessera(4, "cuda-run", "ptx.cu", "-D", "PAST=4")
        self.assertRegex(run.stderr, r"^kernel unknown, .*ptx\.cu:4: inline PTX 'frob\.s32 %0' is not supported\n$")

    def test_a_copy_past_the_stack_is_found(self):
        (self.folder / "past.cu").write_text(PAST_THE_STACK)
        found = json.loads(self.tessera(1, "check", "past.cu", "--json").stdout)
        said = "cudaMemcpy: 65536 bytes, and the target, memory of the host, has "
        self.assertEqual([(each["kind"], each["location"]["line"]) for each in found["findings"]], [("runtime-misuse", 4)])
        self.assertIn(said, found["findings"][0]["problem"])

    def test_a_compiler_that_writes_nothing(self):
        (self.folder / "empty.cu").write_text("int main() {}\n")
        run = subprocess.run([cases.options.build / "bin/tessera", "check", "empty.cu"], cwd=self.folder, capture_output=True, text=True,
                             timeout=60, env={**os.environ, "CXX": "true"})
        self.assertEqual((run.returncode, run.stdout), (4, ""), run.stderr)
        self.assertIn("the compiler has written no program: expected GCC 12 or newer", run.stderr)

    def test_a_file_that_does_not_compile_is_annotated(self):
        (self.folder / "broken.cu").write_text("__global__ void set(int* x) {\n  *x = y;\n}\nint main() {}\n")
        said = "broken.cu does not compile: 'y' was not declared in this scope"
        out = self.tessera(4, "check", "broken.cu", "--format", "github", "--junit", "broken.xml").stdout
        self.assertIn("::error file=broken.cu,line=2,col=8,", out)
        self.assertIn(said, out)
        self.assertIn(said, (self.folder / "broken.xml").read_text())
        self.assertEqual(self.tessera(4, "check", "broken.cu", "--json").stdout, "")


if __name__ == "__main__":
    cases.main()
