#!/usr/bin/env python3
"""scripts/gpu without a GPU: what it refuses; and with programs that only speak like CUDA's tools, what it does not believe."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

PASSED = "[==========] 3 tests ran.\n[  PASSED  ] 3 tests."
CLEAN = "echo '========= ERROR SUMMARY: 0 errors'"
# `tessera bench ... -o FILE ...` writes the file.
BENCH = 'while [ $# -gt 0 ]; do [ "$1" = -o ] && echo {} > "$2"; shift; done'
CSV = '"ID","gpu__time_duration.sum"\n"0","12"'


class GpuScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()
        shutil.copy(cases.ROOT / "scripts/gpu", self.root / "scripts/gpu")

    def program(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text + "\n")
        file.chmod(0o755)

    def pretend(self, test=f"echo '{PASSED}'", sanitizer=CLEAN, ncu=f"echo '{CSV}'", bench=BENCH):
        """A machine with a GPU and its tools, and a tree that was built and packed."""
        self.program("fakes/nvidia-smi", "echo 'Some GPU, 1.2, 3 W, 4 MHz'")
        self.program("fakes/compute-sanitizer", sanitizer)
        self.program("fakes/ncu", ncu)
        self.program("build/gpu/bin/cuda_test", test)
        self.program("build/gpu/bin/tessera", bench)
        self.program("scripts/ladder.py", "")
        (self.root / "scripts/ladder.py").write_text("open('docs-were-written', 'w')\n")

    def gpu(self, *parts):
        return subprocess.run([self.root / "scripts/gpu", *parts], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}"})

    def refused(self, code, says, *parts):
        run = self.gpu(*parts)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertRegex(run.stderr, rf"^gpu: .*{says}")

    def test_without_a_gpu_every_part_says_so_in_one_line_and_does_nothing(self):
        self.program("fakes/nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
        for parts in ([], ["test"], ["sanitize"], ["counters"], ["ladder"], ["bench"], ["test", "ladder"]):
            self.refused(4, "no GPU answers here", *parts)
        self.program("fakes/nvidia-smi", "exit 0")
        self.refused(4, "no GPU answers here")
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["fakes", "scripts"])

    def test_an_unknown_part_is_refused_before_anything_runs(self):
        self.pretend(test="touch ran")
        self.refused(2, "unknown part 'tets'", "test", "tets")
        self.refused(2, "'pack' stands alone", "test", "pack")
        self.assertFalse((self.root / "ran").exists())

    def test_all_parts_leave_their_results(self):
        self.pretend()
        run = self.gpu()
        self.assertEqual(run.returncode, 0, run.stderr)
        names = {p.name.split("some-gpu-")[1] for p in (self.root / "bench/results/gpu").iterdir()}
        self.assertEqual(names, {"machine.txt", "tests.txt", "memcheck.txt", "racecheck.txt", "initcheck.txt", "synccheck.txt",
                                 "counters.csv", "ladder.json", "bench-f32.json", "bench-f16.json", "bench-bf16.json", "bench-f64.json"})
        self.assertTrue((self.root / "docs-were-written").exists())

    def test_a_benchmark_with_a_wrong_result_is_a_failure_and_writes_no_page(self):
        self.pretend(bench='[ "$1" = --version ]')
        self.refused(1, "tessera bench failed", "ladder")
        self.refused(1, "tessera bench failed", "bench")
        self.assertFalse((self.root / "docs-were-written").exists())

    def test_skipped_or_silent_tests_are_failures(self):
        self.pretend(test=f"echo '[ RUN      ] A.B\nx: Skipped\nNOT TESTED on a GPU: why\n[  SKIPPED ] A.B'; echo '{PASSED}'")
        self.refused(1, "skipped for want of a GPU", "test")
        self.pretend(test="true")
        self.refused(1, "do not say that they passed", "test")
        self.pretend(test=f"echo '{PASSED}'; exit 1")
        self.refused(1, "tests failed", "test")

    def test_a_sanitizer_without_its_summary_is_a_failure(self):
        for text in ("true", "echo '========= ERROR SUMMARY: 2 errors'", CLEAN + "; exit 9"):
            self.pretend(sanitizer=text)
            self.assertEqual(self.gpu("sanitize").returncode, 1, text)

    def test_counters_that_are_none_are_a_failure(self):
        self.pretend(ncu="echo nothing")
        self.assertEqual(self.gpu("counters").returncode, 1)
        self.pretend(ncu="exit 3")
        self.assertEqual(self.gpu("counters").returncode, 1)


if __name__ == "__main__":
    cases.main()
