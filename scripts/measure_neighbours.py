#!/usr/bin/env python3
"""Throughput of products beside other programs, of Tessera and its peers: in units of Tessera on one thread alone.

    scripts/measure_neighbours.py MACHINE    measures, some 4 minutes; writes bench/results/neighbours/MACHINE.csv
    scripts/measure_neighbours.py -h         more

In each situation one `tessera bench` runs all contestants in turns, on as many threads as there are cores. Throughput is
work divided by the mean time: a median hides callers that stand still now and then. `quiet` is the machine as it is:
nothing else should run on it.
"""
import argparse
import contextlib
import csv
import json
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
CORES = len(os.sched_getaffinity(0))
OURS = "blas"
COLUMNS = ("situation", "shape", "threads", "contestant", "throughput", "ours_by_theirs")


def spin(busy, period):
    """Busy for `busy` of each `period` seconds."""
    while True:
        end = time.perf_counter() + busy
        while time.perf_counter() < end:
            pass
        time.sleep(period - busy)


@contextlib.contextmanager
def neighbours(count, busy=1, period=1):
    programs = [multiprocessing.Process(target=spin, args=(busy, period), daemon=True) for _ in range(count)]
    for program in programs:
        program.start()
    try:
        yield {}
    finally:
        for program in programs:
            program.kill()
            program.join()


@contextlib.contextmanager
def quota(cores):
    """A cgroup, of version 1 or 2, that gets so much of the processors."""
    root = next((path for path in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup") if os.path.exists(f"{path}/cgroup.procs")), None)
    if root is None:
        raise OSError("no cgroup of processors in /sys/fs/cgroup")
    group = pathlib.Path(root) / f"tessera-{os.getpid()}"
    group.mkdir()
    try:
        if (group / "cpu.cfs_quota_us").exists():
            (group / "cpu.cfs_quota_us").write_text(str(int(cores * 100_000)))
        else:
            (group / "cpu.max").write_text(f"{int(cores * 100_000)} 100000")
        yield {"preexec_fn": lambda: (group / "cgroup.procs").write_text("0")}
    finally:
        group.rmdir()


def bench(shapes, threads, peers, samples, **how):
    """A running `tessera bench`, and the file with its results."""
    file = pathlib.Path(tempfile.mkdtemp(prefix="tessera-neighbours-")) / "results.json"
    command = [COMMAND, "bench", "--sizes", shapes, "--algorithms", OURS, "--threads", str(threads), "--peers", peers,
               "--repetitions", str(samples), "--min-time", "0.2", "--max-time", "30", "--quiet", "-o", str(file)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True, **how), file


def means(program, file):
    """{(shape, contestant): mean time of a call}."""
    if program.wait() != 0:
        sys.exit(f"measure_neighbours: tessera bench ended with {program.returncode}")
    rows = [row for row in json.loads(file.read_text())["benchmarks"] if row.get("aggregate_name") == "mean" and row["kind"] != "peak"]
    file.unlink()
    file.parent.rmdir()
    return {("x".join(str(row[side]) for side in "mnk"), row["contestant"]): row["real_time"] for row in rows}


def take_turns(programs, seconds, over):
    """All but one are stopped, for `seconds` each, until `over` is set."""
    turn = 0
    while not over.wait(seconds):
        turn += 1
        for i, program in enumerate(programs):
            os.killpg(program.pid, signal.SIGCONT if i == turn % len(programs) else signal.SIGSTOP)


def measured_in_turns(shapes, peers, samples):
    """Two programs that measure the same and are stopped in turns; the means of the first."""
    pairs = [bench(shapes, CORES, peers, samples) for _ in range(2)]
    over = threading.Event()
    turns = threading.Thread(target=take_turns, args=([program for program, _ in pairs], 0.05, over))
    turns.start()
    try:
        pairs[0][0].wait()
    finally:
        over.set()
        turns.join()
        os.killpg(pairs[1][0].pid, signal.SIGKILL)
        pairs[1][0].wait()
    return means(*pairs[0])


# Name: threads and surroundings.
SITUATIONS = {
    "quiet": (CORES, contextlib.nullcontext({})),
    "one busy neighbour": (CORES, neighbours(1)),
    "three busy neighbours": (CORES, neighbours(3)),
    "neighbours busy 3 of 200 ms": (CORES, neighbours(2, 0.003, 0.2)),
    "neighbours busy 20 of 200 ms": (CORES, neighbours(2, 0.02, 0.2)),
    "neighbours busy 100 of 1000 ms": (CORES, neighbours(2, 0.1, 1)),
    "processor quota of 150 %": (CORES, quota(1.5)),
    "twice as many threads as cores": (2 * CORES, contextlib.nullcontext({})),
}
TURNS = "two programs stopped in turns"  # 50 ms each


def measure(shapes, peers, samples):
    alone = means(*bench(shapes, 1, "none", samples))
    for name in (*SITUATIONS, TURNS):
        print(f"measure_neighbours: {name}", file=sys.stderr)
        try:
            if name == TURNS:
                threads, found = CORES, measured_in_turns(shapes, peers, samples)
            else:
                threads, around = SITUATIONS[name]
                with around as how:
                    found = means(*bench(shapes, threads, peers, samples, **how))
        except OSError as error:
            print(f"measure_neighbours: {name} is NOT measured: {error}", file=sys.stderr)
            continue
        for (shape, contestant), ns in found.items():
            yield (name, shape, threads, contestant, f"{alone[shape, OURS] / ns:.3f}",
                   "" if contestant == OURS else f"{ns / found[shape, OURS]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", metavar="MACHINE", help="the name of the results, for example zen5")
    parser.add_argument("--sizes", default="256,1024", help="as 'tessera bench' takes them; default 256,1024")
    parser.add_argument("--peers", default="openblas,onednn,mkl", help="as 'tessera bench' takes them; default openblas,onednn,mkl")
    parser.add_argument("--samples", type=int, default=11, help="of each contestant; default 11")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="another file than bench/results/neighbours/MACHINE.csv")
    asked = parser.parse_args()
    output = asked.output or ROOT / f"bench/results/neighbours/{asked.machine}.csv"
    rows = list(measure(asked.sizes, asked.peers, asked.samples))
    output.parent.mkdir(exist_ok=True)
    with output.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
