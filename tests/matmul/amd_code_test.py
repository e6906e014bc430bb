#!/usr/bin/env python3
"""What Clang makes of the kernels for AMD GPUs: no spilled vector registers, no scratch memory, no static LDS, and fused multiply-adds.

Compiled and read, not run: this needs no GPU. CDNA 2 (gfx90a) has waves of 64 lanes, RDNA 2 (gfx1030) of 32; gfx942 where Clang knows it.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
TOOL = cases.options.build / "bin" / "tessera-gpu-code"
KERNELS = 12  # and one more where waves have 64 lanes


def program(*names):
    return next((found for found in map(shutil.which, names) if found), None)


CLANG, READELF, OBJDUMP, LLD = (program(f"{name}-14", name) for name in ("clang++", "llvm-readelf", "llvm-objdump", "ld.lld"))


def knows(target):
    return subprocess.run([CLANG, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-x", "c", "-S", "-o", "/dev/null", "/dev/null"],
                          capture_output=True, check=False).returncode == 0


@unittest.skipUnless(CLANG and READELF and OBJDUMP and LLD, "the code for AMD GPUs is NOT tested: needs clang-14, llvm-14 and lld-14")
class AmdCode(unittest.TestCase):
    def code(self, target):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        flags = [f"-I{cases.ROOT / folder_}" for folder_ in ("include", "src", "src/matmul")]
        if target.startswith("gfx10"):
            flags.append("-DTESSERA_NO_WAVE_64")
        run = subprocess.run([TOOL, folder / "code.cpp", "-", HERE / "amd_kernels.cpp", CLANG, "-", target, *flags],
                             capture_output=True, text=True, check=True, timeout=600)
        self.assertEqual(run.stderr, "")
        file = folder / f"code.cpp.{target}"
        notes = subprocess.run([READELF, "--notes", file], capture_output=True, text=True, check=True).stdout
        assembly = subprocess.run([OBJDUMP, "-d", file], capture_output=True, text=True, check=True).stdout
        return notes, assembly

    def test_no_kernel_spills_and_each_multiplies_with_one_rounding(self):
        for target, kernels in (("gfx90a", KERNELS + 1), ("gfx1030", KERNELS), ("gfx942", KERNELS + 1)):
            with self.subTest(target):
                if not knows(target):
                    self.assertEqual(target, "gfx942", f"{CLANG} does not know {target}")
                    continue
                notes, assembly = self.code(target)
                for name in ("vgpr_spill_count", "private_segment_fixed_size", "group_segment_fixed_size"):
                    self.assertEqual(re.findall(rf"\.{name}: +(\d+)", notes), ["0"] * kernels, name)
                # Whole loops of multiply-adds, not their function alone.
                fused = len(re.findall(r"\bv_(?:pk_)?(?:fma|fmac)_f32", assembly))
                self.assertGreater(fused, 1000)
                self.assertIn("ds_read_b128", assembly)
                self.assertIn("ds_bpermute_b32", assembly)
                self.assertNotIn("scratch_store", assembly)


if __name__ == "__main__":
    cases.main()
