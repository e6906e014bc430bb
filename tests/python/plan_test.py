"""tessera.plan: what matmul would do, checked as matmul checks it."""
import numpy as np
import pytest

import tessera

A = np.ones((3, 4), np.float32)
B = np.ones((4, 2), np.float32)


@pytest.mark.parametrize("plan", [
    tessera.plan(A, B), tessera.plan(A, B, algorithm="tiled", tile="32x32x32", threads=1), tessera.plan(A, tessera.PackedMatrix(B)),
    tessera.plan(A, B, bias=np.ones(2, np.float32), activation="gelu", alpha=1 / 3, out=np.empty((3, 4), np.float32)[:, ::2]),
    tessera.plan(np.ones((5, 3, 4)), np.ones((5, 4, 2)))])
def test_is_read_back(plan):
    again = tessera.Plan.parse(plan.text())
    assert again == plan and hash(again) == hash(plan) and again.text() == plan.text() and again.products == plan.products


def test_plans_that_differ_are_not_equal():
    assert tessera.plan(A, B) != tessera.plan(A, B, alpha=2) and tessera.plan(A, B) != tessera.plan(A, B).text()
    one, five = tessera.plan(A, B, algorithm="tiled"), tessera.plan(np.ones((5, *A.shape), "f4"), np.ones((5, *B.shape), "f4"), algorithm="tiled")
    assert one != five and (one.products, five.products) == (1, 5) and one.shape == five.shape
    with pytest.raises(ValueError, match="cannot read how many products"):
        tessera.Plan.parse("products=x " + one.text())


def test_shows_how_a_batch_is_multiplied():
    one_each = tessera.plan(np.ones((5, 3, 4)), np.ones((5, 4, 2)))
    assert one_each.products == 5 and one_each.shape == (3, 2, 4) and str(one_each).startswith("5 times C (3,2) = A (3,4) * B (4,2)")
    as_rows = tessera.plan(np.ones((5, 3, 4)), np.ones((4, 2)))
    assert as_rows.products == 1 and as_rows.shape == (15, 2, 4)
    assert tessera.plan(np.ones((5, 3, 4)), np.ones((4, 2)), bias=np.ones((3, 1))).products == 5
    assert tessera.plan(np.ones((0, 3, 4)), np.ones((0, 4, 2))).products == 0


WRONG = [
    ({"bias": np.ones(7, np.float32)}, ValueError, r"bias has shape \(7,\)"),
    ({"bias": np.ones(2)}, TypeError, "bias has elements of float64"),
    ({"out": np.empty((2, 3), np.float32)}, ValueError, r"out has shape \(2,3\)"),
    ({"out": np.empty((3, 2))}, TypeError, "a product of float32 is float32 or float16 or bfloat16, not float64"),
    ({"c": np.ones((2, 3), np.float32)}, ValueError, r"c has shape \(2,3\)"),
    ({"c": np.ones((3, 2))}, TypeError, "c has elements of float64: expected float32"),
    ({"algorithm": "nonsense"}, ValueError, "unknown algorithm 'nonsense'"),
    ({"activation": "tanh"}, ValueError, "unknown activation"),
    ({"threads": 0}, ValueError, "threads is 0"),
    ({"beta": 1}, ValueError, "give c or out"),
]


@pytest.mark.parametrize("named, exception, message", WRONG)
def test_refuses_what_matmul_refuses(named, exception, message):
    for call in (tessera.plan, tessera.matmul):
        with pytest.raises(exception, match=message):
            call(A, B, **named)
    with pytest.raises(BufferError, match="overlaps A"):
        tessera.plan(A, np.eye(4, dtype="f4"), out=A)


@pytest.mark.parametrize("named, exception, message", [each for each in WRONG if "out" not in each[0] and "c" not in each[0]])
def test_a_batch_of_none_is_checked_too(named, exception, message):
    for call in (tessera.plan, tessera.matmul):
        with pytest.raises(exception, match=message):
            call(np.ones((0, 3, 4), np.float32), B, **named)
    assert tessera.matmul(np.ones((0, 3, 4), np.float32), B, bias=np.ones(2, np.float32)).shape == (0, 3, 2)
