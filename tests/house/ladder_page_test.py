#!/usr/bin/env python3
"""scripts/ladder.py: the committed page shows the committed files; unmeasured cells are called so, measured ones are the file's."""
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

SCRIPT = cases.ROOT / "scripts/ladder.py"
KERNELS = ["naive", "coalescing", "tiled", "tiled_register", "block_tiled", "block_tiled_vectorized", "tensor_core", "pipelined"]


def median(name, gflops, **more):
    return {"run_type": "aggregate", "aggregate_name": "median", "contestant": name, "dtype": "f32", "m": 4096, "n": 4096, "k": 4096,
            "gflops": gflops, **more}


class LadderPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results, self.page = pathlib.Path(folder.name) / "results", pathlib.Path(folder.name) / "ladder.md"
        (self.results / "gpu").mkdir(parents=True)
        shutil.copy(cases.ROOT / "bench/results/gpu/ladder-counters.json", self.results / "gpu")
        shutil.copy(cases.ROOT / "docs/ladder.md", self.page)

    def script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--results", self.results, "--page", self.page, *arguments], text=True,
                              capture_output=True, env={**os.environ, "TESSERA": str(cases.options.build / "bin/tessera")})

    def row(self, name):
        lines = [line for line in self.page.read_text().splitlines() if line.startswith(f"| `{name}` |")]
        return [cell.strip() for cell in lines[0].split("|")[2:-1]]

    def test_the_committed_page_shows_the_committed_files(self):
        run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_without_a_gpus_results_speeds_are_called_unmeasured(self):
        self.assertEqual(self.script().returncode, 0)
        self.assertIn("No result file of a GPU is committed yet", self.page.read_text())
        for name in KERNELS:
            self.assertEqual(self.row(name)[:4], ["unmeasured"] * 4)

    def test_the_newest_results_fill_the_table(self):
        old = {"context": {}, "benchmarks": [median("naive", 1)]}
        new = {"context": {"device": {"summary": "Some GPU, 4 SMs"}, "date": "2026-11-23T10:00"},
               "benchmarks": [median("naive", 500.0, ratio_cublas=0.01, percent_of_peak=0.75), median("coalescing", 2000.0),
                              median("block_tiled_vectorized", 30000.0, ratio_cublas=0.6),
                              median("tensor_core", 90000.0, **{"ratio_cublas": 1.8, "ratio_cublas-tf32": 0.25}),
                              median("pipelined", 48000.0, ratio_cublas=0.96, percent_of_peak=71.6),
                              {**median("tiled", 9.0), "m": 64}]}
        for date, document in (("2026-11-22", old), ("2026-11-23", new)):
            (self.results / f"gpu/{date}-some-gpu-ladder.json").write_text(json.dumps(document))
        self.assertNotEqual(self.script("--check").returncode, 0)
        self.assertEqual(self.script().returncode, 0)
        self.assertEqual(self.script("--check").returncode, 0)
        self.assertIn("Some GPU, 4 SMs; 2026-11-23", self.page.read_text())
        self.assertEqual(self.row("naive")[:4], ["0.50", "", "0.01", "0.8 %"])
        self.assertEqual(self.row("coalescing")[:4], ["2.00", "4.00", "unmeasured", "unmeasured"])
        self.assertEqual(self.row("tiled")[:4], ["unmeasured"] * 4)
        self.assertEqual(self.row("tensor_core")[:3], ["90.00", "3.00", "0.25"])  # beside TF32
        self.assertEqual(self.row("pipelined")[:4], ["48.00", "1.60", "0.96", "71.6 %"])

    def test_counting_gives_what_the_page_needs(self):
        run = self.script("--count", "--shape", "128x128x64")
        self.assertEqual(run.returncode, 0, run.stderr)
        counted = json.loads((self.results / "gpu/ladder-counters.json").read_text())
        self.assertEqual((counted["shape"], sorted(counted["steps"])), ([128, 128, 64], sorted(KERNELS)))
        # The three reads of a multiply-add in naive: 32 rows of A and one of B for each warp, and C at the end.
        self.assertEqual(counted["steps"]["naive"]["counters"]["global_load_sectors"], 32 * 64 * 33)
        self.assertIn("one block of a 128 x 128 x 64 product", self.page.read_text())


if __name__ == "__main__":
    cases.main()
