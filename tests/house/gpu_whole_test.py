#!/usr/bin/env python3
"""scripts/gpu from its first call to its last on a fake GPU: with this build's gpu_primitives, tuner and benchmark, and modelled times;
with kernels that hang, crash and multiply wrongly, primitives that are not as the models say, throttling, and a limit that cuts it off."""
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from gpu_machine import GpuMachine  # noqa: E402

PARTS = ("primitives", "test", "tune", "bench")


class GpuWhole(GpuMachine):
    def setUp(self):
        super().setUp()
        bin_folder = cases.options.build / "bin"
        if not all((bin_folder / name).exists() for name in ("gpu_primitives", "fake_gpu")):
            self.skipTest("scripts/gpu is NOT tested whole: this build has no command")
        # Each primitive answers as its models say, but for those of WRONG.
        self.pretend(tessera=f'exec {bin_folder}/fake_gpu "$@"', primitive=f"""
[ -e "right-$1" ] || {bin_folder}/gpu_primitives "$1" --like '?' 2>&1 | sed -n '2s/^ *//p' > "right-$1"
reading=$(cat "right-$1")
[ "$1" = "${{WRONG%%:*}}" ] && reading=${{WRONG#*:}}
exec {bin_folder}/gpu_primitives "$1" --like "$reading\"""")
        steps = self.root / "scripts/gpu_steps.py"
        text = steps.read_text()
        for large, small in (("28672x4096", "64x32"), ("4096x14336", "32x96"), ("4096x4096", "48x32"), ("8192", "72"), ("4096", "64"),
                             ("2048", "32"), ("1024", "16"), ("64x512x512x512", "4x16x16x16")):
            text = text.replace(large, small)
        steps.write_text(text)
        (self.root / "scripts/compact_results.py").write_text((cases.ROOT / "scripts/compact_results.py").read_text())

    def call(self, *parts, **variables):
        return self.gpu(*(parts or PARTS), **variables)

    def of(self, step):
        return [record for record in self.records() if record["step"] == step]

    def test_a_whole_call_measures_and_the_next_one_only_checks_the_card(self):
        run = self.call()
        self.assertEqual(run.returncode, 0, run.stderr)
        (tuned,) = self.of("tune-bf16-64")
        self.assertRegex(tuned["found"][0], r"m=64 n=64 k=64 in=bf16 .* algorithm=warpgroup tile=128x256/64x256 .*peer=cublas\S* "
                                            r".*clock_mhz=1980 watts=650.5 limits=4 slower=warpgroup,128x256/64x256/2x1,1")
        (thin,) = self.of("tune-bf16-thin")
        self.assertEqual([re.search(r"m=\d+ n=\d+ k=\d+", line)[0] for line in thin["found"]],
                         [f"m={m} n={n} k={k}" for n, k, ms in ((48, 32, (1, 16, 64)), (64, 32, (1, 16, 64)), (32, 96, (16,))) for m in ms])
        (thin,) = self.of("bench-bf16-thin")
        self.assertIn("64x48x32 auto", thin["found"])
        (bench,) = self.of("bench-bf16-64")
        self.assertLessEqual({"auto", "tensor_core", "cublas", "cublaslt", "cublaslt-2"}, set(bench["found"]))
        count = len(self.records())
        self.assertEqual(self.call().returncode, 0)
        self.assertEqual([record["step"] for record in self.records()[count:]], ["again-p3", "again-p6", "again-bf16-64"])
        table = self.root / "table.inc"
        subprocess.run([sys.executable, cases.ROOT / "scripts/tuned_table.py", "--records", self.root / "bench/results/gpu/records.jsonl",
                        "--table", table], check=True)
        self.assertIn('R"(device="Some GPU" ', table.read_text())
        self.assertIn("algorithm=warpgroup tile=128x256/64x256", table.read_text())

    def test_a_kernel_that_hangs_costs_one_start_of_the_tuner(self):
        run = self.call("tune", FAKE_GPU="hangs=warpgroup 64x64/64x64")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("tune-bf16-thin: exit code 1: tessera tune: warpgroup 64x64/64x64 does not end on 1x48x32-NT", run.stderr)
        self.assertEqual([record["status"] for record in self.of("tune-bf16-thin")], ["failed", "good"])
        self.assertEqual([record["status"] for record in self.of("tune-bf16-64")], ["good"])  # it is left out there, too
        self.assertIn("hangs=yes", self.reports()["tuning.txt"])

    def test_a_kernel_that_multiplies_wrongly_is_never_the_fastest_and_fails_its_step(self):
        run = self.call("tune", FAKE_GPU="wrong=warpgroup 128x256/64x256")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"tune-bf16-64: exit code 1: .*128x256/64x256")
        self.assertNotIn("tile=128x256/64x256 ", self.reports()["tuning.txt"])
        self.assertIn("algorithm=warpgroup tile=128x256/64x256/2x1", self.reports()["tuning.txt"])

    def test_a_crash_ends_its_step_alone(self):
        run = self.call("tune", FAKE_GPU="crashes=pipelined 256x128x16/16x8")
        self.assertEqual(run.returncode, 1)
        status = {record["step"]: record["status"] for record in self.records()}
        self.assertEqual(status["tune-f32-64"], "failed")
        self.assertEqual((status["tune-i8-64-NT"], status["tune-f64-64"]), ("good", "good"))  # without that kernel
        self.assertRegex(run.stderr, "tune-f32-64: ended by SIGABRT")

    def test_a_primitive_that_works_otherwise_is_named_and_f32_goes_on(self):
        run = self.call("primitives", "tune", WRONG="p3:the operand is not swizzled")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu: p3: p3: WRONG: it is: the operand is not swizzled; first at element ", run.stderr)
        order = [record["step"] for record in self.records()]
        self.assertLess(order.index("tune-f32-64"), order.index("tune-bf16-64"))

    def test_two_short_calls_find_what_one_long_call_finds(self):
        first = self.call("primitives", "tune", TESSERA_GPU_SECONDS="1")
        self.assertEqual(first.returncode, 3, first.stderr)
        left = re.search("call it again for (.*)", first.stderr)[1].split(", ")
        self.assertEqual(self.call("primitives", "tune").returncode, 0)
        steps = [record["step"] for record in self.records() if record["status"] == "good"]
        self.assertEqual(len(steps), len(set(steps)))
        self.assertEqual([step for step in steps[-len(left):]], left)

    def test_a_slower_card_and_throttling_are_seen(self):
        self.assertEqual(self.call("primitives", "bench").returncode, 0)
        run = self.call("primitives", "tune", FAKE_GPU="slow=0.5", LIMITS="0x0000000000000044")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"again-bf16-64: 0\.\d\d of the speed of an earlier call")
        self.assertEqual({record["status"] for record in self.records() if record["step"].startswith("tune")}, {"throttled"})


if __name__ == "__main__":
    cases.main()
