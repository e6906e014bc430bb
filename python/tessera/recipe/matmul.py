"""A graph of one operation, compiled and run with every algorithm: the MAX recipe, on the CPU and, if there is one, on a GPU.

    python -m tessera.recipe matmul                        # 256 x 256 x 256 in float32
    python -m tessera.recipe matmul -m 1028 -n 1028 -k 1028 --algorithm tiled tensor_core
    python -m tessera.recipe matmul --framework torch

Inputs are sixteenths, so that sums are exact in float32; all elements are compared with a product in float64. Exits with 1 if one
is wrong or an algorithm does not run on the CPU, with 4 if the framework is not installed.
"""
import argparse
import sys

import numpy as np

import tessera


class Jax:
    """The graph as JAX compiles it."""

    def __init__(self):
        import jax
        import tessera.jax
        self.jax, self.matmul = jax, tessera.jax.matmul

    def devices(self):
        found = [("cpu", self.jax.devices("cpu")[0])]
        return found + ([("gpu", self.jax.devices()[0])] if self.jax.default_backend() == "gpu" else [])

    def run(self, a, b, algorithm, device):
        with self.jax.default_device(device):
            graph = self.jax.jit(lambda a, b: self.matmul(a, b, algorithm=algorithm))
            return np.asarray(graph(self.jax.device_put(a, device), self.jax.device_put(b, device)))


class Torch:
    """The graph for torch.compile, as a whole. The operation is opaque to it: it has no code to generate."""

    def __init__(self):
        import tessera.torch
        import torch
        self.torch, self.matmul = torch, tessera.torch.matmul

    def devices(self):
        return [("cpu", "cpu")] + ([("gpu", "cuda")] if self.torch.cuda.is_available() else [])

    def run(self, a, b, algorithm, device):
        self.torch.compiler.reset()  # it gives up on a function after eight graphs
        graph = self.torch.compile(lambda a, b: self.matmul(a, b, algorithm=algorithm), fullgraph=True, backend="aot_eager")
        a, b = (self.torch.from_numpy(x).to(device) for x in (a, b))
        return graph(a, b).cpu().numpy()


def sixteenths(rng, *shape):
    return rng.integers(-16, 17, shape).astype(np.float32) / 16


def verdict(c, expected):
    """("ok" or what is wrong, largest error). Tensor cores round their inputs to TF32, which holds sixteenths exactly."""
    error = np.abs(c - expected)
    wrong = np.argwhere(~(error <= 1e-5 * np.abs(expected) + 1e-5))
    if not len(wrong):
        return "ok", error.max(initial=0)
    i, j = wrong[0]
    return f"WRONG in {len(wrong)} elements, first C({i},{j}) = {c[i, j]}: expected {expected[i, j]}", error.max()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for extent in "mnk":
        parser.add_argument(f"-{extent}", type=int, default=256)
    parser.add_argument("--algorithm", nargs="*", default=list(tessera.algorithms()), help="default: all")
    parser.add_argument("--framework", choices=["jax", "torch"], default="jax")
    options = parser.parse_args()
    if min(options.m, options.n, options.k) < 0:
        parser.error("expected sizes of at least 0")
    try:
        framework = {"jax": Jax, "torch": Torch}[options.framework]()
    except ImportError as missing:
        print(f"tessera.recipe matmul: {missing}; install {options.framework}, or choose another --framework", file=sys.stderr)
        return 4
    rng = np.random.default_rng(0)
    a, b = sixteenths(rng, options.m, options.k), sixteenths(rng, options.k, options.n)  # (M,K), (K,N)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    print(f"C ({options.m},{options.n}) = A ({options.m},{options.k}) * B ({options.k},{options.n}), float32, {options.framework}")
    failed = False
    for name, device in framework.devices():
        for algorithm in options.algorithm:
            try:
                text, error = verdict(framework.run(a, b, algorithm, device), expected)
            # the message says why an algorithm does not support this device or shape
            except Exception as refusal:
                failed |= name == "cpu"  # where every algorithm multiplies every shape
                print(f"{name}  {algorithm:24}  not run: {str(refusal).strip().splitlines()[-1]}")
                continue
            failed |= text != "ok"
            print(f"{name}  {algorithm:24}  {text}  largest error {error:.1e}")
    return int(failed)
