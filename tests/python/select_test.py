"""tessera.top_k and tessera.entries_above, against a sort of the product."""
import numpy as np
import pytest

import tessera


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).integers(-5, 6, shape).astype(dtype)


def best(product, k):
    """Of each row the columns of its k largest entries: of equal ones the first, NaN last."""
    keys = np.where(np.isnan(product), np.inf, -product.astype(np.float64))
    return np.argsort(keys, axis=1, kind="stable")[:, :k]


@pytest.mark.parametrize("dtype, result", [("float64", "float64"), ("float32", "float32"), ("float16", "float32"), ("int32", "int32"),
                                           ("int8", "int32"), ("uint8", "int32")])
@pytest.mark.parametrize("k", [0, 1, 7, 90])
def test_top_k_of_each_type(dtype, result, k):
    a, b = numbers((40, 12), dtype), numbers((90, 12), dtype, 1).T
    values, columns = tessera.top_k(a, b, k)
    product = a.astype(np.float64) @ b.astype(np.float64)
    assert values.shape == columns.shape == (40, k) and values.dtype == result and columns.dtype == np.int64
    assert (columns == best(product, k)).all() and (values == np.take_along_axis(product, columns, 1)).all()


def test_a_matrix_and_its_transpose():
    a = numbers((1500, 9), np.float32)
    values, columns = tessera.top_k(a, a.T, 4, threads=2)
    assert (columns == best(a @ a.T, 4)).all()


def test_nan_comes_last():
    a = np.array([[1.0], [np.nan]])
    values, columns = tessera.top_k(a, np.array([[1.0, np.nan, 3.0, 3.0]]), 4)
    assert columns.tolist() == [[2, 3, 0, 1], [0, 1, 2, 3]] and np.isnan(values[0, 3]) and np.isnan(values[1]).all()


def test_entries_above():
    a, b = numbers((30, 8), np.float32), numbers((8, 50), np.float32, 1)
    values, columns, starts = tessera.entries_above(a, b, 20)
    product = a @ b
    assert starts.tolist() == [0, *np.cumsum((product > 20).sum(1))]
    rows = np.repeat(np.arange(30), np.diff(starts))
    assert (np.stack([rows, columns]) == np.stack(np.nonzero(product > 20))).all() and (values == product[product > 20]).all()


def test_results_belong_to_the_caller():
    values, columns = tessera.top_k(np.eye(3), np.eye(3), 2)
    values[0, 0] = columns[0, 0] = 5


@pytest.mark.parametrize("call, error, says", [
    (lambda a: tessera.top_k(a, a, 5), ValueError, "k from 0 to 4"),
    (lambda a: tessera.top_k(a, a, -1), ValueError, "k"),
    (lambda a: tessera.top_k(a, a, 1.5), TypeError, "k"),
    (lambda a: tessera.top_k(a, a[:3], 1), ValueError, "A has 4 columns but B has 3 rows"),
    (lambda a: tessera.top_k(a[0], a, 1), ValueError, "two axes"),
    (lambda a: tessera.top_k(a.astype(complex), a, 1), TypeError, "complex"),
    (lambda a: tessera.entries_above(a, a, "x"), TypeError, "threshold"),
    (lambda a: tessera.entries_above(a, a, 0, threads=0), ValueError, "threads")])
def test_refusals(call, error, says):
    with pytest.raises(error, match=says):
        call(np.ones((4, 4), np.float32))
