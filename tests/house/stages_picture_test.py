#!/usr/bin/env python3
"""scripts/stages.py: the committed picture of a pipeline's stages is what the checker draws."""
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
    def test_the_picture_is_what_the_checker_draws(self):
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "stages.svg")
            subprocess.run([sys.executable, cases.ROOT / "scripts/stages.py", made], check=True,
                           env={**os.environ, "TESSERA": str(cases.options.build / "bin/tessera")})
            self.assertEqual(made.read_text(), (cases.ROOT / "docs/stages.svg").read_text(), "run scripts/stages.py")
            drawing = xml.dom.minidom.parse(str(made))
        phases = [each for each in drawing.getElementsByTagName("title") if each.firstChild.data.endswith("in flight")]
        self.assertEqual(len(phases), 10)  # K = 640 in tiles of 64


if __name__ == "__main__":
    cases.main()
