"""Arguments besides arrays: a wrong type is a TypeError of one sentence, and element types and devices have one set of
spellings everywhere."""
import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import tessera
from tessera import _arguments, layout

A = np.arange(12.0).reshape(3, 4)
B = np.arange(8.0).reshape(4, 2)
F = A.astype(np.float32)


class Other:
    pass


@pytest.mark.parametrize("named, message", [
    ({"alpha": "2"}, "alpha is '2', a str: expected a number, such as 2.0"),
    ({"alpha": 10**400}, "alpha is an int: expected a number, such as 2.0, of the range of a float64"),
    ({"alpha": None}, "alpha is None: expected a number"),
    ({"alpha": 1j}, "alpha is 1j, a complex: expected a number"),
    ({"alpha": np.ones(2)}, r"alpha is array\(\[1., 1.\]\), a ndarray: expected a number"),
    ({"beta": "1", "c": np.ones((3, 2))}, "beta is '1', a str: expected a number"),
    ({"threads": 1.5}, "threads is 1.5, a float: expected a whole number of 1 or more, or None"),
    ({"threads": "2"}, "threads is '2', a str: expected a whole number"),
    ({"algorithm": None}, "algorithm is None: expected 'auto' or a name that tessera.algorithms"),
    ({"tile": (32, 32, 32)}, r"tile is \(32, 32, 32\), a tuple: expected text such as '32x32x64' or '128x128x8/8x8', or None"),
    ({"activation": []}, r"activation is \[\], a list: expected None, 'relu', 'gelu' or 'silu'"),
    ({"transpose_a": "no"}, "transpose_a is 'no', a str: expected True or False"),
    ({"transpose_b": B}, "transpose_b is a ndarray: expected True or False"),
    ({"dtype": 5}, "dtype is 5, an int: expected float64, .* or int32, as text or as a type of NumPy, ml_dtypes, JAX or PyTorch"),
    ({"dtype": ">f8"}, "dtype is '>f8'"),
    ({"dtype": "f8"}, "dtype is 'f8', which is float64 in NumPy and a number of 8 bits in Tessera: write float64, float8_e4m3fn"),
    ({"device": 0}, "device is 0, an int: expected cpu, cuda:N, opencl:N or hip:N, or a device of JAX"),
])
def test_of_matmul_and_plan(named, message):
    for call in (tessera.matmul, tessera.plan):
        with pytest.raises(TypeError, match="^matmul: " + message) as error:
            call(A, B, **named)
        assert "\n" not in str(error.value)


def test_numbers_of_every_kind_are_numbers():
    for two in (2, 2.0, np.float32(2), np.int8(2), np.array(2.0), Fraction(2), True + True):
        np.testing.assert_array_equal(tessera.matmul(A, B, alpha=two), tessera.matmul(A, B, alpha=2.0))
    assert tessera.plan(A, B, threads=np.int64(1)).threads == 1
    np.testing.assert_array_equal(tessera.matmul(B, A, transpose_a=np.bool_(True), transpose_b=True), B.T @ A.T)
    with pytest.raises(ValueError, match="threads is 1000000000000: expected at most 4096"):
        tessera.matmul(A, B, threads=10**12)


