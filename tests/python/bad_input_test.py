"""What matmul refuses, by the exception that Python's users expect and with a text that says what to do; and what must not
crash: strides, threads, forks, memory that its owner lets go."""
import ctypes
import gc
import multiprocessing
import os
import pickle
import sys
import threading

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import tessera

A = np.arange(12.0).reshape(3, 4)
B = np.arange(8.0).reshape(4, 2)
ALLOWED = "expected float64, float32, float16, bfloat16, int8, uint8 or int32, or for both a and b float8_e4m3fn or float8_e5m2"


def read_only(shape):
    out = np.empty(shape)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize("arguments, named, message", [
    ((A, A), {}, r"a of shape \(3,4\) and b of shape \(3,4\) do not fit: a has 4 columns but b has 3 rows"),
    ((np.ones((2, 3, 4)), A), {}, r"a of shape \(2,3,4\) and b of shape \(3,4\) do not fit: a has 4 columns but b has 3 rows"),
    ((A, B), {"out": np.empty((1, 3, 2))}, r"out has shape \(1,3,2\): expected \(3,2\)"),
    ((np.ones((2, 3, 4)), np.ones((5, 4, 2))), {}, r"batches of a of shape \(2,3,4\) and b of shape \(5,4,2\) do not broadcast"),
    ((np.float64(1), A), {}, r"a of shape \(\) and b of shape \(3,4\): expected at least one axis"),
    ((np.array(1.0), np.array(2.0)), {}, r"a of shape \(\) and b of shape \(\)"),
    ((A, B), {"out": np.empty((2, 3))}, r"out has shape \(2,3\): expected \(3,2\)"),
    ((A, B), {"c": np.empty((2, 3))}, r"c has shape \(2,3\): expected \(3,2\)"),
    ((A, B), {"bias": np.empty(7)}, r"bias has shape \(7,\): expected \(2,\), one number for each column, or \(3,1\)"),
    ((A, B), {"beta": 2}, "give c or out"),
    ((A, B), {"activation": "tanh"}, "unknown activation 'tanh': expected None, 'relu', 'gelu' or 'silu'"),
    ((A, B), {"algorithm": "tild"}, "did you mean 'tiled'"),
    ((A, B), {"tile": "3x3"}, "no algorithm has tile 3x3"),
    ((A, B), {"threads": 0}, "threads is 0: expected 1 or more, or None"),
    ((np.ones(4), B), {"transpose_a": True}, r"a of shape \(4,\) cannot be transposed"),
])
def test_shapes_and_arguments_are_value_errors(arguments, named, message):
    with pytest.raises(ValueError, match=message):
        tessera.matmul(*arguments, **named)
    if "out" not in named and "c" not in named and "bias" not in named:
        with pytest.raises(ValueError, match=message):
            tessera.plan(*arguments, **named)


