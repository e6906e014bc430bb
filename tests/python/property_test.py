"""Random shapes, strides and element types: tessera.matmul is numpy.matmul, and the same bits whatever the strides."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tessera

settings.register_profile("tessera", database=None, deadline=None)  # nothing is kept in the source tree
settings.load_profile("tessera")

DTYPES = [np.float64, np.float32, np.float16, np.int32, np.int8, np.uint8]
extents = st.integers(0, 40)


@st.composite
def operands(draw):
    """Two arrays that fit, of any strides: transposed, reversed, with gaps, broadcast."""
    batch = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    m, n, k = draw(extents), draw(extents), draw(extents)
    dtype = draw(st.sampled_from(DTYPES))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    return draw(array(rng, batch, m, k, dtype)), draw(array(rng, batch, k, n, dtype))


@st.composite
def array(draw, rng, batch, rows, cols, dtype):
    own = tuple(1 if draw(st.booleans()) else extent for extent in batch)[draw(st.integers(0, len(batch))):]
    steps = [draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in range(len(own) + 2)]
    shape = [extent * abs(step) for extent, step in zip(own + (rows, cols), steps)]
    if draw(st.booleans()):
        memory = np.swapaxes(numbers(rng, [*shape[:-2], shape[-1], shape[-2]], dtype), -1, -2)
    else:
        memory = numbers(rng, shape, dtype)
    view = memory[tuple(slice(None, None, step) for step in steps)]
    assert view.shape == own + (rows, cols)
    return view


def numbers(rng, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(shape).astype(dtype)
    return rng.integers(-9 if np.dtype(dtype).kind == "i" else 0, 10, shape).astype(dtype)


@settings(max_examples=150)
@given(operands())
def test_is_numpys_product(pair):
    a, b = pair
    got = tessera.matmul(a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert got.shape == exact.shape
    if a.dtype.kind == "f":
        assert got.dtype == a.dtype
        bound = (a.shape[-1] + 2) * np.finfo(np.float32 if a.dtype == np.float16 else a.dtype).eps * (
            np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))) + np.finfo(a.dtype).eps * np.abs(exact) + 1e-7
        assert (np.abs(got.astype(np.float64) - exact) <= bound).all()
    else:
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, exact)


@settings(max_examples=80)
@given(operands(), st.sampled_from(["tiled", "block_tiled", "naive"]), st.integers(1, 4))
def test_the_bits_depend_on_neither_strides_nor_algorithm_nor_threads(pair, algorithm, threads):
    a, b = pair
    if a.dtype not in (np.float64, np.float32):
        a, b = a.astype(np.float32), b.astype(np.float32)
    expected = tessera.matmul(np.ascontiguousarray(a), np.ascontiguousarray(b))
    np.testing.assert_array_equal(tessera.matmul(a, b, threads=threads), expected)
    np.testing.assert_array_equal(tessera.matmul(a, b, algorithm=algorithm), expected)
