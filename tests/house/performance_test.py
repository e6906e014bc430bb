#!/usr/bin/env python3
"""scripts/performance.py: which cells count, which peer is the best one, what is shown as lost."""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

CONTEXT = {"cpu_model": "CPU", "num_cpus": 2, "compiler": "GCC", "library_build_type": "release", "flags": "-O3", "date": "2026-11-21T10:00",
           "method": "How.", "peers": [{"name": "fast", "version": "Fast 1", "settings": "", "environment": "X=1", "file": "f"}]}


def entry(name, side, kind="algorithm", status="verified", threads=1, dtype="f32", **more):
    """A median as `tessera bench` writes it."""
    good = status == "verified"
    return {"contestant": name, "kind": kind, "status": status, "run_type": "aggregate" if good else "iteration", "dtype": dtype,
            **({"aggregate_name": "median"} if good else {}), "threads": threads, "m": side, "n": side, "k": side, "batch": 1,
            "transposition": "NN", "idle_seconds": 0.0, "first_call": False, "real_time": 1500.0, "gflops": 50.0,
            "percent_of_peak": 80.0, **more}


class Benchmarks(unittest.TestCase):
    def test_the_page_shows_every_kernel_that_there_is(self):
        listed = subprocess.run([cases.options.build / "bin/tessera", "compare", "--list"], capture_output=True, text=True, check=True).stdout
        names = re.findall(r"^  (\w+)$", listed, re.M)
        self.assertIn("naive", names)
        page = (cases.ROOT / "docs/benchmarks.md").read_text()
        names = [name for name in names if name not in ("packed", "split_k")]  # performance.md has these
        self.assertEqual([name for name in names if f"| {name} |" not in page], [], "measure again: docs/benchmarks.md is of another ladder")


