#!/usr/bin/env python3
"""Programs in plain CUDA of several files, and programs that end before their first kernel."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

KERNEL = "__global__ void one(int* x) { x[threadIdx.x] = 1; }\n"
LAUNCH = """  int* x;
  cudaMalloc(&x, 32 * sizeof *x);
  one<<<1, 32>>>(x);
  cudaFree(x);
"""

ENDLESS = """__global__ void k(volatile int* x) {
  while (*x == 0) {
  }
}
int main() {
  int* x;
  cudaMalloc(&x, sizeof *x);
  cudaMemset(x, 0, sizeof *x);
  k<<<1, 32>>>(x);
  return cudaDeviceSynchronize();
}
"""
UNSET = """__global__ void k(volatile int* flag, volatile int* ticket) {
  if (blockIdx.x == 0) {
    *ticket = 1;
    *flag = 1;
  } else {
    while (*flag == 0 || *ticket == 0) {
    }
  }
}
int main() {
  int* x;
  cudaMalloc(&x, 2 * sizeof *x);
  cudaMemset(x + 1, 0, sizeof *x);
  k<<<2, 1>>>(x, x + 1);
  return cudaFree(x);
}
"""
DEEP = """__device__ int sum(int n) {
  volatile int kept[1000];
  kept[n % 1000] = n;
  return n == 0 ? kept[0] : sum(n - 1) + kept[n % 1000];
}
__global__ void k(int* x) { x[0] = sum(1 << 20); }
int main() {
  int* x;
  cudaMalloc(&x, sizeof *x);
  k<<<1, 1>>>(x);
  return cudaFree(x);
}
"""


class Hosts(unittest.TestCase):
    longMessage = True

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def check(self, code, *files, **texts):
        for name, text in texts.items():
            (self.folder / name.replace("_", ".")).write_text(text)
        run = subprocess.run([cases.options.build / "bin/tessera", "check", *files], cwd=self.folder, stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=300)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return run.stdout

    def test_a_file_for_the_hosts_compiler_has_types_of_its_own(self):
        host = "struct uchar4 { unsigned char a; };\nint width() { return sizeof(uchar4); }\n"
        self.check(0, "main.cu", "host.cpp", host_cpp=host,
                   main_cu=f"int width();\n{KERNEL}int main() {{\n{LAUNCH}  return width() == 1 ? 0 : 1;\n}}\n")

    def test_a_cpp_file_may_have_kernels(self):
        self.check(0, "main.cu", "more.cpp", main_cu="void more();\nint main() { more(); }\n",
                   more_cpp=f"{KERNEL}void more() {{\n{LAUNCH}}}\n")

    def test_an_inline_function_of_the_program_is_not_the_run_times(self):
        program = KERNEL + """#include <string>
