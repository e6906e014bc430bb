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
sys.path.insert(0, str(SCRIPT.parent))
from kernels import STEPS as KERNELS  # noqa: E402


def median(name, gflops, **more):
    return {"run_type": "aggregate", "aggregate_name": "median", "contestant": name, "dtype": "f32", "m": 4096, "n": 4096, "k": 4096,
            "gflops": gflops, **more}


class LadderPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results, self.page = pathlib.Path(folder.name) / "results", pathlib.Path(folder.name) / "ladder.md"
        (self.results / "gpu").mkdir(parents=True)
        for name in ("ladder-counters.json", "ladder-machine-code.json"):
            shutil.copy(cases.ROOT / "bench/results/gpu" / name, self.results / "gpu")
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

    def counts(self, date, metrics, kernels):
        """A file as `ncu --csv --page raw` writes it, between the program's own words and ncu's."""
        names = ["ID", "Process Name", "Host Name", "Kernel Name", "Block Size", "Grid Size", "CC", *metrics]
        units = [""] * 7 + ["inst"] * len(metrics)
        rows = [[str(i), "tessera", "", kernel, "(256, 1, 1)", "(8, 8, 1)", "9.0", *values] for i, (kernel, values) in enumerate(kernels)]
        text = "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [names, units, *rows])
        (self.results / f"gpu/{date}-some-gpu-counters.csv").write_text("==PROF== Connected to process 1\nnaive 1.0\n" + text)

    def count_row(self, name):
        """Of the table of counts, which is the second one."""
        lines = [line for line in self.page.read_text().splitlines() if line.startswith(f"| `{name}` |")]
        return [cell.strip() for cell in lines[1].split("|")[2:-1]]

    def test_without_a_gpus_counts_they_are_called_unmeasured(self):
        self.assertEqual(self.script().returncode, 0)
        self.assertIn("No file of what a GPU counted is committed yet", self.page.read_text())
        for name in KERNELS:
            cells = self.count_row(name)
            self.assertEqual([cells[i] for i in (1, 3, 5, 7, 8)], ["unmeasured"] * 5)
            self.assertNotIn("unmeasured", [cells[i] for i in (0, 2, 4, 6)])

    def test_the_newest_counts_of_a_gpu_stand_beside_the_checkers(self):
        thousands = 1024 ** 3 / 1000
        load, store, copies = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                               "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum")
        metrics = [load, store, copies, "smsp__inst_executed.sum", "launch__registers_per_thread"]
        naive = "void tessera::entry<tessera::Naive<tessera::TileShape{32, 32}>, tessera::Tensor<float const*>>(tessera::Naive<x>, int)"
        mangled = "_ZN7tessera5entryINS_10CoalescingIXtlNS_9TileShapeELi32ELi32EEEEEJNS_6TensorIPKf"
        self.counts("2026-11-22", metrics, [(naive, ["1"] * 5)])
        self.counts("2026-11-23", metrics, [
            ("void somebody::elses<float>(int)", ["7"] * 5),
            (naive, [f"{1000 * thousands:,.0f}", f"{33 * thousands:.0f}", "0", f"{200 * thousands:,.0f}", "40"]),
            (naive, ["5"] * 5),  # a second launch
            (mangled, [f"{100 * thousands:.0f}", f"{50 * thousands:.0f}", "0", f"{100 * thousands:.1f}", "38"]),
            ("void tessera::entry<tessera::TensorCoreTiled<tessera::TileShape{64}>>(int)", ["n/a", "1", "1", "n/a", "96"])])
        run = self.script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("2026-11-23-some-gpu-counters.csv", self.page.read_text())
        naive, coalescing, tensor_core = map(self.count_row, ("naive", "coalescing", "tensor_core"))
        self.assertEqual((naive[1], naive[7], naive[8]), ("1033", "200", "40"))
        self.assertEqual((coalescing[1], coalescing[3], coalescing[7]), ("150", "unmeasured", "100"))
        self.assertEqual((tensor_core[1], tensor_core[7], tensor_core[8]), ("unmeasured", "unmeasured", "96"))
        self.assertEqual(self.count_row("tiled")[1], "unmeasured")
        self.assertEqual(self.script("--check").returncode, 0)

    def test_a_file_without_counts_is_refused(self):
        self.counts("2026-11-23", ["smsp__inst_executed.sum"], [])
        run = self.script()
        self.assertNotEqual(run.returncode, 0)
        self.assertRegex(run.stderr, "counters.csv has no launch of a kernel of the ladder")

    def test_the_product_of_the_counts_is_the_one_that_scripts_gpu_runs(self):
        words = '"compare", "--quiet", "-m", "1024", "-n", "1024", "-k", "1024"'
        self.assertIn(words, (cases.ROOT / "scripts/gpu_steps.py").read_text())
        self.assertIn("MEASURED = (1024, 1024, 1024)", SCRIPT.read_text())

    def test_what_nvcc_made_of_a_step_is_shown_with_what_limits_its_blocks(self):
        file = self.results / "gpu/ladder-machine-code.json"
        made = json.loads(file.read_text())
        made["steps"]["block_tiled_vectorized"].update({"registers": 127, "threads": 256, "instructions": 640, "multiply_adds": 512,
                                                        "loads": 2, "shared_reads": 32})
        made["steps"]["pipelined"].update({"registers": 207, "threads": 256})
        file.write_text(json.dumps(made))
        self.assertEqual(self.script().returncode, 0)
        lines = [line for line in self.page.read_text().splitlines() if line.startswith("| `block_tiled_vectorized` |")]
        self.assertEqual([cell.strip() for cell in lines[2].split("|")[2:-1]], ["127", "2", "16", "640", "512", "80.0 %", "2", "32", "94"])
        lines = [line for line in self.page.read_text().splitlines() if line.startswith("| `pipelined` |")]
        self.assertEqual([cell.strip() for cell in lines[2].split("|")[2:5]], ["207", "1", "8"])

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
