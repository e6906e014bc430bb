#!/usr/bin/env python3
"""./test: what it refuses before it builds anything."""
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


class TestScript(unittest.TestCase):
    def test_a_misspelt_preset_is_refused_in_one_line(self):
        for word in ["asna", "Release", "all2"]:
            run = subprocess.run([cases.ROOT / "test", word, "-R", "x"], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertRegex(run.stderr, rf"^\./test: unknown preset '{word}': expected release, .*\n$")


if __name__ == "__main__":
    cases.main()