@pytest.mark.parametrize("arguments, named, message", [
    ((A.astype(object), B), {}, "a has elements of Python objects: " + ALLOWED),
    ((A.astype(complex), B), {}, "a has elements of complex128: " + ALLOWED),
    ((A.astype("F"), B), {}, "a has elements of complex64: " + ALLOWED),
    ((A.astype(np.longdouble), B), {}, "a has elements of longdouble: " + ALLOWED),
    ((A.astype(np.clongdouble), B), {}, "a has elements of clongdouble: " + ALLOWED),
    ((A.astype(np.int64), B.astype(np.int64)), {}, "a has elements of int64: " + ALLOWED),
    ((A > 1, B > 1), {}, "a has elements of bool: " + ALLOWED),
    ((A.astype(">f8"), B), {}, "a has elements of float64 in another byte order: " + ALLOWED),
    ((A.astype(">c16"), B), {}, "a has elements of complex128 in another byte order: " + ALLOWED),
    ((np.array([["text"]]), B), {}, "a has elements of text: " + ALLOWED),
    ((np.array([[b"text"]]), B), {}, "a has elements of bytes: " + ALLOWED),
    ((np.zeros((3, 4), "V3"), B), {}, "a has elements of void: " + ALLOWED),
    ((np.zeros((3, 4), [("x", "f8")]), B), {}, "a has elements of several fields: " + ALLOWED),
    ((memoryview(bytes(12)).cast("c", (3, 4)), B), {}, "a has elements of bytes: " + ALLOWED),
    ((A.astype("M8[s]"), B), {}, r"a has elements of datetime64\[s\]: " + ALLOWED),
    ((A, B.astype(np.float32)), {}, "a has elements of float64 and b of float32; convert one of them"),
    ((A, B), {"out": np.empty((3, 2), np.float32)}, "a product of float64 is float64, not float32"),
    ((A, B), {"dtype": "float16"}, "a product of float64 is float64, not float16"),
    ((A, B), {"dtype": "quad"}, "dtype is 'quad', a str: expected float64, float32, .* or int32, as text or as a type of NumPy"),
    ((A, B), {"c": np.ones((3, 2), np.float32)}, "c has elements of float32: expected float64"),
    ((A, B), {"bias": np.ones(2, np.int32)}, "bias has elements of int32: expected float64"),
    ((A.astype(np.int32), B.astype(np.int32)), {"activation": "gelu"}, "a product of int32 has no activation 'gelu': expected None or 'relu'"),
    ((A.astype(np.int8), B.astype(np.int8)), {"activation": "silu"}, "a product of int8 has no activation 'silu'"),
    ((A, [[1.0]]), {}, "b is a list: expected an array of NumPy, JAX, PyTorch or CuPy"),
    ((None, B), {}, "a is a NoneType"),
    (("text", B), {}, "a is a str"),
    ((A,), {}, "missing 1 required positional argument"),
    ((A, B), {"nonsense": 1}, "unexpected keyword argument 'nonsense'"),
])
def test_element_types_are_type_errors(arguments, named, message):
    with pytest.raises(TypeError, match=message):
        tessera.matmul(*arguments, **named)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "int4"])
