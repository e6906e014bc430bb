#!/usr/bin/env python3
"""The library as a file: what it exports, needs and does when it is loaded; what it says; how it is linked to.

Over 400 lines: every case loads one library into its own process, by the same few helpers.
"""
import ctypes.util
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import libraries
from libraries import cases

FILES = (libraries.LIBRARY, libraries.REPLACEMENT / "libblas.so.3")

PROGRAM = r"""
#include <stdio.h>
#include <tessera/blas.h>
double cblas_ddot(int, const double*, int, const double*, int);
float sdot_(const int*, const float*, const int*, const float*, const int*);
void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*, int);

int main(void) {
  const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  double c[4], d[8];
  cblas_dgemm(101, 111, 111, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
  cblas_dgemm_batch_strided(101, 111, 111, 2, 2, 2, 1, a, 2, 0, b, 2, 0, 0, d, 2, 4, 2);
  const int n = 2, one = 1;
  const float x[2] = {1, 2};
  printf("%g %g %g %g, %g, %g, %g\n", c[0], c[1], c[2], c[3], d[4], cblas_ddot(4, a, 1, b, 1), (double)sdot_(&n, x, &one, x, &one));
  fflush(stdout);
  cblas_dgemm(101, 111, 111, 2, 2, 2, 1, a, 1, b, 2, 0, c, 2);
  return tessera_get_num_threads() < 1;
}
"""


def tool(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True).stdout


