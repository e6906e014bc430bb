"""out among the elements of a, b and c: refused where an element is shared, and only there."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tessera

settings.register_profile("overlap", database=None, deadline=None, max_examples=300)


def test_interleaved_windows_of_a_batch_are_apart():
    x = np.arange(2.0 * 6 * 8).reshape(2, 6, 8)
    a, b, expected = x[:, :, 1::2], np.eye(4), x[:, :, 1::2].copy()
    tessera.matmul(a, b, out=x[:, :, ::2])
    np.testing.assert_array_equal(x[:, :, ::2], expected)
    y = np.arange(2.0 * 8 * 4).reshape(2, 8, 4)
    expected = y[:, 1::2].copy()
    tessera.matmul(y[:, 1::2], np.eye(4), out=y[:, ::2], c=y[:, ::2], beta=0)
    np.testing.assert_array_equal(y[:, ::2], expected)
    z = np.ones((3, 4, 8))
    tessera.matmul(np.ones((3, 4, 4)), np.eye(4), c=z[..., 1::2], out=z[..., ::2])
    assert (z[..., ::2] == 2).all() and (z[..., 1::2] == 1).all()


def test_one_common_element_is_refused_and_nothing_written():
    x = np.zeros((2, 6, 9))
    for out in (x[:, :, ::2][:, :, :4], x[:, :, 4::-1][:, :, 1:5]):
        with pytest.raises(BufferError, match="out shares memory with a or b|C overlaps A"):
            tessera.matmul(x[:, :, 3:7], np.ones((4, 4)), out=out)
    with pytest.raises(BufferError, match="out shares memory with c"):
        tessera.matmul(np.ones((2, 6, 4)), np.ones((4, 4)), c=x[:, :, 3:7], out=x[:, :, :4])
    assert not x.any()


@st.composite
def windows(draw):
    """Two windows of one memory of 2 or 3 axes, of one shape."""
    rank = draw(st.integers(2, 3))
    memory = np.zeros(draw(st.tuples(*[st.integers(3, 9)] * rank)))

    def window():
        view = memory[tuple(slice(draw(st.integers(0, 2)), None, draw(st.sampled_from([1, 2, 3]))) for _ in range(rank))]
        view = view[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in range(rank))]
        return view.swapaxes(-1, -2) if draw(st.booleans()) else view

    first, second = window(), window()
    shape = tuple(min(pair) for pair in zip(first.shape, second.shape))
    return tuple(view[tuple(map(slice, shape))] for view in (first, second))


def is_same(a, out):
    """Then c may be out."""
    steps = [[stride for n, stride in zip(x.shape, x.strides) if n > 1] for x in (a, out)]
    return a.ctypes.data == out.ctypes.data and steps[0] == steps[1]


@settings(settings.get_profile("overlap"))
@given(windows())
def test_is_decided_as_numpy_decides_it(pair):
    a, out = pair
    eye = np.eye(a.shape[-1])
    if np.shares_memory(a, out):
        with pytest.raises(BufferError):
            tessera.matmul(a, eye, out=out)
        if not is_same(a, out):
            with pytest.raises(BufferError):
                tessera.matmul(np.zeros(a.shape), eye, out=out, c=a)
    else:
        tessera.matmul(a, eye, out=out)
        tessera.matmul(np.zeros(a.shape), eye, out=out, c=a)
