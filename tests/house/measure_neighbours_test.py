#!/usr/bin/env python3
"""scripts/measure_neighbours.py: each situation has its rows, and nothing of it stays. The command is a stand-in with known times."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "scripts/measure_neighbours.py"
sys.path.insert(0, str(SCRIPT.parent))
import measure_neighbours as script  # noqa: E402

# As `tessera bench`: Tessera takes 4 us on one thread and 2 on more, the peer 5.
COMMAND = f"""#!{sys.executable}
import json, sys
options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
options["-o"] = sys.argv[-1]
ours = 4000 if options["--threads"] == "1" else 2000
rows = [("blas", "algorithm", ours), ("peak", "peak", 1)] + [("openblas", "peer", 5000)] * (options["--peers"] != "none")
json.dump({{"benchmarks": [dict(aggregate_name="mean", contestant=name, kind=kind, real_time=ns, m=8, n=9, k=10)
                          for name, kind, ns in rows]}}, open(options["-o"], "w"))
"""


class Neighbours(unittest.TestCase):
    def measured(self, text):
        with tempfile.TemporaryDirectory() as folder:
            command, output = pathlib.Path(folder) / "tessera", pathlib.Path(folder) / "out.csv"
            command.write_text(text)
            command.chmod(0o755)
            done = subprocess.run([sys.executable, SCRIPT, "toy", "--peers", "openblas", "-o", output], capture_output=True, text=True,
                                  env={**os.environ, "TESSERA": str(command), "TMPDIR": folder}, timeout=120)
            left = {path.name for path in pathlib.Path(folder).iterdir()} - {"tessera", "out.csv"}
            return done, list(csv.DictReader(output.read_text().splitlines())) if output.exists() else None, left

    def test_each_situation_has_a_row_for_each_contestant(self):
        done, rows, left = self.measured(COMMAND)
        self.assertEqual(done.returncode, 0, done.stderr)
        skipped = {"processor quota of 150 %"} if "is NOT measured" in done.stderr else set()
        self.assertEqual({row["situation"] for row in rows}, {*script.SITUATIONS, script.TURNS} - skipped)
        for row in rows:
            known = {"blas": ("2.000", ""), "openblas": ("0.800", "2.50")}[row["contestant"]]
            self.assertEqual((row["shape"], row["throughput"], row["ours_by_theirs"]), ("8x9x10", *known))
        self.assertEqual({row["threads"] for row in rows}, {str(script.CORES), str(2 * script.CORES)})
        self.assertLessEqual(len(left), 1, left)  # of the program that is ended while it measures

    def test_a_bench_that_fails_leaves_no_results(self):
        done, rows, _ = self.measured(f"#!{sys.executable}\nraise SystemExit(3)\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("tessera bench ended with 3", done.stderr)
        self.assertIsNone(rows)


if __name__ == "__main__":
    cases.main()
