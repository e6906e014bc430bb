#!/usr/bin/env python3
"""bench/report.py: medians are kept with their spread and provenance, and the page shows what is kept."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SCRIPT = cases.ROOT / "bench/report.py"
CONTEXT = {"cpu_model": "CPU", "num_cpus": 2, "compiler": "GCC", "flags": "-O3", "date": "2026-11-21T10:00", "commit": "1a2b3c", "method": "How.",
           "peers": [{"name": "fast", "version": "Fast 1", "settings": "", "environment": "X=1", "file": "/some/where/fast.so"}]}


def entry(name, side, run_type="aggregate", status="verified", **more):
    """A median or a sample as `tessera bench` writes it."""
    kind = "peer" if name in ("fast", "slow") else "algorithm"
    return {"contestant": name, "kind": kind, "status": status, "run_type": run_type, "dtype": "f32", "threads": 1, "m": side, "n": side, "k": side,
            **({"aggregate_name": "median"} if run_type == "aggregate" else {}), "batch": 1, "transposition": "NN", "idle_seconds": 0.0,
            "first_call": False, "real_time": 1500.0, "gflops": 50.0, "percent_of_peak": 80.0, **more}


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.page = self.folder / "performance.md"
        self.page.write_text("before\n<!-- begin: written by bench/report.py; do not edit -->\n<!-- end -->\nafter\n")

    def script(self, *arguments):
        return subprocess.run([sys.executable, SCRIPT, "--results", self.folder / "results", "--page", self.page, *arguments],
                              capture_output=True, text=True)

    def keep(self, suite, entries, **context):
        file = self.folder / f"{suite}.json"
        file.write_text(json.dumps({"context": {**CONTEXT, **context}, "benchmarks": entries}))
        self.assertEqual(self.script("keep", "machine", file).returncode, 0)

    def rows(self):
        with (self.folder / "results/cpu/machine.csv").open() as file:
            return list(csv.DictReader(file))

    def text(self):
        """The page after it was written again; only the plot needs matplotlib."""
        source = subprocess.run([sys.executable, "-c", f"import sys, pathlib; sys.path.insert(0, {str(SCRIPT.parent)!r}); import report; "
                                 f"print(report.digest(pathlib.Path({str(self.folder / 'results')!r})))"], capture_output=True, text=True, check=True)
        (self.folder / "performance.svg").write_text(source.stdout)
        self.assertNotEqual(self.script("--check").returncode, 0)
        run = self.script()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.script("--check").returncode, 0)
        return self.page.read_text()

    def test_the_committed_page_shows_the_committed_results(self):
        run = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_committed_results_are_small_and_have_their_provenance(self):
        folder = cases.ROOT / "bench/results"
        self.assertLessEqual(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()), 2_000_000)
        for table in (folder / "cpu").glob("*.csv"):
            about = json.loads(table.with_suffix(".json").read_text())
            with table.open() as file:
                self.assertEqual({row["suite"] for row in csv.DictReader(file)}, set(about["suites"]))

    def test_a_row_has_the_median_its_spread_and_the_speedup(self):
        samples = [entry("blas", 64, "iteration", real_time=time) for time in (1500.0, 1530.0, 1485.0, 1500.0, 1620.0)]
        self.keep("square", [*samples, entry("blas", 64, ratio_fast=0.5), entry("fast", 64, gflops=100.0, real_time=750.0)])
        ours, fast = self.rows()
        self.assertEqual((ours["time_ns"], ours["spread_percent"], ours["percent_of_peak"], ours["tessera_speedup"]), ("1500", "1", "80", ""))
        self.assertEqual((fast["time_ns"], fast["gflops"], fast["tessera_speedup"]), ("750", "100", "0.5"))

    def test_a_suite_that_is_measured_again_replaces_its_rows_and_no_others(self):
        self.keep("square", [entry("blas", 64, ratio_fast=0.5), entry("fast", 64)])
        self.keep("tiny", [entry("blas", 8, ratio_fast=2.0), entry("fast", 8)])
        self.keep("square", [entry("blas", 32, ratio_fast=3.0), entry("fast", 32)], commit="4d5e6f", date="2026-11-22T10:00")
        self.assertEqual([(row["suite"], row["shape"]) for row in self.rows()], [("square", "32x32x32")] * 2 + [("tiny", "8x8x8")] * 2)
        about = json.loads((self.folder / "results/cpu/machine.json").read_text())
        self.assertEqual({suite: of["commit"] for suite, of in about["suites"].items()}, {"square": "4d5e6f", "tiny": "1a2b3c"})
        self.assertNotIn("/some/where", json.dumps(about))

    def test_the_best_peer_counts_and_a_loss_never_reads_as_a_draw(self):
        self.keep("square", [entry("packed", 64, ratio_fast=9.0), entry("blas", 64, ratio_fast=0.5, ratio_slow=3.0), entry("fast", 64), entry("slow", 64),
                             entry("blas", 128, ratio_fast=2.0, ratio_slow=4.0), entry("fast", 128), entry("slow", 128)])
        self.keep("odd", [entry("blas", 8, ratio_fast=0.999), entry("fast", 8)])
        text = self.text()
        self.assertIn("| f32 | squares, 64 to 4096 | 2 | 1 | 1.00 | **0.50** 64x64x64 (1, fast) |", text)
        self.assertIn("| f32 | odd sizes | 1 | 0 | **0.99** | **0.99** 8x8x8 (1, fast) |", text)
        self.assertTrue(text.startswith("before\n") and text.endswith("after\n"))

    def test_a_result_that_was_not_verified_is_kept_as_such_and_does_not_count(self):
        self.keep("square", [entry("blas", 8, "iteration", status="refused"), entry("fast", 8), entry("blas", 16, ratio_fast=2.0), entry("fast", 16)])
        self.assertEqual([(row["status"], row["time_ns"]) for row in self.rows()][:1], [("refused", "")])
        self.assertIn("| f32 | squares, 64 to 4096 | 1 | 1 | 2.00 |", self.text())

    def test_a_disturbed_peak_leaves_no_share(self):
        self.keep("square", [entry("blas", 8, peak_disturbed=True)])
        self.assertEqual(self.rows()[0]["percent_of_peak"], "")

    def test_a_gpu_is_compared_with_the_fastest_peer_of_the_same_arithmetic(self):
        def row(name, gflops, dtype="f32", m=64, **more):
            return {**entry(name, m, dtype=dtype, gflops=gflops, percent_of_peak=None), "kind": "peer" if name.startswith("cublas") else "algorithm", **more}
        context = {"device": {"name": "Some GPU", "summary": "Some GPU, 4 SMs"}, "date": "2026-11-28T10:00"}
        files = {"2026-11-27-other-gpu-bench-f16-64": [row("auto", 1.0, "f16", ratio_cublas=9.0), row("cublas", 1.0, "f16")],
                 "2026-11-27-some-gpu-bench-f32-64": [row("auto", 1.0, ratio_cublas=9.0), row("cublas", 1.0)],
                 "2026-11-27-some-gpu-bench-bf16-64": [row("auto", 9000.0, "bf16", ratio_cublas=1.5), row("cublas", 6000.0, "bf16")],
                 "2026-11-28-some-gpu-bench-f32-64": [row("pipelined", 30000.0, ratio_cublas=0.6),
                                                      row("auto", 40000.0, **{"ratio_cublas": 0.8, "ratio_cublaslt-2": 0.7, "ratio_cublas-tf32": 0.1}),
                                                      row("cublas", 50000.0), row("cublaslt-2", 57000.0), row("cublas-tf32", 400000.0)],
                 "2026-11-28-some-gpu-bench-tf32-64": [row("warpgroup", 360000.0, **{"ratio_cublas": 7.0, "ratio_cublas-tf32": 0.9}),
                                                       row("cublas", 50000.0), row("cublas-tf32", 400000.0)],
                 "2026-11-28-some-gpu-bench-f8e4m3-thin": [row("auto", 1e6, "f8e4m3:f32", 1, n=64, k=1, ratio_cublaslt=1.25, percent_of_peak=62.4),
                                                           row("cublaslt", 8e5, "f8e4m3:f32", 1, n=64, k=1)]}
        (self.folder / "results/gpu").mkdir(parents=True)
        for name, rows in files.items():
            device = context["device"] if "-some-gpu-" in name else {"name": "Other GPU", "summary": "Other GPU"}
            more = {"commit": "older" if name < "2026-11-28" else "1a2b3c", "device": device}
            (self.folder / f"results/gpu/{name}.json").write_text(json.dumps({"context": {**context, **more}, "benchmarks": rows}))
        self.keep("square", [entry("blas", 64, ratio_fast=2.0), entry("fast", 64)])
        text = self.text()
        self.assertIn("### Some GPU, 4 SMs", text)
        self.assertIn("| f32 | 64x64x64 | 40.0 |  | cublaslt-2 | 57.0 | **0.70** |\n| TF32 | 64x64x64 | 360 |  | cublas-tf32 | 400 | **0.90** |\n", text)
        self.assertIn("| f8e4m3 | 1x64x1 | 1000 | 62 % | cublaslt | 800 | 1.25 |", text)
        self.assertIn("| bf16 | 64x64x64 | 9.0 |  | cublas | 6.0 | 1.50 |", text)  # the newer call did not measure it again
        self.assertIn("Code: older, 1a2b3c. Peers", text)
        self.assertNotIn("9.00", text)

    def test_wrong_arguments_are_refused(self):
        for arguments in (["kep", "machine", "x.json"], ["keep", "machine"]):
            run = self.script(*arguments)
            self.assertEqual(run.returncode, 2)
            self.assertIn("expected 'keep NAME FILE.json...'", run.stderr)


class CompactResults(unittest.TestCase):
    def test_medians_and_their_spread_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "results.json"
            rows = [entry("blas", 64, "iteration", run_name="blas", real_time=time) for time in (1500.0, 1530.0, 1485.0)]
            file.write_text(json.dumps({"context": CONTEXT, "benchmarks": [*rows, entry("blas", 64, run_name="blas", gflops=1 / 3),
                                                                           {**entry("blas", 64, run_name="blas"), "aggregate_name": "mean"},
                                                                           entry("fast", 64, "iteration", status="refused", run_name="fast")]}))
            for _ in range(2):
                subprocess.run([cases.ROOT / "scripts/compact_results.py", file], check=True)
                kept = json.loads(file.read_text())
                self.assertEqual([(row["contestant"], row["status"]) for row in kept["benchmarks"]], [("blas", "verified"), ("fast", "refused")])
                self.assertEqual((kept["benchmarks"][0]["spread_percent"], kept["benchmarks"][0]["gflops"]), (1.0, 0.333333))
            self.assertEqual(kept["context"], CONTEXT)


if __name__ == "__main__":
    cases.main()
