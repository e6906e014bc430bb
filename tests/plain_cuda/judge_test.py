#!/usr/bin/env python3
"""`tessera judge`: right kernels are accepted, and each trick by which a wrong one could pass is rejected for its reason."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

LAUNCH = ("product<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>"
          "(A: f32[m,k], B: f32[k,n], C: f32[m,n], m, n, k)")
HEAD = "__global__ void product(const float* A, const float* B, float* C, int m, int n, int k) {\n"
PLACE = "  const int row = 8 * blockIdx.y + threadIdx.y, col = 8 * blockIdx.x + threadIdx.x;\n"
SUM = "  float sum = 0;\n  for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];\n"
GUARD = "  if (row >= m || col >= n) return;\n"
RIGHT = HEAD + PLACE + GUARD + SUM + "  C[row * n + col] = sum;\n}\n"

# Why it is rejected, and the kernel.
TRICKS = {
    "zeros": ("all-zero", HEAD + PLACE + GUARD + "  C[row * n + col] = 0;\n}\n"),
    "the input": ("wrong-result", HEAD + PLACE + GUARD + "  C[row * n + col] = k > 0 ? A[row * k + col % k] : 0;\n}\n"),
    "nothing written": ("uninitialized-read", HEAD + "}\n"),
    "a tail left out": ("uninitialized-read", RIGHT.replace("row >= m", "row >= m / 8 * 8")),
    "a write outside": ("out-of-bounds", RIGHT.replace("= sum;", "= sum;\n  if (row == 0 && col == 0) C[m * n] = 1;")),
    "a read behind an input": ("out-of-bounds", HEAD + PLACE + GUARD + "  C[row * n + col] = B[k * n + row * n + col];\n}\n"),
    "what the output held": ("uninitialized-read", RIGHT.replace("float sum = 0", "float sum = C[row * n + col] * 0")),
    "right where n is k": ("wrong-result", RIGHT.replace("B[i * n + col]", "B[min(i * k + col, k * n - 1)]")),
    "zero for NaN": ("wrong-result", RIGHT.replace("= sum;", "= isnan(sum) ? 0 : sum;")),
    "zero for small numbers": ("all-zero", RIGHT.replace("= sum;", "= fabsf(sum) < 1e-12f ? 0 : sum;")),
    "another kernel under its name": ("uninitialized-read", RIGHT + "#define product other\n" + HEAD + "}\n"),
    "a result by the clock": ("wrong-result", RIGHT.replace("= sum;", "= sum + (clock64() & 1);")),
    "reads beyond K, times zero": ("out-of-bounds", RIGHT.replace("i < k;", "i < k + 7;").replace(
        "i * n + col];", "i * n + col] * (i < k);")),
    "half the sum in half precision": ("wrong-result", "#include <cuda_fp16.h>\n" + RIGHT.replace(
        "sum +=", "sum = __half2float(__float2half(sum)) +")),
    "an exit before the report": ("crash", "#include <unistd.h>\nstruct Early { Early() { _exit(0); } } early;\n" + RIGHT),
    "infinity cut": ("wrong-result", RIGHT.replace("= sum;", "= fminf(sum, 3e38f);")),
    "an earlier result": ("wrong-result", "__device__ float kept[1 << 20];\n__device__ int is_kept[1 << 20];\n" + RIGHT.replace(
        "  C[row * n + col] = sum;", "  const int at = row * n + col;\n  if (!is_kept[at]) kept[at] = sum;\n  is_kept[at] = 1;\n"
        "  C[at] = kept[at];")),
    "changed inputs": ("program-failed", RIGHT.replace("= sum;", "= sum;\n  if (row + col == 0) const_cast<float*>(A)[0] = 0;")),
    "sums in half precision": ("wrong-result", "#include <cuda_fp16.h>\n" + RIGHT.replace(
        "= sum;", "= __half2float(__float2half(sum));")),
    "one term left out": ("wrong-result", RIGHT.replace("i < k;", "i < max(k - 1, 1);")),
    "a race": ("race", HEAD + "  __shared__ float s[64];\n  const int t = 8 * threadIdx.y + threadIdx.x;\n" + PLACE + """
  float sum = 0;
  for (int i = 0; i < k; ++i) {
    if (row < m) s[t] = A[row * k + i];
    sum += row < m && col < n ? s[8 * threadIdx.y + (t + 1) % 8] * B[i * n + col] : 0;
  }
  if (row < m && col < n) C[row * n + col] = sum;
}
"""),
}

SOFTMAX = """__global__ void softmax(const float* x, float* y, int n) {
  float top = -INFINITY, sum = 0;
  for (int i = 0; i < n; ++i) top = isnan(x[blockIdx.x * n + i]) ? NAN : fmaxf(top, x[blockIdx.x * n + i]);
  for (int i = 0; i < n; ++i) sum += expf(x[blockIdx.x * n + i] - top);
  for (int i = 0; i < n; ++i) y[blockIdx.x * n + i] = expf(x[blockIdx.x * n + i] - top) / sum;
}
"""
REFERENCE = """import numpy as np
def reference(x):
    top = np.exp(x - np.max(x, axis=1, keepdims=True, initial=-np.inf))
    return top / np.sum(top, axis=1, keepdims=True)
