#!/usr/bin/env python3
"""./test: what it refuses before it builds anything."""
import json
import os
import pathlib
import shutil
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

    def test_what_was_not_tested_for_want_of_cuda_is_said_with_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            shutil.copy(cases.ROOT / "test", root)
            shutil.copy(cases.ROOT / "scripts/count_tests.py", root / "scripts")
            (root / "scripts/build").write_text('#!/bin/sh\nmkdir -p build/$1\n')
            (root / "scripts/build").chmod(0o755)
            for words, said in (([], 2), (["release"], 1), (["asan"], 1), (["asan-quick"], 1), (["cuda"], 0)):
                run = subprocess.run([root / "test", *words], capture_output=True, text=True, timeout=60)
                self.assertEqual(run.stdout.splitlines()[-1], "0 passed, 0 failed", run.stdout + run.stderr)
                self.assertEqual((run.stdout + run.stderr).count("NOT TESTED: the kernels compiled for GPUs"), said, words)
                if not words:
                    self.assertEqual({each.name for each in (root / "build").iterdir()}, {"release", "asan-quick"})

    def test_cuda_is_built_by_the_one_preset_that_is_named_for_it(self):
        presets = {each["name"]: each for each in json.loads((cases.ROOT / "CMakePresets.json").read_text())["configurePresets"]}

        def cuda(name):
            asked = presets[name].get("cacheVariables", {}).get("TESSERA_CUDA")
            return asked or cuda(presets[name]["inherits"])

        self.assertEqual([name for name in presets if cuda(name) != "OFF"], ["cuda"])

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
