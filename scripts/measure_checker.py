#!/usr/bin/env python3
"""What the checker costs: each kernel of the ladder on the plain CPU engine, counted only, and under every check.

    scripts/measure_checker.py --measure    measures and writes bench/results/checker.json; some minutes
    scripts/measure_checker.py              writes the table of docs/checker.md from it; prints how the limits are met
    scripts/measure_checker.py --check      fails where docs/checker.md does not show it

The plain engine's time is that of the product alone, as `tessera multiply` reports it; a check's is that of the whole
command, from start to end, since that is what one waits for. Each is the fastest of some runs. Memory is the most that the
process had (ru_maxrss). The limits are for two cores.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import platform
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
PAGE = ROOT / "docs/checker.md"
BEGIN, END = "<!-- begin: written by scripts/measure_checker.py; do not edit -->\n", "<!-- end: measure_checker -->\n"
SIDE, RUNS = 256, 7
WIDE = ("block_tiled_vectorized", 1024)
SHOWN = ("naive", "tiled", "block_tiled_vectorized", "tensor_core", "warpgroup")  # on the page; the file has all
# (kernel, side, what) -> most seconds, most MiB
LIMITS = {("naive", 256, "counters"): (0.5, None), ("naive", 256, "every"): (2.0, None), (*WIDE, "every"): (60.0, 4096)}


def kernels():
    """Those that the checker knows, as its own message lists them."""
    run = subprocess.run([COMMAND, "check", "-"], capture_output=True, text=True)
    return run.stderr.split("expected one of ")[1].split("; ")[0].strip().split(", ")


def run(*words):
    """(stdout, seconds, MiB) of one run; 4 GiB of findings would not be a measurement, so it must be clean."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        child = subprocess.Popen([COMMAND, *map(str, words)], stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"measure_checker: tessera {' '.join(map(str, words))} ended with {child.returncode}")
        out.seek(0)
        return out.read(), seconds, used.ru_maxrss / 1024


def write_matrix(path, side):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({side}, {side}), }}"
    header += " " * (117 - len(header)) + "\n"
    values = array.array("f", [(i * 2654435761 % 2**32) / 2**31 - 1 for i in range(side * side)])
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())


def plain(kernel, side, folder):
    matrix = folder / f"{side}.npy"
    if not matrix.exists():
        write_matrix(matrix, side)
    out, _, memory = run("multiply", matrix, matrix, "-o", folder / "c.npy", "--force", "--algorithm", kernel, "--json", "--quiet")
    return json.loads(out)["seconds"], memory


def checked(kernel, side, *options):
    _, seconds, memory = run("check", kernel, "-m", side, "-n", side, "-k", side, "--time-limit", 600, "--quiet", *options)
    return seconds, memory


def row_of(kernel, side, runs, folder):
    modes = {"plain": lambda: plain(kernel, side, folder), "counters": lambda: checked(kernel, side, "--counters-only"),
             "every": lambda: checked(kernel, side)}
    # in turn: a disturbance affects all of them
    rounds = [{what: once() for what, once in modes.items()} for _ in range(runs)]
    row = {"kernel": kernel, "side": side}
    for what in modes:
        row[what] = {"seconds": min(each[what][0] for each in rounds), "mib": max(each[what][1] for each in rounds)}
    print(f"{kernel} {side}: " + ", ".join(f"{what} {row[what]['seconds']:.3f} s" for what in ("plain", "counters", "every")), file=sys.stderr)
    return row


def measure(path):
    with tempfile.TemporaryDirectory(prefix="tessera-checker-") as name:
        folder = pathlib.Path(name)
        rows = [row_of(kernel, SIDE, RUNS, folder) for kernel in kernels()] + [row_of(*WIDE, 1, folder)]
    version = subprocess.run([COMMAND, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[:2]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    document = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "commit": commit, "version": version,
                "cpu_model": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), ""),
                "num_cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "load_avg": os.getloadavg(), "runs": RUNS,
                "rows": rows}
    path.write_text(json.dumps(document, indent=1) + "\n")


def seconds_text(seconds):
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def limit_lines(rows):
    for (kernel, side, what), (most_seconds, most_mib) in LIMITS.items():
        row = next(r for r in rows if (r["kernel"], r["side"]) == (kernel, side))
        kept = row[what]["seconds"] <= most_seconds and (most_mib is None or row[what]["mib"] <= most_mib)
        words = "counters only" if what == "counters" else "every check"
        limit = f"{most_seconds:g} s" + (f" and {most_mib} MiB" if most_mib else "")
        yield (f"{kernel} at {side}, {words}: {seconds_text(row[what]['seconds'])}, {row[what]['mib']:.0f} MiB; at most {limit}: "
               f"{'met' if kept else 'NOT MET'}")


def table(path):
    document = json.loads(path.read_text())
    lines = ["", f"From `bench/results/{path.name}`, which has all kernels: f32, cubes, the fastest of {document['runs']} runs (of one at {WIDE[1]}); "
                 f"{document['cpu_model']}, {document['num_cpus']} processors; {document['date'][:10]}.", "",
             "| kernel | side | CPU engine | counters only | slower by | every check | slower by | memory |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for row in document["rows"]:
        if row["kernel"] not in SHOWN:
            continue
        base = row["plain"]["seconds"]
        cells = [f"{seconds_text(row[w]['seconds'])} | {row[w]['seconds'] / base:.0f} x" for w in ("counters", "every")]
        lines.append(f"| {row['kernel']} | {row['side']} | {seconds_text(base)} | {cells[0]} | {cells[1]} | {row['every']['mib']:.0f} MiB |")
    return "\n".join(lines) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=ROOT / "bench/results/checker.json")
    options = parser.parse_args()
    if options.measure:
        measure(options.file)
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    wanted = before + BEGIN + table(options.file.resolve()) + END + rest.split(END, 1)[1]
    if options.check:
        return f"measure_checker: {PAGE.name} does not match {options.file.name}; run scripts/measure_checker.py" if wanted != text else 0
    PAGE.write_text(wanted)
    print(*limit_lines(json.loads(options.file.read_text())["rows"]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
