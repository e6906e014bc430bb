#!/usr/bin/env python3
"""tessera-blas: switches libblas.so.3 and libblas.so over and back. On alternatives of our own: nothing of the system is changed."""
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
        (self.libraries / "tessera-blas/libblas.so").symlink_to("libblas.so.3")
        shutil.copy(libraries.LIBRARY, self.libraries / "libtessera_blas.so")
        self.ours = self.libraries / "tessera-blas/libblas.so.3"
        for name in ("alternatives", "admin", "usr"):
            (self.folder / name).mkdir()
        self.command = f"update-alternatives --altdir {self.folder}/alternatives --admindir {self.folder}/admin --log /dev/null"
        self.link = self.folder / "usr/libblas.so.3"
        triplet = subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()
        self.name = f"libblas.so.3-{triplet}"
        self.linked = self.folder / "usr/libblas.so"
        self.linked_name = f"libblas.so-{triplet}"

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

    def provide_for_developers(self):
        """Two packages for developers; the better one brings more along."""
        self.header, self.archive = self.folder / "usr/cblas.h", self.folder / "usr/libblas.a"
        for package, priority in (("plain", 10), ("fast", 100)):
            folder = self.folder / f"{package} dev"
            folder.mkdir()
            (folder / "cblas.h").write_text("void cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int, "
                                            "double, double*, int);\n")
            (folder / "libblas.so").symlink_to(self.folder / f"{package}.so.3")
            along = ["--slave", self.header, "cblas.h", folder / "cblas.h"]
            if package == "fast":
                (folder / "libblas.a").touch()
                along += ["--slave", self.archive, "libblas.a", folder / "libblas.a"]
            self.alternatives("--install", self.linked, self.linked_name, folder / "libblas.so", priority, *along)

    def developers(self):
        """Where the library, the header and the archive for developers come from."""
        def place(link):
            return os.readlink(os.readlink(link)) if os.path.lexists(link) else None
        return [place(link) for link in (self.linked, self.header, self.archive)]

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

    def test_the_link_for_developers_goes_along_and_its_header_stays(self):
        self.provide()
        self.provide_for_developers()
        ours = str(self.ours.parent / "libblas.so")
        fast, plain = ([str(self.folder / package / file) for file in ("libblas.so", "cblas.h", "libblas.a")]
                       for package in ("fast dev", "plain dev"))
        plain[2] = None
        for chosen in (fast, plain):
            self.alternatives("--set", self.linked_name, chosen[0])
            self.tessera_blas("register")
            self.assertEqual(self.developers(), chosen, "registering must not take over")
            for _ in range(2):  # twice is once
                out, _ = self.tessera_blas("on")
                self.assertEqual(self.developers(), [ours, *chosen[1:]])
                self.assertEqual(out, f"tessera-blas: {self.link} is Tessera's; it forwards to {self.fast}\n"
                                      f"tessera-blas: {self.linked} is Tessera's; it forwards to {chosen[0]}\n")
                self.assertEqual(self.tessera_blas("status")[0].count("tessera-blas: on: "), 2)
            for back in ("off", "unregister"):
                self.tessera_blas("on")
                self.assertEqual(self.tessera_blas(back)[0].count("\n"), 2)
                self.assertEqual((self.link.resolve(), self.developers()), (self.fast, chosen))
                self.assertEqual(self.tessera_blas("status")[0].count("tessera-blas: off: "), 2)
        self.assertEqual(sorted(f.name for f in self.ours.parent.iterdir()), ["libblas.so", "libblas.so.3"])
        for name in (self.name, self.linked_name):
            listed = subprocess.run([*self.command.split(), "--list", name], capture_output=True, text=True).stdout
            self.assertNotIn(str(self.ours.parent), listed)

    def test_without_a_package_for_developers_there_is_no_link_for_them(self):
        self.provide()
        for state in ("register", "on", "status", "off", "unregister"):
            self.assertEqual(self.tessera_blas(state)[0].count("\n"), 1)
            self.assertFalse(os.path.lexists(self.linked))

    def test_when_the_last_package_for_developers_goes_so_does_their_link(self):
        self.provide()
        self.provide_for_developers()
        self.tessera_blas("on")
        for package in ("plain", "fast"):
            self.alternatives("--remove", self.linked_name, self.folder / f"{package} dev/libblas.so")
        self.assertTrue(os.path.lexists(self.linked))
        self.tessera_blas("off")
        self.assertEqual(self.link.resolve(), self.fast)
        self.assertFalse(os.path.lexists(self.linked))

    def test_a_program_is_linked_to_it_as_to_any_blas(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            self.skipTest("linking is NOT tested: no C compiler")
        self.provide()
        self.provide_for_developers()
        self.tessera_blas("on")
        source, program = self.folder / "program.c", self.folder / "program"
        source.write_text("#include <stdio.h>\n#include <cblas.h>\n#include <tessera/blas.h>\n"
                          "int main(void) { double a = 3, c; cblas_dgemm(101, 111, 111, 1, 1, 1, 1, &a, 1, &a, 1, 0, &c, 1);\n"
                          'printf("%g %d\\n", c, tessera_get_num_threads() > 0); return 0; }\n')
        subprocess.run([compiler, source, "-I", self.linked.parent, "-I", cases.ROOT / "include", "-L", self.linked.parent, "-lblas",
                        "-o", program], check=True)
        self.assertEqual(self.run_in(None, [program], LD_LIBRARY_PATH=self.link.parent)[0], "9 1\n")

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

    def test_a_choice_before_it_that_is_gone_is_reported(self):
        self.provide()
        self.provide_for_developers()
        self.tessera_blas("on")
        gone = f"it forwards to {self.fast}, which is gone: "
        self.assertNotIn("gone", self.tessera_blas("status")[0])
        self.alternatives("--remove", self.name, self.fast)
        self.fast.unlink()
        linked = self.folder / "fast dev/libblas.so"
        self.alternatives("--remove", self.linked_name, linked)
        linked.unlink()
        for state in ("status", "on"):
            first, second = self.tessera_blas(state)[0].splitlines()
            self.assertIn(gone + "what is no product goes to another BLAS that is loaded or installed; "
                          "'tessera-blas off' takes the best one that is left", first)
            self.assertTrue(second.endswith(f"it forwards to {linked}, which is gone; 'tessera-blas off' takes the best one that is left"), second)
        self.alternatives("--remove", self.name, self.plain)
        self.alternatives("--remove", self.linked_name, self.folder / "plain dev/libblas.so")
        self.plain.unlink()
        first, second = self.tessera_blas("status")[0].splitlines()
        for line in first, second:
            self.assertTrue(line.endswith("; no other is left for 'tessera-blas off': install one (Debian: libopenblas0)"), line)

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

    def test_run_from_a_path_that_cannot_be_preloaded_does_not_run_without_us(self):
        for name in ("with space", "with:colon"):
            folder = self.folder / name
            shutil.copytree(self.folder / "bin", folder / "bin")
            shutil.copytree(self.libraries, folder / self.libraries.relative_to(self.folder), symlinks=True)
            out, said = self.run_in(None, [folder / "bin/tessera-blas", "run", "echo", "ran"], status=4)
            self.assertEqual(out, "")
            self.assertRegex(said, rf"\Atessera-blas: run: LD_PRELOAD takes no path with a space or a colon, such as '{folder}/.*'.*\n\Z")

    def test_functions_that_would_be_missing_are_named(self):
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None or shutil.which("nm") is None:
            self.skipTest("missing functions are NOT tested: no C compiler or no nm")
        self.provide()
        for state in ("on", "status"):
            self.assertEqual(self.tessera_blas(state)[1], "")
        self.tessera_blas("off")
        def more(path, names):
            source = self.folder / "more.c"
            source.write_text("".join(f"void {name}(void) {{}}\n" for name in names))
            subprocess.run([compiler, "-shared", "-fPIC", source, "-o", path], check=True)
        newer = self.folder / "newer.so.3"
        more(newer, ("dgemmtr_", "ddot_", "dnew_", "cblas_dnew", "dgetrf_", "inner_kernel"))
        self.alternatives("--install", self.link, self.name, newer, 200)
        for state in ("on", "status"):
            _, said = self.tessera_blas(state)
            self.assertEqual(said, f"tessera-blas: warning: {newer} has 3 that Tessera's library neither has nor passes on; programs that "
                                   "call one do not run with it, only after 'tessera-blas off': cblas_dnew dgetrf_ dnew_\n")
        more(self.folder / "usr/liblapack.so.3", ("dgetrf_",))
        self.assertRegex(self.tessera_blas("status")[1], r" has 2 .*: cblas_dnew dnew_\n\Z")
        self.tessera_blas("off")
        self.assertEqual(self.tessera_blas("status")[1], "")
        more(newer, [f"d{number}_" for number in range(10, 40)])
        self.assertRegex(self.tessera_blas("on")[1], r" has 30 .*: d10_ .* d29_ \.\.\.\n\Z")

    def test_wrong_usage_says_what_is_right(self):
        for arguments in ((), ("uninstall",), ("run",)):
            out, said = self.tessera_blas(*arguments, status=2)
            self.assertEqual(out, "")
            self.assertEqual(said.count("\n"), 1)
        self.assertIn("tessera-blas on", self.tessera_blas("--help")[0])


if __name__ == "__main__":
    cases.main()
