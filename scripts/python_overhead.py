#!/usr/bin/env python3
"""What a call from Python costs: tessera.matmul beside numpy.matmul, interleaved, the median of the rounds.

Usage: PYTHONPATH=build/release/python scripts/python_overhead.py

The small product is all overhead; the large one is compared with numpy.matmul as it is installed. Every result is checked first.
Before each measurement is a pause: OpenBLAS's threads, in NumPy's wheels, spin on a core for a tenth of a second after a call.
"""
import statistics
import time
import timeit

import numpy as np

import tessera

ROUNDS = 15


def seconds(call, number):
    time.sleep(0.2)
    return timeit.timeit(call, number=number) / number


def compare(extent, number):
    """Median seconds of one call of NumPy and of Tessera."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((extent, extent), np.float32) for _ in range(2))
    np.testing.assert_allclose(tessera.matmul(a, b), np.matmul(a, b), rtol=1e-3, atol=1e-3)
    times = [(seconds(lambda: np.matmul(a, b), number), seconds(lambda: tessera.matmul(a, b), number)) for _ in range(ROUNDS)]
    return [statistics.median(each) for each in zip(*times)]


def main():
    tessera.show_config()
    for extent, number in [(2, 20000), (64, 2000), (1024, 3)]:
        numpy_s, tessera_s = compare(extent, number)
        print(f"{extent}^3 f32: numpy {numpy_s * 1e6:.2f} us, tessera {tessera_s * 1e6:.2f} us, "
              f"{(tessera_s - numpy_s) * 1e6:+.2f} us, {numpy_s / tessera_s:.2f} x as fast")


if __name__ == "__main__":
    main()