class Performance(unittest.TestCase):
    def page(self, contexts={}, reasons="", **suites):
        """(text of the page, text of the plot or None), which --check finds current; `contexts` adds to those of the suites"""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "results").mkdir()
            (folder / "results/reasons.txt").write_text(reasons)
            for suite, entries in suites.items():
                (folder / f"results/{suite}.json").write_text(json.dumps({"context": {**CONTEXT, **contexts.get(suite, {})}, "benchmarks": entries}))
            command = [sys.executable, cases.ROOT / "scripts/performance.py", folder / "results", "--to", folder]
            subprocess.run(command, check=True)
            plot = folder / "performance.svg"
            text, drawn = (folder / "performance.md").read_text(), plot.read_text() if plot.exists() else None
            self.assertEqual(subprocess.run([*command, "--check"]).returncode, 0)
            (folder / "performance.md").write_text(text + "x")
            self.assertNotEqual(subprocess.run([*command, "--check"], stderr=subprocess.DEVNULL).returncode, 0)
            return text, drawn

    def test_the_committed_pages_show_the_committed_results(self):
        subprocess.run([sys.executable, cases.ROOT / "scripts/performance.py", "--check"], check=True)

    def test_what_more_threads_gain_and_where_they_lose(self):
        times = {(64, 1): 1500.0, (64, 2): 2000.0, (128, 1): 4000.0, (128, 2): 2000.0}
        text, _ = self.page(square=[entry("packed", side, threads=threads, real_time=time, ratio_fast=1.1)
                                    for (side, threads), time in times.items()])
        self.assertIn("On the most threads 1 of 2 products of f32 are at least as fast as on one; the geometric mean is 1.22 "
                      "times the speed, the least 0.75 (64x64x64). More than 2 % slower: 64x64x64 0.75.", text)

    def test_without_results_it_says_so(self):
        text, drawn = self.page()
        self.assertIn("There are no results yet", text)
        self.assertIsNone(drawn)

    def test_the_best_peer_counts_and_lost_cells_are_bold(self):
        text, drawn = self.page(square=[
            entry("packed", 64, ratio_fast=9.0), entry("blas", 64, ratio_fast=0.5, ratio_slow=3.0), entry("fast", 64, "peer", gflops=100.0),
            entry("blas", 128, ratio_fast=2.0, ratio_slow=4.0)])
        self.assertIn("| 64x64x64 | 1.50 us | 50.0 | 80.0 % | fast | **0.50** |", text)
        self.assertIn("| 128x128x128 | 1.50 us | 50.0 | 80.0 % | fast | 2.00 |", text)
        self.assertIn("| f32 | 1 | 2 | 1 | 0 | 1 | 1.00 | **0.50** (64x64x64, fast) |", text)
        self.assertIn("| fast | 100 |  |", text)
        self.assertIn("- fast: Fast 1, X=1", text)
        xml.etree.ElementTree.fromstring(drawn)

    def test_a_cell_that_is_lost_by_little_does_not_show_as_a_draw(self):
        ratios = {8: 0.9996, 16: 0.997, 32: 0.9951, 64: 0.994, 128: 1.0, 256: 1.004}
        text, _ = self.page(square=[entry("blas", side, ratio_fast=ratio) for side, ratio in ratios.items()])
        self.assertEqual(re.findall(r"% \| fast \| (\S+) \|", text), ["**0.999**", "**0.997**", "**0.995**", "**0.99**", "1.00", "1.00"])

    def test_each_section_names_its_commit_and_the_machine_is_said_once(self):
        contexts = {"square": {"commit": "1a2b3c", "date": "2026-11-22T10:00"}, "tiny": {"commit": "4d5e6f"}}
        text, _ = self.page(contexts, square=[entry("blas", 64)], tiny=[entry("blas", 8)])
        self.assertIn("## Square\n\nMeasured at commit 1a2b3c on 2026-11-22.\n", text)
        self.assertIn("## Tiny products, one call each\n\nMeasured at commit 4d5e6f on 2026-11-21.\n", text)
        self.assertEqual(text.count("Machine: "), 1)

    def test_every_mark_of_the_plot_lies_between_two_ticks(self):
        for ratios in ((0.77, 2.28), (0.7, 1.2), (1.0, 1.0), (1.3, 1.4), (0.013, 47.0)):
            _, drawn = self.page(square=[entry("blas", 8 << i, ratio_fast=ratio) for i, ratio in enumerate(ratios)])
            marks = [float(x) for x in re.findall(r'<circle cx="([0-9.]+)"', drawn)]
            ticks = [float(x) for x in re.findall(r'<text x="([0-9.]+)" y="[0-9.]+" class="middle">', drawn)]
            self.assertEqual(len(marks), 2)
            self.assertTrue(min(ticks) < min(marks) and max(marks) < max(ticks), (ratios, marks, ticks))

    def test_the_plot_says_what_two_names_mean_where_there_are_two(self):
        words = "of two names the first is that on 1 thread, the other on 2"
        one, two = entry("blas", 8, threads=1, ratio_fast=1.2), entry("blas", 8, threads=2, ratio_slow=1.2)
        _, drawn = self.page(square=[one, two])
        self.assertIn(words, drawn)
        self.assertIn(">fast, slow<", drawn)
        _, drawn = self.page(square=[one, entry("blas", 8, threads=2, ratio_fast=1.3)])
        self.assertNotIn(words, drawn)

    def test_a_shape_in_two_suites_counts_once_and_other_types_do_not(self):
        text, _ = self.page(square=[entry("blas", 8, ratio_fast=1.0)], odd=[entry("blas", 8, ratio_fast=4.0)],
                            bf16=[entry("packed", 8, dtype="bf16:f32", ratio_fast=0.1)])
        self.assertIn("| f32 | 1 | 1 | 1 | 0 | 0 | 1.00 | 1.00 (8x8x8, fast) |", text)
        self.assertIn("| bf16:f32 | 1 | 1 | 0 | 0 | 1 | **0.10** | **0.10** (8x8x8, fast) |", text)
        self.assertIn("## Odd sizes", text)
        self.assertIn("**0.10**", text)

    def test_a_wrong_result_is_shown(self):
        text, _ = self.page(square=[entry("blas", 8, status="refused")])
        self.assertIn("| 8x8x8 | **refused** |", text)

    def test_a_disturbed_peak_is_said_beside_the_share(self):
        text, _ = self.page(square=[entry("blas", 8, peak_disturbed=True), entry("blas", 16)])
        self.assertIn("| 80.0 % (the peak was disturbed) |", text)
        self.assertIn("| 80.0 % |", text)

    def test_single_calls_have_their_best_peer_too(self):
        more = {"percent_of_peak": None, "real_time": 20000.0}
        text, drawn = self.page(latency=[entry("blas", 8, ratio_fast=1.5), entry("blas", 8, idle_seconds=0.05, ratio_fast=0.98, **more),
                                         entry("blas", 8, first_call=True, ratio_fast=0.5, ratio_slow=2.0, **more)])
        self.assertIn("| 8x8x8, call after call | 1.50 us | fast | 1.50 |", text)
        self.assertIn("| 8x8x8, first call of a process | 20.0 us | fast | **0.50** |", text)
        self.assertIn("| blas | 1.50 us | 20.0 us | 20.0 us |", text)
        self.assertIn("| single calls | 1 | 3 | 1 | 1 | 1 | **0.90** | **0.50** (8x8x8, first call of a process, fast) |", text)
        self.assertIn("| 8x8x8, first call of a process | latency | f32 | **0.50** fast |", text)

    def test_lost_cells_stand_by_their_reasons(self):
        reasons = "# A comment.\n\nodd *, square 16x16x16 *: a reason: with colons\nsquare 8x8x8 *: another\nsquare *: a third\n"
        text, _ = self.page(reasons=reasons, odd=[entry("blas", 4, ratio_fast=0.6)], bf16=[entry("packed", 4, dtype="bf16:f32", ratio_fast=0.2)],
                            square=[entry("blas", 8, ratio_fast=0.9699), entry("blas", 16, threads=2, ratio_fast=0.5), entry("blas", 16, ratio_fast=0.4),
                                    entry("blas", 32, ratio_fast=0.97)])
        lost = re.search(r"^## What is lost\n\n.*?\n\n(.*?\n)\n## ", text, re.M | re.S)[1]
        self.assertEqual(lost.splitlines(), [
            "A reason: with colons:", "", "| shape | suite | type | 1 thread | 2 threads |", "|---|--:|--:|--:|--:|",
            "| 16x16x16 | square | f32 | **0.40** fast | **0.50** fast |", "| 4x4x4 | odd | f32 | **0.60** fast |  |", "",
            "Another:", "", "| shape | suite | type | 1 thread |", "|---|--:|--:|--:|", "| 8x8x8 | square | f32 | **0.969** fast |", "",
            "Why is not known:", "", "| shape | suite | type | 1 thread |", "|---|--:|--:|--:|",
            "| 4x4x4 | bf16 | bf16:f32 | **0.20** fast |"])

    def test_a_page_without_losses_has_no_list_of_them(self):
        text, _ = self.page(square=[entry("blas", 8, ratio_fast=0.98)])
        self.assertNotIn("## What is lost", text)


