#!/usr/bin/env python3
"""Speed of complex products, cblas_cgemm and cblas_zgemm, of Tessera and every other BLAS that `tessera doctor` finds.

    scripts/measure_complex.py MACHINE    measures, some 2 minutes; writes bench/results/complex/MACHINE.csv
    scripts/measure_complex.py -h         more

Each library is in a process of its own. All multiply the same matrices, their results are compared with NumPy's in twice the
precision, then they are timed in rounds; a row has the median time of a call and the median over the rounds of theirs divided by ours.
A flop is a real one: a complex product has 8 M N K.
"""
import argparse
import csv
import ctypes
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
OURS = os.environ.get("TESSERA_BLAS", str(ROOT / "build/release/libtessera_blas.so"))
SHAPES = "32x32x32,100x100x100,256x256x256,1024x1024x1024,16x1024x1024,1024x16x1024,512x512x32,64x64x8192,256x256x256-TN,256x256x256-NC"
COLUMNS = ("type", "threads", "shape", "contestant", "time_ns", "gflops", "tessera_speedup")
FUNCTIONS = {"c32": ("cgemm", numpy.complex64), "c64": ("zgemm", numpy.complex128)}  # parts of 32 and 64 bits
THREADS = ("TESSERA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")
REST = 0.25  # seconds
ROW_MAJOR, OPERATIONS = 101, {"N": 111, "T": 112, "C": 113}


def operands(shape, kind):
    """M, N, K, the operations, and A and B as they are stored."""
    extents, _, letters = shape.partition("-")
    m, n, k = map(int, extents.split("x"))
    letters = letters or "NN"
    random = numpy.random.default_rng(1)

    def matrix(rows, cols):
        return (random.uniform(-1, 1, (rows, cols)) + 1j * random.uniform(-1, 1, (rows, cols))).astype(kind)
    return (m, n, k), letters, matrix(*((m, k) if letters[0] == "N" else (k, m))), matrix(*((k, n) if letters[1] == "N" else (n, k)))


def prefix_of(library):
    """Of its functions; None: it has no complex products. Python wheels of OpenBLAS rename them."""
    return next((prefix for prefix in ("cblas_", "scipy_cblas_") if hasattr(library, prefix + "zgemm")), None)


def work(path):
    """The process of a library: a line asks for a case or a sample of so many seconds."""
    library = ctypes.CDLL(path)
    call = None
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "has":
            print(prefix_of(library), flush=True)
        elif verb == "case":
            name, kind = FUNCTIONS[rest[0]]
            (m, n, k), letters, a, b = operands(rest[1], kind)
            c, one, zero = numpy.empty((m, n), kind), numpy.ones(1, kind), numpy.zeros(1, kind)
            function = getattr(library, prefix_of(library) + name)
            function.restype = None
            at = [ctypes.c_void_p(x.ctypes.data) for x in (one, a, b, zero, c)]
            call = functools.partial(function, ROW_MAJOR, *(OPERATIONS[letter] for letter in letters), m, n, k,
                                     at[0], at[1], a.shape[1], at[2], b.shape[1], at[3], at[4], n)
            call()
            wide = numpy.clongdouble if kind == numpy.complex128 else numpy.complex128
            sides = [(x.T if letter != "N" else x).astype(wide) for x, letter in zip((a, b), letters)]
            sides = [x.conj() if letter == "C" else x for x, letter in zip(sides, letters)]
            rows = slice(None, None, max(1, m // 16))  # long doubles have no BLAS
            bound = 8 * k * numpy.finfo(kind).eps
            print("right" if abs(c[rows] - sides[0][rows] @ sides[1]).max() <= bound else "wrong", flush=True)
        else:
            count, start, spent = 0, time.perf_counter(), 0
            while spent < float(rest[0]):
                call()
                count, spent = count + 1, time.perf_counter() - start
            print(spent / count, flush=True)


class Contestant:
    def __init__(self, name, path, threads, environment=""):
        self.name = name
        settings = dict(pair.split("=", 1) for pair in environment.split())
        self.process = subprocess.Popen([sys.executable, __file__, "--work", path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **dict.fromkeys(THREADS, str(threads)), **settings})

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def libraries():
    peers = json.loads(subprocess.run([COMMAND, "doctor", "--json"], stdout=subprocess.PIPE, check=True).stdout)["peers"]
    return [("tessera", OURS, ""), *((peer["name"], peer["path"], peer["environment"]) for peer in peers if peer["name"] != "reference")]


def sample(contestant, seconds, threads):
    """The time of a call. Idle threads of the one before spin for up to 200 ms, and would have a core."""
    if threads > 1:
        time.sleep(REST)
    contestant.ask("sample", seconds / 4)
    return float(contestant.ask("sample", seconds))


def measure(shapes, threads, rounds, seconds):
    contestants = [Contestant(name, path, threads, environment) for name, path, environment in libraries()]
    try:
        for each in [each for each in contestants if each.ask("has") in ("None", "")]:
            contestants.remove(each)
            each.end()
        for kind in FUNCTIONS:
            for shape in shapes:
                said = {each: each.ask("case", kind, shape) for each in contestants}
                for each, answer in said.items():
                    if answer != "right":
                        print(f"measure_complex: {kind} {shape}: {each.name} is left out: its result is {answer or 'none'}", file=sys.stderr)
                taking_part = [each for each, answer in said.items() if answer == "right"]
                times = [[sample(each, seconds, threads) for each in taking_part] for _ in range(rounds)]
                m, n, k = map(int, shape.partition("-")[0].split("x"))
                for i, each in enumerate(taking_part):
                    median = statistics.median(row[i] for row in times)
                    faster = "" if i == 0 else f"{statistics.median(row[i] / row[0] for row in times):.3f}"
                    yield kind, threads, shape, each.name, round(median * 1e9, 1), round(8 * m * n * k / median / 1e9, 1), faster
    finally:
        for each in contestants:
            each.end()


def main():
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machine", metavar="MACHINE", help="the name of the results, for example zen5")
    parser.add_argument("--shapes", default=SHAPES, help="MxNxK, with -TN or -NC for transposed and conjugate operands; default %(default)s")
    parser.add_argument("--threads", default="1,2", help="default 1,2")
    parser.add_argument("--rounds", type=int, default=9, help="default 9")
    parser.add_argument("--seconds", type=float, default=0.05, help="of a sample; default 0.05")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="another file than bench/results/complex/MACHINE.csv")
    asked = parser.parse_args()
    output = asked.output or ROOT / f"bench/results/complex/{asked.machine}.csv"
    rows = [row for threads in asked.threads.split(",") for row in measure(asked.shapes.split(","), int(threads), asked.rounds, asked.seconds)]
    output.parent.mkdir(exist_ok=True)
    with output.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
