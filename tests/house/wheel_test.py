#!/usr/bin/env python3
"""The Python package as it is installed: module, command, library, headers and course in a folder that needs nothing else.

The build is laid out as the wheel is, and moved. `scripts/wheel` runs the same cases with the Python that TESSERA_WHEEL_PYTHON
names, into which it has installed the wheel itself.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

WHEEL_PYTHON = os.environ.get("TESSERA_WHEEL_PYTHON")
# What every Linux with glibc has, as manylinux counts it; what a plain build takes from the system beside it.
EVERYWHERE = re.compile(r"(lib(c|m|dl|pthread|rt|z|stdc\+\+|gcc_s)|ld-linux-.*)\.so\.\d+")
OF_THE_SYSTEM = re.compile(r"lib(fmt|boost_context)\.so\..*")


ZIG = """#!/bin/bash
printf '%%s\\n' "$@" >> '%s'
PATH=/usr/bin:/bin
shift
words=()
for each; do
  case $each in -nostd* | -fno-sanitize=*) ;; *) words+=("$each") ;; esac
done
exec c++ "${words[@]}"
"""


def dynamic_section(file):
    """(libraries needed, folders to look in) of an ELF file."""
    said = subprocess.run(["readelf", "-dW", file], capture_output=True, text=True, check=True).stdout
    found = re.findall(r"\((NEEDED|RPATH|RUNPATH)\).*\[(.*)\]", said)
    return ([value for kind, value in found if kind == "NEEDED"],
            [part for kind, value in found if kind != "NEEDED" for part in value.split(":") if part])


def elf_files(folder):
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            with file.open("rb") as opened:
                if opened.read(4) == b"\x7fELF":
                    yield file


@unittest.skipUnless(WHEEL_PYTHON or list((cases.options.build / "python/tessera").glob("_core*.so")),
                     "the Python module is not part of this build")
class InstalledPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "LD_LIBRARY_PATH")}
        cls.python = WHEEL_PYTHON or "/usr/bin/python3"
        if WHEEL_PYTHON is None:
            subprocess.run(["cmake", "--install", cases.options.build, "--component", "python", "--prefix", cls.folder / "first"],
                           capture_output=True, check=True)
            shutil.copytree(cases.ROOT / "python/tessera", cls.folder / "first/tessera", dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("__pycache__"))
            shutil.move(cls.folder / "first", cls.folder / "site")
            cls.env["PYTHONPATH"] = str(cls.folder / "site")
        cls.package = pathlib.Path(cls.run_python("-c", "import tessera; print(tessera.__file__)").strip()).parent

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    @classmethod
    def run_python(cls, *words, status=0, **env):
        done = subprocess.run([cls.python, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              cwd=cls.folder, env=cls.env | env)
        if done.returncode != status:
            raise AssertionError(f"{words} ended with {done.returncode}, not {status}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_it_is_the_installed_one(self):
        self.assertNotIn(cases.options.build, self.package.parents)
        for name in ("py.typed", "_core.pyi", "include/tessera/check/file.hpp", "bin/tessera"):
            self.assertTrue((self.package / name).exists(), name)

    def test_it_multiplies(self):
        self.assertEqual(self.run_python("-c", "import numpy as np, tessera; print(tessera.matmul(np.eye(2), np.full((2, 1), 7.0)))"),
                         "[[7.]\n [7.]]\n")

    def test_show_config_says_what_it_is(self):
        said = self.run_python("-c", "import tessera; tessera.show_config()")
        self.assertRegex(said, r"^tessera \d+\.\d+\.\d+\ncompiler: ")
        self.assertIn("\nCUDA: ", said)

    def test_the_command_is_in_it(self):
        self.assertIn("Processor", self.run_python("-m", "tessera", "doctor"))
        self.assertIn("clean: no findings", self.run_python("-m", "tessera", "check", "tiled"))
        self.assertIn("Tiles as layouts", self.run_python("-m", "tessera", "puzzle", "list"))

    def test_a_kernel_of_a_file_is_compiled_with_its_headers_and_its_library(self):
        shutil.copy(cases.ROOT / "tests/support/racy_kernel.cpp", self.folder)
        self.assertIn("race", self.run_python("-m", "tessera", "check", "racy_kernel.cpp", status=1))

    def test_a_kernel_in_plain_cuda_is_checked(self):
        (self.folder / "twice.py").write_text("import numpy as np, tessera\n"
            "said = tessera.check_cuda('__global__ void twice(int* x) { x[threadIdx.x] *= 2; }', 'twice<<<1, 3>>>(x)', {'x': np.arange(3)"
            ".astype('i4')})\nprint(said.is_clean, said.arrays['x'])\n")
        self.assertEqual(self.run_python("twice.py"), "True [0 2 4]\n")

    def test_on_a_machine_without_a_compiler_that_of_ziglang_solves_a_puzzle(self):
        zig, said = self.package.with_name("ziglang") / "zig", self.folder / "zig_said"
        is_real = zig.exists()
        if not is_real:  # one that only notes its words, and has the system's compiler do the work
            zig.parent.mkdir()
            zig.write_text(ZIG % said)
            zig.chmod(0o755)
        if WHEEL_PYTHON is None:  # only the wheel carries the headers
            (self.package / "libstdc++").mkdir()
        nothing = self.folder / "nothing"
        nothing.mkdir()
        env = {"PATH": str(nothing), "CXX": "", "XDG_STATE_HOME": str(self.folder / "state")}
        self.assertIn("Puzzle 1 complete", self.run_python("-m", "tessera", "puzzle", "run", "p01", "--solution", **env))
        if is_real:
            return
        words = said.read_text().splitlines()
        self.assertEqual(words[:4], ["c++", "-fno-sanitize=undefined", "-nostdinc++", "-nostdlib++"])
        self.assertEqual(words[4:6], [f"-I{self.package / 'libstdc++'}", f"-I{self.package / 'libstdc++/target'}"])
        self.assertRegex(" ".join(words), r"/libstdc\+\+\.so")
        shutil.rmtree(zig.parent)
        with self.assertRaisesRegex(AssertionError, r"cannot be started.*'pip install ziglang'"):
            self.run_python("-m", "tessera", "puzzle", "run", "p01", "--solution", **env)

    def test_it_needs_what_every_system_has(self):
        carried = {file.name: file for folder in (self.package, self.package.with_name("tessera.libs"))
                   for file in elf_files(folder)}
        self.assertGreaterEqual(set(carried), {"tessera", next(self.package.glob("_core*.so")).name})
        for name, file in carried.items():
            needed, folders = dynamic_section(file)
            for each in needed:
                known = EVERYWHERE.fullmatch(each) or each in carried or (WHEEL_PYTHON is None and OF_THE_SYSTEM.fullmatch(each))
                self.assertTrue(known, f"{name} needs {each}")
            for each in folders:
                self.assertTrue(each.startswith("$ORIGIN"), f"{name} looks for libraries in {each}")


if __name__ == "__main__":
    cases.main()
