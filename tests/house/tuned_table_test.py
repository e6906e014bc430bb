#!/usr/bin/env python3
"""scripts/tuned_table.py: the committed table is that of the committed records; what counts of records."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "scripts/tuned_table.py"
PRODUCT = "m=4096 n=4096 k=4096 in=bf16 out=bf16 a=4096,1 b=4096,1 c=4096,1 alpha=1 beta=0"


def line(algorithm, more=""):
    return f"{PRODUCT} algorithm={algorithm} tile=128x256 seconds=0.0002{more}"


def record(found, gpu="NVIDIA H200, 580.1, 700.00 W, 1980 MHz", step="tune-bf16-4096", status="good"):
    return json.dumps({"step": step, "key": "1", "status": status, "gpu": gpu, "date": "2026-11-26T23:15:37", "found": found})


class TunedTable(unittest.TestCase):
    def table(self, *records):
        with tempfile.TemporaryDirectory() as folder:
            given, made = pathlib.Path(folder) / "records.jsonl", pathlib.Path(folder) / "table.inc"
            given.write_text("\n".join(records))
            words = [sys.executable, SCRIPT, "--records", given, "--table", made]
            subprocess.run(words, check=True)
            self.assertEqual(subprocess.run([*words, "--check"]).returncode, 0)
            text = made.read_text()
            made.write_text(text + "\n")
            self.assertEqual(subprocess.run([*words, "--check"], capture_output=True).returncode, 1)
            return text

    def test_the_committed_table_is_that_of_the_committed_records(self):
        run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_newest_good_record_of_a_product_counts(self):
        text = self.table(record([line("tensor_core")]), record([line("warpgroup", " peer=cublas peer_seconds=0.0003 clock_mhz=1700 limits=4")]),
                          record([line("naive")], status="failed"), record([line("tiled")], status="throttled"),
                          record({"auto": 5}, step="bench-bf16"), record([line("coalescing", " hangs=yes")]), '{"step": "tu')
        self.assertIn(f'R"(device="NVIDIA H200" capability="" driver="" version=""\n{line("warpgroup")} peer=cublas peer_seconds=0.0003\n)",', text)
        self.assertEqual(text.count("algorithm="), 1)

    def test_each_device_has_a_table_of_its_own(self):
        text = self.table(record([line("warpgroup")]), record([line("pipelined")], gpu="NVIDIA H100 80GB HBM3, 580.1, 700.00 W, 1980 MHz"))
        self.assertLess(text.index('device="NVIDIA H100 80GB HBM3"'), text.index("algorithm=pipelined"))
        self.assertLess(text.index("algorithm=pipelined"), text.index('device="NVIDIA H200"'))
        self.assertLess(text.index('device="NVIDIA H200"'), text.index("algorithm=warpgroup"))


if __name__ == "__main__":
    cases.main()
