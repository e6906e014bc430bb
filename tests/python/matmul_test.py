"""tessera.matmul on NumPy arrays: against numpy.matmul, and errors."""
import itertools
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import tessera

FLOATS = [np.float64, np.float32]


def close(got, expected, dtype):
    np.testing.assert_allclose(np.asarray(got, np.float64), expected, rtol=1e3 * float(np.finfo(dtype).eps), atol=1e-3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (2, 2, 2), (17, 31, 9), (64, 64, 64), (229, 1, 3), (1, 300, 100), (130, 257, 65)])
def test_is_numpys_product(rng, dtype, m, n, k):
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    got = tessera.matmul(a, b)
    assert type(got) is np.ndarray and got.dtype == dtype
    close(got, a.astype(np.float64) @ b.astype(np.float64), dtype)


def test_docstrings_name_the_element_types_of_a_product():
    def named(text):
        return set(re.findall(r"\b(?:u?int|b?float)\d+\b", text))

    types = set(tessera._core.multiplied_dtypes())
    assert named(re.search(r"nothing is copied\. (.*?), both", tessera.matmul.__doc__, re.S)[1]) == types
    assert named(re.search(r"Of (float64.*?); int32 is not packed", tessera.PackedMatrix.__doc__, re.S)[1]) == types - {"int32"}


def test_both_ways_give_the_same_bits(rng):
    """Keyword arguments take the way through Python, none the compiled one."""
    a, b = rng.standard_normal((33, 65)).astype(np.float32), rng.standard_normal((65, 17)).astype(np.float32)
    np.testing.assert_array_equal(tessera.matmul(a, b), tessera.matmul(a, b, threads=1))
    np.testing.assert_array_equal(tessera.matmul(a, b), tessera.matmul(a, b, algorithm="tiled"))


def test_arithmetic_is_the_order_of_summation():
    """5 joins a chain of its own in lanes, and is swallowed by 2^30 in one chain; the 1 at 16 the other way round."""
    row = np.zeros((1, 18), np.float32)
    row[0, [0, 1, 8, 16]] = 2**30, 5, -2**30, 1
    ones = np.ones((18, 1), np.float32)
    assert tessera.matmul(row, ones)[0, 0] == 1
    assert tessera.matmul(row, ones, arithmetic="lanes")[0, 0] == 5
    assert "arithmetic=lanes" in tessera.plan(row, ones, arithmetic="lanes").text()
    # A batch has the shape of each product, not of all rows together.
    batch = np.zeros((40, 1, 18), np.float32)
    batch[:] = row
    assert (tessera.matmul(batch, ones, arithmetic="lanes") == 5).all()
    with pytest.raises(ValueError, match="unknown arithmetic 'sums'"):
        tessera.matmul(row, ones, arithmetic="sums")
    with pytest.raises(ValueError, match="tiled on cpu does not sum in lanes"):
        tessera.matmul(row, ones, arithmetic="lanes", algorithm="tiled")


@pytest.mark.parametrize("shape_a, shape_b", [
    ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (6, 3, 4)), ((4, 1, 2, 3), (1, 6, 3, 4)), ((7, 2, 3), (3,)), ((3,), (7, 3, 4)), ((0, 2, 3), (3, 4)),
    ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((5, 2, 0), (5, 0, 3)), ((5, 1, 3), (3, 4))])
def test_vectors_batches_and_broadcasting_are_numpys(rng, shape_a, shape_b):
    a, b = rng.standard_normal(shape_a), rng.standard_normal(shape_b)
    expected, got = a @ b, tessera.matmul(a, b)
    assert type(got) is type(expected) and got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_any_strides(rng):
    big = rng.standard_normal((40, 60))
    for a in (big[::2, ::3], big[::-1, ::-2], big.T[:20, 5:35], np.broadcast_to(big[0], (20, 60)), np.asfortranarray(big)):
        b = rng.standard_normal((50, a.shape[1])).T[:, ::-1]
        np.testing.assert_allclose(tessera.matmul(a, b), a @ b, rtol=1e-10, atol=1e-10)


def test_nothing_is_copied_in_or_out(rng):
    a, out = rng.standard_normal((64, 64)), np.full((128, 128), np.nan)
    part = out[::2, 1::2]
    assert tessera.matmul(a, a, out=part) is part
    np.testing.assert_allclose(part, a @ a)
    assert np.isnan(out[1::2]).all() and np.isnan(out[:, ::2]).all()
    operand = tessera._core.Operand(a[:, ::-2], "a")
    assert operand.address == a[:, ::-2].ctypes.data and operand.strides == (64, -2)


