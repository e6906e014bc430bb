#!/usr/bin/env python3
"""The clocks that clocks.cpp expects of four orders of multiply-adds are those of scripts/issue_model.py, for the machine code that this
nvcc makes of clocks.cu. Exits with 77 (skipped) where no nvdisasm reads it.

Usage: clocks_test.py SOURCE_FOLDER NVCC
"""
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE, NVCC = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "scripts"))
import issue_model  # noqa: E402
import machine_code  # noqa: E402

alone = functools.partial(issue_model.modelled, alone=True)
ORDERS, FOLDER = 4, SOURCE / "tests/primitives"
RULES = {"the port model": alone, "ports are no limit": lambda way: alone(way, banks=256),
         "no operand is kept": lambda way: alone([each.replace(".reuse", "") for each in way])}


def loops():
    """The instructions of the four loops, and the multiply-adds of each."""
    steps = int(re.search(r"kOrderSteps = (\d+)", (FOLDER / "clocks.hpp").read_text())[1])
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "clocks.cubin"
        subprocess.run([NVCC, "-std=c++20", "--expt-relaxed-constexpr", "-fmad=false", "-gencode=arch=compute_90a,code=sm_90a", "-I",
                        SOURCE / "include", "-cubin", FOLDER / "clocks.cu", "-o", made], check=True)
        text = machine_code.listing(made)
    found = {}
    for mangled, (instructions, labels) in machine_code.functions(text).items():
        if order := re.search(r"multiply_addsILi(\d)E", mangled):
            found[int(order[1])] = machine_code.Code(instructions, labels).way_around({"FFMA": 64 * steps})
    return [found[i] for i in range(ORDERS)], 64 * steps


def main():
    if machine_code.disassembler() is None:
        print("SKIPPED: nvdisasm is not installed: scripts/setup brings it where there is a network")
        return 77
    ways, multiply_adds = loops()
    text, failures = (FOLDER / "clocks.cpp").read_text(), 0
    for name, model in RULES.items():
        said = re.search(rf'"{name}[^"]*",\s*{{([\d, ]+)}}', text)
        clocks = [round(1000 * model(way).clocks / multiply_adds) for way in ways]
        expected = [int(each) for each in said[1].split(",")]
        print(f"{name}: {clocks}, clocks.cpp has {expected}")
        failures += clocks != expected
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
