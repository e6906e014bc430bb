#!/usr/bin/env python3
"""What nvcc made of the ladder's f32 kernels for sm_90a: registers, threads, and the instructions of a thread in one iteration of the
main loop. Reads build/cuda/machine_code, where the build left it, and writes bench/results/gpu/ladder-machine-code.json, which
scripts/ladder.py shows. Needs nvcc and nvdisasm (disassembler() says where it is looked for); no GPU.

    scripts/machine_code.py [--build build/cuda]
"""
import argparse
import collections
import heapq
import json
import pathlib
import re
import shutil
import subprocess
import sys

import cubin

ROOT = pathlib.Path(__file__).resolve().parents[1]
# The default tile of a step, and what a thread executes on one way around: for each tile along k, where it is whole. Multiply-adds,
# and loads from global memory with as many elements each as the step moves at once. None: as many as one loop has.
STEPS = {
    "naive": ("32x32", {"FFMA": None}), "coalescing": ("32x32", {"FFMA": None}),
    "tiled": ("32x32x64", {"FFMA": 64, r"LDG\.E$": 4}), "tiled_register": ("64x64x8/8", {"FFMA": 64, r"LDG\.E$": 2}),
    "block_tiled": ("128x128x8/8x8", {"FFMA": 512, r"LDG\.E$": 8}),
    "block_tiled_vectorized": ("128x128x8/8x8", {"FFMA": 512, r"LDG\.E\.128": 2, r"STS\.128": 1}),
    "tensor_core": ("128x128x32/64x64", {"HMMA": 128, r"LDGSTS\..*128": 16}),
    "pipelined": ("256x128x16/16x8", {"FFMA": 2048, r"LDGSTS": 18}),
}


def unconditional(instruction):
    """An instruction without the predicate before it."""
    return re.sub(r"^@!?U?P\w+\s+", "", instruction)


def operation(instruction):
    return unconditional(instruction).split()[0]


