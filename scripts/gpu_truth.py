#!/usr/bin/env python3
"""Measures the ladder's kernels and single accesses with Nsight Compute and compute-sanitizer; docs/report.md has the counters.

    scripts/gpu_truth.py OUT.json [--tessera build/cuda/bin/tessera]
    scripts/gpu_truth.py --explain FILE.json    names again why such a file's numbers may differ from the checker's; no GPU

The first needs a GPU, ncu, nvcc, and for the verdicts compute-sanitizer; scripts/gpu starts it. tests/check/gpu_truth_test compares the
file with what the checker counts, so names and numbers are those of the tools, and a missing one is an error. The file, in part:

    {"device": "NVIDIA H200", "capability": 90, "date": "2027-01-31", "tools": {"ncu": "2025.3", "compute-sanitizer": "2025.3"},
     "kernels": [{"kernel": "tiled", "dtype": "f32", "m": 64, "n": 64, "k": 64, "tile": "16x16x16",
                  "metrics": {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 4096},
                  "by_line": [{"file": "tiled.hpp", "line": 33, "metrics": {"memory_l1_wavefronts_shared": 512}}],
                  "sanitizer": {"memcheck": 0, "racecheck": 0, "initcheck": 0, "synccheck": 0},
                  "explained": {"smsp__sass_inst_executed_op_global_ld.sum": "nvcc makes two loads one of 8 bytes"}}],
     "patterns": [{"name": "16 bytes side by side", "memory": "shared", "operation": "load", "lane_bytes": 16,
                   "lanes": [0, 16, 32, 48], "transfers": 1}]}

A kernel has the totals of its launch, and for each line memory_l2_theoretical_sectors_global and memory_l1_wavefronts_shared. A metric
that differs from the checker's fails the test unless `explained` has a reason, which the test prints. `sanitizer` counts errors: if all
are 0, the checker must find the kernel clean too. A pattern is one access of a warp by the byte address of each lane, -1 for an inactive
lane; omitted lanes are inactive too.
"""
import argparse
import csv
import datetime
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from kernels import STEPS as KERNELS

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHAPES = [(64, 64, 64), (100, 70, 50), (256, 256, 64)]  # whole tiles of small ones; edges; whole tiles of all
TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
LANES = 32
# (memory, operation) -> the metric that says how many sectors or wavefronts an access takes
TRANSFERS = {("global", "load"): "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
             ("global", "store"): "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
             ("shared", "load"): "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
             ("shared", "store"): "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"}


# Why a number of a kernel may differ from the checker's, which counts what a kernel's text says: (kernels, metric, reason).
TILED = ("tiled", "tiled_register", "block_tiled", "block_tiled_vectorized")
FETCHING = ("tensor_core", "pipelined")
DIFFERENCES = [
    (TILED, r"shared_ld|mem_shared_op_ld\.", "nvcc merges reads of neighbours into wider ones"),
    (TILED, r"shared_st|mem_shared_op_st\.", "past an edge of A or B a zero is stored by an instruction of its own"),
    (FETCHING, r"requests.*ldgsts", "a copy of which all lanes lie past an edge only writes zeros and asks global memory for nothing"),
    (FETCHING, r"wavefronts.*ldgsts", "the checker's is an estimate"),
    (FETCHING, r"sectors.*(ldgsts|op_ld\.)", "lanes past an edge copy nothing, but name an address, whose sector is counted"),
    (("pipelined",), r"sectors.*op_st\.", "at an edge a GPU counted fewer; why is not known"),
]


class Failed(Exception):
    """A tool did not do what it should; said in one line."""


def output(words, what, **options):
    run = subprocess.run([str(w) for w in words], capture_output=True, text=True, **options)
    if run.returncode != 0:
        last = (run.stderr + run.stdout).strip().splitlines()[-1:] or [""]
        raise Failed(f"{what} ended with {run.returncode}: {last[0]}")
    return run.stdout


def documented_metrics():
    """The names of docs/report.md, which the tests hold to the checker's counters."""
    page = (ROOT / "docs/report.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `\w+` \|.*\| `(\w+(?:\.sum))` \|$", page, re.M)


def launches(metrics, *words, **options):
    """Of each launch of a program: {metric: number}."""
    text = output(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(metrics),
                   *words], "ncu", **options)
    lines = [line for line in text.splitlines() if line.startswith('"')]  # others are the program's own and ncu's remarks
    rows = list(csv.DictReader(lines))[1:]  # the first is the row of units
    missing = [m for m in metrics if rows and not all(re.fullmatch(r"[\d,.]+", row.get(m, "")) for row in rows)]
    if not rows or missing:
        raise Failed(f"ncu counted nothing of {', '.join(missing) or words[0]}")
    return [{m: round(float(row[m].replace(",", ""))) for m in metrics} for row in rows]


def sizes(shape):
    return [word for letter, extent in zip("mnk", shape) for word in (f"-{letter}", str(extent))]


