#!/usr/bin/env python3
"""Compiles every kernel of the ladder with nvcc for sm_80 and sm_90a, and reads the PTX and what ptxas says: each kernel is
there, nothing spills, nothing lives in local memory, a block has the registers it needs, and the instructions that a kernel
is about are there. What a GPU does not have is refused with a sentence. Exits with 77 (skipped) where there is no nvcc.

Usage: compile_test.py SOURCE_FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

KERNELS = ["Naive", "Coalescing", "Tiled", "TiledRegister", "BlockTiled", "BlockTiledVectorized", "TensorCoreTiled",
           "Pipelined", "SingleBlock", "TiledByHand", "TiledIdiomatic", "SarekNaive", "SarekTiled"]


# Registers of a multiprocessor, all for one block if need be (CUDA C++ Programming Guide, compute capabilities).
REGISTERS = 65536
# What the PTX of a kernel must hold, by the element type of A where that matters: loads of four numbers at once, asynchronous
# copies, matrix instructions.
EXPECTED = {
    ("Tiled", "f32"): ["ld.shared.v4.f32"],
    ("TiledRegister", "f32"): ["ld.shared.v4.f32"],
    ("BlockTiled", "f32"): ["ld.shared.v4.f32"],
    ("BlockTiledVectorized", "f32"): ["ld.global.v4.f32", "st.shared.v4.f32", "ld.shared.v4.f32"],
    ("TiledIdiomatic", "f32"): ["cp.async.ca.shared.global", "cp.async.commit_group", "cp.async.wait_group"],
    ("Pipelined", "f32"): ["cp.async.cg.shared.global", "cp.async.ca.shared.global [%r", "cp.async.wait_group 1", "ld.shared.v4.f32"],
    ("TensorCoreTiled", "f32"): ["mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"],
    ("TensorCoreTiled", "f16"): ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"],
    ("TensorCoreTiled", "bf16"): ["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"],
}
ELEMENTS = {"f": "f32", "d": "f64", "i": "i32", "NS_10SmallFloatILi5E": "f16", "NS_10SmallFloatILi8E": "bf16"}
REFUSED = ["this kernel is written for warps of 64 lanes, which an NVIDIA GPU does not have: run it on the CPU engine",
           "a matrix instruction runs on warps of as many lanes as it has", "a matrix instruction of f8 needs sm_89 or later"]


def not_refused(nvcc, source):
    """Which sentences nvcc does not say about refused.cu."""
    run = subprocess.run([nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-arch=sm_80", "-I", source / "include", "-cubin",
                          source / "tests/cuda/refused.cu", "-o", "/dev/null"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if run.returncode == 0:
        return ["refused.cu was compiled"]
    said = " ".join((run.stdout + run.stderr).split())
    return [f"refused.cu: nvcc did not say: {each}" for each in REFUSED if each not in said]


def not_accessed(nvcc, source):
    """Which accesses scripts/gpu_patterns.cu does not make, each as one instruction."""
    run = subprocess.run([nvcc, "-std=c++20", "-arch=sm_90a", "-ptx", source / "scripts/gpu_patterns.cu", "-o", "-"], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=600)
    wanted = [f"{do}.{where}{width}.u32" for do in ("ld", "st") for where in ("global", "shared") for width in ("", ".v2", ".v4")]
    found = [f"gpu_patterns.cu: no {each}: {run.stderr}" for each in wanted if len(re.findall(re.escape(each) + r"\s", run.stdout)) != 1]
    # What ends in a trap is used: ptxas keeps the loads.
    return found + ["gpu_patterns.cu: loads that nothing uses"] * (len(re.findall(r"\btrap;", run.stdout)) != 6)


def compiled(nvcc, source, arch, folder):
    """What ptxas says of each kernel, by its mangled name, and the PTX of each."""
    run = subprocess.run(
        [nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-fmad=false", "-arch=" + arch, "-I", source / "include", "-Xptxas", "-v",
         "-cubin", "--keep", "--keep-dir", folder, source / "tests/cuda/ladder.cu", "-o", pathlib.Path(folder) / "ladder.cubin"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
    if run.returncode != 0:
        print(run.stderr)
        return {}, {}
    reports = {report.split("'")[0]: report for report in re.split(r"Compiling entry function '", run.stderr)[1:]}
    text = (pathlib.Path(folder) / "ladder.ptx").read_text()
    bodies = {entry[1]: entry[0] for entry in re.finditer(r"\.entry (\w+)\(.*?\n\}", text, re.S)}
    return reports, bodies


def element_type(mangled):
    """Of the elements of the first tensor."""
    first = mangled[mangled.index("6TensorIPK") + len("6TensorIPK"):]
    return next(name for start, name in ELEMENTS.items() if first.startswith(start))


def faults(arch, mangled, report, ptx):
    """What is wrong with one kernel, and which it is."""
    kernel = re.search(r"entryINS_\d+([A-Za-z]+?)IXtl", mangled)[1]
    element = element_type(mangled)
    registers = int(re.search(r"Used (\d+) registers", report)[1])
    memory = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", report)
    x, y, z = map(int, re.search(r"\.maxntid (\d+), (\d+), (\d+)", ptx).groups())
    print(f"{arch} {kernel} {element}: {x * y * z} threads of {registers} registers, stack and spills {memory.groups()}")
    found = []
    if memory.groups() != ("0", "0", "0"):
        found.append(memory[0])
    if registers * x * y * z > REGISTERS:
        found.append(f"{x * y * z} threads of {registers} registers: a block has {REGISTERS}")
    if re.search(r"^\s+(@\S+ )?(ld|st)\.local", ptx, re.M):
        found.append("local memory in the PTX")
    found += [f"no {each}" for each in EXPECTED.get((kernel, element), []) if each not in ptx]
    return [f"{arch} {kernel} {element}: {each}" for each in found], (kernel, element)


def main():
    source = pathlib.Path(sys.argv[1])
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        print("SKIPPED: nvcc is not installed, so no kernel was compiled for a GPU")
        return 77
    failures = not_refused(nvcc, source) + not_accessed(nvcc, source)
    for arch in ("sm_80", "sm_90a"):
        with tempfile.TemporaryDirectory() as folder:
            reports, bodies = compiled(nvcc, source, arch, folder)
        seen = set()
        for mangled, report in reports.items():
            wrong, which = faults(arch, mangled, report, bodies[mangled])
            failures += wrong
            seen.add(which)
        failures += [f"{arch}: {kernel} was not compiled" for kernel in KERNELS if kernel not in {name for name, _ in seen}]
        failures += [f"{arch}: {which} was not compiled" for which in EXPECTED if which not in seen]
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


sys.exit(main())
