#!/usr/bin/env python3
"""The second call of ./demo: it shows again what the same build has shown, and nothing that may have changed."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

sys.path.insert(0, str(cases.ROOT / "scripts"))
import demo  # noqa: E402

# Multiplies: its output is the file `product`.
COMMAND = """#!/bin/sh
cp product out/demo/S_packed.npy
echo '{"seconds": 0.001, "gflops": 1, "verified": {"max_error_ratio": 0.5}}'
"""


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        before = demo.ROOT, demo.OUT
        self.addCleanup(lambda: (setattr(demo, "ROOT", before[0]), setattr(demo, "OUT", before[1]), demo.said.clear()))
        demo.ROOT, demo.OUT = root, root / "out/demo"
        for name in (demo.TESSERA, "product", "data/digits.npy", "out/demo/rows.npy", *(f"out/demo/{each}" for each in demo.RESULTS)):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("1")
        (root / demo.TESSERA).write_text(COMMAND)
        (root / demo.TESSERA).chmod(0o755)
        demo.said[:] = ["\033[1mThe data\033[0m", "every byte equal"]

    def shown(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            again = demo.show_again()
        return out.getvalue() if again else None

    def test_it_is_shown_again_after_a_product(self):
        self.assertIsNone(self.shown())
        demo.keep()
        said = self.shown()
        self.assertIn("The data\nevery byte equal\n", said)
        self.assertIn("rm -r out/demo", said)
        self.assertFalse((demo.OUT / "S_packed.npy").exists())

    def test_what_has_changed_is_not_shown_again(self):
        for name in (demo.TESSERA, "data/digits.npy", "out/demo/rows.npy", "out/demo/speed.svg"):
            with self.subTest(name):
                demo.keep()
                self.assertIsNotNone(self.shown())
                with (demo.ROOT / name).open("a") as file:
                    file.write("\n")
                self.assertIsNone(self.shown())
        (demo.OUT / "S.npy").unlink()
        demo.keep()
        self.assertIsNone(self.shown())

    def test_another_product_is_an_error(self):
        demo.keep()
        (demo.ROOT / "product").write_text("2")
        with self.assertRaises(SystemExit) as ended:
            self.shown()
        self.assertIn("differs", str(ended.exception))


if __name__ == "__main__":
    cases.main()
