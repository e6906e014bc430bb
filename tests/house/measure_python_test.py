#!/usr/bin/env python3
"""scripts/measure_python.py: the table shows the kept numbers; limits are compared with them."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "scripts/measure_python.py"
sys.path.insert(0, str(SCRIPT.parent))
import measure_python as script  # noqa: E402


class Table(unittest.TestCase):
    def table(self, small, large):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.json"
            path.write_text(json.dumps({"rounds": 3, "cpu_model": "CPU", "num_cpus": 2, "date": "2026-11-22T01:00", "versions": {"NumPy": "2"},
                                        "cases": [{"extent": 2, "seconds": small}, {"extent": 1024, "seconds": large,
                                                                                   "new_pages": {name: 7 for name in large}}]}))
            return script.table(path)

    def test_times_and_limits(self):
        small = {script.NUMPY: [1e-6, 1e-6, 9e-6], script.TESSERA: [2e-6, 3e-6, 10e-6]}
        large = {script.NUMPY: [0.02] * 3, script.TESSERA: [0.0102, 0.01, 0.02], script.OUT: [0.01] * 3, script.C: [0.01] * 3,
                 script.TESSERA_JAX: [0.011] * 3, script.JNP: [0.01] * 3}
        text = self.table(small, large)
        self.assertIn("| numpy.matmul | 1.00 us | 20.00 ms | 7 |", text)
        self.assertIn("| cblas_sgemm, from C |  | 10.00 ms | 7 |", text)
        self.assertEqual(list(script.limits(small, large)),
                         [("2 x 2: at most 1.5 us beyond numpy.matmul", "+1.00 us", True),
                          ("1024^3, tessera.matmul(a, b): within 3 % of the call from C", "+2.0 %", True),
                          ("1024^3, tessera.matmul(a, b): at least as fast as numpy.matmul", "1.96 x", True),
                          ("1024^3, tessera.jax.matmul in jax.jit: within 3 % of the call from C", "+10.0 %", False),
                          ("1024^3, tessera.jax.matmul in jax.jit: at least as fast as jnp.matmul in jax.jit", "0.91 x", False)])

    def test_the_document_shows_the_kept_numbers(self):
        run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_without_numbers_it_says_so(self):
        self.assertIn("Not measured yet", script.table(pathlib.Path("nothing.json")))


if __name__ == "__main__":
    cases.main()
