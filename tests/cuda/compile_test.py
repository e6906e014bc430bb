#!/usr/bin/env python3
"""Compiles every kernel of the ladder with nvcc for sm_80 and sm_90a and reads what ptxas says: each kernel is there,
nothing spills, nothing lives in local memory. What a GPU does not have is refused with a sentence. Exits with 77 (skipped)
where there is no nvcc.

Usage: compile_test.py SOURCE_FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

KERNELS = ["Naive", "Coalescing", "Tiled", "TiledRegister", "BlockTiled", "BlockTiledVectorized", "TensorCoreTiled",
           "SingleBlock", "TiledByHand", "TiledIdiomatic", "SarekNaive", "SarekTiled"]


REFUSED = ["this kernel is written for warps of 64 lanes, which an NVIDIA GPU does not have: run it on the CPU engine",
           "a matrix instruction runs on warps of as many lanes as it has"]


def not_refused(nvcc, source):
    """Which sentences nvcc does not say about refused.cu."""
    run = subprocess.run([nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_80", "-I", source / "include", "-cubin",
                          source / "tests/cuda/refused.cu", "-o", "/dev/null"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if run.returncode == 0:
        return ["refused.cu was compiled"]
    said = " ".join((run.stdout + run.stderr).split())
    return [f"refused.cu: nvcc did not say: {each}" for each in REFUSED if each not in said]


def main():
    source = pathlib.Path(sys.argv[1])
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        print("SKIPPED: nvcc is not installed, so no kernel was compiled for a GPU")
        return 77
    failures = not_refused(nvcc, source)
    for arch in ("sm_80", "sm_90a"):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                [nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-arch=" + arch, "-I", source / "include", "-Xptxas", "-v",
                 "-cubin", source / "tests/cuda/ladder.cu", "-o", pathlib.Path(folder) / "ladder.cubin"],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            print(run.stderr)
            failures.append(f"{arch}: nvcc failed")
            continue
        reports = re.split(r"ptxas info\s+: Compiling entry function '", run.stderr)[1:]
        seen = set()
        for report in reports:
            kernel = re.search(r"entryINS_\d+([A-Za-z]+?)IXtl", report).group(1)
            registers = int(re.search(r"Used (\d+) registers", report).group(1))
            memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report)
            print(f"{arch} {kernel}: {registers} registers, stack and spills {memory.groups()}")
            seen.add(kernel)
            if memory.groups() != ("0", "0", "0"):
                failures.append(f"{arch} {kernel}: {memory.group(0)}")
        failures += [f"{arch}: {kernel} was not compiled" for kernel in KERNELS if kernel not in seen]
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


sys.exit(main())
