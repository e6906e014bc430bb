#!/usr/bin/env python3
"""The NEON kernels: the packed path is cross-compiled for AArch64 and run under qemu, against scalar chains.

Exit status 77 where the cross compiler or qemu is missing, with the names of their Debian packages.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

TOOLS = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user"}
FLAGS = ["-O2", "-std=c++20", "-static", "-ffp-contract=off", "-pthread", "-Wall", "-Wextra"]


class Neon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        root = cases.ROOT
        sources = [*sorted((root / "src/cpu").rglob("*.cpp")), *(root / "src/core" / f"{n}.cpp" for n in ("cpu", "parallel", "team", "worker_thread")),
                   root / "src/base/cgroup.cpp", root / "tests/cpu/neon_main.cpp"]
        folder = cases.options.build / "neon"
        folder.mkdir(parents=True, exist_ok=True)
        cls.program = folder / "packed_path"
        compiled = subprocess.run(["aarch64-linux-gnu-g++", *FLAGS, f"-I{root}/include", f"-I{root}/src", f"-I{root}/src/cpu", *map(str, sources),
                                   "-o", str(cls.program)], capture_output=True, text=True)
        cls.said = compiled.stdout + compiled.stderr
        cls.compiled = compiled.returncode == 0

    def run_path(self, path):
        self.assertTrue(self.compiled, self.said)
        done = subprocess.run(["qemu-aarch64", str(self.program), path], capture_output=True, text=True, timeout=300,
                              env={**os.environ, "TESSERA_CPU": path})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout, f"{path}: 0 elements differ\n")

    def test_compiles_without_warnings(self):
        self.assertTrue(self.compiled, self.said)
        self.assertEqual(self.said, "")

    def test_neon_kernels_have_the_bits_of_the_chain(self):
        self.run_path("neon")

    def test_portable_kernels_have_the_bits_of_the_chain(self):
        self.run_path("portable")


if __name__ == "__main__":
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        print(f"SKIPPED: the NEON kernels are NOT tested: install {' '.join(missing)}")
        sys.exit(77)
    cases.main()
