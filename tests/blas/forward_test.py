#!/usr/bin/env python3
"""The entry points that pass functions on, for x86-64 and AArch64: any arguments and results pass untouched.

They pass functions on to a BLAS made for this test. For AArch64 all is cross-compiled and runs under qemu.
"""
import os
import pathlib
import platform
import shutil
import subprocess
import unittest

import libraries
from libraries import cases

SOURCES = [cases.ROOT / "src/blas" / name for name in ("forward.cpp", "forward_stubs.cpp", "loaded_objects.cpp")]
HERE = pathlib.Path(__file__).resolve().parent / "forward"
FLAGS = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{cases.ROOT / 'include'}"]


class Forward(unittest.TestCase):
    def check(self, compiler, runner, arch):
        folder = libraries.BUILD / "forward" / arch
        folder.mkdir(parents=True, exist_ok=True)

        def compile_to(name, *arguments):
            done = subprocess.run([compiler, *FLAGS, *map(str, arguments), "-o", str(folder / name)], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)

        compile_to("libother_blas.so", "-shared", "-fPIC", HERE / "other_blas.cpp")
        # As in the real one: symbols may be replaced, and no BLAS of the system is found.
        compile_to("libentries.so", "-shared", "-fPIC", "-fvisibility=hidden", '-DTESSERA_BLAS_SYSTEM_FOLDER="/nowhere"', *SOURCES)
        compile_to("caller", HERE / "caller.cpp", "-L", folder, "-lentries", f"-Wl,-rpath,{folder}")

        def run(*arguments, **more):
            env = libraries.environment(None, **more)
            if runner:  # qemu: the environment of the program alone
                command = [*runner, *(part for name in more for part in ("-E", f"{name}={more[name]}")), str(folder / "caller"), *arguments]
            else:
                command = [str(folder / "caller"), *arguments]
            return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **env})

        done = run(TESSERA_BLAS_FALLBACK=str(folder / "libother_blas.so"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0 wrong\n0 wrong\n", ""))
        if runner:
            # No other BLAS is found: a name that none has ends the program as the dynamic linker would.
            done = run("missing", TESSERA_BLAS_FALLBACK=str(folder / "libother_blas.so"))
            self.assertEqual(done.returncode, 127)
            self.assertRegex(done.stderr, r"\Atessera: no BLAS for 'dscal_': .*; now TESSERA_BLAS_FALLBACK='.*' has no 'dscal_'\n\Z")

    def test_native(self):
        if platform.machine() not in ("x86_64", "aarch64"):
            self.skipTest("no entry points for this machine")
        self.check(cases.options.compiler if shutil.which(cases.options.compiler) else "g++", [], platform.machine())

    def test_aarch64(self):
        missing = [package for tool, package in (("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"), ("qemu-aarch64", "qemu-user"))
                   if shutil.which(tool) is None]
        if missing:
            self.skipTest(f"the entry points for AArch64 are NOT tested: install {' '.join(missing)}")
        self.check("aarch64-linux-gnu-g++", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"], "aarch64-qemu")


if __name__ == "__main__":
    cases.main()
