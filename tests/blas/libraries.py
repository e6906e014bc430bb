"""Where the BLAS under test is, how it gets into a program, and what must be there to test it with. Shared by the tests here."""
import glob
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

BUILD = cases.options.build.resolve()
LIBRARY = BUILD / "libtessera_blas.so"
REPLACEMENT = BUILD / "tessera-blas"  # holds a libblas.so.3
PYTHON = "/usr/bin/python3"  # whose NumPy asks for libblas.so.3


def reference():
    """The folder of the reference BLAS, with libblas.so.3 and, where libblas-test is installed, the testers; or None."""
    found = glob.glob("/usr/lib/*/blas/libblas.so.3")
    return pathlib.Path(found[0]).parent if found else None


def sanitized():
    cache = (BUILD / "CMakeCache.txt").read_text()
    return "-fsanitize" in re.search(r"^CMAKE_CXX_FLAGS:\w+=(.*)$", cache, re.M)[1]


def environment(route, **more):
    """The environment in which a program gets our functions: route is "preloaded", "replaced" or None for as it is."""
    env = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "LD_LIBRARY_PATH", "TESSERA_VERBOSE")}
    if route == "preloaded":
        env["LD_PRELOAD"] = str(LIBRARY)
    elif route == "replaced":
        env["LD_LIBRARY_PATH"] = str(REPLACEMENT)
    return {**env, **{name: str(value) for name, value in more.items()}}


ROUTES = ("preloaded", "replaced")


class BlasTest(unittest.TestCase):
    """Skips, loudly, where the library was built with a sanitizer: other programs cannot load it then."""

    def setUp(self):
        if sanitized():
            self.skipTest("NOT tested with a sanitizer: other programs cannot load such a library")

    def need(self, module):
        run = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, text=True)
        if run.returncode != 0:
            self.skipTest(f"NOT tested: no {module} for {PYTHON}")

    def run_in(self, route, command, timeout=120, status=0, **more):
        """Runs a command that must end with `status`; its stdout and stderr."""
        done = subprocess.run([str(part) for part in command], env=environment(route, **more), capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, status, f"{command} ({route})\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout, done.stderr
