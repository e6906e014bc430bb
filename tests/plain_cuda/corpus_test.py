#!/usr/bin/env python3
"""scripts/cuda_corpus --run: which programs count as right, and by which criterion."""
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

sys.path.insert(0, str(cases.ROOT / "scripts"))
import corpus_runs  # noqa: E402

KERNELS = """#include <cstdio>
__global__ void count(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void last(int* x) { x[0] = threadIdx.x; }
"""
RUN = """  int *x, y[32] = {};
  cudaMalloc(&x, sizeof y);
  %s<<<1, 32>>>(x);
  cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(x);
"""


def main(body, kernel="count"):
    return KERNELS + "int main(int words, char** word) {\n" + (RUN % kernel if kernel else "") + body + "\n}\n"


PROGRAMS = {
    "says": main('puts(y[31] == 31 ? "PASS" : "FAIL");'),
    "wrong": main('puts(y[31] == 30 ? "PASS" : "FAIL at 31");'),
    "vacuous": main('puts("PASS");', kernel=None),
    "twin": main('printf("last: %d\\n", y[31]);'),
    "order": main('printf("first: %d\\n", y[1]);'),
    "race": main('printf("first: %d\\n", y[0]);', kernel="last"),
    "silent": main('printf("time: %d us\\n", int(clock()));').replace("<cstdio>", "<cstdio>\n#include <ctime>"),
    "crash": main("return 3;"),
    "endless": main("for (volatile int i = 0; i == 0;) {}"),
    "broken": main("undefined();"),
    "sized": main('puts(words > 1 && word[1][0] == \'7\' ? "wrong size" : y[31] == 31 ? "PASS" : "FAIL");'),
}
TWIN = '#include <cstdio>\nint main() { printf("the last element is %d\\n", 31); }\n'


