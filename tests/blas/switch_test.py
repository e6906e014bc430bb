#!/usr/bin/env python3
"""tessera-blas: switches a libblas.so.3 over and back. On alternatives of our own: nothing of the system is changed."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import libraries
from libraries import cases

SCRIPT = libraries.BUILD / "bin/tessera-blas"
OURS = libraries.REPLACEMENT / "libblas.so.3"
PRODUCT = """
import numpy as np
x = np.ones((3, 4), dtype=np.float32)
print((x @ x.T.copy())[0, 0], np.dot(x[0], x[1]))
"""


class Switch(libraries.BlasTest):
    def setUp(self):
        super().setUp()
        if shutil.which("update-alternatives") is None:
            self.skipTest("switching is NOT tested: this system has no update-alternatives")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        # A copy, as it is installed: what was there before is noted beside the library.
        (self.folder / "bin").mkdir()
        shutil.copy(SCRIPT, self.folder / "bin")
        self.libraries = self.folder / "lib"
        text = (self.folder / "bin/tessera-blas").read_text()
        start = text.index('for folder in "$here/') + len('for folder in "$here/')
        self.libraries = (self.folder / "bin" / text[start:text.index('"', start)]).resolve()
        (self.libraries / "tessera-blas").mkdir(parents=True)
        shutil.copy(OURS, self.libraries / "tessera-blas")
        shutil.copy(libraries.LIBRARY, self.libraries / "libtessera_blas.so")
        self.ours = self.libraries / "tessera-blas/libblas.so.3"
        for name in ("alternatives", "admin", "usr"):
            (self.folder / name).mkdir()
        self.command = f"update-alternatives --altdir {self.folder}/alternatives --admindir {self.folder}/admin --log /dev/null"
        self.link = self.folder / "usr/libblas.so.3"
        triplet = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
        self.name = f"libblas.so.3-{triplet}"

    def alternatives(self, *options):
        subprocess.run([*self.command.split(), *map(str, options)], check=True, capture_output=True)

    def tessera_blas(self, *arguments, status=0):
        return self.run_in(None, [self.folder / "bin/tessera-blas", *arguments], status=status,
                           UPDATE_ALTERNATIVES=self.command, TESSERA_BLAS_LINK=self.link)

    def provide(self):
        """Two other BLAS libraries with Debian's priorities; the better one is in use."""
        folder = libraries.reference()
        if folder is None:
            self.skipTest("switching is NOT tested: install libblas3")
        real = (folder / "libblas.so.3").resolve()
        self.plain, self.fast = self.folder / "plain.so.3", self.folder / "fast.so.3"
        for path, priority in ((self.plain, 10), (self.fast, 100)):
            shutil.copy(real, path)
            self.alternatives("--install", self.link, self.name, path, priority)
        self.assertEqual(self.link.resolve(), self.fast)

    def test_on_and_off_again(self):
        self.provide()
        out, _ = self.tessera_blas("register")
        self.assertEqual(self.link.resolve(), self.fast, "registering must not take over: " + out)
        self.tessera_blas("on")
        self.assertEqual(self.link.resolve(), self.ours)
        self.assertIn("on: ", self.tessera_blas("status")[0])
        self.assertIn(str(self.fast), self.tessera_blas("on")[0])  # twice is once
        self.tessera_blas("off")
        self.assertEqual(self.link.resolve(), self.fast)
        self.assertIn("off: ", self.tessera_blas("status")[0])
        self.assertIn("Status: auto", subprocess.run([*self.command.split(), "--query", self.name], capture_output=True, text=True).stdout)

    def test_a_choice_made_by_hand_comes_back(self):
        self.provide()
        self.alternatives("--set", self.name, self.plain)
        self.tessera_blas("on")
        self.assertEqual(self.link.resolve(), self.ours)
        self.tessera_blas("unregister")
        self.assertEqual(self.link.resolve(), self.plain)
        self.assertFalse(os.path.lexists(self.ours.parent / "before.so.3"))

    def test_programs_follow_and_the_rest_goes_to_what_was_there_before(self):
        run = subprocess.run([libraries.PYTHON, "-c", "import numpy"], capture_output=True)
        if run.returncode != 0:
            self.skipTest("switching NumPy is NOT tested: install python3-numpy")
        self.provide()
        program = PRODUCT + "\nprint([line.split()[-1] for line in open('/proc/self/maps') if '.so.3' in line])"
        for state, reported, loaded in (("on", 1, self.fast), ("off", 0, self.fast)):
            self.tessera_blas(state)
            out, said = self.run_in(None, [libraries.PYTHON, "-c", program], LD_LIBRARY_PATH=self.link.parent, TESSERA_VERBOSE=1)
            self.assertTrue(out.startswith("4.0 4.0\n"), out)
            self.assertEqual(said.count("tessera: cblas_sgemm "), reported)
            self.assertIn(str(loaded), out)
            self.assertEqual(str(self.ours) in out, state == "on")

    def test_where_there_is_no_blas_it_says_so(self):
        self.assertEqual(self.tessera_blas("status")[0], f"tessera-blas: off: {self.link} is not there\n")
        self.assertEqual(self.tessera_blas("off")[0], f"tessera-blas: {self.link} is no alternative\n")

    def test_alone_it_cannot_be_switched_off(self):
        self.tessera_blas("on")
        _, said = self.tessera_blas("off", status=1)
        self.assertEqual(said, "tessera-blas: there is no other BLAS to go back to\n")
        self.tessera_blas("unregister")
        self.assertFalse(self.link.exists())

    def test_run_changes_one_command_only(self):
        out, said = self.tessera_blas("run", libraries.PYTHON, "-c", "import os; print(os.environ['LD_PRELOAD'])")
        self.assertEqual(out, f"{self.libraries}/libtessera_blas.so\n")
        self.assertEqual(said, "")
        self.tessera_blas("run", "false", status=1)

    def test_wrong_usage_says_what_is_right(self):
        for arguments in ((), ("uninstall",), ("run",)):
            out, said = self.tessera_blas(*arguments, status=2)
            self.assertEqual(out, "")
            self.assertEqual(said.count("\n"), 1)
        self.assertIn("tessera-blas on", self.tessera_blas("--help")[0])


if __name__ == "__main__":
    cases.main()
