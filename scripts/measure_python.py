#!/usr/bin/env python3
"""What a call from Python costs beside numpy.matmul, jnp.matmul and the library called from C.

    PYTHONPATH=build/release/python:build/jax scripts/measure_python.py -o bench/results/python.json    measures; a minute and a half
    scripts/measure_python.py           writes the table of docs/python.md from that file; prints how the limits are met
    scripts/measure_python.py --check   fails where docs/python.md does not show it

One round calls everything, in an order that changes from round to round; a ratio is taken round by round. Before each is a pause:
the threads of some libraries (OpenBLAS, in NumPy's wheels) spin for a tenth of a second after a call. Every result is compared with
float64 first. The call from C is cblas_sgemm of libtessera_blas (TESSERA_BLAS names another file), whose engine is that of the module;
it writes to the same memory each time, as calls with out= do.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import resource
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLAS = os.environ.get("TESSERA_BLAS", str(ROOT / "build/release/libtessera_blas.so"))
PAGE = ROOT / "docs/python.md"
KEPT = ROOT / "bench/results/python.json"
BEGIN, END = "<!-- begin: written by scripts/measure_python.py; do not edit -->\n", "<!-- end: measure_python -->\n"
CASES = [(2, 20000), (1024, 3)]  # (extent, calls in a row)
C, TESSERA, OUT, NUMPY = "cblas_sgemm, from C", "tessera.matmul(a, b)", "tessera.matmul(a, b, out=c)", "numpy.matmul"
TESSERA_JAX, JNP = "tessera.jax.matmul in jax.jit", "jnp.matmul in jax.jit"


def call_from_c(a, b, c):
    n = len(a)
    gemm = ctypes.CDLL(BLAS).cblas_sgemm
    gemm.restype = None
    address = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    row_major, plain, one, zero, size = ctypes.c_int(101), ctypes.c_int(111), ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int(n)

    def call():
        gemm(row_major, plain, plain, size, size, size, one, address[0], size, address[1], size, zero, address[2], size)
        return c
    return call


def calls_of(extent):
    """(name, call that has its result when it returns)"""
    import numpy as np
    import tessera
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((extent, extent), np.float32) for _ in range(2))  # (N,N)
    c, d = np.empty_like(a), np.empty_like(a)
    calls = {NUMPY: lambda: np.matmul(a, b), TESSERA: lambda: tessera.matmul(a, b)}
    if extent > 2:
        import jax
        import tessera.jax
        x, y = jax.device_put(a), jax.device_put(b)
        ours, theirs = jax.jit(tessera.jax.matmul), jax.jit(lambda a, b: jax.numpy.matmul(a, b, precision="highest"))
        calls.update({OUT: lambda: tessera.matmul(a, b, out=d), C: call_from_c(a, b, c),
                      TESSERA_JAX: lambda: ours(x, y).block_until_ready(), JNP: lambda: theirs(x, y).block_until_ready()})
    expected = a.astype(np.float64) @ b
    for name, call in calls.items():
        np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-3, atol=1e-3, err_msg=name)
    return calls


def measure_case(extent, number, rounds):
    calls = calls_of(extent)
    names, seconds, faults = list(calls), {name: [] for name in calls}, dict.fromkeys(calls, 0)
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            call = calls[name]
            time.sleep(0.2)
            faults[name] -= resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            start = time.perf_counter()
            for _ in range(number):
                call()
            seconds[name].append(round((time.perf_counter() - start) / number, 10))
            faults[name] += resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return {"extent": extent, "calls_in_a_row": number, "seconds": seconds,
            "new_pages": {name: round(count / rounds / number) for name, count in faults.items()}}


def measure(output, rounds):
    import jax
    import numpy
    import tessera
    document = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "rounds": rounds,
                "cpu_model": next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), ""),
                "num_cpus": len(os.sched_getaffinity(0)),
                "versions": {"Python": platform.python_version(), "NumPy": numpy.__version__, "JAX": jax.__version__,
                             "Tessera": tessera.__version__},
                "cases": [measure_case(*case, rounds) for case in CASES]}
    output.write_text(json.dumps(document, indent=1) + "\n")


def time_text(seconds):
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def ratio(times, other, own):
    """How many times as fast as `other`: the median over the rounds."""
    return statistics.median(x / y for x, y in zip(times[other], times[own]))


def limits(small, large):
    """(limit, figure, whether it is met) of each limit."""
    overhead = statistics.median(own - peer for own, peer in zip(small[TESSERA], small[NUMPY])) * 1e6
    yield "2 x 2: at most 1.5 us beyond numpy.matmul", f"{overhead:+.2f} us", overhead <= 1.5
    for name, peer in ((TESSERA, "numpy.matmul"), (TESSERA_JAX, JNP)):
        to_c, to_peer = ratio(large, C, name), ratio(large, peer, name)
        yield f"1024^3, {name}: within 3 % of the call from C", f"{100 * (1 / to_c - 1):+.1f} %", 1 / to_c <= 1.03
        yield f"1024^3, {name}: at least as fast as {peer}", f"{to_peer:.2f} x", to_peer >= 1


def table(path):
    if not path.exists():
        return "\nNot measured yet: `scripts/measure_python.py -o bench/results/python.json`.\n\n"
    document = json.loads(path.read_text())
    small, large = (case["seconds"] for case in document["cases"])
    pages = document["cases"][1]["new_pages"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    out = ["", f"Medians of {document['rounds']} rounds, float32; {document['cpu_model']}, {document['num_cpus']} processors; {versions}; "
           f"{document['date'][:10]}.", "", "| call | 2 x 2 | 1024 x 1024 | pages that the system gave and cleared for it |",
           "|---|--:|--:|--:|"]
    for name in large:
        times = [time_text(statistics.median(case[name])) if name in case else "" for case in (small, large)]
        out.append(f"| {name} | {' | '.join(times)} | {pages[name]} |")
    return "\n".join(out) + "\n\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.output:
        return measure(options.output, options.rounds)
    before, rest = PAGE.read_text().split(BEGIN)
    wanted = before + BEGIN + table(KEPT) + END + rest.split(END, 1)[1]
    if options.check:
        return f"measure_python: {PAGE.name} does not match {KEPT.name}; run scripts/measure_python.py" if wanted != PAGE.read_text() else 0
    PAGE.write_text(wanted)
    for what, figure, kept in limits(*(case["seconds"] for case in json.loads(KEPT.read_text())["cases"])):
        print(f"{what}: {figure}: {'met' if kept else 'NOT MET'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