def product(tessera, shape, names):
    """The command that multiplies on the GPU by these kernels."""
    return [tessera, "compare", "--quiet", *sizes(shape), "--device", "cuda:0", "--algorithms", ",".join(names)]


def errors_of(tool, command):
    """From the tool's own summary."""
    text = output(["compute-sanitizer", "--tool", tool, "--report-api-errors", "no", *command], "compute-sanitizer")
    found = re.search(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)", text)
    if found is None:
        raise Failed(f"compute-sanitizer's {tool} says no summary")
    return int(found[1] or found[2])


def verdicts(tessera, shape):
    """{kernel: {tool: errors}}: all kernels in one run of a tool, and each alone only where it finds something."""
    out = {name: {} for name in KERNELS}
    for tool in TOOLS:
        clean = errors_of(tool, product(tessera, shape, KERNELS)) == 0
        for name in KERNELS:
            out[name][tool] = 0 if clean else errors_of(tool, product(tessera, shape, [name]))
    return out


def kernels(tessera):
    """Each kernel at each shape: its first launch, and what the sanitizer says."""
    for shape in SHAPES:
        said = verdicts(tessera, shape)
        for name in KERNELS:
            plan = json.loads(output([tessera, "check", name, *sizes(shape), "--counters-only", "--json"], "tessera check"))["problem"]
            counted = launches(documented_metrics(), "--launch-count", "1", *product(tessera, shape, [name]))[0]
            yield {"kernel": name, "dtype": "f32", **dict(zip("mnk", shape)), "tile": re.search(r"tile=(\S+)", plan)[1], "metrics": counted,
                   "sanitizer": said[name]}


def accesses():
    """Single accesses whose counts the rules predict: (name, memory, operation, bytes, offset of each lane)."""
    shifts = {"side by side": lambda i, b: i * b, "all of one": lambda i, b: 0, "two apart": lambda i, b: 2 * i * b,
              "a row of 128 bytes apart": lambda i, b: 128 * i, "backward": lambda i, b: (31 - i) * b,
              "one further": lambda i, b: (i + 1) * b, "pairs of one": lambda i, b: i // 2 * b, "eight lanes of one": lambda i, b: i // 8 * b,
              "half of the lanes": lambda i, b: i * b if i < 16 else -1, "every other lane": lambda i, b: i * b if i % 2 == 0 else -1,
              "swizzled rows": lambda i, b: (i // 8 * 128 + (i % 8 ^ i // 8) * 16) // b * b}
    for (memory, operation), bytes_, (name, offset) in itertools.product(TRANSFERS, (4, 8, 16), shifts.items()):
        yield {"name": f"{bytes_} bytes, {name}", "memory": memory, "operation": operation, "lane_bytes": bytes_,
               "lanes": [offset(i, bytes_) for i in range(LANES)]}


def patterns():
    """Each of them, counted."""
    asked = list(accesses())
    lines = "".join(f"{a['memory']} {a['operation']} {a['lane_bytes']} {' '.join(map(str, a['lanes']))}\n" for a in asked)
    with tempfile.TemporaryDirectory(prefix="tessera-patterns-") as folder:
        program = pathlib.Path(folder) / "gpu_patterns"
        output(["nvcc", "-std=c++20", "-arch=native", "-o", program, ROOT / "scripts/gpu_patterns.cu"], "nvcc")
        counted = launches(sorted(set(TRANSFERS.values())), program, input=lines)
    if len(counted) != len(asked):
        raise Failed(f"ncu counted {len(counted)} of {len(asked)} accesses")
    for access, launch in zip(asked, counted):
        yield {**access, "transfers": launch[TRANSFERS[access["memory"], access["operation"]]]}


def explain(document):
    """Adds to each kernel the reasons that apply to its metrics."""
    for kernel in document["kernels"]:
        kernel["explained"] = {metric: why for names, pattern, why in DIFFERENCES if kernel["kernel"] in names
                               for metric in kernel["metrics"] if re.search(pattern, metric)}
    return document


def version(tool):
    found = re.search(r"(?:Version|version) ([\d.]+)", output([tool, "--version"], tool))
    return found[1] if found else "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--tessera", default=ROOT / "build/cuda/bin/tessera", type=pathlib.Path)
    options = parser.parse_args()
    if options.explain:
        options.out.write_text(json.dumps(explain(json.loads(options.out.read_text(encoding="utf-8"))), indent=1) + "\n", encoding="utf-8")
        return 0
    try:
        name, capability = output(["nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader", "-i", "0"], "nvidia-smi").split(", ")
        document = {"device": name, "capability": int(capability.strip().replace(".", "")), "date": datetime.date.today().isoformat(),
                    "tools": {tool: version(tool) for tool in ("ncu", "compute-sanitizer")},
                    "kernels": list(kernels(options.tessera)),
                    "patterns": list(patterns())}
    except (Failed, OSError) as error:
        print(f"gpu_truth: {error}", file=sys.stderr)
        return 1
    options.out.write_text(json.dumps(explain(document), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
