#!/usr/bin/env python3
"""How fast Hopper can issue the loop of an f32 kernel, from its machine code, without a GPU.

A scheduler issues one instruction in each clock. The registers have two banks, of even and of odd numbers, and a bank is read once
in each clock, so that a multiply-add that reads two registers of one bank takes two clocks. An operand with `.reuse` is kept for the
next instruction that reads the same register in the same place, which then reads no bank. So what is counted is the clocks of the
main loop, where tiles are whole, for each of its multiply-adds; the speed of light is one. The model leaves out memory and barriers:
it holds for kernels that hide both.

    scripts/issue_model.py                      every tile of the kernels of build/cuda
    scripts/issue_model.py --build FOLDER       of another build
    scripts/issue_model.py LOOP.sass            a loop whose instructions are in a file, one a line
"""
import argparse
import collections
import pathlib
import re
import sys

import machine_code

PEAK = 67.0  # TFLOP/s of an H200 or H100 SXM that issues a multiply-add in every clock
NO_RESULT = ("STS", "STG", "BAR", "DEPBAR", "SYNCS", "BRA")  # the first operand of these is read
FFMA = "FFMA"
BANKS = 2


def sources(instruction):
    """The operands that an instruction reads, in order."""
    name, _, operands = machine_code.unconditional(instruction).partition(" ")
    operands = [each.strip() for each in re.split(r",(?![^\[]*\])", operands)]
    return operands if name.split(".")[0] in NO_RESULT else operands[1:]


class Loop(collections.namedtuple("Loop", "instructions multiply_adds clocks")):
    @property
    def clocks_each(self):
        return self.clocks / self.multiply_adds

    @property
    def least_each(self):
        """Without conflicts of registers: of every instruction one."""
        return self.instructions / self.multiply_adds

    @property
    def speed(self):
        return PEAK / self.clocks_each


def modelled(instructions, banks=BANKS):
    kept, clocks, multiply_adds = [None] * 3, 0, 0
    for instruction in instructions:
        reads = [0] * banks  # in each of them
        for place, operand in enumerate(sources(instruction)[:3]):
            register = re.match(r"\[?[-|~!]*R(\d+)", operand)
            number = int(register[1]) if register else None
            if number is not None and kept[place] != number:
                reads[number % banks] += 1
            kept[place] = number if ".reuse" in operand else None
        is_multiply_add = machine_code.operation(instruction) == FFMA
        multiply_adds += is_multiply_add
        clocks += max(1, *reads) if is_multiply_add else 1
    return Loop(len(instructions), multiply_adds, clocks)


def tile_of(mangled):
    names = ("bm", "bn", "bk", "wm", "wn", "tm", "tn")
    return dict(zip(names, map(int, re.findall(r"Li(\d+)E", re.search(r"TileShapeE((Li\d+E)+)", mangled)[1]))))


def majors_of(mangled):
    """Along which mode A and B of bulk_tiled are contiguous: "kn", "kk", "mn", "mk"; nothing for other kernels."""
    found = re.search(r"5MajorE(\d)ELS\w*?_(\d)EEEJ", mangled)
    return "mk"[found[1] == "0"] + "nk"[found[2] == "0"] if found else ""


def of_pipelined(tile, _):
    """What its loop executes for one tile along k: multiply-adds, and asynchronous copies of elements of A and of fours of B."""
    threads = tile["bm"] // tile["tm"] * (tile["bn"] // tile["tn"])
    return {FFMA: tile["tm"] * tile["tn"] * tile["bk"], "LDGSTS": (tile["bm"] * tile["bk"] + tile["bk"] * tile["bn"] // 4) // threads}


def of_bulk_tiled(tile, majors):
    """The same of its loop: of an operand along k a thread stores as many fours as it has of it."""
    threads = tile["bm"] // tile["tm"] * (tile["bn"] // tile["tn"])
    transposed = sum(tile[side] for side, major in zip(("bm", "bn"), majors) if major == "k")
    return {FFMA: tile["tm"] * tile["tn"] * tile["bk"], r"STS\.128": transposed * tile["bk"] // 4 // threads}


KERNELS = {"pipelined": of_pipelined, "bulk_tiled": of_bulk_tiled}


def loops(folder):
    """(kernel, tile, Loop) of each f32 kernel in a folder of machine code."""
    for kernel, executed in KERNELS.items():
        text = machine_code.listing(folder / f"cuda_{kernel}.compute_90a.cubin")
        for mangled, (instructions, labels) in machine_code.functions(text).items():
            if "6TensorIPK" in mangled and "6TensorIPKf" not in mangled:
                continue
            tile, majors = tile_of(mangled), majors_of(mangled)
            way = machine_code.Code(instructions, labels).way_around(executed(tile, majors))
            yield kernel, "{bm}x{bn}x{bk}/{tm}x{tn}".format(**tile) + f" {majors}" * bool(majors), modelled(way)


def shown(name, loop):
    return (f"{name}: {loop.instructions} instructions, {loop.multiply_adds} multiply-adds, {loop.clocks} clocks: "
            f"{loop.clocks_each:.3f} for each, {loop.least_each:.3f} without conflicts, {loop.speed:.1f} TFLOP/s")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=machine_code.ROOT / "build/cuda")
    parser.add_argument("loop", nargs="?", type=pathlib.Path)
    asked = parser.parse_args()
    if asked.loop:
        print(shown(asked.loop.stem, modelled(asked.loop.read_text().splitlines())))
        return 0
    if machine_code.disassembler() is None:
        raise SystemExit("issue_model.py: no nvdisasm: install CUDA's toolkit, or run scripts/setup, which needs a network for it")
    for kernel, tile, loop in loops(asked.build / "machine_code"):
        print(shown(f"{kernel} {tile}", loop))
    return 0


if __name__ == "__main__":
    sys.exit(main())