"""


class Judge(unittest.TestCase):
    def judge(self, kernel, *words, launch=LAUNCH, reference="naive", first=""):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "kernel.cu"
            source.write_text(kernel)
            if "\n" in reference:
                script = pathlib.Path(folder) / "reference.py"
                script.write_text(reference)
                reference = script
            path = os.pathsep.join(filter(None, [str(first), os.path.dirname(sys.executable), os.environ["PATH"]]))
            return subprocess.run([cases.options.build / "bin/tessera", "judge", source, "--launch", launch, "--reference", reference,
                                   "-m", "24", "-n", "16", "-k", "16", "--tile", "8x8x8", "--json", *words], capture_output=True,
                                  text=True, timeout=300, env={**os.environ, "PATH": path})

    def test_a_right_kernel_is_accepted(self):
        for kernel, launch in [(RIGHT, LAUNCH), (RIGHT.replace("float*", "double*").replace("float sum", "double sum"),
                                                 LAUNCH.replace("f32", "f64"))]:
            run = self.judge(kernel, launch=launch)
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            said = json.loads(run.stdout)
            self.assertTrue(said["accepted"])
            self.assertEqual((said["judged"], said["reasons"]), (said["cases"], []))
            self.assertGreater(said["cases"], 40)
            self.assertGreater(said["compared_elements"], 10000)

    def test_tricks_are_rejected(self):
        for name, (kind, kernel) in cases.thinned(TRICKS.items(), 3, kind=lambda trick: trick[1][0]):
            with self.subTest(name):
                run = self.judge(kernel)
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                said = json.loads(run.stdout)
                self.assertFalse(said["accepted"])
                self.assertIn(kind, [each["kind"] for each in said["reasons"]])

    def test_a_warning_is_a_remark(self):
        barriers = RIGHT.replace(GUARD, "  if (threadIdx.y < 4) __syncthreads(); else __syncthreads();\n" + GUARD)
        run = self.judge(barriers)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual({each["kind"] for each in said["remarks"]}, {"diverged-barrier"})
        self.assertEqual(said["reasons"], [])

    def test_a_script_is_the_reference(self):
        launch = "softmax<<<m, 1>>>(x: f32[m,n], y: f32[m,n], n)"
        run = self.judge(SOFTMAX, launch=launch, reference=REFERENCE)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        run = self.judge(SOFTMAX.replace(" - top) / sum", ") / sum"), launch=launch, reference=REFERENCE)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertEqual(json.loads(run.stdout)["reasons"][0]["kind"], "wrong-result")

    def test_inputs_and_outputs_as_public_kernels_take_them(self):
        kernel = RIGHT.replace("const float*", "float*").replace(", int m", ", float beta, int m").replace(
            "= sum;", "= sum + beta * C[row * n + col];")
        launch = LAUNCH.replace("f32[m,k]", "const f32[m,k]").replace("f32[k,n]", "const f32[k,n]").replace(
            "C: f32[m,n]", "C: f32[m,n] = zeros, beta: 0.0f")
        run = self.judge(kernel, launch=launch)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        run = self.judge(kernel.replace("= sum", "= A[row * k] = sum"), launch=launch)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        run = self.judge(kernel.replace("sum + beta", "(k > 4 ? 2 : 1) * sum + beta"), launch=launch)
        self.assertEqual(json.loads(run.stdout)["reasons"][0]["kind"], "wrong-result", run.stderr)

    def test_what_cannot_be_judged(self):
        launch = "softmax<<<m, 1>>>(x: f32[m,n], y: f32[m,n], n)"
        for code, text, reference in [(3, "there is no file", "nothing.py"), (2, "is no product", "naive"),
                                      (4, "defines no function reference", "a = 1\n"),
                                      (2, "has another shape", "def reference(x):\n    return x[:, :1]\n"),
                                      (2, "returns nothing for y", "def reference(x):\n    return {'z': x}\n"),
                                      (4, "raises ZeroDivisionError: integer division or modulo by zero, in line 2, with k=16 m=24 n=16",
                                       "def reference(x):\n    return 1 // 0\n"),
                                      (4, "raises ModuleNotFoundError: No module named 'no_such'", "import numpy as np\nimport no_such\n")]:
            with self.subTest(text):
                run = self.judge(SOFTMAX, launch=launch, reference=reference)
                self.assertEqual((run.returncode, run.stdout), (code, ""), run.stdout + run.stderr)
                self.assertIn(text, run.stderr)
                self.assertNotIn("Traceback", run.stderr)

    def test_the_time_limit_ends_the_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            number = pathlib.Path(folder) / "number"
            reference = ("import os, time\ndef reference(x):\n"
                         f"    open({str(number)!r}, 'w').write(str(os.getpid()))\n    time.sleep(250)\n")
            run = self.judge(SOFTMAX, "--time-limit", "5", launch="softmax<<<m, 1>>>(x: f32[m,n], y: f32[m,n], n)", reference=reference)
            self.assertEqual(run.returncode, 4, run.stdout + run.stderr)
            said = json.loads(run.stdout)
            self.assertFalse(said["accepted"])
            self.assertEqual((said["judged"], said["compared_elements"], said["reasons"]), (0, 0, []))
            self.assertIn("reference.py was still running at the time limit of 5 s: raise --time-limit", said["incomplete"])
            with self.assertRaises(ProcessLookupError):
                os.kill(int(number.read_text()), 0)

    def test_a_python_without_numpy_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            python = pathlib.Path(folder) / "python3"
            python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')  # without installed packages
            python.chmod(0o755)
            run = self.judge(SOFTMAX, launch="softmax<<<m, 1>>>(x: f32[m,n], y: f32[m,n], n)", reference=REFERENCE, first=folder)
        self.assertEqual((run.returncode, run.stdout), (4, ""), run.stderr)
        self.assertIn("a reference needs NumPy", run.stderr)
        self.assertNotIn("Traceback", run.stderr)

    def test_a_reference_may_have_no_answer_where_there_are_no_elements(self):
        launch = "softmax<<<m, 1>>>(x: f32[m,n], y: f32[m,n], n)"
        reference = REFERENCE.replace(", initial=-np.inf", "")
        run = self.judge(SOFTMAX, launch=launch, reference=reference)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        said = json.loads(run.stdout)
        self.assertTrue(said["accepted"])
        self.assertGreater(said["not_compared_cases"], 0)
        self.assertIn("ValueError: zero-size array", said["why_not_compared"])
        run = self.judge(SOFTMAX, launch="softmax<<<24, 1>>>(x: f32[24,0], y: f32[24,0], 0)", reference=reference)
        self.assertEqual(run.returncode, 4, run.stdout + run.stderr)  # nothing was compared
        self.assertFalse(json.loads(run.stdout)["accepted"])

    def test_only_extents_of_the_launch_are_varied(self):
        kernel = "__global__ void twice(const float* x, float* y, int n) {\n  if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x];\n}\n"
        run = self.judge(kernel, launch="twice<<<1, n>>>(x: f32[n], y: f32[n], n)", reference="def reference(x):\n    return 2 * x\n")
        said = json.loads(run.stdout)  # a block of 1021 threads is the largest
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertLess(said["cases"], 16)


if __name__ == "__main__":
    cases.main()
