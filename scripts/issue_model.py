#!/usr/bin/env python3
"""How fast Hopper can issue the loop of an f32 kernel, from its machine code, without a GPU.

A scheduler issues one instruction in each clock. The registers have two banks, of even and of odd numbers, and a bank is read once
in each clock. A multiply-add has two clocks for its reads, so that the next one may make up for two reads of one bank. An operand with
`.reuse` is kept for the next instructions that read the same register in the same place, which then read no bank.

Two warps share a scheduler. Each issues the eight instructions of a line of code, then the other one does, and kept operands are lost.
A bank that stays behind for a few instructions costs a clock, and so does a part of the lines of a loop that exceed the L0 cache
of instructions. A lone warp waits only at the end of its loop. What is counted is the clocks of the main loop, where tiles are
whole, for each of its multiply-adds. The model leaves out memory and barriers: it holds for kernels that hide both.

    scripts/issue_model.py                      every tile of the kernels of build/cuda
    scripts/issue_model.py --build FOLDER       of another build
    scripts/issue_model.py LOOP.sass            a loop whose instructions are in a file, one a line
"""
import argparse
import collections
import math
import pathlib
import re
import sys

import machine_code

# TFLOP/s of an H200 at 4096 x 4096 x 4096 with a multiply-add in every clock of its tiles: 67 at the highest clock, less what the clock
# falls under load and what the last wave of tiles leaves idle.
PEAK = 62.5
NO_RESULT = ("STS", "STG", "BAR", "DEPBAR", "SYNCS", "BRA")  # the first operand of these is read
FFMA = "FFMA"
BANKS = 2
WINDOW = 2  # clocks for the reads of a multiply-add
KEPT = 8  # instructions for which an operand is kept
LINE = 8  # instructions: 128 bytes
PATIENCE = 5  # instructions for which a bank may stay behind, where two warps share it
NEAR, MISS = 2048, 0.4  # instructions of a loop in the near cache, and clocks for each line of a longer one
BRANCH = 21  # clocks for which a lone warp waits at the end of its loop


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


def operands_of(instruction):
    """Whether it is a multiply-add, and its registers: (place, number, is it kept)."""
    found = [(place, re.match(r"\[?[-|~!]*R(\d+)", each), ".reuse" in each) for place, each in enumerate(sources(instruction)[:3])]
    return machine_code.operation(instruction) == FFMA, [(place, int(register[1]), kept) for place, register, kept in found if register]


class Ports:
    """The banks of a scheduler, and the operands that are kept."""

    def __init__(self, banks, patience):
        self.free = [0] * banks  # the clock from which a bank can be read
        self.behind = [0] * banks  # for how many instructions it could not be
        self.kept, self.count, self.now, self.patience = {}, 0, 0, patience

    def reads(self, registers):
        """How many of each bank: of what is not kept."""
        reads = [0] * len(self.free)
        for place, number, is_kept in registers:
            bank = number % len(reads)
            register, until = self.kept.get((place, bank), (None, 0))
            reads[bank] += register != number or until < self.count
            self.kept[place, bank] = (number if is_kept else None, self.count + KEPT)
        return reads

    def issue(self, is_multiply_add, registers):
        self.count += 1
        reads = [each * is_multiply_add for each in self.reads(registers)]
        self.now = max([self.now, *(free + each - max(WINDOW, each) for free, each in zip(self.free, reads) if each)])
        self.behind = [each + 1 if free > self.now else 0 for each, free in zip(self.behind, self.free)]
        if max(self.behind) >= self.patience:
            self.now, self.behind = self.now + 1, [0] * len(self.behind)
        self.free = [max(free, self.now) + each if each else free for free, each in zip(self.free, reads)]
        self.now += 1


def clocks_around(program, banks, turn):
    """Of a loop that is repeated; `turn`: after how many instructions the first line ends, where two warps take turns."""
    ports, clocks = Ports(banks, math.inf if turn is None else PATIENCE), 0
    for _ in range(2):
        begin = ports.now
        for i, instruction in enumerate(program):
            if turn is not None and i % LINE == turn:
                ports.kept.clear()
            ports.issue(*instruction)
        clocks = ports.now - begin
    return clocks


def modelled(instructions, banks=BANKS, alone=False):
    """Of two warps that share a scheduler, wherever the lines of the loop begin, or of one alone."""
    program = [operands_of(each) for each in instructions]
    if alone:
        clocks = clocks_around(program, banks, None) + BRANCH
    else:
        clocks = sum(clocks_around(program, banks, turn) for turn in range(LINE)) / LINE
        clocks += MISS * len(program) / LINE * (len(program) > NEAR)
    return Loop(len(program), sum(is_multiply_add for is_multiply_add, _ in program), clocks)


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
    return (f"{name}: {loop.instructions} instructions, {loop.multiply_adds} multiply-adds, {loop.clocks:.0f} clocks: "
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