#include <vector>
std::vector<std::string> words(const char* first, const char* last) { return {std::string(first, last), std::string(last)}; }
int main(int count, char** all) {
  std::string joined;
  for (const auto& each : words(all[0], all[0] + 1)) joined += each + std::string("/") + joined;
""" + LAUNCH + "  return joined.empty() ? 1 : 0;\n}\n"
        self.check(0, "main.cu", "--cxxflags", "-O0", main_cu=program)

    def test_a_program_that_ends_before_its_first_kernel_was_not_checked(self):
        out = self.check(4, "main.cu", main_cu=KERNEL + """#include <cstdio>
int main() {
  int count, number;
  cudaGetDeviceCount(&count);
  if (count < 8 || std::scanf("%d", &number) != 1) return 3;
""" + LAUNCH + "}\n")
        self.assertIn("could not check: the program ended with exit code 3 before it launched a kernel", out)

    def test_a_program_that_does_nothing_was_not_checked(self):
        out = self.check(4, "main.cu", main_cu=KERNEL + "int main(int count, char**) {\n  if (count < 2) exit(0);\n" + LAUNCH + "}\n")
        self.assertIn("could not check: the program ended with exit code 0 before it launched a kernel", out)

    def test_the_time_limit_is_that_of_the_program(self):
        out = self.check(4, "main.cu", "--time-limit", "1", main_cu="""__global__ void look(const int* x) {
  if (x[threadIdx.x] == 1) __trap();
}
int main() {
  int* x;
  cudaMalloc(&x, 128);
  cudaMemset(x, 0, 128);
  look<<<3000000, 32>>>(x);
}
""")
        self.assertRegex(out, r"could not check: time limit of 1 s reached in kernel look, launched at main\.cu:8, after \d+ of its blocks: raise ")

    def test_processes_that_a_program_forks(self):
        head = "#include <sys/wait.h>\n#include <unistd.h>\n" + KERNEL
        for first, child, then, why in (
                ("", LAUNCH, "wait(nullptr);", "a process that the program forks allocates memory of the device at main.cu:"),
                (LAUNCH, "one<<<1, 1>>>(nullptr);", "wait(nullptr);", "a process that the program forks launches one at main.cu:"),
                (LAUNCH, "sleep(100);", "", "a process that the program forks outlives it: only the first process is checked")):
            with self.subTest(why):
                out = self.check(4, "main.cu", main_cu=f"{head}int main() {{\n{first}if (fork() == 0) {{\n{child}return 0; }}\n{then}\n}}\n")
                self.assertIn("could not check: " + why, out)
        self.check(0, "main.cu", main_cu=f"{head}int main() {{\n{LAUNCH}if (fork() == 0) return 3;\nint code;\nwait(&code);\n"
                                         "return WEXITSTATUS(code) != 3;\n}\n")

    def refused(self, code, *files):
        run = subprocess.run([cases.options.build / "bin/tessera", "check", *files], cwd=self.folder, capture_output=True, text=True,
                             timeout=300)
        self.assertEqual((run.returncode, run.stdout), (code, ""), run.stderr)
        return run.stderr

    def test_what_two_files_define_is_named_with_both_places(self):
        (self.folder / "main.cu").write_text(f"int total;\n{KERNEL}int main() {{\n{LAUNCH}}}\n")
        (self.folder / "more.cu").write_text(f"\n\n{KERNEL}int total;\n")
        said = self.refused(4, "main.cu", "more.cu")
        self.assertIn("one(int*) is defined twice, at more.cu:3 and main.cu:2", said)
        self.assertIn("total is defined twice, at more.cu:4 and main.cu:1", said)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertNotIn("tessera-check-", said)

    def test_a_folder_is_no_file(self):
        (self.folder / "kernels.cu").mkdir()
        for files in (("kernels.cu",), ("kernels.cu", "main.cu"), ("main.cu", "kernels.cu")):
            (self.folder / "main.cu").write_text(f"{KERNEL}int main() {{\n{LAUNCH}}}\n")
            self.assertEqual(self.refused(3, *files), "tessera check: kernels.cu is a folder; name a file in it\n")

    def test_findings_name_the_kernel_and_a_file(self):
        (self.folder / ".git").mkdir()
        (self.folder / "kernels").mkdir()
        (self.folder / "kernels/copy.cu").write_text("__global__ void copy(const int* a, int* b, int n) {\n  for (int i = 0; i < n; ++i) b[i] = a[0];\n}\n")
        words = ("kernels/copy.cu", "--launch", "copy<<<(n > 0), 1>>>(a: i32[n + 1], b: i32[n], n)", "--format")
        for shape in (("-n", "3"), ("--sweep",)):
            for form, begin in (("github", "::notice file=kernels/copy.cu,line=1,title=copy%3A never-read::"),
                                ("gcc", "kernels/copy.cu:1: note: a: 1 of ")):
                said = self.check(0, *words, form, *shape)
                self.assertIn(begin, said)
                self.assertNotIn("--launch:", said)
                self.assertNotIn("no kernel ran", said)
                self.assertRegex(said.splitlines()[-1], r"^copy: clean: \d notes? in \d+ blocks?$")
            log = json.loads(self.check(0, *words, "sarif", *shape))
            for each in log["runs"][0]["results"]:
                [location] = each["locations"]
                self.assertEqual(location["physicalLocation"]["artifactLocation"]["uri"], "kernels/copy.cu")
                self.assertEqual(location["logicalLocations"], [{"name": "copy", "kind": "function"}])

    def test_accepted_findings_of_a_kernel_are_listed(self):
        racy = "__global__ void racy(int* x) {\n  if (threadIdx.x % 32 == 0) x[0] = threadIdx.x;\n}\n"
        main = f"{KERNEL}{racy}int main() {{\n{LAUNCH}  cudaMalloc(&x, 4);\n  racy<<<1, 64>>>(x);\n  racy<<<1, 64>>>(x);\n  cudaFree(x);\n}}\n"
        for kernel, code in (("one", 1), ("racy", 0)):
            (self.folder / "known.txt").write_text(f'kernel={kernel} kind=race reason="looked at"\n')
            said = json.loads(self.check(code, "main.cu", "--suppress", "known.txt", "--json", main_cu=main))
            self.assertEqual((said["summary"]["suppressed"], len(said["suppressed"])), (1 - code, 1 - code))

    def test_every_format_names_the_kernel_of_a_finding(self):
        racy = "__global__ void racy(int* x) {\n  if (threadIdx.x % 32 == 0) x[0] = threadIdx.x;\n}\n"
        main = f"{KERNEL}{racy}int main() {{\n{LAUNCH}  cudaMalloc(&x, 128);\n  racy<<<1, 64>>>(x);\n  cudaMemcpy(x, x, 1 << 20, cudaMemcpyDeviceToDevice);\n}}\n"
        for form, of_kernel, of_program in (
                ("text", "first in kernel racy, block (0,0,0)", "error: runtime-misuse, once\n  at "),
                ("gcc", "main.cu:3:35: error: racy: thread ", "error: cudaMemcpy: "),
                ("github", "title=racy%3A race in global memory::", "title=main.cu%3A runtime-misuse::"),
                ("junit", 'name="racy: race of x at ', 'name="main.cu: runtime-misuse at '),
                ("html", "kernel racy, block (0,0,0), thread ", "cudaMemcpy: ")):
            said = self.check(1, "main.cu", "--format", form, main_cu=main)
            self.assertIn(of_kernel, said)
            self.assertIn(of_program, said)
        findings = json.loads(self.check(1, "main.cu", "--json", main_cu=main))["findings"]
        self.assertEqual({each["kind"]: each["kernel"] for each in findings if each["severity"] == "error"},
                         {"race": "racy", "runtime-misuse": None})
        results = json.loads(self.check(1, "main.cu", "--format", "sarif", main_cu=main))["runs"][0]["results"]
        self.assertEqual({each["ruleId"]: each["locations"][0]["logicalLocations"][0]["name"] for each in results if each["level"] == "error"},
                         {"race": "racy", "runtime-misuse": "main.cu"})

    def test_findings_outside_of_kernels_are_suppressed(self):
        main = f"{KERNEL}int main() {{\n{LAUNCH}  cudaMalloc(&x, 128);\n  cudaMemcpy(x, x, 1 << 20, cudaMemcpyDeviceToDevice);\n  return 3;\n}}\n"
        (self.folder / "known.txt").write_text('kind=runtime-misuse file=main.cu reason="looked at"\nkind=program-failed reason="ends so"\n'
                                               'kind=race reason="none"\n')
        said = json.loads(self.check(0, "main.cu", "--suppress", "known.txt", "--json", main_cu=main))
        self.assertEqual((said["findings"], {each["reason"] for each in said["suppressed"]}), ([], {"looked at", "ends so"}))
        self.assertEqual(said["unused_suppressions"], ['known.txt:3: kind=race reason="none"'])

    def test_texts_of_findings_name_files_without_their_folder(self):
        kernels = """__global__ void width(int* x) { x[threadIdx.x] = __shfl_sync(~0u, 1, 3, 5); }
__global__ void parts(int* x) {
  if (threadIdx.x < 40) __syncthreads();
  else { x[threadIdx.x] = 1; __syncthreads(); }
}
"""
        main = f"{kernels}int main() {{\n  int* x;\n  cudaMalloc(&x, 256);\n  width<<<1, 32>>>(x);\n  parts<<<1, 64>>>(x);\n  cudaFree(x);\n}}\n"
        findings = json.loads(self.check(1, str(self.folder / "main.cu"), "--json", main_cu=main))["findings"]
        self.assertEqual({each["kind"] for each in findings}, {"exception", "diverged-barrier"})
        self.assertFalse([each["problem"] for each in findings if str(self.folder) in each["problem"] or "main.cu:" not in each["problem"]])

    def test_an_endless_loop_is_annotated_at_its_line(self):
        out = self.check(4, "endless.cu", "--time-limit", "1", "--format", "gcc", endless_cu=ENDLESS)
        self.assertRegex(out, r"(?m)^endless\.cu:2:\d+: error: could not check: thread .* \[incomplete\]$")

    def test_an_unset_volatile_is_told_from_a_missing_fence(self):
        out = self.check(1, "unset.cu", unset_cu=UNSET)
        self.assertIn("reads it at unset.cu:6: nothing orders the two\n", out)
        self.assertIn("its memory has no value before the launch", out)

    def test_a_page_says_why_it_is_incomplete(self):
        text = "__global__ void k() { asm(\"frob;\"); }\nint main() { k<<<1, 1>>>(); }\n"
        self.assertIn("inline PTX 'frob' is not supported.</p>", self.check(4, "ptx.cu", "--format", "html", ptx_cu=text))

    def test_deep_recursion_has_a_hint_for_cuda(self):
        self.assertIn("no deep recursion [stack-overflow]\n", self.check(1, "deep.cu", "--format", "gcc", deep_cu=DEEP))


if __name__ == "__main__":
    cases.main()
