#!/usr/bin/env python3
"""Writes docs/ladder.md from committed files: the ladder on a GPU, f32, what each step saves, and its speed.

    scripts/ladder.py              writes the page again
    scripts/ladder.py --check      fails where the page does not show its files
    scripts/ladder.py --count      first counts each kernel under the checker, into bench/results/gpu/ladder-counters.json (minutes,
                                   needs no GPU)

Speeds are those of the newest bench/results/gpu/*-ladder.json, which `scripts/gpu ladder` writes on a machine with a GPU; what the
GPU counted is of the newest *-counters.csv, which `scripts/gpu counters` writes. What was not measured is called unmeasured. What
nvcc made of the kernels is of ladder-machine-code.json, which scripts/machine_code.py writes.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys

from kernels import STEPS

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESSERA = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
# The step that each one is compared with, if it is not the previous one.
BEFORE = {"pipelined": "block_tiled_vectorized"}
PEERS = {"tensor_core": "cublas-tf32"}  # the peer of the same arithmetic; else cublas
# Counts for each multiply-add, valid for any depth that is a multiple of the tiles'.
COUNTED = (4096, 4096, 512)
REGISTERS = 65536  # of a multiprocessor
# The product that a GPU counts: scripts/gpu runs it under Nsight Compute.
MEASURED = (1024, 1024, 1024)
# The columns of counts: name, and the metrics of Nsight Compute whose sum it is (docs/report.md). The GPU does not count
# barriers.
METRICS = {
    # Asynchronous copies are counted as loads, as an H200 counts them.
    "sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "wavefronts": ["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                   "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum"],
    "instructions": ["smsp__sass_inst_executed_op_global_ld.sum", "smsp__sass_inst_executed_op_global_st.sum",
                     "smsp__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum", "smsp__sass_inst_executed_op_shared_ld.sum",
                     "smsp__sass_inst_executed_op_shared_st.sum"],
    "executed": ["smsp__inst_executed.sum"],
}
BEGIN, END = "<!-- begin: written by scripts/ladder.py; do not edit -->\n", "<!-- end -->\n"
UNMEASURED = "unmeasured"


def three_digits(value):
    return "0" if value == 0 else f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:#.3g}"


def count(shape):
    """What the checker counts of each step, and the model's least times."""
    m, n, k = shape
    steps = {}
    for name in STEPS:
        said = subprocess.run([TESSERA, "explain", name, "-m", str(m), "-n", str(n), "-k", str(k), "--blocks", "1", "--device", "h200",
                               "--json"], capture_output=True, text=True, check=True).stdout
        document = json.loads(said)
        steps[name] = {"problem": document["problem"], "busiest": document["busiest"],
                       "least_us": {each["name"]: each["least_us"] for each in document["resources"]},
                       "blocks": document["occupancy"]["blocks"], "flops": document["roofline"]["flops"], "counters": document["counters"]}
    return {"shape": list(shape), "device": "h200", "steps": steps}


class Step:
    """One kernel's counts, each for a thousand multiply-adds of a thread."""

    def __init__(self, counted):
        c = counted["counters"]
        thousands = (c["flops"] + c["mma_flops"]) / 2 / 1000
        self.sectors = (c["global_load_sectors"] + c["global_store_sectors"] + c["async_copy_sectors"]) / thousands
        self.wavefronts = (c["shared_load_wavefronts"] + c["shared_store_wavefronts"] + c["async_copy_wavefronts"]) / thousands
        self.instructions = sum(c[key] for key in ("global_load_requests", "global_store_requests", "async_copy_requests",
                                                   "shared_load_requests", "shared_store_requests")) / thousands
        self.barriers = c["block_barriers"] / thousands
        self.busiest = counted["busiest"]
        self.bound = counted["flops"] / max(counted["least_us"].values()) * 1e-6  # TFLOP/s


