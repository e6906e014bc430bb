#!/usr/bin/env python3
"""scripts/issue_model.py gives the speeds that an H200 had with three loops, whose instructions are in measured_loops. With a folder
of what a build made of the kernels for CUDA: none of them issues more clocks for a multiply-add than it may. A newer nvcc may order
them otherwise: then search an order again. Exits with 77 (skipped) where no nvdisasm reads it.

Usage: issue_model_test.py [MACHINE_CODE_FOLDER]
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import issue_model  # noqa: E402
import machine_code  # noqa: E402

# TFLOP/s at 4096 x 4096 x 4096 (bench/results/gpu, docs/ladder.md); the last is said there as 8 % more time than the first.
MEASURED = {"pipelined_256x128x16x16x8": 44.6, "pipelined_128x256x16x8x16": 42.0, "pipelined_64x128x16x8x8": 44.6 / 1.08}
ERROR = 0.03
# Modelled clocks for each multiply-add, at most.
MOST = {("pipelined", "256x128x16/16x8"): 1.25, ("pipelined", "128x256x16/8x16"): 1.21, ("pipelined", "64x128x16/8x8"): 1.36,
        ("pipelined", "64x64x16/8x4"): 1.63,
        # By how A and B are in memory: along m, k, or n.
        **{("bulk_tiled", f"256x128x32/16x8 {majors}"): most for majors, most in
           {"mn": 1.17, "mk": 1.17, "kn": 1.17, "kk": 1.18}.items()},
        **{("bulk_tiled", f"64x64x32/8x4 {majors}"): most for majors, most in
           {"mn": 1.25, "mk": 1.31, "kn": 1.31, "kk": 1.41}.items()}}


def wrong_speeds():
    for name, measured in MEASURED.items():
        loop = issue_model.modelled((HERE / "measured_loops" / f"{name}.sass").read_text().splitlines())
        print(f"{issue_model.shown(name, loop)}, measured {measured:.1f}")
        if abs(loop.speed / measured - 1) > ERROR:
            yield f"{name}: {loop.speed:.1f} TFLOP/s, measured {measured:.1f}"


def wrong_clocks():
    """The rules one by one: the clocks of a few instructions."""
    first = "FFMA R1, R2.reuse, R3, R1"
    for clocks, loop in ((3, ["FFMA R1, R2, R4, R6"]),                          # three registers of one bank
                         (4, ["FFMA R1, R2, R3, R1", "FFMA R5, R2, R7, R6"]),   # two of one bank, each time
                         (3, [first, "FFMA R5, R2, R7, R6"]),                   # R2 is kept
                         (4, [first, "FFMA R5, R7, R2, R6"]),                   # but not for another place
                         (5, [first, "MOV R9, R8", "FFMA R5, R2, R7, R6"]),     # nor after another register in its place
                         (3, [first, "@P0 FFMA R5, R2, R7, R6"]),
                         (2, ["LDS.128 R4, [R2+0x10]", "STS [R2+UR4], R3"])):
        got = issue_model.modelled(loop).clocks
        if got != clocks:
            yield f"{loop}: {got} clocks, not {clocks}"


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
    failures = [*wrong_clocks(), *wrong_speeds()]
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
