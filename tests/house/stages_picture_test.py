#!/usr/bin/env python3
"""scripts/stages.py: the committed pictures of a pipeline are what the checker draws."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


class Stages(unittest.TestCase):
    def test_the_pictures_are_what_the_checker_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, cases.ROOT / "scripts/stages.py", folder], check=True,
                           env={**os.environ, "TESSERA": str(cases.options.build / "bin/tessera")})
            titles = {}
            for made in sorted(pathlib.Path(folder).iterdir()):
                self.assertEqual(made.read_text(), (cases.ROOT / "docs" / made.name).read_text(), "run scripts/stages.py")
                drawing = xml.dom.minidom.parse(str(made))
                titles[made.name] = [each.firstChild.data for each in drawing.getElementsByTagName("title")]
        self.assertEqual(sum(each.endswith("in flight") for each in titles["stages.svg"]), 10)  # K = 640 in tiles of 64
        self.assertEqual(len({each.split(", ")[1] for each in titles["banks.svg"]}), 32)  # each bank once


if __name__ == "__main__":
    cases.main()
