#!/usr/bin/env python3
"""scripts/gpu_truth.py without a GPU: with programs that only speak like CUDA's tools, what it keeps and what it does not believe."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from gpu_machine import CLEAN, NCU, GpuMachine  # noqa: E402


class GpuTruth(GpuMachine):
    def truth(self, ncu, sanitizer=CLEAN):
        """gpu_truth.py with tools that only speak like CUDA's: (its exit code, what it says, the file or None)."""
        self.pretend(sanitizer=sanitizer, tessera="""echo '{"problem": "m=64 tile=8x8x8"}'""")
        self.program("fakes/ncu", "")
        (self.root / "fakes/ncu").write_text(ncu)
        self.program("fakes/nvcc", "exit 0")
        self.program("fakes/nvidia-smi", "echo 'Some GPU, 9.0'")
        out = self.root / "truth.json"
        run = subprocess.run([cases.ROOT / "scripts/gpu_truth.py", out, "--tessera", self.root / "build/gpu/bin/tessera"], capture_output=True,
                             text=True, timeout=60, env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}"})
        return run.returncode, run.stderr, json.loads(out.read_text()) if out.exists() else None

    def test_truth_is_what_the_tools_say_of_each_kernel_and_access(self):
        code, said, truth = self.truth(NCU)
        self.assertEqual((code, said), (0, ""))
        self.assertEqual((truth["device"], truth["capability"], truth["tools"]["ncu"]), ("Some GPU", 90, "2025.3.0.0"))
        first = truth["kernels"][0]
        self.assertEqual((first["kernel"], first["m"], first["tile"]), ("naive", 64, "8x8x8"))
        self.assertEqual(set(first["metrics"].values()), {1234})
        self.assertEqual(first["sanitizer"], {"memcheck": 0, "racecheck": 0, "initcheck": 0, "synccheck": 0})
        self.assertEqual([p["transfers"] for p in truth["patterns"]], [p["lane_bytes"] for p in truth["patterns"]])
        self.assertGreater(len(truth["patterns"]), 100)

    def test_tools_that_say_nothing_leave_no_truth(self):
        for ncu, sanitizer, why in ((NCU.replace("rows = ", "rows = [] and "), CLEAN, "counted nothing"),
                                    (NCU.replace("metrics = ", "metrics = ['x'] or "), CLEAN, "counted nothing"),
                                    (NCU, "true", "memcheck says no summary"), (NCU, "exit 3", "ended with 3")):
            code, said, truth = self.truth(ncu, sanitizer)
            self.assertEqual((code, truth), (1, None))
            self.assertRegex(said, f"^gpu_truth: .*{why}")


if __name__ == "__main__":
    cases.main()
