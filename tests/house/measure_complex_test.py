#!/usr/bin/env python3
"""scripts/measure_complex.py: right results are timed, beside a peer; libraries without complex products and wrong ones are left out."""
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "scripts/measure_complex.py"
BLAS = cases.options.build / "libtessera_blas.so"


@unittest.skipUnless(importlib.util.find_spec("numpy") and BLAS.exists(), "needs NumPy and the BLAS")
class Complex(unittest.TestCase):
    def test_rows_of_what_is_right(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, text in (("wrong", "void cblas_cgemm(void) {} void cblas_zgemm(void) {}"), ("absent", "int nothing;")):
                subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / f"lib{name}.so", "-x", "c", "-"], input=text, text=True, check=True)
            peers = [{"name": name, "path": str(path), "environment": ""} for name, path in
                     (("twin", BLAS), ("wrong", folder / "libwrong.so"), ("absent", folder / "libabsent.so"))]
            command = folder / "tessera"
            command.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(dict(peers=peers)))})\n")
            command.chmod(0o755)
            done = subprocess.run([sys.executable, SCRIPT, "toy", "--shapes", "5x6x7,20x3x9-TN,8x9x10-NC,7x7x7-CT", "--rounds", "2", "--seconds", "0.001",
                                   "-o", folder / "out.csv"], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "TESSERA": str(command), "TESSERA_BLAS": str(BLAS)})
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = list(csv.DictReader((folder / "out.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 2 * 2 * 4 * 2)
        self.assertEqual({row["contestant"] for row in rows}, {"tessera", "twin"})
        self.assertEqual(done.stderr.count("wrong is left out: its result is wrong"), 2 * 2 * 4)
        self.assertNotIn("absent", done.stderr)
        for row in rows:
            self.assertGreater(float(row["time_ns"]), 0)
            self.assertEqual(row["tessera_speedup"] == "", row["contestant"] == "tessera")


if __name__ == "__main__":
    cases.main()
