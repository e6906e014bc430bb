#!/usr/bin/env python3
"""./test: what it refuses before it builds anything."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


class TestScript(unittest.TestCase):
    def test_a_misspelt_preset_is_refused_in_one_line(self):
        for word in ["asna", "Release", "all2"]:
            run = subprocess.run([cases.ROOT / "test", word, "-R", "x"], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertRegex(run.stderr, rf"^\./test: unknown preset '{word}': expected release, .*\n$")

    def test_a_python_test_makes_the_folder_of_its_results(self):
        with tempfile.TemporaryDirectory() as folder:
            test, report = pathlib.Path(folder, "some_test.py"), pathlib.Path(folder, "test-results/some.xml")
            test.write_text(f"import sys, unittest\nsys.path.insert(0, {str(cases.ROOT / 'tests/support')!r})\nimport cases\n"
                            "class Some(unittest.TestCase):\n    def test_it(self): pass\ncases.main()\n")
            run = subprocess.run([sys.executable, test, "--build", folder], capture_output=True, text=True,
                                 env={**os.environ, "TESSERA_RESULTS": str(report)})
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn('name="test_it"', report.read_text())


if __name__ == "__main__":
    cases.main()
