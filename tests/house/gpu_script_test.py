#!/usr/bin/env python3
"""scripts/gpu without a GPU: what it refuses; and with programs that only speak like CUDA's tools, what it does not believe."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
sys.path.insert(0, str(cases.ROOT / "scripts"))
import gpu_steps  # noqa: E402
from gpu_machine import CLEAN, CSV, GOOD, PASSED, TESSERA, GpuMachine  # noqa: E402


class GpuScript(GpuMachine):
    def refused(self, code, says, *parts):
        run = self.gpu(*parts)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        self.assertLessEqual(len(run.stderr.splitlines()), 2, run.stderr)  # what failed, and which parts did
        self.assertRegex(run.stderr, rf"^gpu: .*{says}")

    def test_without_a_gpu_every_part_says_so_in_one_line_and_does_nothing(self):
        self.program("fakes/nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
        for parts in ([], ["test"], ["sanitize"], ["counters"], ["ladder"], ["bench"], ["test", "ladder"]):
            self.refused(4, "no GPU answers here", *parts)
        self.program("fakes/nvidia-smi", "exit 0")
        self.refused(4, "no GPU answers here")
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["fakes", "scripts", "src"])

    def test_an_unknown_part_is_refused_before_anything_runs(self):
        self.pretend(test="touch ran")
        self.refused(2, "unknown part 'tets'", "test", "tets")
        self.refused(2, "'pack' takes no other part", "test", "pack")
        self.assertFalse((self.root / "ran").exists())

    def test_seconds_that_are_none_are_refused(self):
        self.pretend(test="touch ran")
        for seconds in ("seven", "-5", "nan", ""):
            run = self.gpu("test", TESSERA_GPU_SECONDS=seconds)
            self.assertEqual((run.returncode, run.stderr), (2, f"gpu: TESSERA_GPU_SECONDS is '{seconds}': expected seconds, such as 420\n"))
        self.assertFalse((self.root / "ran").exists())

    def test_a_full_disk_is_said_in_one_line_and_the_next_call_goes_on(self):
        self.pretend()
        run = subprocess.run(["sh", "-c", "ulimit -f 1; exec scripts/gpu primitives"], capture_output=True, text=True, cwd=self.root,
                             env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}"})
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "^gpu: .*/bench/results/gpu: File too large; the next call goes on after the last record\n$")
        self.assertEqual(self.gpu("primitives").returncode, 0)
        lines = (self.root / "bench/results/gpu/records.jsonl").read_text().splitlines()
        self.assertEqual(sum(line.endswith("}") for line in lines), len(lines) - 1)  # one was cut off
        steps = [json.loads(line)["step"] for line in lines if line.endswith("}")]
        self.assertEqual([step for step in steps if not step.startswith("again")], [*(f"p{i}" for i in range(1, 12)), "unit_bits"])

    def test_all_parts_leave_their_results_and_a_record_each(self):
        self.pretend()
        run = self.gpu()
        self.assertEqual(run.returncode, 0, run.stderr)
        primitives = [f"p{i}" for i in range(1, 12)]
        def tuned(*names):
            return [f"{part}-{each}" for each in names for part in ("tune", "bench")]
        cells = [*tuned("f8e4m3-4096-NT", "i8-4096-NT", "f64-4096", "f16-4096"), "bench-tf32-4096-NT", "bench-bf16-64x512x512x512",
                 *tuned("bf16-thin", "f8e4m3-thin", "bf16-8192", "f32-2048", "f32-4096", "bf16-4096", "f32-1024", "bf16-2048", "bf16-1024"),
                 "bench-bf16-4096-NT", "bench-f32-8192"]
        steps = [*primitives, "unit_bits", "tests", *cells, "python", "ladder", "counters", "truth", "memcheck", "racecheck", "initcheck",
                 "synccheck"]
        self.assertEqual([(record["step"], record["status"]) for record in self.records()], [(step, "good") for step in steps])
        found = {record["step"]: record["found"] for record in self.records()}
        self.assertEqual(found["p3"], "as expected")
        self.assertEqual(found["python"], "tested on a GPU: torch; 3 passed")
        self.assertEqual(found["tune-bf16-4096"], ["m=8 n=8 k=8 algorithm=tiled"])
        self.assertEqual(found["bench-bf16-4096"], {"auto": 5})
        written = {f"{step}.json" for step in steps if step.startswith("bench")} | {f"{step}.txt" for step in steps if "check" in step}
        self.assertEqual(set(self.reports()), written | {"machine.txt", "clocks.csv", "records.jsonl", "unit_bits.txt", "tests.txt", "tuning.txt", "python.txt",
                                                         "counters.csv", "truth.json", "ladder.json",
                                                         *(f"{each}.txt" for each in primitives)})
        self.assertTrue((self.root / "docs-were-written").exists())

    def test_the_next_call_skips_what_is_known_and_measures_changed_programs_again(self):
        self.pretend()
        self.assertEqual(self.gpu("test", "bench").returncode, 0)
        count = len(self.records())
        run = self.gpu("test", "bench")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"tests: known since \d{4}-\d\d-\d\d\n")
        self.assertEqual(len(self.records()), count)
        self.pretend(tessera=TESSERA + "\n# another program")
        self.gpu("test", "bench")
        self.assertEqual({record["step"][:5] for record in self.records()[count:]}, {"bench"})
        self.program("fakes/nvidia-smi", "echo 'Other GPU, 1.2, 3 W, 4 MHz'")
        self.gpu("test")
        self.assertEqual(self.records()[-1]["gpu"], "Other GPU, 1.2, 3 W, 4 MHz")

    def test_a_measured_program_is_known_by_its_kernels(self):
        kernels, other = self.root / "kernels", self.root / "other"
        kernels.write_bytes(b"kernels"), other.write_bytes(b"other kernels")

        def key(part, fatbin, more):
            made = self.root / "program"
            subprocess.run(["objcopy", "--add-section", f".nv_fatbin={fatbin}", "--add-section", f".more={more}", "/bin/true", made], check=True)
            return gpu_steps.key_of(gpu_steps.Step(part, "", [made], 1, None, ""), "GPU")
        self.assertEqual(key("tune", kernels, kernels), key("tune", kernels, other))
        self.assertNotEqual(key("tune", kernels, kernels), key("tune", other, kernels))
        self.assertNotEqual(key("test", kernels, kernels), key("test", kernels, other))

    def test_what_failed_comes_last_the_next_time(self):
        self.pretend(test="exit 1")
        self.assertEqual(self.gpu("test").returncode, 1)
        run = self.gpu("test", "sanitize")
        self.assertEqual(run.returncode, 1)
        self.assertEqual([record["step"] for record in self.records()], ["tests", "memcheck", "racecheck", "initcheck", "synccheck", "tests"])

    def test_half_a_record_of_a_call_that_was_killed_is_passed_over(self):
        self.pretend()
        (self.root / "bench/results/gpu").mkdir(parents=True)
        (self.root / "bench/results/gpu/records.jsonl").write_text('["no record"]\n{"step": "tes')
        self.assertEqual(self.gpu("test").returncode, 0)
        self.assertEqual(json.loads((self.root / "bench/results/gpu/records.jsonl").read_text().splitlines()[2])["step"], "tests")
        self.assertIn("known since", self.gpu("test").stdout)

    def test_a_benchmark_with_a_wrong_result_is_a_failure_and_writes_no_page(self):
        self.pretend(tessera='[ "$1" = --version ] && exit; echo "auto is wrong at (0,0)"; exit 1')
        self.refused(1, "ladder: exit code 1: auto is wrong at \\(0,0\\)", "ladder")
        self.assertEqual(self.records()[-1]["why"], "exit code 1: auto is wrong at (0,0)")
        self.pretend(tessera="exit 0")
        self.refused(1, "no usable .*-ladder.json", "ladder")
        self.assertFalse((self.root / "docs-were-written").exists())

    def test_skipped_or_silent_tests_are_failures(self):
        self.pretend(test=f"echo '[ RUN      ] A.B\nx: Skipped\nNOT TESTED on a GPU: why\n[  SKIPPED ] A.B'; echo '{PASSED}'")
        self.refused(1, "skipped for want of a GPU", "test")
        self.pretend(test="true")
        self.refused(1, "do not say that they passed", "test")
        self.pretend(test=f"echo '{PASSED}'; exit 1")
        self.refused(1, "tests: exit code 1", "test")

    def test_tests_run_in_several_processes_and_those_of_times_alone(self):
        self.pretend(test=f"""echo "$GTEST_SHARD_INDEX/$GTEST_TOTAL_SHARDS $2" >> asked; echo '{PASSED}'""")
        self.assertEqual(self.gpu("test").returncode, 0)
        processes = min(8, os.cpu_count())
        *most, last = (self.root / "asked").read_text().splitlines()
        self.assertEqual(sorted(most), sorted(f"{i}/{processes} --gtest_filter=-GpuEngine.*:GpuFaults.*" for i in range(processes)))
        self.assertEqual(last, "0/1 --gtest_filter=GpuEngine.*:GpuFaults.*")
        self.assertEqual(self.records()[-1]["found"], f"{3 * (processes + 1)} tests")

    def test_skipped_python_tests_are_a_failure(self):
        self.pretend()
        for text, why in (("SKIPPED [1] a.py:3: CUDA is NOT tested: no GPU answers", "CUDA is NOT tested"), ("failed with 1", "do not say")):
            (self.root / "scripts/gpu_python.py").write_text(f"print({text!r})\n")
            self.refused(1, f"python: .*{why}", "python")

    def test_a_failure_names_the_tests_that_failed_or_those_it_was_in(self):
        self.pretend(test="echo '[  FAILED  ] Gpu.Adds (3 ms)\n[  FAILED  ] Gpu.Adds'; exit 1")
        self.refused(1, "tests: exit code 1; failed: Gpu.Adds\\n", "test")
        self.pretend(test="echo '[ RUN      ] Gpu.Adds\n[       OK ] Gpu.Adds (3 ms)\n[ RUN      ] Gpu.Ends'; kill -9 $$")
        self.refused(1, "tests: ended by SIGKILL in Gpu.Ends", "test")

    def test_a_part_that_fails_leaves_the_others_their_turn(self):
        self.pretend(test='case "$1" in *GpuUnits*) echo "mma f16: 3 differ" ;; esac; exit 1')
        run = self.gpu()
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "gpu: unit_bits: exit code 1: mma f16: 3 differ\ngpu: tests: exit code 1\ngpu: failed: unit_bits, tests\n")
        self.assertLessEqual({"ladder.json", "bench-f64-4096.json", "truth.json", "synccheck.txt"}, set(self.reports()))

    def test_a_step_that_hangs_is_ended_with_all_that_it_started_and_the_others_go_on(self):
        self.pretend(test="echo '[ RUN      ] Gpu.Hangs'; trap '' TERM; sleep 300 & echo $! > child; sleep 300")
        steps = self.root / "scripts/gpu_steps.py"
        steps.write_text(re.sub(r"(gpu_tests.py\", programs / \"cuda_test\"\]), 150", r"\1, 1", steps.read_text()))
        run = self.gpu("test", "sanitize")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stderr, "gpu: tests: ended after 1 s in Gpu.Hangs\ngpu: failed: tests\n")
        self.assertEqual(len(self.records()), 5)
        child = int((self.root / "child").read_text())
        self.assertFalse(pathlib.Path(f"/proc/{child}/exe").exists())

    def test_a_limit_that_is_reached_loses_nothing_and_the_next_call_goes_on(self):
        slow = f"[ -e known ] || {{ touch known; trap 'exit 143' TERM; sleep 30 & wait; }}; echo '{PASSED}'"
        self.pretend(test=slow)
        run = self.gpu("primitives", "test", "ladder", TESSERA_GPU_SECONDS="4")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.stderr, "gpu: the 4 s of one call are over: call it again for unit_bits, tests, ladder\n")
        first = [f"p{i}" for i in range(1, 12)]
        self.assertEqual([record["step"] for record in self.records()], first)
        self.assertEqual(self.gpu("primitives", "test", "ladder").returncode, 0)
        self.assertEqual([record["step"] for record in self.records()], [*first, "again-p3", "again-p6", "again-bf16-4096", "unit_bits", "tests",
                                                                         "ladder"])

    def killed(self, *parts):
        """Kills a call in the first of its tests; that ends, too."""
        self.pretend(test=f"(set -C; echo $$ > child) 2> /dev/null && exec sleep 300; echo '{PASSED}'")
        call = subprocess.Popen([self.root / "scripts/gpu", *parts], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={**os.environ, "PATH": f"{self.root}/fakes:{os.environ['PATH']}"})
        child = self.root / "child"
        while not child.exists() or not child.read_text():
            self.assertIsNone(call.poll())
            time.sleep(0.02)
        call.kill()
        call.wait()
        for _ in range(250):
            if not pathlib.Path("/proc", child.read_text().strip(), "exe").exists():
                return
            time.sleep(0.02)
        self.fail("the step outlived the call")

    def test_a_call_that_is_killed_leaves_nothing_running_and_the_next_one_goes_on(self):
        self.killed("primitives", "sanitize")
        first = [record["step"] for record in self.records()]
        self.assertEqual(first, [f"p{i}" for i in range(1, 12)])
        self.assertEqual(self.gpu("primitives", "sanitize").returncode, 0)
        self.assertEqual([record["step"] for record in self.records()], [*first, "again-p3", "again-p6", "again-bf16-4096", "unit_bits", "memcheck",
                                                                         "racecheck", "initcheck", "synccheck"])

    def test_a_call_that_is_killed_ends_every_process_of_the_tests(self):
        self.killed("test")
        self.assertEqual(self.gpu("test").returncode, 0)
        self.assertEqual([record["status"] for record in self.records()], ["good"])

    def test_what_a_benchmark_had_when_its_time_was_over_is_kept(self):
        self.pretend(tessera=TESSERA + "\ntrap 'exit 143' TERM; sleep 30 & wait")
        run = self.gpu("ladder", TESSERA_GPU_SECONDS="3")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(self.records()[-1]["status"], "cut")
        self.assertEqual(self.records()[-1]["found"], {"auto": 5})
        (kept,) = (text for name, text in self.reports().items() if name.startswith("ladder-part"))
        self.assertIn("gflops", kept)
        self.pretend(tessera=TESSERA.replace('"gflops": 5', '"gflops": 6'))
        self.assertEqual(self.gpu("ladder").returncode, 0)  # measures it again
        self.pretend(tessera=TESSERA + "\ntrap 'exit 143' TERM; sleep 30 & wait")
        self.assertEqual(self.gpu("ladder", TESSERA_GPU_SECONDS="3").returncode, 3)
        reports = self.reports()
        self.assertIn('"gflops": 6', reports["ladder.json"])  # what was whole is not replaced by a part
        self.assertEqual(sum(name.startswith("ladder-part") for name in reports), 2)

    def test_each_record_says_what_the_clock_was_and_what_limited_it(self):
        self.pretend()
        self.assertEqual(self.gpu("bench").returncode, 0)
        self.assertEqual(self.records()[-1]["conditions"], {"mhz": 1755, "watts": 650, "celsius": 55, "limited_by": ["power"]})

    def test_times_under_throttling_are_measured_again_last(self):
        self.pretend()
        run = self.gpu("bench", "sanitize", LIMITS="0x0000000000000044")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu: bench-f16-4096: the clock was limited by hardware thermal\n", run.stderr)
        self.assertEqual({record["status"] for record in self.records() if record["step"].startswith("bench")}, {"throttled"})
        self.assertEqual(self.records()[-1]["status"], "good")  # a sanitizer needs no clock
        count = len(self.records())
        self.assertEqual(self.gpu("bench").returncode, 0)
        self.assertEqual({record["status"] for record in self.records()[count:]}, {"good"})

    def test_where_a_primitive_fails_what_needs_it_comes_last_and_f32_does_not(self):
        wrong = """if [ "$1" = p3 ]; then echo 'p3: WRONG: it is: the operand is not swizzled'; echo '{"good": false}'; exit 1; fi; """ + GOOD
        self.pretend(primitive=wrong)
        run = self.gpu("primitives", "tune", "ladder")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu: p3: p3: WRONG: it is: the operand is not swizzled\n", run.stderr)
        order = [record["step"] for record in self.records()]
        last = order[order.index("ladder") + 1:]
        self.assertEqual(order[order.index("unit_bits") + 1:order.index("ladder")],
                         ["tune-f64-4096", "tune-f32-2048", "tune-f32-4096", "tune-f32-1024"])
        self.assertEqual(last[:2], ["tune-f8e4m3-4096-NT", "tune-i8-4096-NT"])

    def test_a_later_call_begins_with_a_check_of_the_card(self):
        self.pretend()
        self.assertEqual(self.gpu("primitives", "test", "bench").returncode, 0)
        self.assertNotIn("again-p3", [record["step"] for record in self.records()])
        count = len(self.records())
        self.pretend(tessera=TESSERA.replace('"gflops": 5', '"gflops": 4'))
        run = self.gpu("primitives", "test", "bench")
        self.assertEqual([record["step"] for record in self.records()[count:]][:3], ["again-p3", "again-p6", "again-bf16-4096"])
        self.assertIn("again-bf16-4096: 0.80 of the speed of an earlier call: compare ratios to the peers only", run.stderr)

    def test_other_programs_on_the_gpu_are_named(self):
        self.pretend()
        (self.root / "others").write_text("123, python3\n")
        self.assertIn("gpu: other programs use the GPU, times are worth less: 123, python3\n", self.gpu("test").stderr)

    def test_a_size_that_was_not_tuned_in_time_is_tuned_again_by_the_next_call(self):
        self.pretend(tessera=TESSERA + "\n[ -e late ] || echo 'tessera tune: 1 of 1 sizes not tuned within 30 s: run the command again'")
        run = self.gpu("tune")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gpu: tune-f64-4096: 1 of 1 sizes not tuned within 30 s: run the command again\n", run.stderr)
        (self.root / "late").touch()
        self.assertEqual(self.gpu("tune").returncode, 0)
        self.assertEqual({record["status"] for record in self.records()[13:]}, {"good"})

    def test_tuning_goes_on_without_a_kernel_that_does_not_end(self):
        hangs = TESSERA.replace('"$1" = --version ] && exit', """"$1" = --version ] && exit