class Measured:
    """What a GPU counted of one kernel, as Step has it; None where it did not."""

    def __init__(self, row):
        m, n, k = MEASURED
        for name, metrics in METRICS.items():
            numbers = [number(row.get(metric)) for metric in metrics]
            setattr(self, name, None if None in numbers else sum(numbers) / (m * n * k / 1000))
        self.registers = number(row.get("launch__registers_per_thread"))


def number(text):
    """Of a cell that Nsight Compute wrote: "1,234.5"; None of "n/a" and the like."""
    return float(text.replace(",", "")) if re.fullmatch(r"[\d,]+(\.\d+)?", text or "") else None


def step_of(kernel):
    """The step whose kernel Nsight Compute names so, demangled or not; None for another's."""
    found = re.search(r"\bentry<(?:tessera::)?(\w+)<|tessera5entryINS_\d+([A-Za-z]+?)IXtl", kernel)
    if found is None:
        return None
    name = (found[1] or found[2]).replace("TensorCoreTiled", "TensorCore")
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()
    return name if name in STEPS else None


def measured(path):
    """{step: Measured} of its first launch, from `ncu --csv --page raw`: a row of names, one of units, one for each launch."""
    table = [line for line in path.read_text().splitlines() if line.startswith('"')]  # others are ncu's and the program's remarks
    out = {}
    for row in list(csv.DictReader(table))[1:]:
        step = step_of(row.get("Kernel Name", ""))
        if step is not None and step not in out:
            out[step] = Measured(row)
    if not out:
        sys.exit(f"ladder.py: {path} has no launch of a kernel of the ladder; scripts/gpu counters writes such files")
    return out


def medians(results):
    """The measured rows of a result file by contestant: time, speed, share of the peak, ratios."""
    return {entry["contestant"]: entry for entry in results["benchmarks"]
            if entry["run_type"] == "aggregate" and entry.get("aggregate_name") == "median" and entry["dtype"] == "f32"
            and entry["m"] == entry["n"] == entry["k"] == 4096}


def speed_cells(name, rows):
    if name not in rows:
        return [UNMEASURED] * 4
    row, before = rows[name], rows.get(BEFORE.get(name, STEPS[max(0, STEPS.index(name) - 1)]))
    gain = f"{row['gflops'] / before['gflops']:.2f}" if before is not None and before is not row else ""
    ratio = row.get("ratio_" + PEERS.get(name, "cublas"))
    percent = row.get("percent_of_peak")
    return [f"{row['gflops'] / 1000:.2f}", gain, UNMEASURED if ratio is None else f"{ratio:.2f}",
            UNMEASURED if percent is None else f"{percent:.1f} %"]


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def both(name, key, steps, seen):
    """A count of the checker, and what a GPU counted."""
    found = getattr(seen.get(name), key, None)
    return [three_digits(getattr(steps[name], key)), UNMEASURED if found is None else three_digits(found)]


def counts_table(steps, seen):
    out = line(["step", "sectors of global memory", "on a GPU", "wavefronts of shared memory", "on a GPU", "memory instructions", "on a GPU",
                "barriers", "all instructions, on a GPU", "registers, on a GPU"])
    out += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    for name in STEPS:
        executed, registers = (getattr(seen.get(name), key, None) for key in ("executed", "registers"))
        out += line([f"`{name}`", *both(name, "sectors", steps, seen), *both(name, "wavefronts", steps, seen),
                     *both(name, "instructions", steps, seen), three_digits(steps[name].barriers),
                     UNMEASURED if executed is None else three_digits(executed), UNMEASURED if registers is None else f"{registers:.0f}"])
    return out


