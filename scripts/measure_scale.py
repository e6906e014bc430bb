#!/usr/bin/env python3
"""Bytes that a product of f64 sends between ranks, counted by Open MPI: `tessera multiply`, pdgemm of ScaLAPACK, the same with Tessera loaded.

    scripts/measure_scale.py --measure     measures all products of CASES; a minute, 600 MiB of disk
    scripts/measure_scale.py               writes the table of docs/scale.md from bench/results/scale.csv
    scripts/measure_scale.py --check       fails where docs/scale.md does not show it

Needs Open MPI, ScaLAPACK for it, and a release build with both.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/release"
PAGE, KEPT = ROOT / "docs/scale.md", ROOT / "bench/results/scale.csv"
BEGIN, END = "<!-- begin: written by scripts/measure_scale.py; do not edit -->\n", "<!-- end -->\n"
CASES = [((2048, 2048, 2048), (2, 2)), ((2048, 2048, 2048), (2, 4)), ((512, 512, 65536), (2, 2)), ((512, 512, 65536), (2, 4)),
         ((65536, 512, 512), (2, 2)), ((8192, 8192, 128), (2, 2))]
BLOCK = 128
COLUMNS = ["m", "n", "k", "grid", "bound", "tessera", "scalapack", "pdgemm"]
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMP_NUM_THREADS": "1"}


def write_zeros(path, rows, cols):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"
    header += " " * (117 - len(header)) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.truncate(128 + 8 * rows * cols)


def counted(folder, ranks, *command):
    """Bytes that the ranks of a command send, and what it prints."""
    run = subprocess.run(["mpirun", "-n", str(ranks), "--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3",
                          "--mca", "pml_monitoring_filename", str(folder / "p"), *map(str, command)],
                         cwd=folder, env={**os.environ, **OPEN_MPI}, check=True, stdout=subprocess.PIPE, text=True)
    sent = 0
    for file in folder.glob("p.*.prof"):
        sent += sum(int(line.split()[3]) for line in file.read_text().splitlines() if line[:1] in ("E", "I"))
        file.unlink()
    return sent, run.stdout


def measured(folder, shape, grid):
    (m, n, k), ranks = shape, grid[0] * grid[1]
    write_zeros(folder / "a.npy", m, k)
    write_zeros(folder / "b.npy", k, n)
    tessera, report = counted(folder, ranks, BUILD / "bin/tessera", "multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--json", "--quiet")
    product = [BUILD / "bin/scalapack_product", "d", "N", *grid, m, n, k, BLOCK]
    scalapack, said = counted(folder, ranks, *product)
    pdgemm, ours = counted(folder, ranks, "-x", f"LD_PRELOAD={BUILD / 'libtessera_scalapack.so'}", *product)
    if (said, ours) != ("right\n", "right\n"):
        raise SystemExit(f"{shape}: a wrong product: {said}{ours}")
    return dict(zip(COLUMNS, (m, n, k, f"{grid[0]} x {grid[1]}", round(json.loads(report)["sent_bound"]), tessera, scalapack, pdgemm)))


def measure():
    with tempfile.TemporaryDirectory(prefix="tessera-scale-") as scratch, open(KEPT, "w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        rows.writeheader()
        for case in CASES:
            rows.writerow(measured(pathlib.Path(scratch), *case))


def table():
    out = ["", "| M x N x K, f64 | grid | bound | `multiply` | ScaLAPACK | `pdgemm_` of Tessera |", "|---|---|--:|--:|--:|--:|"]
    with open(KEPT, newline="") as file:
        for row in csv.DictReader(file):
            mib = [f"{int(row[name]) / 2**20:.1f}" for name in COLUMNS[4:]]
            out.append(f"| {row['m']} x {row['n']} x {row['k']} | {row['grid']} | {' | '.join(mib)} |")
    return "\n".join(out) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", action="store_true", help="write bench/results/scale.csv")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the page does not show the kept results")
    options = parser.parse_args()
    if options.measure:
        measure()
    text = PAGE.read_text()
    wanted = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + table() + END, text, flags=re.S)
    if options.check:
        return f"measure_scale: {PAGE.name} does not match {KEPT.name}; run scripts/measure_scale.py" if wanted != text else 0
    PAGE.write_text(wanted)
    return 0


sys.exit(main())
