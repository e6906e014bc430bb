#!/usr/bin/env python3
"""`scripts/gpu pack`: what it packs runs with a C library alone, and what it refuses to pack."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from gpu_machine import GpuMachine  # noqa: E402


class GpuPack(GpuMachine):
    def pack(self):
        """`scripts/gpu pack` in a checkout of one file, whose build does nothing."""
        self.program("scripts/build", '[ "$*" = "cuda packed" ]')
        for command in (["init", "-q"], ["add", "scripts/gpu"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "one"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)
        return self.gpu("pack")

    def test_what_is_packed_needs_nothing_but_the_c_library(self):
        built = cases.options.build / "packed"
        if not built.exists():
            self.skipTest("scripts/gpu pack is NOT tested: this build is without CUDA")
        (self.root / "build/cuda").mkdir(parents=True)
        (self.root / "build/cuda/packed").symlink_to(built)
        (self.root / "build/cuda/libtessera.a").symlink_to(built.parent / "libtessera.a")
        run = self.pack()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLess(int(re.search(r"^build/gpu: (\d+) MiB", run.stdout)[1]), 48)
        packed = self.root / "build/gpu"
        self.assertEqual({str(p.relative_to(packed)) for p in packed.rglob("*") if p.is_file()}, {"commit", "programs.tar.xz"})
        with tarfile.open(packed / "programs.tar.xz") as programs:
            programs.extractall(packed)
        programs = {"tessera", "cuda_test", "gpu_primitives"}
        self.assertLessEqual({*programs, "libtessera.a", "libboost_context.a"}, {p.name for p in packed.glob("bin/*")})
        for program in (packed / "bin" / each for each in sorted(programs)):
            said = subprocess.run(["readelf", "-dVW", program], capture_output=True, text=True, check=True).stdout
            self.assertLessEqual(set(re.findall(r"\(NEEDED\).*\[(.*)\]", said)), {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}, program)
            # Ubuntu of 2022 has 2.35.
            self.assertLessEqual(max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", said)), 35, program)
        (self.root / "a.npz").write_text("no archive")
        run = subprocess.run([packed / "bin/tessera", "multiply", "a.npz", "a.npz", "-o", "c.npy"], capture_output=True, text=True,
                             cwd=self.root)
        self.assertEqual((run.returncode, run.stdout), (3, ""))
        self.assertIn("a.npz: is not a readable .npz (zip) archive", run.stderr)

    def test_nothing_is_packed_before_it_is_built_or_when_it_is_too_large(self):
        run = self.pack()
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "left no build/cuda/packed/tessera$")
        for program in ("tessera", "cuda_test", "gpu_primitives"):
            (self.root / "build/cuda/packed").mkdir(parents=True, exist_ok=True)
            shutil.copy(sys.executable, self.root / "build/cuda/packed" / program)
        (self.root / "build/cuda/libtessera.a").write_bytes(b"!<arch>\n")
        (self.root / "large").write_bytes(bytes(65 << 20))
        subprocess.run(["git", "add", "large"], cwd=self.root, check=True)
        run = self.gpu("pack")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "larger than 64 MiB")
        self.program("scripts/build", "exit 3")
        run = self.gpu("pack")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, "^gpu: the build with CUDA failed")


if __name__ == "__main__":
    cases.main()
