"""A machine for tests of scripts/gpu: programs that only speak like CUDA's tools, and a tree that was built and packed."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import cases

PASSED = "[==========] 3 tests ran.\n[  PASSED  ] 3 tests."
CLEAN = "echo '========= ERROR SUMMARY: 0 errors'"
# A command that says its version, and writes what `bench -o FILE` and `tune --cache FILE` write.
TESSERA = """[ "$1" = --version ] && exit
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && case "$2" in *.json) ;; *) echo "the form of $2?"; exit 2 ;; esac
  [ "$1" = -o ] && echo '{"benchmarks": [{"contestant": "auto", "gflops": 5}]}' > "$2"
  [ "$1" = --cache ] && echo 'm=8 n=8 k=8 algorithm=tiled' > "$2"
  shift
done"""
# One launch of a product, or one for each line of stdin, whose third word is then counted.
NCU = """#!/usr/bin/env python3
import sys
if "--version" in sys.argv:
    sys.exit(print("Version 2025.3.0.0 (build 1)"))
metrics = sys.argv[sys.argv.index("--metrics") + 1].split(",")
rows = [["1,234"] * len(metrics)] if "compare" in sys.argv else [[line.split()[2]] * len(metrics) for line in sys.stdin]
print("==PROF== Connected to process 1")
for row in [["ID", *metrics], ["", *["unit"] * len(metrics)]] + [["0", *row] for row in rows]:
    print(",".join(f'"{word}"' for word in row))
"""
# What each question is answered with; clocks are logged until the script ends it.
SMI = """case "$*" in
*compute-apps*) cat others 2> /dev/null ;;
*throttle*) while echo "now, 1755 MHz, 650.00 W, 55, ${LIMITS:-0x0000000000000004}"; do case "$*" in *-lms*) sleep 0.05 ;; *) exit ;; esac; done ;;
*) echo 'Some GPU, 1.2, 3 W, 4 MHz' ;;
esac"""
GOOD = """echo "$1: good"; echo '{"good": true, "reading": "as expected", "measured": {}}'"""
CSV = '"ID","gpu__time_duration.sum"\n"0","12"'


class GpuMachine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for file in ("scripts/gpu", "scripts/gpu_steps.py", "scripts/gpu_tests.py", "scripts/kernels.py", "scripts/cubin.py", "src/matmul/ladder.inc"):
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(cases.ROOT / file, self.root / file)

    def program(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + text + "\n")
        file.chmod(0o755)

    def pretend(self, test=f"echo '{PASSED}'", sanitizer=CLEAN, ncu=f"echo '{CSV}'", tessera=TESSERA, primitive=GOOD):
        """A machine with a GPU and its tools, and a tree that was built and packed."""
        self.program("fakes/nvidia-smi", SMI)
        self.program("fakes/compute-sanitizer", sanitizer)
        self.program("fakes/ncu", ncu)
        self.program("build/gpu/bin/cuda_test", test)
        (self.root / "build/gpu/commit").write_text("1234567\n")
        self.program("build/gpu/bin/tessera", tessera)
        self.program("build/gpu/bin/gpu_primitives", primitive)
        self.program("scripts/ladder.py", "")
        self.program("scripts/compact_results.py", "")
        (self.root / "scripts/ladder.py").write_text("open('docs-were-written', 'w')\n")
        (self.root / "scripts/gpu_python.py").write_text("print('3 passed in 1 s\\ntested on a GPU: torch')\n")
        self.program("scripts/gpu_truth.py", 'echo "{}" > "$1"')
        (self.root / "docs").mkdir(exist_ok=True)
        shutil.copy(cases.ROOT / "docs/report.md", self.root / "docs")

    def gpu(self, *parts, **variables):
        return subprocess.run([self.root / "scripts/gpu", *parts], capture_output=True, text=True, timeout=600,
                              env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}", **variables})

    def records(self):
        return [json.loads(line) for line in (self.root / "bench/results/gpu/records.jsonl").read_text().splitlines()]

    def reports(self):
        return {p.name.split("some-gpu-")[-1]: p.read_text() for p in (self.root / "bench/results/gpu").iterdir()}
