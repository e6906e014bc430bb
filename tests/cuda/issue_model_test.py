#!/usr/bin/env python3
"""scripts/issue_model.py gives the speeds that an H200 had with four loops, whose instructions are in measured_loops. With a folder
of what a build made of the kernels for CUDA: none of them issues more clocks for a multiply-add than it may. A newer nvcc may order
them otherwise: then search an order again. Exits with 77 (skipped) where no nvdisasm reads it.

Usage: issue_model_test.py [MACHINE_CODE_FOLDER]
"""
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import issue_model  # noqa: E402
import machine_code  # noqa: E402

# TFLOP/s at 4096 x 4096 x 4096 (bench/results/gpu, docs/ladder.md); the last is said there as 8 % more time than the first.
MEASURED = {"pipelined_256x128x16x16x8": 44.6, "pipelined_128x256x16x8x16": 42.0, "pipelined_64x128x16x8x8": 44.6 / 1.08,
            "bulk_tiled_256x128x32x16x8": 49.2}
ERROR = 0.03
# Modelled clocks for each multiply-add, at most.
MOST = {("pipelined", "256x128x16/16x8"): 1.34, ("pipelined", "128x256x16/8x16"): 1.31, ("pipelined", "64x128x16/8x8"): 1.33,
        ("pipelined", "64x64x16/8x4"): 1.51,
        # By how A and B are in memory: along m, k, or n.
        **{("bulk_tiled", f"256x128x32/16x8 {majors}"): most for majors, most in
           {"mn": 1.26, "mk": 1.26, "kn": 1.27, "kk": 1.28}.items()},
        **{("bulk_tiled", f"64x64x32/8x4 {majors}"): most for majors, most in
           {"mn": 1.24, "mk": 1.27, "kn": 1.27, "kk": 1.31}.items()}}


def wrong_speeds():
    for name, measured in MEASURED.items():
        loop = issue_model.modelled((HERE / "measured_loops" / f"{name}.sass").read_text().splitlines())
        print(f"{issue_model.shown(name, loop)}, measured {measured:.1f}")
        if abs(loop.speed / measured - 1) > ERROR:
            yield f"{name}: {loop.speed:.1f} TFLOP/s, measured {measured:.1f}"


def wrong_reads():
    """What the last of a few instructions reads of the even and of the odd registers."""
    kept, other = "FFMA R8, R2.reuse, R4, R8", "FFMA R9, R7, R8, R9"
    for reads, loop in (([3, 0], ["FFMA R1, R2, R4, R6"]),
                        ([1, 1], [kept, "FFMA R5, R2, R7, R6"]),               # R2 is kept
                        ([2, 1], [kept, "FFMA R5, R7, R2, R6"]),               # but not for another place
                        ([1, 1], [kept, "MOV R9, R3", "FFMA R5, R2, R7, R6"]),
                        ([2, 1], [kept, "MOV R9, R10", "FFMA R5, R2, R7, R6"]),  # nor after another one of its bank and place
                        ([1, 1], [kept, *[other] * 7, "FFMA R5, R2, R7, R6"]),
                        ([2, 1], [kept, *[other] * 8, "FFMA R5, R2, R7, R6"]),   # nor for long
                        ([1, 1], [kept, "@P0 FFMA R5, R2, R7, R6"]),
                        ([1, 1], ["STS [R2+UR4], R3"])):
        ports = issue_model.Ports(issue_model.BANKS, math.inf)
        for instruction in loop[:-1]:
            ports.issue(*issue_model.operands_of(instruction))
        ports.count += 1
        got = ports.reads(issue_model.operands_of(loop[-1])[1])
        if got != reads:
            yield f"{loop}: {got} registers, not {reads}"


def wrong_clocks():
    """The clocks of a few loops: of one warp, and of two, without the wait of one for the end."""
    even, odd = "FFMA R8, R2, R4, R9", "FFMA R1, R3, R5, R2"
    line = [f"FFMA R{9 + 2 * i}, R{8 + 2 * i}, R3.reuse, R{9 + 2 * i}" for i in range(issue_model.LINE)]
    near = line * (issue_model.NEAR // issue_model.LINE)
    far = len(near + line) // issue_model.LINE
    for alone, two, loop in ((2, 2, [even]),
                             (3, 3, [even, odd]),  # one makes up for the other
                             (2, 2, ["LDS.128 R4, [R2+0x10]", "STS [R2+UR4], R3"]),
                             (8, 9, line),         # what is kept, is lost at its end
                             (8 * (far - 1), 9 * (far - 1), near), (8 * far, (9 + issue_model.MISS) * far, near + line)):
        got = issue_model.modelled(loop, alone=True).clocks - issue_model.BRANCH, issue_model.modelled(loop).clocks
        if max(abs(each - expected) for each, expected in zip(got, (alone, two))) > 1e-6:
            yield f"{loop[:8]}: {got} clocks, not {alone, two}"


def too_slow(folder):
    found = {(kernel, tile): loop for kernel, tile, loop in issue_model.loops(folder)}
    for (kernel, tile), loop in found.items():
        print(issue_model.shown(f"{kernel} {tile}", loop))
    for key, most in MOST.items():
        if key not in found:
            yield f"{' '.join(key)} was not compiled"
        elif found[key].clocks_each > most:
            yield f"{' '.join(key)}: {found[key].clocks_each:.3f} clocks for a multiply-add, at most {most}"
    yield from (f"{' '.join(key)} is compiled, and this test has no limit for it" for key in sorted(set(found) - set(MOST)))


def main():
    failures = [*wrong_reads(), *wrong_clocks(), *wrong_speeds()]
    skipped = None
    if len(sys.argv) > 1:
        folder = pathlib.Path(sys.argv[1])
        if machine_code.disassembler() is None:
            skipped = "nvdisasm is not installed: scripts/setup brings it where there is a network"
        else:
            failures += too_slow(folder)
    for failure in failures:
        print("FAILED:", failure)
    if skipped:
        print("SKIPPED:", skipped)
    return 1 if failures else 77 if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
