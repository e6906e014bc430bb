#!/usr/bin/env python3
"""libtessera_c as C, Fortran, Rust and Python's ctypes use it; what it exports; that all declarations agree with tessera.h."""
import ctypes
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
HEADER = (cases.ROOT / "include/tessera/tessera.h").read_text()
FUNCTIONS = set(re.findall(r"^(?:const char\*|tessera_status|int64_t|size_t|void) (tessera_\w+)\(", HEADER, re.M))


def needed(test, program):
    if shutil.which(program) is None:
        test.skipTest(f"NOT TESTED from this language: there is no {program}")


class Bindings(unittest.TestCase):
    def setUp(self):
        self.library = cases.options.build / "libtessera_c.so"
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.program = pathlib.Path(self.folder.name) / "program"

    def run_built(self, *words):
        """Compiles and runs a program, which must be silent and end well."""
        built = subprocess.run(list(map(str, words)), capture_output=True, text=True, cwd=self.folder.name, timeout=300)
        self.assertEqual((built.returncode, built.stderr), (0, ""))
        done = subprocess.run([self.program], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def link(self):
        return [f"-L{cases.options.build}", f"-Wl,-rpath,{cases.options.build}", "-ltessera_c"]

    def test_c(self):
        needed(self, "gcc")
        self.run_built("gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off", f"-I{cases.ROOT / 'include'}",
                       "-o", self.program, HERE / "products.c", *self.link(), "-lm")

    def test_page(self):
        """The program of docs/c.md prints what the page says."""
        needed(self, "gcc")
        page = (cases.ROOT / "docs/c.md").read_text()
        source = pathlib.Path(self.folder.name, "product.c")
        source.write_text(re.search(r"^```c\n(.*?)^```$", page, re.M | re.S)[1])
        subprocess.run(["gcc", "-std=c11", "-Wall", "-Werror", f"-I{cases.ROOT / 'include'}", "-o", self.program, source, *self.link()],
                       check=True)
        done = subprocess.run([self.program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, re.search(r"\./product\n(.*?)^```$", page, re.M | re.S)[1])

    def test_fortran(self):
        needed(self, "gfortran")
        self.run_built("gfortran", "-std=f2008", "-Wall", "-Werror", "-o", self.program, cases.ROOT / "bindings/fortran/tessera.f90",
                       HERE / "products.f90", *self.link())

    def test_rust(self):
        needed(self, "rustc")
        for file in (cases.ROOT / "bindings/rust/tessera.rs", HERE / "products.rs"):
            shutil.copy(file, self.folder.name)
        self.run_built("rustc", "--edition=2021", "-o", self.program, "products.rs", "-L", cases.options.build, "-l", "tessera_c",
                       "-C", f"link-arg=-Wl,-rpath,{cases.options.build}")

    def test_ctypes(self):
        library = ctypes.CDLL(str(self.library))
        library.tessera_error.restype = library.tessera_version.restype = ctypes.c_char_p

        class Matrix(ctypes.Structure):
            _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rows", ctypes.c_int64), ("cols", ctypes.c_int64),
                        ("row_stride", ctypes.c_int64), ("col_stride", ctypes.c_int64)]

        def matrix(values, rows, cols):
            return Matrix(ctypes.addressof(values), 0, rows, cols, cols, 1)

        a, b, c = (ctypes.c_double * 6)(*range(6)), (ctypes.c_double * 6)(*range(6)), (ctypes.c_double * 4)()
        left, right, out = matrix(a, 2, 3), matrix(b, 3, 2), matrix(c, 2, 2)
        self.assertEqual(library.tessera_matmul(ctypes.byref(left), ctypes.byref(right), ctypes.byref(out), None, None), 0)
        self.assertEqual(list(c), [10, 13, 28, 40])
        self.assertEqual(library.tessera_matmul(ctypes.byref(left), ctypes.byref(left), ctypes.byref(out), None, None), 2)
        self.assertIn("A has 3 columns but B has 2 rows", library.tessera_error().decode())
        self.assertRegex(library.tessera_version().decode(), r"^\d+\.\d+\.\d+$")

    def test_exports_what_the_header_declares(self):
        names = subprocess.run(["nm", "-D", "--defined-only", self.library], capture_output=True, text=True, check=True).stdout
        exported = dict(re.findall(r" T (\w+)@@(\w+\.\w+)$", names, re.M))
        self.assertEqual(set(exported), FUNCTIONS)
        self.assertEqual(set(exported.values()), {"TESSERA_0.1"})
        self.assertEqual(re.findall(r" [TDBRVW] (?!tessera_)(\w+)", names), [])
        soname = subprocess.run(["readelf", "-d", self.library], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libtessera_c.so.0]", soname)

    def test_rust_declares_every_function(self):
        rust = (cases.ROOT / "bindings/rust/tessera.rs").read_text()
        self.assertEqual(set(re.findall(r"pub fn (tessera_\w+)", rust)), FUNCTIONS)

    def test_interface_is_that_of_the_release(self):
        """Functions and structures of tessera.h beside interface.abi. After an addition, with abidw --no-show-locs
        --no-corpus-path --no-comp-dir-path of the library that this test builds."""
        for program in ("gcc", "abidiff"):
            needed(self, program)
        declared = re.findall(r"^((const char\*|tessera_status|int64_t|size_t|void) tessera_\w+\([^;]*\));", HEADER, re.M)
        self.assertEqual(len(declared), len(FUNCTIONS))
        bodies = [f"{head} {{ {'' if kind == 'void' else 'return 0;'} }}" for head, kind in declared]
        source, library = pathlib.Path(self.folder.name, "interface.c"), pathlib.Path(self.folder.name, "libtessera_c.so")
        source.write_text("\n".join(["#include <tessera/tessera.h>", *bodies, ""]))
        subprocess.run(["gcc", "-g", "-w", "-shared", "-fPIC", f"-I{cases.ROOT / 'include'}", "-Wl,-soname,libtessera_c.so.0",
                        f"-Wl,--version-script={cases.ROOT / 'src/c_api/exports.map'}", "-o", library, source], check=True)
        done = subprocess.run(["abidiff", HERE / "interface.abi", library], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, "", ""))


if __name__ == "__main__":
    cases.main()