class CompactResults(unittest.TestCase):
    def test_they_show_the_same_in_less_room(self):
        tessera = cases.options.build / "bin/tessera"
        with tempfile.TemporaryDirectory(prefix="tessera-compact-") as folder:
            file = pathlib.Path(folder) / "results.json"
            subprocess.run([tessera, "bench", "-q", "--sizes", "4,8", "--algorithms", "packed,naive", "--peers", "none", "--repetitions", "3",
                            "--min-time", "0.001", "--context", "commit=1234567", "-o", file], capture_output=True, check=True)
            shown, sizes = [], []
            for _ in range(3):
                shown.append(subprocess.run([tessera, "bench", "--from", file, "--csv"], capture_output=True, text=True, check=True).stdout)
                sizes.append(file.stat().st_size)
                subprocess.run([cases.ROOT / "scripts/compact_results.py", file], check=True)
            self.assertLess(sizes[1], sizes[0] / 2)
            self.assertEqual(sizes[1], sizes[2])
            before, after = (list(csv.DictReader(io.StringIO(text))) for text in shown[:2])
            self.assertEqual(len(before), len(after))
            for old, new in zip(before, after):
                for column, value in old.items():
                    if value != new[column]:  # six digits; a spread is the difference of times that are nearly the same
                        of = old["seconds_median"] if column.startswith("seconds_") else value
                        self.assertAlmostEqual(float(value), float(new[column]), delta=2e-5 * abs(float(of)), msg=column)
            self.assertEqual(shown[1], shown[2])


if __name__ == "__main__":
    cases.main()
