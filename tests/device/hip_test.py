#!/usr/bin/env python3
"""The HIP engine on a runtime that only keeps books: what it is given, and what becomes of its errors. No AMD GPU is needed."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = cases.options.build / "bin" / "any_device"


def tools():
    return all(shutil.which(f"{name}-14") or shutil.which(name) for name in ("clang++", "ld.lld"))


class Hip(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.folder / "libamdhip64.so", HERE / "fake_hip.c"], check=True, timeout=60)

    def run_on(self, device, **environment):
        return subprocess.run([PROGRAM, device], capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, "LD_LIBRARY_PATH": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"), **environment})

    @unittest.skipUnless(tools(), "kernels for AMD GPUs are NOT tested: needs clang-14 and lld-14")
    def test_a_kernel_is_compiled_and_started_with_its_arguments(self):
        first = self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a")
        self.assertEqual((first.returncode, first.stdout), (0, "11 22 33 44 on hip:0\n"), first.stderr)
        self.assertIn("code is ELF: 1\n", first.stderr)
        self.assertRegex(first.stderr, r"function tessera_[0-9a-f]{16}\n")
        self.assertIn("grid 1,1,1 block 256,1,1 shared 0 extent 4\n", first.stderr)
        kept = self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a", PATH="/usr/bin:/bin")
        self.assertEqual(kept.stdout, first.stdout, kept.stderr)
        for kind, code, says in (("full", 1, "out of memory"), ("other", 4, "takes no code for gfx90a"), ("lost", 1, "hipStreamSynchronize")):
            with self.subTest(kind):
                failed = self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a", FAKE=kind)
                self.assertEqual(failed.returncode, code, failed.stderr)
                self.assertIn(says, failed.stderr)

    @unittest.skipUnless(tools(), "the cache of kernels is NOT tested: needs clang-14 and lld-14")
    def test_a_kept_kernel_that_is_damaged_is_compiled_again(self):
        def result(**environment):
            done = self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a", XDG_CACHE_HOME=str(self.folder / "damaged"), **environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("code is ELF: 1\n", done.stderr)
            return done.stdout

        whole = result()
        (file,) = (self.folder / "damaged/tessera/gpu").iterdir()
        good = file.read_bytes()
        flip = [bytes([*good[:at], good[at] ^ 1, *good[at + 1:]]) for at in (20, len(good) // 2, len(good) - 1)]
        for number, damaged in enumerate([b"", good[:-1], good + b"x", *flip]):
            with self.subTest(number):
                file.write_bytes(damaged)
                self.assertEqual(result(), whole)
                self.assertEqual(file.read_bytes(), good)
        file.unlink()
        os.mkfifo(file)
        self.assertEqual(result(), whole)
        file.unlink()
        file.mkdir()
        self.assertEqual(result(), whole)
        self.assertEqual(list(file.parent.iterdir()), [file])
        for nowhere in ("/proc/nowhere", "/etc/passwd"):
            self.assertEqual(self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a", XDG_CACHE_HOME=nowhere).stdout, whole)

    def test_a_cancelled_compilation_leaves_nothing(self):
        clang, started, scratch = self.folder / "clang", self.folder / "started", self.folder / "scratch"
        clang.write_text(f"#!/bin/sh\n: > {started}\nexec sleep 60\n")
        clang.chmod(0o755)
        scratch.mkdir()
        for number in (signal.SIGTERM, signal.SIGKILL):
            started.unlink(missing_ok=True)
            process = subprocess.Popen([PROGRAM, "hip:0"], start_new_session=True,
                                       env={**os.environ, "LD_LIBRARY_PATH": str(self.folder), "TESSERA_AMD_TARGET": "gfx90a", "TMPDIR": str(scratch),
                                            "TESSERA_CLANG": str(clang), "XDG_CACHE_HOME": str(scratch)})
            end = time.monotonic() + 60
            while not started.exists() and time.monotonic() < end:
                time.sleep(0.01)
            os.killpg(process.pid, number)
            self.assertEqual(process.wait(60), -number)
            self.assertEqual(list(scratch.iterdir()), [])

    def test_what_is_missing_is_named(self):
        self.assertIn("hip:3: there is no such device", self.run_on("hip:3").stderr)
        for clang in ("/nowhere/clang", "/etc/passwd", "/bin/true", "/bin/false"):
            failed = self.run_on("hip:0", TESSERA_AMD_TARGET="gfx90a", TESSERA_CLANG=clang, XDG_CACHE_HOME=str(self.folder / "other"))
            self.assertEqual(failed.returncode, 4)
            self.assertRegex(failed.stderr, f"kernel add: no code for hip:0: .*any_device.cpp: {clang} could not compile it; "
                             f"{clang} (did not run|made nothing)\n$")
            self.assertFalse((self.folder / "other").exists())
        without = self.run_on("hip:0", TESSERA_AMD_TARGET="")
        self.assertEqual(without.returncode, 4)
        self.assertIn("it was not built for AMD GPUs", without.stderr)
        nowhere = self.run_on("hip:0", LD_LIBRARY_PATH="/nowhere")
        self.assertEqual(nowhere.returncode, 4)
        self.assertIn("no HIP device", nowhere.stderr)


if __name__ == "__main__":
    cases.main()