if [ "$1" = tune ] && [ "$(cat ended 2> /dev/null)" != xx ]; then
  printf x >> ended; echo "tessera tune: warpgroup 64x64 does not end; FILE leaves it out from now on: run the command again"; exit 1
fi""")
        self.pretend(tessera=hangs)
        run = self.gpu("tune")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([(record["step"], record["status"]) for record in self.records()][:4],
                         [("tune-f8e4m3-4096-NT", "failed"), ("tune-f8e4m3-4096-NT", "failed"), ("tune-f8e4m3-4096-NT", "good"), ("tune-i8-4096-NT", "good")])

    def test_benchmarks_use_what_a_call_of_another_day_has_tuned(self):
        self.pretend(tessera=TESSERA.replace("exit\n", 'exit\n[ "$1" = bench ] && cat "$TESSERA_TUNING" >> used\n', 1))
        results = self.root / "bench/results/gpu"
        results.mkdir(parents=True)
        for name in ("2026-01-01-some-gpu", "2026-01-02-some-gpu", "2026-01-03-other-gpu"):
            (results / f"{name}-tuning.txt").write_text(f"{name}\n")
        self.assertEqual(self.gpu("bench").returncode, 0)
        self.assertEqual(set((self.root / "used").read_text().splitlines()), {"2026-01-02-some-gpu"})

    def test_programs_of_another_commit_are_refused(self):
        self.pretend()
        subprocess.run(["git", "init", "-q"], cwd=self.root, check=True)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "one"], cwd=self.root, check=True)
        self.refused(1, "build/gpu is of 1234567, the checkout of .*scripts/gpu pack", "test")

    def test_a_sanitizer_without_its_summary_is_a_failure(self):
        for text in ("true", "echo '========= ERROR SUMMARY: 2 errors'", CLEAN + "; exit 9"):
            self.pretend(sanitizer=text)
            self.assertEqual(self.gpu("sanitize").returncode, 1, text)

    def test_reports_say_nothing_of_where_the_checkout_lies(self):
        self.pretend(test=f"echo '/some/where/tests/cuda/plan_test.cpp:23: Skipped'; echo '{PASSED}'",
                     ncu=f"echo '==PROF== Connected to process 5 (/some/where/build/gpu/bin/tessera)'; echo '{CSV}'")
        run = self.gpu("test", "counters")
        self.assertEqual(run.returncode, 0, run.stderr)
        reports = self.reports()
        self.assertIn("\ntests/cuda/plan_test.cpp:23: Skipped\n", "\n" + reports["tests.txt"])
        self.assertNotIn("/some/where", "".join(reports.values()))

    def test_counters_that_are_none_are_a_failure(self):
        self.pretend(ncu="echo nothing")
        self.assertEqual(self.gpu("counters").returncode, 1)
        self.pretend(ncu="exit 3")
        self.assertEqual(self.gpu("counters").returncode, 1)

    def test_counters_are_asked_for_by_the_documented_names_and_shown(self):
        self.pretend(ncu=f"echo \"$*\" > asked; echo '{CSV}'")
        run = self.gpu("counters")
        self.assertEqual(run.returncode, 0, run.stderr)
        asked = (self.root / "asked").read_text()
        for metric in ("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "launch__registers_per_thread",
                       "smsp__sass_inst_executed_op_shared_st.sum,"):
            self.assertIn(metric, asked)
        self.assertTrue((self.root / "docs-were-written").exists())

    def test_packed_programs_that_do_not_start_are_refused_with_the_reason(self):
        self.pretend(tessera="echo too old >&2; exit 1")
        self.refused(1, "do not start here: too old", "test")


if __name__ == "__main__":
    cases.main()