def test_there_is_no_product_of_f8_with_others_or_of_less(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    with pytest.raises(TypeError, match=f"a has elements of {name}: {ALLOWED}; convert it first"):
        tessera.matmul(A.astype(getattr(ml_dtypes, name)), B)


def test_numpys_masks_are_not_dropped():
    masked = np.ma.masked_array
    for name, call in [("a", lambda: tessera.matmul(masked(A), B)), ("b", lambda: tessera.matmul(A, masked(B))),
                       ("b", lambda: tessera.PackedMatrix(masked(B))), ("bias", lambda: tessera.matmul(A, B, bias=masked(np.ones(2)))),
                       ("c", lambda: tessera.matmul(A, B, c=masked(np.ones((3, 2))))),
                       ("out", lambda: tessera.matmul(A, B, out=masked(np.ones((3, 2))))), ("array", lambda: tessera.Tensor(masked(A)))]:
        with pytest.raises(TypeError, match=f"{name} is a masked array"):
            call()


@pytest.mark.parametrize("wrap, message", [(np.ma.masked_array, "a is a masked array"), (tessera.Tensor, r"a is a tessera.Tensor")])
def test_operands_of_float8_pass_the_same_door(wrap, message):
    f8 = pytest.importorskip("ml_dtypes").float8_e4m3fn
    with pytest.raises(TypeError, match=message):
        tessera.matmul(wrap(A.astype(f8)), B.astype(f8))
    with pytest.raises(TypeError, match=message.replace("a is", "b is")):
        tessera.plan(A.astype(f8), wrap(B.astype(f8)))


def test_a_bias_is_no_part_of_out():
    for bias, out in [(out[0], out) for out in [np.ones((3, 2))]] + [(out[:, :1], out) for out in [np.ones((3, 2))]]:
        for call in (tessera.matmul, tessera.plan):
            with pytest.raises(BufferError, match="out shares memory with bias; give it memory of its own"):
                call(A, B, bias=bias, out=out)
        assert (out == 1).all()
    both = np.ones((4, 2))
    np.testing.assert_array_equal(tessera.matmul(A, B, bias=both[0], out=both[1:]), A @ B + 1)


SQUARE = np.ones((4, 4))


@pytest.mark.parametrize("arguments, named, message", [
    ((A, B), {"out": read_only((3, 2))}, "out is read-only"),
    ((SQUARE, SQUARE), {"out": SQUARE}, "overlaps A"),
    ((SQUARE, SQUARE), {"out": SQUARE.T}, "overlaps A"),
    ((np.ones((2, 4)), SQUARE), {"out": SQUARE[1:3]}, "overlaps B"),
    ((A, B), {"out": as_strided(np.ones(2), (3, 2), (0, 8))}, "elements of C overlap each other"),
    ((np.ones((2, 3, 4)), B), {"out": as_strided(np.ones(6), (2, 3, 2), (0, 16, 8))}, "holds an element twice"),
    ((np.ones((2, 4, 4)), SQUARE), {"out": as_strided(SQUARE, (2, 4, 4), (0, 32, 8))}, "overlaps B"),
    ((SQUARE[:2], SQUARE), {"out": np.ones((3, 4))[:2], "c": None, "device": "cuda:0"}, "a is on cpu: expected cuda:0"),
    ((np.zeros(3, [("x", "f4"), ("y", "u1")])["x"][None], np.ones((3, 1), np.float32)), {}, "not aligned to their size"),
    ((np.frombuffer(bytes(97), np.uint8)[1:].view(np.float64).reshape(3, 4), B), {}, "not aligned to their size"),
])
def test_shared_memory_and_devices_are_buffer_errors(arguments, named, message):
    with pytest.raises(BufferError, match=message):
        tessera.matmul(*arguments, **named)


def test_out_and_c_may_not_meet_halfway():
    memory = np.ones((5, 2))
    with pytest.raises(BufferError, match="out shares memory with c"):
        tessera.matmul(A, B, c=memory[1:4], out=memory[:3])
    np.testing.assert_allclose(tessera.matmul(A, B, c=memory[:3], out=memory[:3]), A @ B + 1)


def test_a_refused_call_leaves_out_alone():
    out = np.full((2, 4, 4), 7.0)
    with pytest.raises(BufferError):
        tessera.matmul(out, np.ones((4, 4)), out=out, c=np.zeros((2, 4, 4)))
    with pytest.raises(ValueError):
        tessera.matmul(A, B, out=out[0, :3, :2], c=np.zeros((3, 2)), algorithm="nonsense")
    assert (out == 7).all()


def test_a_buffer_without_strides_has_its_elements_side_by_side():
    """Memory of ctypes says its shape only."""
    a, row = ((ctypes.c_double * 4) * 3)(*map(tuple, A)), (ctypes.c_double * 4)(*A[1])
    np.testing.assert_array_equal(tessera.matmul(a, B), A @ B)
    np.testing.assert_array_equal(tessera.matmul(row, B), A[1] @ B)
    out = ((ctypes.c_double * 2) * 3)()
    tessera.matmul(A, B, out=out)
    np.testing.assert_array_equal(out, A @ B)


def test_windows_of_one_buffer_are_fine():
    memory = np.zeros((6, 8))
    memory[:, :4] = np.arange(24.0).reshape(6, 4)
    tessera.matmul(memory[:, :4], np.eye(4), out=memory[:, 4:])
    np.testing.assert_array_equal(memory[:, 4:], memory[:, :4])


def test_nan_and_infinity_go_where_they_must():
    a = np.array([[np.nan, 1], [np.inf, 0], [1, 2]])
    expected = np.array([[np.nan, np.nan], [np.inf, np.nan], [1, 2]])
    np.testing.assert_array_equal(tessera.matmul(a, np.eye(2)), expected)
    np.testing.assert_array_equal(tessera.matmul(a, np.eye(2), algorithm="naive"), expected)


def test_a_factor_of_zero_reads_nothing():
    """As in BLAS."""
    nan = np.full((2, 2), np.nan)
    for algorithm in ("auto", "naive", "tiled"):
        assert not tessera.matmul(nan, nan, alpha=0, algorithm=algorithm).any()
        np.testing.assert_array_equal(tessera.matmul(nan, nan, alpha=0, c=np.eye(2), bias=np.ones(2), algorithm=algorithm), np.eye(2) + 1)
        np.testing.assert_array_equal(tessera.matmul(np.eye(2), np.eye(2), beta=0, out=nan.copy(), algorithm=algorithm), np.eye(2))


def test_strides_beyond_all_memory_are_refused_and_large_ones_work():
    with pytest.raises(ValueError, match="reaches beyond 64-bit addresses"):
        tessera.matmul(as_strided(A, (3, 4), (1 << 62, 8)), B)
    apart = np.lib.stride_tricks.as_strided(np.zeros(1 << 28, np.float32), (3, 4), ((1 << 28) + 400, 100))  # 1 GiB, never touched
    assert not tessera.matmul(apart, np.ones((4, 2), np.float32)).any()


def test_arrays_that_their_owner_lets_go():
    """The call keeps them: a large product in another thread, whose operands have no other reference."""
    results = []

    def work():
        results.append(tessera.matmul(np.full((200, 300), 2.0), np.full((300, 100), 0.5)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        gc.collect()
        np.full((200, 300), np.nan)  # takes memory that was freed
    for thread in threads:
        thread.join()
    assert all((each == 300).all() for each in results)
    packed = tessera.PackedMatrix(np.eye(50))
    gc.collect()
    np.testing.assert_array_equal(tessera.matmul(np.ones((2, 50)), packed), np.ones((2, 50)))


def test_an_operand_of_a_failed_call_is_released():
    memory = bytearray(96)
    with pytest.raises(ValueError):
        tessera.matmul(memoryview(memory).cast("d", (3, 4)), A)
    memory.clear()  # BufferError while anything views it


def test_many_threads_at_once_give_the_same_bits():
    rng = np.random.default_rng(1)
    pairs = [(rng.standard_normal((60 + i, 80)), rng.standard_normal((80, 70))) for i in range(8)]
    expected = [tessera.matmul(a, b) for a, b in pairs]
    wrong = []

    def work(i):
        for _ in range(20):
            if not np.array_equal(tessera.matmul(*pairs[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_threads_go_on_during_a_product():
    a = np.ones((1500, 1500))
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(None)
            done.wait(0.0005)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # whoever holds the lock keeps it
    try:
        thread = threading.Thread(target=tick)
        thread.start()
        before = len(ticks)
        tessera.matmul(a, a)
        during = len(ticks) - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert during > 3


def test_after_fork():
    """The threads of the parent are not there in the child."""
    a = np.random.default_rng(2).standard_normal((300, 300))
    expected = tessera.matmul(a, a)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(tessera.matmul(a, a), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(tessera.matmul(a, a), expected)


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method):
    a = np.random.default_rng(3).standard_normal((200, 200))
    with multiprocessing.get_context(method).Pool(2) as pool:
        results = pool.starmap(tessera.matmul, [(a, a)] * 4, chunksize=1)
    for each in results:
        np.testing.assert_array_equal(each, tessera.matmul(a, a))


def test_what_is_pickled_comes_back():
    assert pickle.loads(pickle.dumps(tessera.matmul)) is tessera.matmul
    layout = tessera.Layout("(4,2):(2,1)")
    assert pickle.loads(pickle.dumps(layout)) == layout