class Corpus(unittest.TestCase):
    longMessage = True

    def test_each_criterion(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for program, text in PROGRAMS.items():
                (folder / f"{program}-cuda").mkdir()
                (folder / f"{program}-cuda/main.cu").write_text(text)
            (folder / "twin-omp").mkdir()
            (folder / "twin-omp/main.cpp").write_text(TWIN)
            (folder / "twin-omp/Makefile").write_text("run:\n\tg++ main.cpp -o main\n\t./main\n")
            (folder / "sized-cuda/Makefile").write_text("run:\n\tnvcc main.cu -o main\n\t./main 9000 100\n")
            command = [cases.ROOT / "scripts/cuda_corpus", folder, "--run", "--tessera", cases.options.build / "bin/tessera", "-o",
                       folder / "table.csv", "--seconds", "8", "--largest", "7"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(folder / "table.csv", newline="", encoding="utf-8") as file:
                rows = {row["program"].removesuffix("-cuda"): row for row in csv.DictReader(file)}
            self.assertEqual({each: row["result"] for each, row in rows.items()},
                             {"says": "right", "wrong": "failed", "vacuous": "unproven", "twin": "right", "order": "right", "race": "unproven",
                              "silent": "right", "crash": "failed", "endless": "time", "broken": "not-compiled", "sized": "right"})
            self.assertEqual({each: [rows[each][column] for column in ("says", "openmp", "order", "memory")]
                              for each in ("says", "vacuous", "twin", "order", "race", "silent")},
                             {"says": ["right", "", "", ""], "vacuous": ["vacuous", "", "vacuous", ""], "twin": ["", "same", "", ""],
                              "order": ["", "", "same", "same"], "race": ["", "", "other", "other"], "silent": ["", "", "", "same"]})
            self.assertEqual(rows["wrong"]["why"], "FAIL at 31")
            self.assertEqual(rows["sized"]["arguments"], "9000 100")  # what it has itself: the smaller ones failed

            # The table's arguments are given again, and a program that has a row keeps it.
            table = (folder / "table.csv").read_text()
            (folder / "given.csv").write_text(table.replace("9000 100", "9001"))
            (folder / "table.csv").write_text("".join(line for line in table.splitlines(True) if not line.startswith("sized")))
            done = subprocess.run([*command, "--resume", "--arguments", folder / "given.csv"], capture_output=True, text=True, timeout=300)
            self.assertEqual(done.stderr, "1 right\n")
            self.assertIn("\nsized-cuda,right,right,,,,", (folder / "table.csv").read_text())
            self.assertIn(",9001,,PASS\n", (folder / "table.csv").read_text())

    def test_what_a_program_says(self):
        def says(text):
            return corpus_runs.verdict(corpus_runs.Done(0, text, 0))[0]

        for text in ("PASS", "Test passed", "Verification: SUCCESS", "checksum 7 (Valid)", "0 mismatches. PASS", "errors: 0, OK",
                     "All results match. Starting benchmarks."):
            self.assertEqual(says(text), "right", text)
        for text in ("PASS\nFAIL", "Mismatch at 3", "number of mismatches: 10", "incorrect result: 3", "error at 5"):
            self.assertEqual(says(text), "wrong", text)
        for text in ("compass 5", "average error rate 0.3", "the checksum is 7", "failures: 0", "token OKAY"):
            self.assertEqual(says(text), "", text)

    def test_what_counts_of_the_output(self):
        same = corpus_runs.same_text
        self.assertTrue(same("sum 1.00000\nkernel time 5 s", "sum 1.00001\nkernel time 6 s"))
        self.assertTrue(same("12 timesteps: 7\n3 GB/s", "12 timesteps: 7\n4 GB/s"))
        for other in ("sum 1.001", "sun 1.00000", "sum 1 2", "sum nan", ""):
            self.assertFalse(same("sum 1.00000", other), other)
        self.assertFalse(same("time 3 s", "time 3 s"))  # no results
        self.assertTrue(corpus_runs.same_numbers("x = 3, y = 0x10", "values 3 0x10\n"))
        self.assertFalse(corpus_runs.same_numbers("done", "done"))

    def test_inputs(self):
        with tempfile.TemporaryDirectory() as name:
            command = [sys.executable, cases.ROOT / "scripts/corpus_inputs.py", name]
            first, again = (subprocess.run(command, capture_output=True, text=True, timeout=60) for _ in range(2))
            self.assertEqual((first.returncode, again.stdout), (0, ""), first.stderr)
            for path in first.stdout.splitlines():
                self.assertGreater(pathlib.Path(path).stat().st_size, 10, path)
            self.assertEqual((pathlib.Path(name) / "urng-sycl/URNG_Input.bmp").read_bytes()[:2], b"BM")

    def test_constants_of_a_copy(self):
        self.assertEqual(corpus_runs.changed("#define N 370 // rows\nint N = 1 << 20, M = N;\nif (N == 5) N = M;\n", "N=16"),
                         "#define N 16 // rows\nint N = 16, M = N;\nif (N == 5) N = M;\n")
        self.assertEqual(corpus_runs.changed("run(1000000, 3)", "1000000, 3->10, 3"), "run(10, 3)")
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name) / "all"
            for folder, text in ("one/src", "#define N 99\n"), ("other", "#define N 99\n"):
                (root / folder).mkdir(parents=True)
                (root / folder / "main.cu").write_text(text)
            copy = corpus_runs.with_constants(root / "one/src", root, ["N=1"], pathlib.Path(name) / "copy")
            self.assertEqual((copy / "main.cu").read_text(), "#define N 1 \n")
            self.assertEqual((copy / "../../other/main.cu").read_text(), "#define N 99\n")
            self.assertEqual((root / "one/src/main.cu").read_text(), "#define N 99\n")
            with self.assertRaisesRegex(corpus_runs.NoConstant, "M=1"):
                corpus_runs.with_constants(root / "one/src", root, ["N=1", "M=1"], pathlib.Path(name) / "another")


if __name__ == "__main__":
    cases.main()