def disassembler():
    """nvdisasm of the toolkit, or as the package nvidia-cuda-nvdisasm brings it, which scripts/setup puts into build/nvdisasm; or None."""
    packaged = sorted(ROOT.glob("build/nvdisasm/nvidia/*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or shutil.which("/usr/local/cuda/bin/nvdisasm") or (str(packaged[0]) if packaged else None)


def listing(cubin_file):
    """What nvdisasm prints of a cubin."""
    return subprocess.run([disassembler(), "-c", cubin_file], capture_output=True, text=True, check=True).stdout


def functions(text):
    """{mangled name: (instructions, {label: number of its instruction})} of what nvdisasm prints."""
    out, now = {}, None
    for line in text.splitlines():
        if start := re.match(r"\.text\.(\S+):", line):
            now = out[start[1]] = ([], {})
        elif now is not None and (label := re.match(r"(\.L_x_\d+):", line)):
            now[1][label[1]] = len(now[0])
        elif now is not None and (found := re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?);?\s*$", line)):
            now[0].append(found[1].rstrip(" ;"))
    return out


def unit_runs(instructions):
    """How many instructions of warpgroup units follow one another, for each such run: nothing in between waits, branches, accesses memory
    or computes in floating point."""
    runs, length = [], 0
    for name in map(operation, instructions):
        if re.match(r"[HQI]GMMA", name):
            length += 1
        elif length and re.match(r"WARPGROUP|.*DEPBAR|SYNCS|BAR|BRA|BS|EXIT|LD|ST|RED|ATOM|F|H|MUFU", name):
            runs.append(length)
            length = 0
    return runs + [length] * (length > 0)


class Code:
    """The basic blocks of a kernel: where each ends, and which follow it."""

    def __init__(self, instructions, labels):
        self.instructions = instructions
        jumps = ("BRA", "EXIT", "BSYNC")
        starts = sorted({0, *labels.values(), *(i + 1 for i, each in enumerate(instructions) if operation(each) in jumps)})
        self.starts = [start for start in starts if start < len(instructions)]
        self.ends = dict(zip(self.starts, [*self.starts[1:], len(instructions)]))
        self.next = {start: list(self.followers(end, labels)) for start, end in self.ends.items()}

    def followers(self, end, labels):
        last = self.instructions[end - 1]
        target = re.search(r"`\((\.L_x_\d+)\)", last)
        if operation(last) == "BRA":
            yield labels[target[1]]
        conditional = last.startswith("@") or re.search(r"BRA !?U?P\d|BRA\.\w+ !?U?P", last)
        if (operation(last) not in ("BRA", "EXIT") or conditional) and end < len(self.instructions):
            yield end

    def counts(self, start, pattern):
        return sum(bool(re.match(pattern, operation(each))) for each in self.instructions[start:self.ends[start]])

    def main_loop(self, wanted):
        """The first block of the shortest loop that holds the multiply-adds, and how many those are."""
        unit, number = next(iter(wanted.items()))
        loops = [(sum(self.counts(b, unit) for b in self.starts if head <= b <= start), self.ends[start] - head, head)
                 for start in self.starts for head in self.next[start] if head <= start]
        number = number or max(loops)[0]
        return min((length, head) for units, length, head in loops if units >= number)[1], {**wanted, unit: number}

    def way_around(self, wanted):
        """The instructions of the shortest way around the main loop on which all of `wanted` is executed."""
        head, wanted = self.main_loop(wanted)
        zero = (0,) * len(wanted)
        queue, came_from = [(0, head, zero, None)], {}
        while queue:
            length, block, seen, before = heapq.heappop(queue)
            if (block, seen) in came_from:
                continue
            came_from[block, seen] = before
            now = tuple(min(number, have + self.counts(block, pattern)) for have, (pattern, number) in zip(seen, wanted.items()))
            for follower in self.next[block]:
                if follower != head:
                    heapq.heappush(queue, (length + self.ends[block] - block, follower, now, (block, seen)))
                elif now == tuple(wanted.values()):
                    return self.instructions_of(came_from, (block, seen))
        return None

    def instructions_of(self, came_from, state):
        blocks = []
        while state is not None:
            blocks.insert(0, state[0])
            state = came_from[state]
        return [each for block in blocks for each in self.instructions[block:self.ends[block]]]


def described(step, machine_code):
    tile, wanted = STEPS[step]
    numbers = re.split("[x/]", tile)
    path = machine_code / f"cuda_{step}.compute_90a.cubin"
    for mangled, (instructions, labels) in functions(listing(path)).items():
        shape = [each for each in re.findall(r"Li(\d+)E", re.search(r"TileShapeE(.*?)EEEEJ", mangled)[1]) if each != "0"]
        if shape != numbers or "6TensorIPKf" not in mangled:
            continue
        threads = int(re.search(r"\.maxntid (\d+)", ptx_of(path, mangled))[1])
        way = Code(instructions, labels).way_around(wanted)
        counted = collections.Counter(operation(each).split(".")[0] for each in way)
        return {"tile": tile, "registers": cubin.kernels(path)[mangled]["registers"], "threads": threads, "instructions": len(way),
                "multiply_adds": counted["FFMA"] + counted["HMMA"], "shared_reads": counted["LDS"], "shared_stores": counted["STS"],
                "loads": counted["LDG"] + counted["LDGSTS"], "barriers": counted["BAR"]}
    raise SystemExit(f"machine_code.py: {path} has no kernel of tile {tile} for f32")


def ptx_of(path, mangled):
    return re.search(rf"\.entry {mangled}\(.*?\n\}}", path.with_suffix(".ptx").read_text(), re.S)[0]


def tile_text(tile):
    """A tile as the command prints it: 64x64x8/8 is 64x64x8/8x1."""
    return tile + "x1" if re.search(r"/\d+$", tile) else tile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/cuda")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "bench/results/gpu/ladder-machine-code.json")
    parser.add_argument("--registers", type=pathlib.Path, default=ROOT / "src/inspect/kernel_registers.inc")
    asked = parser.parse_args()
    version = re.search(r"release ([\d.]+)", subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout)[1]
    steps = {step: described(step, asked.build / "machine_code") for step in STEPS}
    asked.registers.write_text("// Registers of a thread of each kernel in its default tile for f32, sm_90a. Written by scripts/machine_code.py.\n" + "".join(
        f'{{"{step}", "{tile_text(of["tile"])}", {of["registers"]}}},\n' for step, of in steps.items()))
    asked.out.write_text(json.dumps({"nvcc": version, "architecture": "sm_90a", "steps": steps}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