def test_alpha_beta_c_bias_and_activation(rng):
    a, b, c = (rng.standard_normal((8, 8)) for _ in range(3))
    row, column = rng.standard_normal((8, 1)), rng.standard_normal(8)
    np.testing.assert_allclose(tessera.matmul(a, b, alpha=2, c=c), 2 * a @ b + c)
    np.testing.assert_allclose(tessera.matmul(a, b, alpha=2, beta=-3, c=c), 2 * a @ b - 3 * c)
    np.testing.assert_allclose(tessera.matmul(a, b, bias=column), a @ b + column)
    np.testing.assert_allclose(tessera.matmul(a, b, bias=row, activation="relu"), np.maximum(a @ b + row, 0))
    np.testing.assert_allclose(tessera.matmul(a, b, transpose_a=True, transpose_b=True), a.T @ b.T)
    out = c.copy()
    tessera.matmul(a, b, beta=1, out=out)
    np.testing.assert_allclose(out, a @ b + c)
    before = c.copy()
    tessera.matmul(a, b, c=c, out=out)
    np.testing.assert_array_equal(c, before)
    np.testing.assert_allclose(out, a @ b + c)


def test_beta_zero_does_not_read_out(rng):
    a = rng.standard_normal((5, 5))
    np.testing.assert_allclose(tessera.matmul(a, a, out=np.full((5, 5), np.nan)), a @ a)


def test_a_batch_has_its_bias_and_activation(rng):
    a, b = rng.standard_normal((4, 3, 5)), rng.standard_normal((4, 5, 6))
    row, column = rng.standard_normal((3, 1)), rng.standard_normal(6)
    np.testing.assert_allclose(tessera.matmul(a, b, bias=column, activation="relu"), np.maximum(a @ b + column, 0))
    np.testing.assert_allclose(tessera.matmul(a, b, bias=row), a @ b + row)
    np.testing.assert_allclose(tessera.matmul(a, b[0], bias=row), a @ b[0] + row)
    np.testing.assert_allclose(tessera.matmul(a, b, algorithm="tiled", bias=column), a @ b + column)