@pytest.mark.parametrize("wrong, message", [
    (lambda: tessera.Tiler(5), "Tiler: the tiler is 5, an int: expected text such as '<2:1,4:1>', or a tuple"),
    (lambda: tessera.Tiler((2, 1.5)), "Tiler: a mode is 1.5, a float: expected a whole number"),
    (lambda: tessera.Swizzle(1, "0", 3), "Swizzle: base is '0', a str: expected a whole number"),
    (lambda: tessera.swizzle(1.5, 0, 3), "Swizzle: bits is 1.5, a float"),
    (lambda: tessera.Swizzle(3, 0, 3)("a"), "Swizzle: index is 'a', a str"),
    (lambda: layout.evaluate(5), "evaluate: the expression is 5, an int: expected text such as 'row_major"),
    (lambda: tessera.row_major(4, 2)["x"], "Layout: a mode is 'x', a str"),
    (lambda: tessera.row_major(4, 2)[0:1], r"Layout: a mode is slice\(0, 1, None\)"),
    (lambda: tessera.row_major(4, 2).svg_banks("4"), "elements_per_bank is '4', a str"),
    (lambda: tessera.row_major(4, 2).svg(value_at=lambda index: None), "Layout.svg: what value_at gives for index 0 is None: expected text"),
    (lambda: tessera.row_major(4, 2).svg(value_at=5), "Layout.svg: value_at is 5, an int: expected a function that gives text"),
    (lambda: tessera.Layout(1.5), "1.5, a float, is no part of the layout algebra: expected a Layout, a whole number"),
    (lambda: tessera.Plan.parse(5), r"Plan.parse: text is 5, an int: expected what text\(\) gives"),
    (lambda: tessera.PackedMatrix(B, transpose="no"), "PackedMatrix: transpose is 'no', a str: expected True or False"),
    (lambda: tessera.Swizzle(1, 2), r"Swizzle: missing a required argument: 'shift': expected Swizzle\(bits, base, shift\)"),
    (lambda: tessera.Swizzle(1, 2, 3, 4), r"Swizzle: too many positional arguments: expected Swizzle\(bits, base, shift\)"),
    (lambda: tessera.Swizzle(3, 0, 3)(1, 2), "Swizzle.__call__: too many positional arguments"),
    (lambda: tessera.Tiler(), r"Tiler: missing a required argument: 'modes': expected Tiler\(modes, /\)"),
    (lambda: tessera.PackedMatrix(), r"PackedMatrix: missing a required argument: 'b': expected PackedMatrix\(b, \*, transpose=False, a_dtype=None\)"),
    (lambda: tessera.PackedMatrix.__new__(tessera.PackedMatrix), "PackedMatrix: missing a required argument: 'b'"),
    (lambda: tessera.PackedMatrix(B, True), "PackedMatrix: too many positional arguments"),
    (lambda: tessera.PackedMatrix(B, layout=1), "PackedMatrix: got an unexpected keyword argument 'layout'"),
    (lambda: tessera.check(5), "check: the kernel is 5, an int: expected a name such as 'tiled', or a file"),
    (lambda: tessera.check("tiled", "64"), "check: m is '64', a str: expected a whole number"),
    (lambda: tessera.check("tiled", time_limit=1.5), "check: time_limit is 1.5, a float"),
    (lambda: tessera.check("tiled", tile=(16, 16, 16)), "check: tile is .* a tuple: expected text such as"),
    (lambda: tessera.check("tiled", counters_only="yes"), "check: counters_only is 'yes', a str: expected True or False"),
    (lambda: tessera.check("tiled", dtype="int8"), "check: dtype is 'int8', a str: expected float64, float32, float16, bfloat16 or int32"),
    (lambda: tessera.check("tiled", suppress=5), "check: suppress is 5, an int: expected the name of a file"),
    (lambda: tessera.explain("naive", beta="1"), "explain: beta is '1', a str: expected a number"),
    (lambda: tessera.explain("naive", against=5), "explain: against is 5, an int: expected text"),
])
def test_elsewhere(wrong, message):
    with pytest.raises(TypeError, match="^" + message if ":" in message.split()[0] else message) as error:
        wrong()
    assert "\n" not in str(error.value)


FLOAT32 = ["float32", "f32", "f4", "<f4", np.float32, np.dtype("float32"), np.dtype("float32").type]


def test_element_types_have_one_set_of_spellings():
    for spelling in FLOAT32:
        assert tessera.matmul(F.astype(np.float16), B.astype(np.float16), dtype=spelling).dtype == np.float32
        assert tessera.plan(F, B.astype(np.float32), dtype=spelling).out_dtype == "float32"
        assert _arguments.dtype_name(spelling, "check") == "float32"
    assert tessera.check("naive", 4, 4, 4, dtype=np.float32).to_dict() == tessera.check("naive", 4, 4, 4, dtype="f32").to_dict()
    for spelling, name in [("f2", "float16"), ("i4", "int32"), ("int8", "int8"), ("u8", "uint8"), ("double", "float64"), (float, "float64")]:
        assert _arguments.dtype_name(spelling) == name


def test_element_types_of_other_libraries():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for spelling in (ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16), "bf16", "bfloat16"):
        assert _arguments.dtype_name(spelling) == "bfloat16"


def test_devices_have_one_set_of_spellings():
    for spelling in ("cpu", "CPU"):
        np.testing.assert_array_equal(tessera.matmul(A, B, device=spelling), A @ B)
    for spelling in ("cuda", "CUDA:0"):
        with pytest.raises(BufferError, match="a is on cpu: expected cuda:0"):
            tessera.matmul(A, B, device=spelling)
    for spelling in ("tpu", "gpu", "cpu:0", " cpu", "checked"):
        with pytest.raises(ValueError, match=f"unknown device '{spelling}': expected cpu, cuda:N, opencl:N or hip:N; this machine has cpu"):
            tessera.matmul(A, B, device=spelling)


@pytest.mark.parametrize("value", [
    tessera.Layout("(4,2):(2,1)"), layout.composition(tessera.swizzle(3, 0, 3), tessera.row_major(8, 8)), tessera.Swizzle(3, 0, 3),
    tessera.Tiler("<2:1,4:1>"), tessera.plan(A, B), tessera.plan(np.ones((5, 3, 4)), np.ones((5, 4, 2)), algorithm="tiled")])
def test_values_are_pickled_and_copied(value):
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value and str(again) == str(value) and hash(again) == hash(value) and type(again) is type(value)


def test_a_packed_matrix_is_copied_but_not_pickled():
    packed = tessera.PackedMatrix(B)
    assert copy.copy(packed) is packed and copy.deepcopy([packed])[0] is packed
    with pytest.raises(TypeError, match="PackedMatrix: it is packed for this machine and cannot be pickled; pickle the matrix"):
        pickle.dumps(packed)
    with pytest.raises(TypeError, match="PackedMatrix: i32 is not packed: .*give matmul the matrix itself"):
        tessera.PackedMatrix(np.ones((2, 2), np.int32))
