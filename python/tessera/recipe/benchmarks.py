"""The MAX recipe's table, verified, with the ratio to the framework's own matmul, measured in one run.

    python -m tessera.recipe benchmarks                                    # 1028^3 in float32, every algorithm, JAX
    python -m tessera.recipe benchmarks -s 1024 --algorithm auto --rounds 30
    python -m tessera.recipe benchmarks --framework torch --json out.json

One round calls everything once, in an order that changes from round to round, so that a busy machine slows all alike. Reported are
the median time of a call, the speed at that time, and the median over the rounds of the framework's own time / the time of the row:
above 1 is faster than the framework. "tessera.matmul" is the call on NumPy arrays with memory for the result: the library
without a graph. Every result is compared with float64 before it is timed; one that is wrong is not. Times include all waiting.
Before each call is a pause: the threads of some libraries (OpenBLAS, in NumPy's wheels) spin for a tenth of a second
after a call, on a core that the next would use.
"""
import argparse
import functools
import json
import statistics
import sys
import time

import numpy as np

import tessera


def jax_calls(a, b, algorithms):
    """(row, call that waits for its result) of the framework, then of each algorithm."""
    import jax
    import tessera.jax
    a, b = jax.device_put(a), jax.device_put(b)

    def compiled(function):
        graph = jax.jit(function)
        return lambda: jax.block_until_ready(graph(a, b))

    yield f"jnp.matmul (JAX {jax.__version__})", compiled(lambda a, b: jax.numpy.matmul(a, b, precision="highest"))
    for each in algorithms:
        yield each, compiled(functools.partial(tessera.jax.matmul, algorithm=each))


def torch_calls(a, b, algorithms):
    """The same in PyTorch."""
    import tessera.torch
    import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    a, b = torch.from_numpy(a).to(device), torch.from_numpy(b).to(device)

    def waited(function):
        def call():
            c = function(a, b)
            if device == "cuda":
                torch.cuda.synchronize()
            return c.cpu() if c.is_cuda else c
        return call

    yield f"torch.matmul (PyTorch {torch.__version__})", waited(torch.matmul)
    for each in algorithms:
        yield each, waited(functools.partial(tessera.torch.matmul, algorithm=each))


def library_calls(a, b):
    """The library itself, and NumPy."""
    c, d = (np.empty((a.shape[0], b.shape[1]), a.dtype) for _ in range(2))
    yield "tessera.matmul", lambda: tessera.matmul(a, b, out=c)
    yield f"numpy.matmul (NumPy {np.__version__})", lambda: np.matmul(a, b, out=d)


def is_right(c, expected, a, b, algorithm):
    """Within the error of a sum of K products in float32, of inputs in TF32 if tensor cores round them; NaN is wrong."""
    relative = a.shape[1] * np.finfo(np.float32).eps + (2**-9 if algorithm == "tensor_core" else 0)
    bound = relative * (np.abs(a).astype(np.float64) @ np.abs(b))
    return bool((np.abs(np.asarray(c) - expected) <= bound + 1e-30).all())


def measure(calls, rounds, pause):
    """Seconds of each call in each round, each after `pause` seconds."""
    names = list(calls)
    times = {name: [] for name in names}
    for i in range(rounds):
        for name in names[i % len(names):] + names[:i % len(names)]:
            time.sleep(pause)
            start = time.perf_counter()
            calls[name]()
            times[name].append(time.perf_counter() - start)
    return times


def table(times, peer, flops):
    """A row for each call: name, median ms, GFLOP/s, ratio to the peer."""
    for name, own in times.items():
        median = statistics.median(own)
        ratio = statistics.median(p / t for p, t in zip(times[peer], own))
        yield {"name": name, "ms": median * 1e3, "gflops": flops / median / 1e9, "ratio": ratio, "seconds": own}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-s", "--size", type=int, nargs="+", default=[1028], help="M, N and K; or the three of them")
    parser.add_argument("--algorithm", nargs="*", help="default: auto and all of the ladder")
    parser.add_argument("--framework", choices=["jax", "torch"], default="jax")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds before each call (default: 0.2)")
    parser.add_argument("--json", help="write all times there too")
    options = parser.parse_args()
    if len(options.size) not in (1, 3) or min(options.size) < 1 or options.rounds < 1 or not options.pause >= 0:
        parser.error("expected one size or three, each at least 1, at least one round, and no negative pause")
    m, n, k = options.size if len(options.size) == 3 else options.size * 3
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)  # (M,K), (K,N)
    algorithms = options.algorithm or ["auto", *(name for name in tessera.algorithms() if name != "packed")]
    try:
        calls = dict({"jax": jax_calls, "torch": torch_calls}[options.framework](a, b, algorithms))
    except ImportError as error:
        print(f"tessera.recipe benchmarks: {error}; install {options.framework}, or choose another --framework", file=sys.stderr)
        return 4
    peer = next(iter(calls))
    calls.update(library_calls(a, b))
    expected, left_out = a.astype(np.float64) @ b.astype(np.float64), []
    for name, call in list(calls.items()):
        try:
            why = "" if is_right(call(), expected, a, b, name) else "WRONG"
        except Exception as refusal:
            why = str(refusal).strip().splitlines()[-1]
        if why:
            left_out.append((name, why))
            del calls[name]
    if peer not in calls:
        print(f"tessera.recipe benchmarks: nothing to compare with: {left_out[0][0]}: {left_out[0][1]}", file=sys.stderr)
        return 1
    rows = list(table(measure(calls, options.rounds, options.pause), peer, 2 * m * n * k))
    print(f"{m} x {n} x {k}, float32, {options.rounds} rounds, verified\n")
    print(f"| algorithm | ms | GFLOP/s | x {peer.split()[0]} |\n|---|---:|---:|---:|")
    for row in rows:
        print(f"| {row['name']} | {row['ms']:.3f} | {row['gflops']:.1f} | {row['ratio']:.2f} |")
    for name, why in left_out:
        print(f"\nnot timed: {name}: {why}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"m": m, "n": n, "k": k, "peer": peer, "rows": rows}, file)
    return int(any(why == "WRONG" for _, why in left_out))
