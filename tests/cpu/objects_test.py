#!/usr/bin/env python3
"""Code for one instruction set stays in its object: no object of kernels/<isa>.cpp shares a function with others.

The linker keeps one of several shared (weak) functions. Were it the one of a wider instruction set, a narrower CPU would die
of it. Functions of a file's own vector types are local; a debug build, which inlines nothing, shares others.
"""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


def shared_functions(file):
    symbols = subprocess.run(["nm", "-C", "--defined-only", str(file)], capture_output=True, text=True, check=True).stdout
    return [line for line in symbols.splitlines() if line[17:18] in "WT"]


class Objects(unittest.TestCase):
    def test_kernels_of_an_instruction_set_share_no_function(self):
        cache = (cases.options.build / "CMakeCache.txt").read_text(encoding="utf-8")
        if "CMAKE_BUILD_TYPE:STRING=Release\n" not in cache:
            self.skipTest("not a release build: shared functions of the kernels are NOT looked for")
        files = sorted((cases.options.build / "src/cpu/CMakeFiles/tessera_cpu.dir").glob("kernels/*.cpp.o"))
        self.assertGreater(len(files), 3)
        for file in files:
            with self.subTest(file.name):
                self.assertEqual(shared_functions(file), [])

    def test_a_shared_function_would_be_seen(self):
        files = (cases.options.build / "src/cpu/CMakeFiles/tessera_cpu.dir").glob("gemm.cpp.o")
        self.assertNotEqual([shared_functions(file) for file in files], [[]])


if __name__ == "__main__":
    cases.main()