def tables(counted, results, source, seen, seen_source, made):
    steps = {name: Step(each) for name, each in counted["steps"].items()}
    rows = medians(results) if results else {}
    out = ""
    if results:
        device = results["context"].get("device", {})
        out += f"Speeds from `{source}`: {device.get('summary', 'a GPU')}; {results['context'].get('date', '')[:10]}.\n\n"
    else:
        out += "No result file of a GPU is committed yet: every speed is unmeasured.\n\n"
    out += line(["f32, 4096", "TFLOP/s", "x the step before", "x cuBLAS", "share of peak", "bound by", "model, reads as written: at most TFLOP/s"])
    out += "|---|--:|--:|--:|--:|---|--:|\n"
    for name in STEPS:
        out += line([f"`{name}`", *speed_cells(name, rows), steps[name].busiest, three_digits(steps[name].bound)])
    out += "\n`tensor_core` multiplies f32 as TF32: it is compared with cuBLAS in TF32 and the peak of the tensor cores. The step before\n"
    out += "`pipelined` is `block_tiled_vectorized`, the fastest one on CUDA cores.\n"
    out += "\n" + "## What each step does\n\n"
    m, n, k = counted["shape"]
    out += f"For a thousand multiply-adds of a thread, counted by the checker in one block of a {m} x {n} x {k} product"
    out += (f", and by Nsight Compute\nin a product of {' x '.join(map(str, MEASURED))}, `{seen_source}`.\n\n" if seen else
            ".\nNo file of what a GPU counted is committed yet.\n\n")
    out += counts_table(steps, seen)
    return out + "\n" + machine_code_table(made, counted)


def blocks_of(code, counted):
    """Blocks of a kernel on one multiprocessor: by its registers, of which a thread gets eight at a time, by shared memory and threads."""
    return min(REGISTERS // (-(-code["registers"] // 8) * 8 * code["threads"]), counted["blocks"])


def machine_code_table(made, counted):
    """What a thread executes for one tile along k, and how many share a multiprocessor."""
    out = f"## What nvcc made of them\n\nnvcc {made['nvcc']} for {made['architecture']}, f32, each default tile. Counts are per thread and\n"
    out += "iteration of the main loop, for whole tiles and the widest copies of the step; blocks per multiprocessor by registers, shared memory, threads:\n\n"
    out += line(["step", "registers", "blocks", "warps", "instructions", "multiply-adds", "share", "loads", "reads of shared memory", "others"])
    out += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    for name in STEPS:
        code = made["steps"][name]
        blocks = blocks_of(code, counted["steps"][name])
        others = code["instructions"] - sum(code[key] for key in ("multiply_adds", "loads", "shared_reads"))
        out += line([f"`{name}`", *map(str, (code["registers"], blocks, blocks * code["threads"] // 32, code["instructions"], code["multiply_adds"])),
                     f"{100 * code['multiply_adds'] / code['instructions']:.1f} %", *map(str, (code["loads"], code["shared_reads"], others))])
    return out + "\nThose of `tensor_core` are matrix instructions.\n"


def page(old, *content):
    head, tail = old[:old.index(BEGIN) + len(BEGIN)], old[old.index(END):]
    return head + "\n" + tables(*content) + "\n" + tail


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results", help="the folder of the files")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/ladder.md")
    parser.add_argument("--shape", default="x".join(map(str, COUNTED)), help="what is counted, MxNxK")
    asked = parser.parse_args()
    counters = asked.results / "gpu/ladder-counters.json"
    if asked.count:
        counted = count(tuple(map(int, asked.shape.split("x"))))
        counters.write_text(json.dumps(counted, indent=1) + "\n")
    counted = json.loads(counters.read_text())
    speeds, counts = (sorted((asked.results / "gpu").glob(pattern))[-1:] for pattern in ("*-ladder.json", "*-counters.csv"))
    results = json.loads(speeds[0].read_text()) if speeds else None
    seen = measured(counts[0]) if counts else {}
    sources = [f"bench/results/gpu/{each[0].name}" if each else "" for each in (speeds, counts)]
    made = json.loads((asked.results / "gpu/ladder-machine-code.json").read_text())
    old = asked.page.read_text()
    new = page(old, counted, results, sources[0], seen, sources[1], made)
    if asked.check:
        if new != old:
            sys.exit(f"ladder.py: {asked.page} does not show its files; run scripts/ladder.py")
        return
    asked.page.write_text(new)


main()
