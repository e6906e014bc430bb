#!/usr/bin/env python3
"""--device opencl: products on the machine's device; and one sentence where a driver is missing, crashes, lies, or has too little."""
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import harness

SIZES = ["-m", 70, "-n", 50, "-k", 30]
HERE = pathlib.Path(__file__).resolve().parent


class Real(harness.CommandTest):
    def setUp(self):
        super().setUp()
        found = self.succeeds("doctor", "--json").json["opencl"]
        if not found["devices"]:
            self.skipTest(f"products on a real OpenCL device are NOT tested: {found['problem']}")
        refused = self.tessera("multiply", "--dry-run", *self.operands(), "--device", "opencl:0")
        if "no kernels for OpenCL" in refused.err:
            self.skipTest(f"products on an OpenCL device are NOT tested: {refused.err}")

    def operands(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        self.write_npy("b.npy", [[5, 6], [7, 8]])
        return "a.npy", "b.npy"

    def test_a_product_is_the_same_as_on_the_cpu(self):
        for dtype in ("f32", "i32"):
            self.succeeds("multiply", *self.operands(), "--dtype", dtype, "-o", f"there_{dtype}.npy", "--device", "opencl:0", "--verify")
            self.succeeds("multiply", *self.operands(), "--dtype", dtype, "-o", f"here_{dtype}.npy")
            self.assertEqual(self.path(f"there_{dtype}.npy").read_bytes(), self.path(f"here_{dtype}.npy").read_bytes())

    def test_every_algorithm_agrees_in_every_bit(self):
        results = self.succeeds("compare", *SIZES, "--device", "opencl:0", "--json").json["results"]
        ran = [each for each in results if each["status"] == "ok"]
        self.assertGreaterEqual(len(ran), 10)
        self.assertEqual({each["status"] for each in results}, {"ok", "unsupported"})
        self.assertEqual({each["same_bits"] for each in ran}, {True})

    def test_all_devices_are_one_table(self):
        self.assertIn("threads, on opencl:0\n", self.succeeds("compare", *SIZES, "--device", "opencl:0", "--algorithms", "naive", "--threads", 2).out)
        table = self.succeeds("compare", *SIZES, "--device", "all", "--algorithms", "naive,tiled,tensor_core").out
        head = next(line for line in table.splitlines() if line.startswith("algorithm")).split()
        self.assertEqual(head[1], "cpu")
        self.assertIn("opencl:0", head)
        tiled = next(line for line in table.splitlines() if line.startswith("tiled"))
        self.assertEqual(tiled.count("="), len(head) - 1)
        rows = self.succeeds("compare", *SIZES, "--device", "all", "--json").json["results"]
        self.assertEqual({row["device"] for row in rows}, set(head[1:]))

    def test_the_environment_names_the_default(self):
        rows = self.succeeds("compare", *SIZES, "--algorithms", "naive", "--json", env={"TESSERA_DEVICE": "opencl:0"}).json["results"]
        self.assertEqual(rows[0]["device"], "opencl:0")
        rows = self.succeeds("compare", *SIZES, "--algorithms", "naive", "--json", "--device", "cpu", env={"TESSERA_DEVICE": "gpu"}).json["results"]
        self.assertEqual(rows[0]["device"], "cpu")
        self.fails(2, "compare", *SIZES, says="unknown device 'gpu'", env={"TESSERA_DEVICE": "gpu"})

    def test_bench_measures_it(self):
        out = self.succeeds("bench", "--sizes", "64", "--device", "opencl:0", "--algorithms", "coalescing", "--peers", "none",
                            "--min-time", 0.01, "--repetitions", 2).out
        self.assertIn("coalescing", out)

    @unittest.skipUnless(shutil.which("clang++-14") or shutil.which("clang++"), "puzzles on OpenCL are NOT tested: needs clang-14")
    def test_a_right_answer_of_a_puzzle_runs_there_too(self):
        for puzzle, variant in (("p16", "--tiled"), ("p23", None)):
            gpu = self.succeeds("puzzle", "run", puzzle, *([variant] if variant else []), "--solution", "--device", "opencl:0", "--json",
                                env={"XDG_CACHE_HOME": str(self.folder)}).json["gpu"]
            self.assertTrue(gpu["asked"])
            self.assertRegex(gpu["says"], r"^the GPU \(.*\) agrees$")
        self.fails(2, "puzzle", "run", "p16", "--tiled", "--solution", "--device", "cuda", says="expected opencl:N or hip:N")
        self.fails(4, "puzzle", "run", "p16", "--tiled", "--solution", "--device", "opencl:99", says="opencl:99")  # before the answer


class Fake(harness.CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = pathlib.Path(cls.enterClassContext(harness.tempfile.TemporaryDirectory())) / "fake.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", cls.library, HERE / "fake_opencl.c"], check=True, timeout=60)

    def refused(self, kind, says, *more, code=4, env=None):
        self.fails(code, "compare", *SIZES, "--device", "opencl:0", *more, says=says,
                   env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": kind, **(env or {})})

    def test_a_driver_that_crashes_or_ends_the_process_is_a_message(self):
        self.refused("crash", ["no OpenCL device: a driver crashed with signal 6"])
        self.refused("exit", ["no OpenCL device: a driver ended the process"])
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        for kind, function in (("crash_build", "clBuildProgram"), ("crash_info", "clGetKernelWorkGroupInfo"), ("crash_finish", "clFinish")):
            with self.subTest(kind):
                run = self.product(kind)
                self.assertEqual((run.code, run.err), (4, f"tessera multiply: a driver crashed in {function}\n"))
                self.assertEqual([each.name for each in self.folder.iterdir()], ["a.npy"])
        self.fails(4, "compare", *SIZES, "--device", "all", "--algorithms", "block_tiled", says=["a driver crashed in clBuildProgram"],
                   env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "crash_build"})

    def product(self, kind, **env):
        run = self.tessera("multiply", "a.npy", "a.npy", "--dtype", "f32", "-o", "c.npy", "--device", "opencl:0",
                           env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": kind, **env})
        if "no kernels for OpenCL" in run.err:
            self.skipTest("this build has no kernels for OpenCL")
        return run

    def test_a_driver_that_hangs_is_a_message(self):
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        for kind, who, what in (("hang", "no OpenCL device: a driver", "DRIVER"), ("hang_context", "clCreateContext", "DRIVER"),
                                ("hang_build", "clBuildProgram", "DRIVER"), ("hang_start", "clEnqueueNDRangeKernel", "DRIVER"),
                                ("hang_finish", "opencl:0, running block_tiled_vectorized: OpenCL: clFinish", "KERNEL")):
            with self.subTest(kind):
                run = self.product(kind, **{f"TESSERA_{what}_TIMEOUT": "1"})
                self.assertEqual(run.code, 4, run.err)
                self.assertEqual(len(run.err.splitlines()), 1, run.err)
                self.assertIn(f"{who} did not answer within 1 s", run.err)
                self.assertIn(f"TESSERA_{what}_TIMEOUT", run.err)
                self.assertFalse(self.path("c.npy").exists())
        self.refused("small", ["TESSERA_DRIVER_TIMEOUT=soon: expected a number of seconds from 1 on"], code=2,
                     env={"TESSERA_DRIVER_TIMEOUT": "soon"})

    def test_ctrl_c_ends_a_wait_without_a_limit(self):
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        if "no kernels for OpenCL" in self.tessera("multiply", "--dry-run", "a.npy", "a.npy", "--device", "opencl:0",
                                                   env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "small"}).err:
            self.skipTest("this build has no kernels for OpenCL")
        process = subprocess.Popen([harness.COMMAND, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--device", "opencl:0"], cwd=self.folder,
                                   stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                                   env=harness.environment(TESSERA_OPENCL_LIBRARY=str(self.library), FAKE="hang_finish",
                                                           FAKE_LIVE=str(self.path("live"))))
        end = time.monotonic() + 60
        while not self.path("live").exists() and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.communicate(timeout=60)[1], process.returncode), (b"tessera multiply: interrupted\n", 130))
        self.assertEqual(sorted(each.name for each in self.folder.iterdir()), ["a.npy", "live"])

    def test_two_devices_keep_to_their_own_context(self):
        run = self.tessera("compare", *SIZES, "--device", "all", "--algorithms", "block_tiled,sarek_naive", "--json",
                           env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "two", "FAKE_LIVE": str(self.path("live"))})
        if "no kernels for OpenCL" in run.err + run.out:
            self.skipTest("this build has no kernels for OpenCL")
        rows = [row for row in run.json["results"] if row["device"] != "cpu"]
        self.assertEqual({row["device"] for row in rows}, {"opencl:0", "opencl:1"})
        self.assertEqual({row["status"] for row in rows}, {"out_of_bound"})  # it computes nothing, and refuses nothing
        self.assertEqual(self.path("live").read_text(), "0\n")

    def test_a_program_that_uses_no_device_opens_no_driver(self):
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "crash",
                                                                        "FAKE_LIVE": str(self.path("live"))})
        self.assertFalse(self.path("live").exists())

    def test_a_driver_that_lies_has_no_device(self):
        self.refused("liar", ["no OpenCL device: no driver has a device"])
        self.refused("none", ["no OpenCL device: there is no driver; on Debian pocl-opencl-icd"])

    def test_no_loader(self):
        for file in ("/nowhere.so", "/etc/passwd", "/tmp"):
            self.fails(4, "compare", *SIZES, "--device", "opencl:0", says=[f"no OpenCL device: {file}: ", "TESSERA_OPENCL_LIBRARY names"],
                       env={"TESSERA_OPENCL_LIBRARY": file})

    def test_a_number_that_is_not_there(self):
        env = {"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "small"}
        self.fails(4, "compare", *SIZES, "--device", "opencl:3", says=["opencl:3: there is no such device: expected opencl:0"], env=env)
        self.fails(4, "compare", *SIZES, says=["TESSERA_DEVICE=opencl:3: opencl:3: there is no such device"],
                   env={**env, "TESSERA_DEVICE": "opencl:3"})

    def test_a_small_device_gets_a_kernel_that_fits_or_a_refusal(self):
        env = {"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": "small"}
        self.write_npy("a.npy", [[1.0] * 64] * 64)
        plan = ["multiply", "a.npy", "a.npy", "--device", "opencl:0", "--dry-run"]
        if "no kernels for OpenCL" in self.tessera(*plan, env=env).err:
            self.skipTest("this build has no kernels for OpenCL")
        self.assertIn("algorithm=block_tiled_vectorized", self.succeeds(*plan, "--dtype", "f32", env=env).out)
        self.fails(4, *plan, "--dtype", "f64", says=["opencl:0 has no f64"], env=env)
        self.fails(2, *plan, "--dtype", "f32", "--algorithm", "tiled", "--tile", "32x32x32",
                   says=["needs 1024 threads in a block, opencl:0 has 256"], env=env)
        self.fails(2, *plan, "--dtype", "f32", "--algorithm", "pipelined", says=["bytes of shared storage, opencl:0 has 16384"], env=env)

    def test_what_fails_later_is_a_message_too(self):
        for kind, says in (("broken", ["kernel block_tiled_vectorized: opencl:0 cannot build it: CL_BUILD_PROGRAM_FAILURE (-11); error: this is"]),
                           ("mute", ["kernel block_tiled_vectorized: opencl:0 (Fake device) reads neither SPIR-V nor SPIR"]),
                           ("full", ["opencl:0: no memory for 16384 bytes: clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"]),
                           ("lost", ["clFinish"])):
            with self.subTest(kind):
                self.write_npy("a.npy", [[1.0] * 64] * 64)
                run = self.tessera("multiply", "a.npy", "a.npy", "--dtype", "f32", "-o", "c.npy", "--device", "opencl:0",
                                   env={"TESSERA_OPENCL_LIBRARY": str(self.library), "FAKE": kind, "FAKE_LIVE": str(self.path("live"))})
                if "no kernels for OpenCL" in run.err:
                    self.skipTest("this build has no kernels for OpenCL")
                self.assertIn(run.code, (1, 4), run.err)
                self.assertEqual(self.path("live").read_text(), "0\n")  # buffers that nobody released
                for each in says:
                    self.assertIn(each, run.err)
                self.assertFalse(self.path("c.npy").exists())


if __name__ == "__main__":
    harness.main()
