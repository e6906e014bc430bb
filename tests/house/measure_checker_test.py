#!/usr/bin/env python3
"""scripts/measure_checker.py: the table shows the kept numbers, every kernel that can be checked, and limits are compared with them."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "scripts/measure_checker.py"
sys.path.insert(0, str(SCRIPT.parent))
import measure_checker  # noqa: E402

KEPT = cases.ROOT / "bench/results/checker.json"


def row(kernel, side, plain, counters, every, mib=100):
    return {"kernel": kernel, "side": side, "plain": {"seconds": plain, "mib": 10}, "counters": {"seconds": counters, "mib": mib},
            "every": {"seconds": every, "mib": mib}}


class Table(unittest.TestCase):
    def table(self, *rows):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.json"
            path.write_text(json.dumps({"runs": 3, "cpu_model": "CPU", "num_cpus": 2, "date": "2026-11-22T01:00", "rows": rows}))
            return measure_checker.table(path)

    def test_slowdowns_and_limits(self):
        rows = row("naive", 256, 0.01, 0.4, 2.5), row("block_tiled_vectorized", 1024, 2, 8, 40, 5000)
        text = self.table(*rows)
        self.assertIn("| naive | 256 | 10 ms | 400 ms | 40 x | 2.5 s | 250 x | 100 MiB |", text)
        limits = "\n".join(measure_checker.limit_lines(rows))
        self.assertIn("naive at 256, counters only: 400 ms, 100 MiB; at most 0.5 s: met", limits)
        self.assertIn("naive at 256, every check: 2.5 s, 100 MiB; at most 2 s: NOT MET", limits)
        self.assertIn("at most 60 s and 4096 MiB: NOT MET", limits)

    def test_the_document_shows_the_kept_numbers(self):
        if not KEPT.exists():
            self.skipTest("the checker's costs are NOT measured yet: scripts/measure_checker.py --measure")
        run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_every_kernel_in_it_can_be_checked(self):
        """A new kernel needs no fresh measurement."""
        command = cases.options.build / "bin/tessera"
        if not KEPT.exists() or not command.exists():
            self.skipTest("the checker's costs are NOT measured yet, or this build has no command")
        measure_checker.COMMAND = str(command)
        measured = {each["kernel"] for each in json.loads(KEPT.read_text())["rows"]}
        self.assertEqual(measured - set(measure_checker.kernels()), set())


if __name__ == "__main__":
    cases.main()
