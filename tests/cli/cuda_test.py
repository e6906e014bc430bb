#!/usr/bin/env python3
"""--device cuda without a GPU: one message and exit code 4; the command needs no driver."""
import os
import pathlib
import re
import subprocess
import unittest

import harness
from harness import COMMAND, environment

SIZES = ["-m", 5, "-n", 4, "-k", 3]
# What hides every GPU, on machines that have some.
HIDDEN = [{"CUDA_VISIBLE_DEVICES": ""}, {"CUDA_VISIBLE_DEVICES": "-1"}, {"CUDA_VISIBLE_DEVICES": "none,none"}]


class NoDevice(harness.CommandTest):
    def test_what_was_asked_for_by_name_is_refused(self):
        self.write_npy("a.npy", [[1]])
        for hidden in HIDDEN:
            for device in ("cuda", "cuda:0", "cuda:7"):
                self.fails(4, "compare", *SIZES, "--device", device, says=[f"device '{device}' is not available", "--device cpu"],
                           env=hidden)
                self.fails(4, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--device", device, says=device, env=hidden)
                self.assertFalse(self.path("c.npy").exists())

    def test_the_reason_names_the_variable_that_hides_the_devices(self):
        doctor = self.succeeds("doctor", env={"CUDA_VISIBLE_DEVICES": "-1"}).out
        why = re.search(r"devices +none: (.*)", doctor)[1]
        driver = self.succeeds("doctor", "--json").json["cuda"]["driver"]
        if "built without CUDA" in why:
            self.skipTest("this build has no CUDA")
        self.assertIn("CUDA_VISIBLE_DEVICES is '-1'" if driver else "no NVIDIA driver (libcuda.so.1)", why)

    def test_nobody_asked_for_a_device_and_nothing_changes(self):
        for hidden in HIDDEN:
            results = self.succeeds("compare", *SIZES, "--json", env=hidden).json["results"]
            self.assertEqual({result["status"] for result in results}, {"ok"})

    def test_doctor_lists_no_device(self):
        for hidden in HIDDEN:
            self.assertEqual(self.succeeds("doctor", "--json", env=hidden).json["cuda"]["devices"], [])

    def test_doctor_says_where_the_tools_of_measuring_are_and_which(self):
        no_tools = {"PATH": "/usr/bin:/bin", "CUDA_HOME": str(self.folder / "nowhere")}
        before = self.succeeds("doctor", "--json", env=no_tools).json["cuda"]["tools"]
        self.assertEqual([tool["name"] for tool in before], ["cuBLAS", "NVML", "ncu"])
        (self.folder / "bin").mkdir()
        ncu = self.path("bin/ncu")
        ncu.write_text("#!/bin/sh\necho NVIDIA\necho 'Version 2025.3.0.0 (build 1) (public-release)'\n")
        ncu.chmod(0o755)
        source = self.path("fake.c")
        source.write_text("int cublasGetProperty(int which, int *out) { *out = 13 - which; return 0; }\n"
                          "int nvmlInit_v2(void) { return 0; }\nint nvmlShutdown(void) { return 0; }\n"
                          "int nvmlSystemGetDriverVersion(char *out, unsigned n) { out[0] = '7'; out[1] = 0; return 0; }\n")
        library = self.path("libnvidia-ml.so.1")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
        there = {"PATH": f"{ncu.parent}:/usr/bin:/bin", "TESSERA_CUBLAS": str(library), "LD_LIBRARY_PATH": str(self.folder)}
        tools = self.succeeds("doctor", "--json", env=there).json["cuda"]["tools"]
        self.assertEqual([(tool["version"], tool["path"]) for tool in tools],
                         [("13.12.11", str(library)), ("of driver 7", str(library)), ("2025.3.0.0", str(ncu))])
        said = self.succeeds("doctor", env=there).out
        self.assertRegex(said, rf"(?m)^  cuBLAS +13\.12\.11  {library}$")
        if before[2]["path"] is None:
            self.assertRegex(self.succeeds("doctor", env=no_tools).out, r"(?m)^  ncu +not found; counts what kernels do")

    def test_names_that_are_no_device(self):
        for name in ("gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda:99999999999", "cpu:0"):
            self.fails(2, "compare", *SIZES, "--device", name, says=["unknown device", "cpu, cuda:N, opencl:N or hip:N", "this machine has cpu"])


class Start(harness.CommandTest):
    def libraries(self, *arguments):
        """The libraries that the loader opened, for the command and later."""
        done = subprocess.run([COMMAND, *map(str, arguments)], env=environment(LD_DEBUG="libs"), capture_output=True, text=True,
                              timeout=harness.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        return re.findall(r"find library=(\S+)", done.stderr)

    def test_no_library_of_the_driver_or_of_cuda_is_needed(self):
        needed = subprocess.run(["ldd", COMMAND], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(needed, r"libcu|libnv")

    @unittest.skipIf(harness.sanitized(), "the loader's report is mixed with a sanitizer's")
    def test_the_driver_is_not_looked_for_before_a_device_is_asked_for(self):
        for arguments in (["--version"], ["compare", *SIZES], ["layout", "row_major(2,3)"]):
            asked = self.libraries(*arguments)
            self.assertTrue(any(name.startswith("libc.") for name in asked), "LD_DEBUG said nothing")
            self.assertEqual([name for name in asked if "cuda" in name], [], arguments)

    def test_a_library_that_is_no_driver_is_not_taken_for_one(self):
        if "built without CUDA" in self.succeeds("doctor").out:
            self.skipTest("this build has no CUDA")
        source = self.path("fake.c")
        source.write_text("int cuInit(unsigned flags) { return 100 + (int)flags; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.path("libcuda.so.1"), source], check=True, timeout=60)
        run = self.fails(4, "compare", *SIZES, "--device", "cuda", says="device 'cuda' is not available",
                         env={"LD_LIBRARY_PATH": str(self.folder)})
        self.assertNotIn("fake", run.err)


if __name__ == "__main__":
    harness.main()