def test_float16(rng):
    a, b = rng.standard_normal((20, 30)).astype(np.float16), rng.standard_normal((30, 10)).astype(np.float16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    assert tessera.matmul(a, b).dtype == np.float16
    close(tessera.matmul(a, b), exact, np.float16)
    wide = tessera.matmul(a, b, dtype="float32")
    assert wide.dtype == np.float32
    close(wide, exact, np.float32)


def test_bfloat16_of_ml_dtypes(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    a, b = rng.standard_normal((20, 30)).astype(ml_dtypes.bfloat16), rng.standard_normal((30, 10)).astype(ml_dtypes.bfloat16)
    got = tessera.matmul(a[::-1], b[:, ::2])
    assert got.dtype == ml_dtypes.bfloat16
    exact = a[::-1].astype(np.float64) @ b[:, ::2].astype(np.float64)
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=0.02, atol=0.05)
    out = np.zeros((20, 5), ml_dtypes.bfloat16)
    assert tessera.matmul(a[::-1], b[:, ::2], out=out) is out
    np.testing.assert_array_equal(out, got)
    close(tessera.matmul(a, b, dtype=np.float32, bias=np.ones(10, np.float32)), a.astype(float) @ b.astype(float) + 1, np.float32)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_integers_are_summed_as_int32(rng, dtype):
    a, b = rng.integers(0, 100, (3, 9, 20)).astype(dtype), rng.integers(0, 100, (3, 20, 7)).astype(dtype)
    got = tessera.matmul(a, b)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("left, right", [(np.uint8, np.int8), (np.int8, np.uint8)])
def test_bytes_of_either_sign_are_multiplied_with_each_other(rng, left, right):
    a = rng.integers(np.iinfo(left).min, np.iinfo(left).max, (3, 9, 200), left, True)
    b = rng.integers(np.iinfo(right).min, np.iinfo(right).max, (200, 17), right, True)
    sums = a.astype(np.int32) @ b.astype(np.int32)
    np.testing.assert_array_equal(tessera.matmul(a, b), sums)
    np.testing.assert_array_equal(tessera.matmul(a[0], b, dtype="float32", alpha=0.5), sums[0].astype(np.float32) / 2)
    packed = tessera.PackedMatrix(b, a_dtype=left)
    np.testing.assert_array_equal(tessera.matmul(a, packed), sums)
    assert " times " in str(tessera.plan(a[0], b))
    with pytest.raises(TypeError, match=f'packed for an a of {np.dtype(right)}, .*a_dtype="{np.dtype(left)}"'):
        tessera.matmul(a, tessera.PackedMatrix(b))
    with pytest.raises(TypeError, match="PackedMatrix"):
        tessera.PackedMatrix(b, a_dtype="float32")
    with pytest.raises(TypeError, match="convert one of them"):
        tessera.matmul(a, b.astype(np.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_quantized_products_are_scaled_into_float32(rng, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    a, b = rng.integers(low, high, (9, 200), dtype, True), rng.integers(low, high, (200, 17), dtype, True)
    sums, bias = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32), rng.standard_normal(17).astype(np.float32)
    scale = np.float32(0.0123)
    np.testing.assert_array_equal(tessera.matmul(a, b, dtype="float32", alpha=float(scale)), scale * sums)
    got = tessera.matmul(a, tessera.PackedMatrix(b), dtype="float32", alpha=float(scale), bias=bias, activation="relu")
    np.testing.assert_array_equal(got, np.maximum(scale * sums + bias, 0))
    assert tessera.matmul(a, b, dtype="float32", alpha=1e-5, activation="gelu").dtype == np.float32


def test_memory_without_numpy(rng):
    import array
    a = memoryview(array.array("d", range(6))).cast("B").cast("d", (2, 3))
    np.testing.assert_allclose(tessera.matmul(a, np.ones((3, 2))), np.arange(6.0).reshape(2, 3) @ np.ones((3, 2)))


def test_packed_matrix(rng):
    b = rng.standard_normal((30, 20)).astype(np.float32)
    packed = tessera.PackedMatrix(b)
    assert packed.shape == (30, 20) and packed.dtype == "float32" and packed.nbytes >= b.nbytes
    for shape in ((7, 30), (30,), (4, 7, 30), (2, 3, 5, 30)):
        a = rng.standard_normal(shape).astype(np.float32)
        np.testing.assert_array_equal(tessera.matmul(a, packed), tessera.matmul(a, b))
    again = tessera.PackedMatrix(np.ascontiguousarray(b.T), transpose=True)
    a = rng.standard_normal((7, 30)).astype(np.float32)
    expected = tessera.matmul(a, b, bias=np.ones(20, np.float32), activation="gelu")
    del b
    np.testing.assert_array_equal(tessera.matmul(a, again, bias=np.ones(20, np.float32), activation="gelu"), expected)
    with pytest.raises(ValueError, match="tiled"):
        tessera.matmul(a, packed, algorithm="tiled")


def test_plan_says_what_and_why(rng):
    a, b = np.ones((64, 16), np.float32), np.ones((16, 32), np.float32)
    plan = tessera.plan(a, b)
    assert plan.algorithm == "packed" and plan.shape == (64, 32, 16) and plan.dtype == "float32"
    assert "naive" in plan.rejected and "packed" not in plan.rejected
    assert "C (64,32) = A (64,16) * B (16,32), f32\npacked" in str(plan) and "not naive: " in str(plan)
    assert tessera.Plan.parse(plan.text()).text() == plan.text()
    assert plan == tessera.plan(a, b) and plan != None and not plan == "packed"  # noqa: E711
    assert tessera.plan(a, b, algorithm="tiled", tile="32x32x32").tile == "32x32x32"


def test_the_command_is_the_command():
    done = subprocess.run([sys.executable, "-m", "tessera", "layout", "eval", "row_major(4,2)(3,1)"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert subprocess.run([sys.executable, "-m", "tessera", "nonsense"], capture_output=True).returncode == 2


def test_show_config(capsys):
    tessera.show_config()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"tessera {tessera.__version__}" and any(line.startswith("CUDA: ") for line in lines)


def test_a_missing_library_of_the_system_is_named_with_what_to_do():
    script = """import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "tessera._core":
            raise ImportError("libfmt.so.9: cannot open shared object file: No such file or directory")
sys.meta_path.insert(0, Missing())
import tessera
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    said = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and said.startswith("ImportError: libfmt.so.9: ") and "scripts/wheel" in said, done.stderr


def test_verbose_prints_the_line_of_the_command():
    script = "import numpy as np, tessera; tessera.matmul(np.eye(2), np.eye(2))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env={**os.environ, "TESSERA_VERBOSE": "1"})
    assert done.stderr.startswith("tessera: matmul m=2 n=2 k=2 in=f64"), done.stderr


def test_f8_is_widened_exactly(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    types = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
    numbers = [np.arange(256, dtype=np.uint8).view(each) for each in types]
    a, b = (each[np.isfinite(each.astype(np.float32))] for each in numbers)  # any two have a product that float32 holds
    np.testing.assert_array_equal(tessera.matmul(a[:, None], b[None, :]), np.outer(a.astype(np.float64), b.astype(np.float64)))
    for s, t in itertools.product(types, types):
        a, b = rng.standard_normal((3, 5, 40)).astype(s), rng.standard_normal((40, 7)).astype(t)
        got, out = tessera.matmul(a, b), np.empty((3, 5, 7), np.float32)
        assert got.dtype == np.float32 and tessera.matmul(a, b, dtype="bfloat16").dtype == ml_dtypes.bfloat16
        np.testing.assert_allclose(got, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(tessera.matmul(a, b, out=out, algorithm="tiled"), got)
    with pytest.raises(TypeError, match="a product of bfloat16 is bfloat16 or float32, not float64"):
        tessera.matmul(a, b, dtype=np.float64)