class Library(libraries.BlasTest):
    def test_it_exports_the_names_of_a_blas_and_nothing_else(self):
        forwarded = re.findall(r"^TESSERA_(FORTRAN|C)\((\w+)\)$", (cases.ROOT / "src/blas/forwarded.inc").read_text(), re.M)
        self.assertGreater(len(forwarded), 600)
        self.assertEqual(len(set(forwarded)), len(forwarded))
        forms = {"FORTRAN": ("{}_", "{}_64_"), "C": ("cblas_{}", "cblas_{}_64", "cblas_{}64_")}
        expected = {form.format(stem) for kind, stem in forwarded for form in forms[kind]}
        expected |= {form.format(x + stem) for x in "sdcz" for stem in ("gemmt", "gemmtr") for kind in forms for form in forms[kind]}
        expected |= {form.format(stem) for stem in ("sbgemm", "shgemm", "gemm_bf16bf16f32", "gemm_f16f16f32", "gemm_s8u8s32")
                     for kind in forms for form in forms[kind]}
        for stem in [x + name for x in "sdcz" for name in ("syrk", "trsm", "trmm")] + ["cherk", "zherk"]:
            own = {form.format(stem) for kind in forms for form in forms[kind]}
            expected |= own | {f"scipy_{name}" for name in own if name != f"cblas_{stem}_64"}
        expected |= {"xerbla_", "xerbla_64_", "cblas_xerbla", "cblas_xerbla_64", "RowMajorStrg", "CBLAS_CallFromC",
                     "tessera_fallback_complained"}
        expected |= {f"tessera_{name}" for name in ("set_num_threads", "set_num_threads_local", "get_num_threads", "get_config",
                                                    "get_corename")}
        for x in "sdcz":
            for form in ("", "_batch", "_batch_strided"):
                expected |= {f"{x}gemm{form}_", f"{x}gemm{form}_64_", f"cblas_{x}gemm{form}", f"cblas_{x}gemm{form}_64",
                             f"cblas_{x}gemm{form}64_"}
            expected |= {f"{x}laswp_", f"{x}laswp_64_"}
            expected |= {f"scipy_{x}gemm_", f"scipy_{x}gemm_64_", f"scipy_cblas_{x}gemm", f"scipy_cblas_{x}gemm64_"}
        for file in FILES:
            found = {line.split()[-1] for line in tool("nm", "-D", "--defined-only", file).splitlines()}
            self.assertEqual(found, expected)

    def test_it_has_every_name_of_the_reference_blas(self):
        folder = libraries.reference()
        if folder is None:
            self.skipTest("names are NOT compared with the reference BLAS: install libblas3")
        def names(file):
            return {line.split()[-1] for line in tool("nm", "-D", "--defined-only", file).splitlines()}
        self.assertEqual(names(folder / "libblas.so.3") - names(FILES[1]), set())

    def test_functions_with_64_bit_integers_go_to_a_blas_that_has_them(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            self.skipTest("names with 64-bit integers are NOT tested: no C compiler")
        # As the reference BLAS and OpenBLAS spell them, and as Debian builds both: under the plain names. There cblas_ddot calls
        # what it calls by name, which must be its own ddotsub_, not ours.
        kinds = {"libreference.so": ("ddot_64_", "cblas_ddot_64", "ddotsub_64_"), "libsuffix.so": ("ddot_64_", "cblas_ddot64_", "ddotsub_64_"),
                 "libblas64.so.3": ("ddot_", "cblas_ddot", "ddotsub_")}
        lines = """
long = ctypes.c_int64
n, one, x = long(1 << 33 | 2), long(1), (ctypes.c_double * 2)(3, 4)
for function in blas.ddot_64_, blas.cblas_ddot_64, blas.cblas_ddot64_: function.restype = ctypes.c_double
print(blas.ddot_64_(ctypes.byref(n), x, ctypes.byref(one), x, ctypes.byref(one)), blas.cblas_ddot_64(n, x, one, x, one), blas.cblas_ddot64_(n, x, one, x, one))
"""
        plain = """
blas.cblas_ddot.restype = ctypes.c_double
x = (ctypes.c_double * 2)(3, 4)
print(blas.cblas_ddot(2, x, 1, x, 1))
"""
        with tempfile.TemporaryDirectory() as scratch:
            for file, (fortran, c, inner) in kinds.items():
                source, library = pathlib.Path(scratch, "other.c"), pathlib.Path(scratch, file)
                source.write_text(f"""
void {inner}(const long* n, const double* x, const long* i, const double* y, const long* j, double* out) {{
  *out = *n == (1L << 33 | 2) ? x[0] * y[0] + x[*i] * y[*j] : -1; }}
double {fortran}(const long* n, const double* x, const long* i, const double* y, const long* j) {{
  double out; {inner}(n, x, i, y, j, &out); return out; }}
double {c}(long n, const double* x, long i, const double* y, long j) {{ double out; {inner}(&n, x, &i, y, &j, &out); return out; }}
""")
                tool(compiler, "-shared", "-fPIC", f"-Wl,-soname,{file}", source, "-o", library)
                out, said = self.call(lines, TESSERA_BLAS_FALLBACK=library, LD_PRELOAD=libraries.LIBRARY)
                self.assertEqual((out, said), ("25.0 25.0 25.0\n", ""), file)
                # Nobody has the other names there.
                _, said = self.call("blas.cblas_daxpy_64(0, 0)", status=127, TESSERA_BLAS_FALLBACK=library, LD_LIBRARY_PATH="/nowhere")
                self.assertRegex(said, r"\Atessera: no BLAS for 'cblas_daxpy_64': .* Install one with 64-bit integers \(Debian: libopenblas64-0\) or ")
            # The plain names of the one that Debian builds are not those of a program with 32-bit integers.
            if libraries.reference() is not None:
                out, said = self.call(plain, TESSERA_BLAS_FALLBACK=library)
                self.assertEqual(out, "25.0\n")
                self.assertIn("its integers have 64 bits; going on with", said)

    def test_a_name_that_no_blas_has_is_that_of_the_library_of_a_program(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            self.skipTest("names of others are NOT tested: no C compiler")
        with tempfile.TemporaryDirectory() as scratch:
            source, other = pathlib.Path(scratch, "other.c"), pathlib.Path(scratch, "libother.so")
            source.write_text("void dsctr_(int* x) { *x = 7; }\nvoid call(int* x) { dsctr_(x); }\n")
            tool(compiler, "-shared", "-fPIC", source, "-o", other)
            out, said = self.call(f"x = ctypes.c_int(0)\nctypes.CDLL({str(other)!r}).call(ctypes.byref(x))\nprint(x.value)",
                                  LD_PRELOAD=libraries.LIBRARY)
            self.assertEqual((out, said), ("7\n", ""))

    def test_xerbla_is_weak_and_called_through_the_symbol_table(self):
        for file in FILES:
            self.assertRegex(tool("nm", "-D", file), r" W xerbla_\n")
            self.assertRegex(tool("readelf", "-rW", file), r"JU?MP_SLOT? .* xerbla_ ")

    def test_it_needs_the_c_library_only_and_stays_loaded(self):
        for file, soname in zip(FILES, ("libtessera_blas.so.0", "libblas.so.3")):
            text = tool("readelf", "-dW", file)
            needed = set(re.findall(r"NEEDED.*\[(.*?)\]", text))
            self.assertLessEqual({name.split(".so")[0] for name in needed}, {"libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"})
            self.assertIn(f"[{soname}]", text)
            self.assertIn("NODELETE", text)
            self.assertNotIn("TEXTREL", text)
            stack = re.search(r"GNU_STACK.*", tool("readelf", "-lW", file))[0]
            self.assertNotIn("RWE", stack)

    def test_a_c_program_links_to_it_alone(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            self.skipTest("linking is NOT tested: no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "program.c"), pathlib.Path(folder, "program")
            source.write_text(PROGRAM)
            tool(compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", cases.ROOT / "include", source, "-o", program,
                 "-L", libraries.BUILD, "-ltessera_blas")
            out, said = self.run_in(None, [program], LD_LIBRARY_PATH=libraries.BUILD)
        self.assertEqual(out, "19 22 43 50, 19, 70, 5\n")
        self.assertEqual(said, "tessera: cblas_dgemm: argument 9 (lda) is 1, expected at least 2\n")

    def call(self, lines, status=0, **more):
        """Runs lines of Python with the library as `blas`."""
        program = f"import ctypes\nblas = ctypes.CDLL({str(libraries.LIBRARY)!r})\n" + lines
        return self.run_in(None, [libraries.PYTHON, "-c", program], status=status, **more)

    def test_a_triangle_has_the_same_bits_for_every_instruction_set(self):
        lines = """
import hashlib
for real, x in ((ctypes.c_float, "s"), (ctypes.c_double, "d"), (ctypes.c_float, "c"), (ctypes.c_double, "z")):
    n, parts = 70, 2 if x in "cz" else 1
    a = (real * (n * n * parts))(*((i * 37 % 101 - 50) / 900 + 3 * (i // parts % (n + 1) == 0 and i % parts == 0) for i in range(n * n * parts)))
    b = (real * (n * n * parts))(*((i * 53 % 97 - 48) / 31 for i in range(n * n * parts)))
    one = (real * 2)(1, 0) if parts == 2 else real(1)
    for stem in ("trsm", "trmm"): getattr(blas, f"cblas_{x}{stem}")(102, 141, 122, 112, 131, n, n, one, a, n, b, n)
    print(hashlib.sha256(bytes(b)).hexdigest())
"""
        expected, _ = self.call(lines)
        for path in ("portable", "avx2", "neon"):
            with self.subTest(path):
                out, said = self.call(lines, TESSERA_CPU=path, TESSERA_NUM_THREADS=1)
                if "TESSERA_CPU" not in said:  # this machine has it
                    self.assertEqual(out, expected)

    def test_verbose_prints_one_line_for_each_call(self):
        lines = """
d = ctypes.c_double
a, c = (d * 4)(1, 2, 3, 4), (d * 4)()
blas.cblas_dgemm(101, 111, 112, 2, 2, 2, d(1), a, 2, a, 2, d(0.5), c, 2)
one = (d * 2)(1, 0)
blas.cblas_zgemm(102, 113, 111, 1, 1, 2, one, a, 2, a, 2, one, c, 1)
blas.cblas_dgemm_batch_strided(101, 111, 111, 1, 1, 1, d(1), a, 1, 1, a, 1, 1, d(0), c, 1, 1, 4)
"""
        _, said = self.call(lines, TESSERA_VERBOSE=1, TESSERA_NUM_THREADS=3)
        def route(name, threads, reason="[a-z ]+"):
            return rf'algorithm=packed route={name} isa=\w+ threads={threads} reason="{reason}" time_us=\d+\.\d\n'
        self.assertRegex(said, r"\Atessera: cblas_dgemm order=row M=2 N=2 K=2 trans=NT alpha=1 beta=0.5 " + route("tiny", 1) +
                         r"tessera: cblas_zgemm order=column M=1 N=1 K=2 trans=CN alpha=1 beta=1 " +
                         route("tiny", 1) +
                         r"tessera: cblas_dgemm_batch_strided order=row M=1 N=1 K=1 trans=NN alpha=1 beta=0 products=4 " +
                         route("tiny", 1, "single-threaded: waking workers would take longer than all products") + r"\Z")
        self.assertEqual(self.call(lines)[1], "")
        for off in ("0", "", "false", "OFF", "no"):
            self.assertEqual(self.call(lines, TESSERA_VERBOSE=off)[1], "")

    def test_arithmetic_is_read_from_the_environment(self):
        lines = """
f = ctypes.c_float
a, b, c = (f * 18)(2**30, 5, *[0] * 6, -2**30, *[0] * 7, 1, 0), (f * 18)(*[1] * 18), (f * 1)()
for _ in range(2):  # the first call reads the environment
    blas.cblas_sgemm(101, 111, 111, 1, 1, 18, f(1), a, 18, b, 1, f(0), c, 1)
    print(c[0])
"""
        self.assertEqual(self.call(lines), ("5.0\n5.0\n", ""))
        self.assertEqual(self.call(lines, TESSERA_ARITHMETIC="lanes"), ("5.0\n5.0\n", ""))
        self.assertEqual(self.call(lines, TESSERA_ARITHMETIC="chain"), ("1.0\n1.0\n", ""))
        out, said = self.call(lines, TESSERA_ARITHMETIC="sums")
        self.assertEqual((out, said), ("5.0\n5.0\n", "tessera: ignoring TESSERA_ARITHMETIC='sums': expected lanes or chain\n"))
        self.assertRegex(self.call(lines, TESSERA_VERBOSE=1)[1], "route=lanes ")

    def test_verbose_prints_one_line_for_each_batch_too(self):
        lines = """
d, ints = ctypes.c_double, lambda *x: (ctypes.c_int * len(x))(*x)
a, c = (d * 64)(), (d * 192)()
pointers = lambda x, n: (ctypes.c_void_p * n)(*[ctypes.addressof(x) + 512 * i for i in range(n)])
def batch(n, sizes, *shapes):
    M, N, K, ld = (ints(*x) for x in zip(*[(m, n, k, 8) for m, n, k in shapes]))
    trans, scalars = ints(*[111] * len(sizes)), (d * len(sizes))(*[1] * len(sizes))
    many = sum(sizes)
    blas.cblas_dgemm_batch(101, trans, trans, M, N, K, scalars, (ctypes.c_void_p * many)(*[ctypes.addressof(a)] * many), ld,
                           (ctypes.c_void_p * many)(*[ctypes.addressof(a)] * many), ld, scalars, pointers(c, many), ld, n, ints(*sizes))
blas.cblas_dgemm_batch(101, *[None] * 13, 0, None)
zero, none, eight = ctypes.byref(ctypes.c_int(0)), None, (8, 8, 8)
blas.dgemm_batch_(*[None] * 13, zero, None)
batch(1, [0], (5, 6, 7))
batch(2, [0, 0], (5, 6, 7), (1, 2, 3))
blas.cblas_dgemm_batch_strided(101, 111, 112, 5, 6, 7, d(1), a, 8, 1, a, 8, 1, d(0), c, 8, 64, 0)
batch(1, [3], (8, 0, 8))
batch(1, [3], (8, 8, 0))
batch(1, [3], eight)
batch(3, [0, 1, 2], (1, 2, 3), eight, (2, 2, 2))
"""
        _, said = self.call(lines, TESSERA_VERBOSE=1, TESSERA_NUM_THREADS=2)
        none = ("nothing", "there are no products")
        expected = [
            ("cblas_dgemm_batch order=row products=0 groups=0", *none),
            ("dgemm_batch_ order=column products=0 groups=0", *none),
            ("cblas_dgemm_batch order=row M=5 N=6 K=7 trans=NN alpha=1 beta=1 products=0", *none),
            ("cblas_dgemm_batch order=row M=5 N=6 K=7 trans=NN alpha=1 beta=1 products=0 groups=2", *none),
            ("cblas_dgemm_batch_strided order=row M=5 N=6 K=7 trans=NT alpha=1 beta=0 products=0", *none),
            ("cblas_dgemm_batch order=row M=8 N=0 K=8 trans=NN alpha=1 beta=1 products=3", "nothing", "C is empty"),
            ("cblas_dgemm_batch order=row M=8 N=8 K=0 trans=NN alpha=1 beta=1 products=3", "scaled", "there is nothing to sum"),
            ("cblas_dgemm_batch order=row M=8 N=8 K=8 trans=NN alpha=1 beta=1 products=3", "tiny",
             "single-threaded: waking workers would take longer than all products"),
            # The first group that has a product.
            ("cblas_dgemm_batch order=row M=8 N=8 K=8 trans=NN alpha=1 beta=1 products=3 groups=3", "tiny",
             "single-threaded: waking workers would take longer than all products")]
        found = re.findall(r'^tessera: (.*) algorithm=packed route=(\w+) isa=\w+ threads=1 reason="(.*)" time_us=\d+\.\d$', said, re.M)
        self.assertEqual(found, expected, said)
        self.assertEqual(said.count("\n"), len(expected))
        self.assertEqual(self.call(lines)[1], "")

    def test_verbose_says_that_memory_was_missing(self):
        lines = """
import resource
d, n, one = ctypes.c_double, 300, (ctypes.c_double * 2)(1, 0)
a, c = (d * (2 * n * n))(), (d * (2 * n * n))()
resource.setrlimit(resource.RLIMIT_AS, (1, 1))
blas.cblas_dgemm(101, 111, 112, n, n, n, d(1), a, n, a, n, d(0), c, n)
blas.cblas_zgemm(101, 111, 112, n, n, n, one, a, n, a, n, one, c, n)
blas.cblas_dgemm(101, 111, 112, 5, 6, 7, d(1), a, n, a, n, d(0), c, n)
"""
        _, said = self.call(lines, TESSERA_VERBOSE=1, TESSERA_NUM_THREADS=2)
        self.assertEqual(re.findall(r" route=(\w+) isa=\w+ threads=(\d+)", said),
                         [("without_memory", "1"), ("without_memory", "1"), ("tiny", "1")], said)

    def test_verbose_says_why_one_thread_works_or_several(self):
        cores = int(self.call("print(blas.tessera_get_num_threads())", TESSERA_NUM_THREADS="", OMP_NUM_THREADS="")[0])
        if cores < 2:
            self.skipTest("sharing is NOT tested: one core")
        start = "d, n, one = ctypes.c_double, 400, (ctypes.c_double * 2)(1, 0)\na, c = (d * (2 * n * n))(), (d * (2 * n * n))()\n"
        parts = "blas.cblas_zgemm(101, 111, 111, {0}, {0}, {0}, one, a, {0}, a, {0}, one, c, {0})"
        batch = "blas.cblas_dgemm_batch_strided(101, 111, 111, 16, 16, {0}, d(1), a, {0}, 0, a, 16, 0, d(0), c, 16, 256, {1})"
        def said(call, threads):
            # The first call of a process: what workers cost is not measured yet.
            _, said = self.call(start + call, TESSERA_VERBOSE=1, TESSERA_NUM_THREADS=threads)
            return re.search(r' threads=(\d+) reason="(.*)"', said).groups()
        self.assertEqual(said(parts.format(400), 1), ("1", "blocks for the caches"))
        self.assertEqual(said(parts.format(4), 2), ("1", "not worth sharing"))
        self.assertEqual(said(parts.format(400), 2), ("2", "blocks for the caches"))
        self.assertEqual(said(batch.format(2000, 1000), 1)[0], "1")
        self.assertEqual(said(batch.format(8, 3), 2), ("1", "single-threaded: waking workers would take longer than all products"))
        self.assertEqual(said(batch.format(2000, 1000), 2), ("2", "whole products are shared out"))
        # No more than there are, of products and of cores.
        self.assertEqual(said(batch.format(15000, 8), 9), (str(min(8, cores)), "whole products are shared out"))
        self.assertEqual(said("blas.cblas_dgemm(101, 111, 111, n, n, n, d(1), a, n, a, n, d(0), c, n)", 4000)[0], str(cores))

    def test_the_fallback_is_chosen_by_the_environment(self):
        folder = libraries.reference()
        if folder is None:
            self.skipTest("the choice of a fallback is NOT tested: install libblas3")
        lines = """
blas.cblas_sdot.restype = ctypes.c_float
x = (ctypes.c_float * 2)(3, 4)
print(blas.cblas_sdot(2, x, 1, x, 1))
print([line.split()[-1] for line in open("/proc/self/maps") if "libblas.so.3" in line][:1])
"""
        out, said = self.call(lines, TESSERA_BLAS_FALLBACK=folder / "libblas.so.3")
        self.assertEqual(out.splitlines()[0], "25.0")
        self.assertIn(str((folder / "libblas.so.3").resolve()), out)
        self.assertEqual(said, "")
        out, said = self.call(lines, TESSERA_BLAS_FALLBACK="/not/there.so")
        self.assertEqual(out.splitlines()[0], "25.0")
        self.assertRegex(said, r"\Atessera: TESSERA_BLAS_FALLBACK='/not/there.so' is of no use: .*No such file.*; "
                               r"going on with '/.*\.so[.0-9]*'\n\Z")
        used = re.search("going on with '(.*)'", said)[1]
        self.assertIn(used, self.call(lines.replace('"libblas.so.3" in line', '".so" in line').replace("[:1]", ""),
                                      TESSERA_BLAS_FALLBACK="/not/there.so")[0])

    def test_a_fallback_that_lacks_a_name_says_so_once_and_where_it_goes_on(self):
        folder = libraries.reference()
        compiler = shutil.which("gcc") or shutil.which("cc")
        if folder is None or compiler is None:
            self.skipTest("a poor fallback is NOT tested: install libblas3 and a C compiler")
        with tempfile.TemporaryDirectory() as scratch:
            source, poor = pathlib.Path(scratch, "poor.c"), pathlib.Path(scratch, "libpoor.so")
            source.write_text("float cblas_sdot(int n, const float* x, int i, const float* y, int j) { return n + x[0] * i + y[0] * j; }\n")
            tool(compiler, "-shared", "-fPIC", source, "-o", poor)
            lines = """
blas.cblas_sdot.restype = blas.cblas_sasum.restype = blas.cblas_snrm2.restype = ctypes.c_float
x = (ctypes.c_float * 2)(3, 4)
print(blas.cblas_sdot(2, x, 1, x, 1), blas.cblas_sasum(2, x, 1), blas.cblas_snrm2(2, x, 1))
"""
            # Preloaded after ours: then the next BLAS is known.
            there = (folder / "libblas.so.3").resolve()
            out, said = self.call(lines, TESSERA_BLAS_FALLBACK=poor, LD_PRELOAD=f"{libraries.LIBRARY}:{there}")
            self.assertEqual(out, "8.0 7.0 5.0\n")
            self.assertEqual(said, f"tessera: TESSERA_BLAS_FALLBACK='{poor}' has no 'cblas_sasum'; going on with '{there}'\n")

    def test_it_does_not_pass_on_to_itself(self):
        # The preloaded copy is the second one of the process. The cblas_sdot of the reference BLAS calls sdotsub_ by name, which
        # is the preloaded copy's.
        folder = libraries.reference()
        preloaded = [str(FILES[1])] + ([f"{FILES[1]}:{(folder / 'libblas.so.3').resolve()}"] if folder else [])
        for other in FILES:
            for first in preloaded:
                out, said = self.call("""
blas.cblas_sdot.restype = ctypes.c_float
x = (ctypes.c_float * 2)(3, 4)
print(blas.cblas_sdot(2, x, 1, x, 1))
""", TESSERA_BLAS_FALLBACK=other, LD_PRELOAD=first)
                self.assertEqual(out, "25.0\n")
                self.assertRegex(said, r"\Atessera: .* is of no use: it is Tessera's; going on with '/[^\n]*'\n\Z")

    def test_a_handler_anywhere_in_the_program_has_the_word_but_not_that_of_another_blas(self):
        illegal = """
n, bad, x = ctypes.c_int(2), ctypes.c_int(-1), (ctypes.c_double * 4)()
def call(): blas.dgemm_(b"N", b"N", ctypes.byref(bad), ctypes.byref(n), ctypes.byref(n), x, x, ctypes.byref(n), x, ctypes.byref(n), x, x, ctypes.byref(n))
"""
        line = "tessera: On entry to DGEMM parameter number 3 had an illegal value\n"
        # Loaded without exporting symbols, as Python's modules and R's library are.
        other = "import glob\nfor file in glob.glob('/usr/lib/*/blas/libblas.so.3') + glob.glob('/usr/lib/*/lapack/liblapack.so.3'): ctypes.CDLL(file)\n"
        self.assertEqual(self.call(other + illegal + "call()")[1], line)
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            self.skipTest("a program's own xerbla_ is NOT tested: no C compiler")
        with tempfile.TemporaryDirectory() as folder:
            source, own = pathlib.Path(folder, "own.c"), pathlib.Path(folder, "libown.so")
            source.write_text('#include <stdio.h>\nvoid xerbla_(const char* name, const int* info, size_t length) '
                              '{ printf("%.*s: %d\\n", (int)length, name, *info); fflush(stdout); }\n')
            tool(compiler, "-shared", "-fPIC", source, "-o", own)
            out, said = self.call(f"ctypes.CDLL({str(own)!r})\n" + other + illegal + "call()")
        self.assertEqual((out, said), ("DGEMM : 3\n", ""))

    def test_an_illegal_argument_of_a_batch_is_said_with_its_group(self):
        for name, integer, bad, expected in (
                ("dgemm_batch_", "int", "lda[1] = 1", "8 of group 2"), ("dgemm_batch_", "int", "size[2] = -1", "15 of group 3"),
                ("dgemm_batch_64_", "int64", "m[0] = -1", "3 of group 1")):
            _, said = self.call(f"""
Int, d, p = ctypes.c_{integer}, ctypes.c_double * 3, ctypes.c_void_p * 3
m, n, k, lda, ldb, ldc, size = ((Int * 3)(2, 2, 2) for _ in range(7))
{bad}
blas.{name}(b"NNN", b"NNN", m, n, k, d(1, 1, 1), p(), lda, p(), ldb, d(0, 0, 0), p(), ldc, ctypes.byref(Int(3)), size)
blas.{name}(b"NNN", b"NNN", m, n, k, d(1, 1, 1), p(), lda, p(), ldb, d(0, 0, 0), p(), ldc, ctypes.byref(Int(-1)), size)
""")
            says = "tessera: On entry to DGEMM_BATCH parameter number {} had an illegal value\n"
            self.assertEqual(said, says.format(f"{expected} (the first is 1)") + says.format(14))

    def test_loading_and_unloading_a_hundred_times(self):
        out, _ = self.call("""
import _ctypes, os, threading
path, d, n = blas._name, ctypes.c_double, 300
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
a = (d * (n * n))(*[1] * (n * n))
c = (d * (n * n))()
def once():
    again = ctypes.CDLL(path)
    again.cblas_dgemm(101, 111, 111, n, n, n, d(1), a, n, a, n, d(0), c, n)
    _ctypes.dlclose(again._handle)
_ctypes.dlclose(blas._handle)
for i in range(20): once()
before, tasks = resident(), len(os.listdir("/proc/self/task"))
for i in range(100): once()
print(c[n * n - 1], resident() - before < 4 << 20, len(os.listdir("/proc/self/task")) == tasks)
""")
        self.assertEqual(out, "300.0 True True\n")

    def test_a_program_may_end_while_a_thread_multiplies(self):
        self.call("""
import threading, time, os
d, n = ctypes.c_double, 1500
a, c = (d * (n * n))(), (d * (n * n))()
def forever():
    while True: blas.cblas_dgemm(101, 111, 111, n, n, n, d(1), a, n, a, n, d(0), c, n)
threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
""", timeout=30)

    def test_pythons_fault_handler_is_told_of_the_fault_of_any_thread(self):
        # One page, 8 rows of C, of one thread: Python's handler restores the one before it and then prints, so that a second
        # thread's fault would end the process in silence.
        lines = """
import faulthandler, mmap
faulthandler.enable()
d, m, n, k = ctypes.c_double, 4096, 64, 800
a, b = (d * (m * k))(), (d * (k * n))()
pages = mmap.mmap(-1, 8 * m * n)
c = (d * (m * n)).from_buffer(pages)
for _ in range(5): blas.cblas_dgemm(101, 111, 111, m, n, k, d(1), a, k, b, n, d(0), c, n)
ctypes.CDLL(None).mprotect(ctypes.c_void_p(ctypes.addressof(c) + 8 * n * FIRST), ctypes.c_size_t(mmap.PAGESIZE), 1)
blas.cblas_dgemm(101, 111, 111, m, n, k, d(1), a, k, b, n, d(0), c, n)
"""
        for first in (1000, 3096) * 4:
            _, said = self.call(lines.replace("FIRST", str(first)), status=-signal.SIGSEGV, TESSERA_NUM_THREADS=2)
            self.assertIn("Fatal Python error: Segmentation fault", said)

    def test_the_conjugate_without_transposition_is_that_of_openblas(self):
        lines = """
d = ctypes.c_double * 8
def numbers(shift): return d(*(((7 * i + shift) % 5) - 2.0 for i in range(8)))
one, two, n, a, b = (ctypes.c_double * 2)(1, 0), ctypes.c_int(2), 2, numbers(0), numbers(3)
for x in (111, 112, 113, 114):
    for y in (111, 112, 113, 114):
        c, f = d(), d()
        blas.cblas_zgemm(102, x, y, n, n, n, one, a, n, b, n, (ctypes.c_double * 2)(), c, n)
        two = ctypes.byref(ctypes.c_int(2))
        blas.zgemm_(b"NTCR"[x - 111:x - 110], b"NTCR"[y - 111:y - 110], two, two, two, one, a, two, b, two, (ctypes.c_double * 2)(), f, two)
        print(x, y, [v + 0.0 for v in c], list(c) == list(f))
"""
        ours = self.call(lines)
        self.assertEqual(ours[1], "")
        self.assertNotIn("False", ours[0])
        theirs = ctypes.util.find_library("openblas")
        if theirs is None:
            self.skipTest("conjugates are NOT compared with OpenBLAS: install libopenblas0")
        self.assertEqual(ours, self.call(f"blas = ctypes.CDLL({theirs!r})\n" + lines))

    def test_bad_numbers_of_threads_are_ignored_with_a_warning(self):
        lines = "print(blas.tessera_get_num_threads())"
        usual = self.call(lines)[0]
        for value in ("0", "-1", "abc", "99999999999"):
            out, said = self.call(lines, TESSERA_NUM_THREADS=value)
            self.assertEqual(out, usual)
            self.assertEqual(said.count("\n"), 1)
            self.assertIn(f"TESSERA_NUM_THREADS='{value}'", said)


if __name__ == "__main__":
    cases.main()
