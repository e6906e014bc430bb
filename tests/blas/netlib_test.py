#!/usr/bin/env python3
"""The testers of the reference BLAS and CBLAS (Debian package libblas-test) over our library.

Each routine must have its PASSED line: a tester that finds only NaN says SUSPECT and ends with 0. Our matrix products run with
the default data and with harder ones; everything else runs through the forwarding entry points.
"""
import pathlib
import re
import subprocess
import tempfile

import libraries
from libraries import cases

LETTERS = "sdcz"
OURS = ("gemm", "syrk", "herk", "trsm", "trmm")


def data_file(testers, name):
    return (testers / name).read_text()


def harder(text, cblas):
    """The default data with sizes around our tiles, negative factors, and the other routines switched off."""
    lines = text.splitlines()
    complex_ = "(0.0," in text
    sizes = "1 7 17 31 33 65" if cblas else "0 1 7 17 31 33 65"
    values = {"N": sizes, "ALPHA": "(0.0,0.0) (-1.0,0.0) (0.7,-0.9)" if complex_ else "0.0 -1.0 0.7",
              "BETA": "(0.0,0.0) (1.0,0.0) (-1.3,1.1)" if complex_ else "0.0 1.0 -1.3"}
    for i, line in enumerate(lines):
        for name, value in values.items():
            if re.search(rf"NUMBER OF VALUES OF {name}$", line.strip()):
                lines[i] = f"{len(value.split())} NUMBER OF VALUES OF {name}"
            elif re.search(rf"VALUES OF {name}$", line.strip()) and "NUMBER" not in line:
                lines[i] = f"{value} VALUES OF {name}"
        if re.match(r"(cblas_)?\w+\s+T ", line) and not any(name in line.lower() for name in OURS):
            lines[i] = line.replace(" T ", " F ", 1)
    return "\n".join(lines) + "\n"


class Netlib(libraries.BlasTest):
    def setUp(self):
        super().setUp()
        self.testers = libraries.reference()
        if self.testers is None or not (self.testers / "xblat3s").exists():
            self.skipTest("the netlib testers do NOT run: install libblas-test")

    def run_tester(self, program, data, route, **more):
        """Everything that a tester says: on its output, and in the summary file that some write."""
        more = {"TESSERA_BLAS_FALLBACK": self.testers / "libblas.so.3"} | more
        if route == "preloaded":
            more["LD_LIBRARY_PATH"] = self.testers
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([self.testers / program], input=data, env=libraries.environment(route, **more), cwd=folder,
                                  capture_output=True, text=True, timeout=300)
            text = done.stdout + "".join(file.read_text() for file in pathlib.Path(folder).glob("*.out"))
        self.assertEqual(done.returncode, 0, f"{program}: {text[-2000:]}{done.stderr[-2000:]}")
        for bad in ("SUSPECT", "FATAL", "FAIL", "*****"):
            self.assertNotIn(bad, text, f"{program} ({route})")
        return text, done.stderr

    def demand(self, text, data, cblas):
        routines = re.findall(r"^((?:cblas_)?\w+)\s+T ", data, re.M)
        self.assertTrue(routines)
        # In level 2 of the complex CBLAS the testers leave out the order, and call gerc geru once.
        self.assertEqual(text.count("PASSED THE TESTS OF ERROR-EXITS"), len(routines))
        for routine in routines:
            found = re.findall(rf"^ {routine}\s+PASSED THE (COLUMN-MAJOR |ROW-MAJOR +|)COMPUTATIONAL TESTS", text, re.M)
            self.assertEqual(len(found), 2 if cblas else 1, f"{routine}: {text[-3000:]}")
            if any(name in routine.lower() for name in OURS):
                self.assertRegex(text, rf"(?m)^ {routine}\s+PASSED THE TESTS OF ERROR-EXITS")
                self.assertEqual([order.strip() for order in found], ["COLUMN-MAJOR", "ROW-MAJOR"] if cblas else [""])

    def level(self, number, route, make=lambda text, cblas: text):
        for letter in LETTERS:
            for cblas in (False, True):
                name = f"x{letter}cblat{number}" if cblas else f"xblat{number}{letter}"
                data = make(data_file(self.testers, f"{letter}in{number}" if cblas else f"{letter}blat{number}.in"), cblas)
                with self.subTest(name):
                    text, _ = self.run_tester(name, data, route)
                    self.demand(text, data, cblas)

    def test_level_3_with_default_data_preloaded(self):
        self.level(3, "preloaded")

    def test_level_3_with_default_data_as_the_systems_blas(self):
        self.level(3, "replaced")

    def test_products_with_harder_data(self):
        self.level(3, "preloaded", harder)

    def test_level_2_is_passed_on(self):
        self.level(2, "replaced")

    def test_level_1_is_passed_on(self):
        for letter in LETTERS:
            for name in (f"xblat1{letter}", f"x{letter}cblat1"):
                with self.subTest(name):
                    text, _ = self.run_tester(name, "", "replaced")
                    tests = len(re.findall(r"Test of subprogram number", text))
                    self.assertGreater(tests, 8)
                    self.assertEqual(len(re.findall(r"-+ ?PASS ?-+", text)), tests)

    def test_the_products_under_test_are_ours(self):
        for route in libraries.ROUTES:
            for program, data, form in (("xblat3d", "dblat3.in", "d{}_"), ("xdcblat3", "din3", "cblas_d{}")):
                _, said = self.run_tester(program, data_file(self.testers, data), route, TESSERA_VERBOSE=1)
                for name, least in (("gemm", 10_000), ("syrk", 1_900), ("trsm", 2_500), ("trmm", 2_500)):
                    self.assertGreater(said.count(f"tessera: {form.format(name)} "), least, f"{program} {route}")

    def test_the_harder_data_are_harder(self):
        text = harder(data_file(self.testers, "zblat3.in"), False)
        self.assertIn("0 1 7 17 31 33 65 VALUES OF N", text)
        self.assertIn("(-1.3,1.1) VALUES OF BETA", text)
        self.assertEqual(re.findall(r"^(\w+)\s+T ", text, re.M), ["ZGEMM", "ZTRMM", "ZTRSM", "ZHERK", "ZSYRK"])


if __name__ == "__main__":
    cases.main()
