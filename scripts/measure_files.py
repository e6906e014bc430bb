#!/usr/bin/env python3
"""What `tessera multiply` costs beyond the arithmetic on files of a gigabyte, against copying as many bytes.

    scripts/measure_files.py -o bench/results/files/DATE-MACHINE.json     measures; some minutes, 4 GiB of disk
    scripts/measure_files.py [FILE]     writes the table of docs/files.md from a kept file, the newest by default
    scripts/measure_files.py --check    fails where docs/files.md does not show it

One round: A and B leave the page cache; `cat A B > /dev/null` reads them, and `cp` with `sync` writes as many bytes as C
has, from the cache; that is the price of copying. A and B leave the cache again; `tessera multiply A B -o C` runs from
start to end. A second run with A and B in the cache gives the seconds of the arithmetic alone. Beyond the arithmetic
is the first less the second. Before each timed step a file as large is written and removed, so that the page cache finds
memory that was in use a moment ago: what a virtual machine's host took back costs three times as much to fill, and
would be charged to whichever step comes first.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
PAGE = ROOT / "docs/files.md"
KEPT = ROOT / "bench/results/files"
BEGIN, END = "<!-- begin: written by scripts/measure_files.py; do not edit -->\n", "<!-- end -->\n"
# (M, K, N) in f32: a large result, and a large input.
CASES = [(16384, 256, 16384), (16384, 16384, 64)]


def write_matrix(path, rows, cols):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    header += " " * (117 - len(header)) + "\n"
    block = array.array("f", [(i * 2654435761 % 2**32) / 2**31 - 1 for i in range(1 << 16)]).tobytes()
    left = rows * cols * 4
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        while left > 0:
            left -= file.write(block[:left])
        os.fsync(file.fileno())


def forget(*paths):
    """Out of the page cache."""
    for path in paths:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(*command):
    start = time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return time.perf_counter() - start, done.stdout


def refresh_free_memory(scratch, size):
    with open(scratch, "wb") as file:
        block = bytes(1 << 24)
        while file.tell() < size:
            file.write(block)
    os.remove(scratch)
    os.sync()


def measure_case(folder, extents, rounds):
    m, k, n = extents
    a, b, c, copy = (str(folder / name) for name in ("a.npy", "b.npy", "c.npy", "copy"))
    write_matrix(a, m, k)
    write_matrix(b, k, n)
    multiply = [COMMAND, "multiply", a, b, "-o", c, "--force", "--json", "--quiet"]
    timed(*multiply)
    samples = []
    scratch, size = folder / "scratch", 4 * (m * k + k * n + m * n) + (1 << 28)
    for _ in range(rounds):
        forget(a, b)
        refresh_free_memory(scratch, size)
        read, _ = timed("sh", "-c", f"cat '{a}' '{b}' > /dev/null")
        timed("sh", "-c", f"cat '{c}' > /dev/null")
        refresh_free_memory(scratch, size)
        write, _ = timed("sh", "-c", f"cp '{c}' '{copy}' && sync '{copy}'")
        os.remove(copy)
        os.remove(c)
        forget(a, b)
        refresh_free_memory(scratch, size)
        whole, _ = timed(*multiply)
        _, warm = timed(*multiply)
        samples.append({"read": read, "write": write, "whole": whole, "arithmetic": json.loads(warm)["seconds"]})
        print(f"{m}x{k}x{n}: " + ", ".join(f"{name} {value:.2f} s" for name, value in samples[-1].items()), file=sys.stderr)
    for path in (a, b, c):
        os.remove(path)
    return {"m": m, "k": k, "n": n, "read_bytes": 4 * (m * k + k * n), "written_bytes": 4 * m * n, "samples": samples}


def measure(output, rounds, folder):
    doctor = json.loads(subprocess.run([COMMAND, "doctor", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    with tempfile.TemporaryDirectory(prefix="tessera-files-", dir=folder) as scratch:
        cases = [measure_case(pathlib.Path(scratch), extents, rounds) for extents in CASES]
    document = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
                "cpu_model": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), ""),
                "num_cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(), "load_avg": os.getloadavg(),
                "version": subprocess.run([COMMAND, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[:2],
                "memory": doctor.get("memory"), "cases": cases}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(document, indent=1) + "\n")


def table(path):
    document = json.loads(path.read_text())
    out = ["", f"From `{path.relative_to(ROOT)}`: medians of {len(document['cases'][0]['samples'])} rounds; "
               f"{document['cpu_model']}, {document['num_cpus']} processors; {document['date'][:10]}.", "",
           "| product | read | written | copying as much | beyond the arithmetic | copying / beyond | arithmetic |", "|---|--:|--:|--:|--:|--:|--:|"]
    for case in document["cases"]:
        copying, beyond, ratio, arithmetic = (statistics.median(f(s) for s in case["samples"]) for f in (
            lambda s: s["read"] + s["write"], lambda s: s["whole"] - s["arithmetic"],
            lambda s: (s["read"] + s["write"]) / (s["whole"] - s["arithmetic"]), lambda s: s["arithmetic"]))
        sizes = [f"{case[key] / 2**20:.0f} MiB" for key in ("read_bytes", "written_bytes")]
        out.append(f"| ({case['m']},{case['k']}) * ({case['k']},{case['n']}), f32 | {sizes[0]} | {sizes[1]} | {copying:.2f} s "
                   f"| {beyond:.2f} s | {100 * ratio:.0f} % | {arithmetic:.2f} s |")
    return "\n".join(out) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where the files are during the measurement; default: the system's")
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.output:
        return measure(options.output, options.rounds, options.folder)
    kept = (options.file or max(KEPT.glob("*.json"))).resolve()
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    wanted = before + BEGIN + table(kept) + END + rest.split(END, 1)[1]
    if options.check:
        return f"measure_files: {PAGE.name} does not match {kept.name}; run scripts/measure_files.py" if wanted != text else 0
    PAGE.write_text(wanted)
    return 0


sys.exit(main())
