"""tessera.jax against jax.numpy and finite differences: values, derivatives, batches, shards, addresses, messages.

Over 400 lines: what jax.numpy promises, promise by promise, with the same operands.
"""
import concurrent.futures
import doctest
import functools
import itertools
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import xla_recorder

os.environ.setdefault("JAX_PLATFORMS", "cpu")
jax = pytest.importorskip("jax", reason="tessera.jax is NOT tested: install jax")
import jax.numpy as jnp  # noqa: E402
from jax.sharding import PartitionSpec as P  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import tessera  # noqa: E402
import tessera.jax as tj  # noqa: E402
import tessera.recipe.benchmarks  # noqa: E402
import tessera.recipe.matmul  # noqa: E402

jax.config.update("jax_enable_x64", True)
ROOT = pathlib.Path(__file__).resolve().parents[2]


def random(*shape, dtype=np.float32, seed=0):
    return jnp.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape), dtype)


_numbers = itertools.count()


@pytest.fixture
def recorded(monkeypatch):
    """What XLA hands over while tessera.jax calls a target that notes it."""
    recorder = xla_recorder.Recorder(tessera._core.xla_targets()["cpu"])
    name = f"tessera_recorded_{next(_numbers)}"
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(recorder.target), platform="cpu")
    monkeypatch.setattr(tj, "_TARGET", name)
    return recorder


def primitives(function, *arguments):
    """Names of everything that a function does, those of inner functions too."""
    def names(jaxpr):
        for equation in jaxpr.eqns:
            inner = [x for p in equation.params.values() for x in (p if isinstance(p, (list, tuple)) else [p])]
            inner = [getattr(x, "jaxpr", x) for x in inner if hasattr(x, "eqns") or hasattr(x, "jaxpr")]
            yield from ([equation.primitive.name] if not inner else [])
            for each in inner:
                yield from names(each)
    return list(names(jax.make_jaxpr(function)(*arguments).jaxpr))


SHAPES = [((3, 5), (5, 4)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((3, 0), (0, 2)), ((17, 33), (33, 70)), ((5,), (5, 4)), ((3, 5), (5,)),
          ((5,), (5,)), ((6, 3, 5), (5, 4)), ((6, 3, 5), (6, 5, 4)), ((3, 5), (6, 5, 4)), ((2, 1, 3, 5), (7, 5, 4)), ((0, 3, 5), (5, 4))]


@pytest.mark.parametrize("left, right", SHAPES)
def test_is_the_product_of_jax_numpy(left, right):
    a, b = random(*left), random(*right, seed=1)
    c = tj.matmul(a, b)
    expected = np.matmul(np.float64(a), np.float64(b))
    assert c.shape == expected.shape and c.dtype == a.dtype
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype, out, tolerance", [("float64", None, 1e-13), ("float16", None, 1e-2), ("bfloat16", None, 5e-2),
                                                   ("bfloat16", "float32", 1e-5), ("int32", None, 0), ("int8", None, 0), ("uint8", None, 0)])
def test_multiplies_every_type(dtype, out, tolerance):
    a, b = (jnp.asarray(np.random.default_rng(i).integers(0, 9, (2, 7, 7)), dtype) for i in (1, 2))
    c = jax.jit(functools.partial(tj.matmul, dtype=out))(a, b)
    assert c.dtype == (out or ("int32" if a.itemsize == 1 else dtype))
    np.testing.assert_allclose(np.float64(c), np.matmul(np.float64(a), np.float64(b)), rtol=tolerance)


@pytest.mark.parametrize("algorithm", list(tessera.algorithms()))
def test_every_algorithm_in_a_graph_of_one_operation(algorithm):
    a, b = random(19, 23), random(23, 21, seed=1)
    c = jax.jit(functools.partial(tj.matmul, algorithm=algorithm))(a, b)
    np.testing.assert_allclose(c, np.float64(a) @ np.float64(b), rtol=5e-3 if algorithm == "tensor_core" else 1e-5, atol=1e-2)
    if algorithm in ("naive", "tiled", "block_tiled"):
        assert np.array_equal(c, tessera.matmul(np.asarray(a), np.asarray(b))), "the bits of the packed product"


@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)])
def test_a_transposed_operand_is_named_and_not_moved(transposed):
    a, b = random(3, 6, 5), random(3, 5, 4, seed=1)
    function = jax.jit(functools.partial(tj.matmul, transpose_a=transposed[0], transpose_b=transposed[1]))
    operands = [jnp.asarray(x.swapaxes(1, 2)) if t else x for x, t in zip((a, b), transposed)]
    assert np.array_equal(function(*operands), tj.matmul(a, b))
    text = function.lower(*operands).compile().as_text()
    assert "custom-call" in text and " transpose(" not in text and " copy(" not in text, text


def test_no_operand_is_copied_inside_jit(recorded):
    function = jax.jit(lambda a, b, bias: tj.matmul(a, b, bias=bias, transpose_b=True))
    a, b, bias = random(64, 48), random(32, 48, seed=1), random(32)
    c = function(a, b, bias)
    assert recorded.addresses == [x.unsafe_buffer_pointer() for x in (a, b, bias, c)]


def test_a_gradient_copies_no_operand_either(recorded):
    grad = jax.jit(jax.grad(lambda a, b, w: jnp.vdot(tj.matmul(a, b), w), (0, 1)))
    a, b, w = random(64, 48), random(48, 32, seed=1), random(64, 32, seed=2)
    da, db = grad(a, b, w)
    address = {x.unsafe_buffer_pointer(): name for name, x in [("a", a), ("b", b), ("w", w), ("da", da), ("db", db)]}
    calls = {tuple(address.get(x) for x in call) for call in recorded.calls}
    assert {("w", "b", "da"), ("a", "w", "db")} <= calls, (address, recorded.calls)


def test_gradients_are_tesseras_products():
    a, b = random(4, 5, dtype=np.float64), random(5, 3, dtype=np.float64, seed=1)
    names = primitives(jax.grad(lambda a, b: tj.matmul(a, b).sum(), (0, 1)), a, b)
    assert names.count("tessera_matmul") >= 2 and "dot_general" not in names
    da, db = jax.grad(lambda a, b: tj.matmul(a, b).sum(), (0, 1))(a, b)
    np.testing.assert_allclose(da, np.ones((4, 3)) @ b.T)
    np.testing.assert_allclose(db, a.T @ np.ones((4, 3)))


@pytest.mark.parametrize("left, right, how", [((4, 5), (5, 3), {}), ((2, 4, 5), (5, 3), {}), ((4, 5), (2, 5, 3), {"alpha": 2.0}),
                                              ((2, 1, 4, 5), (3, 5, 2), {}), ((5,), (5,), {}), ((2, 5, 4), (2, 3, 5), {"transpose_a": True, "transpose_b": True}),
                                              ((2, 4, 5), (3, 5), {"transpose_b": True}), ((2, 5, 4), (5, 3), {"transpose_a": True})])
def test_derivatives_of_both_modes_and_second_order(left, right, how):
    a, b = random(*left, dtype=np.float64), random(*right, dtype=np.float64, seed=1)
    check_grads(jax.jit(functools.partial(tj.matmul, **how)), (a, b), order=2, modes=["fwd", "rev"])


def test_gradients_of_mixed_types_have_the_operands_types():
    a, b = random(4, 5, dtype=jnp.bfloat16), random(5, 3, dtype=jnp.bfloat16, seed=1)
    da, db = jax.grad(lambda a, b: tj.matmul(a, b, dtype=jnp.float32).sum(), (0, 1))(a, b)
    assert da.dtype == db.dtype == jnp.bfloat16
    np.testing.assert_allclose(np.float32(da), np.ones((4, 3)) @ np.float32(b).T, rtol=1e-2)


@pytest.mark.parametrize("axes", [(0, None), (None, 0), (0, 0), (1, 0), (0, 2)])
def test_vmap_is_one_batched_product(axes):
    a, b = random(6, 7, 7), random(7, 7, 7, seed=1)
    a = a if axes[0] is not None else a[0]
    b = (b if axes[0] is None else b[:6] if axes[1] == 0 else b[:, :, :6]) if axes[1] is not None else b[0]
    if axes[0] == 1:
        a, b = a.swapaxes(0, 1), b[:6]
    function = jax.vmap(tj.matmul, axes)
    names = primitives(function, a, b)
    assert names.count("tessera_matmul") == 1 and not {"scan", "while"} & set(names)
    np.testing.assert_allclose(function(a, b), jax.vmap(jnp.matmul, axes)(a, b), rtol=1e-5, atol=1e-5)


def test_nested_vmap_of_linear_with_a_bias_for_each():
    x, w, bias = random(3, 4, 5), random(5, 2, seed=1), random(3, 2, seed=2)
    function = jax.vmap(lambda x, bias: jax.vmap(lambda row: tj.linear(row, w, bias, activation="silu"))(x))
    np.testing.assert_allclose(function(x, bias), jax.nn.silu(x @ w + bias[:, None]), rtol=1e-5, atol=1e-5)


def test_a_gradient_under_vmap_and_vmap_under_a_gradient():
    a, b = random(3, 4, 5, dtype=np.float64), random(5, 2, dtype=np.float64, seed=1)
    def loss(product):
        return lambda a, b: (product(a, b) ** 2).sum()
    for function in (lambda product: jax.vmap(jax.grad(loss(product), (0, 1)), (0, None))(a, b),
                     lambda product: jax.grad(lambda a, b: jax.vmap(loss(product), (0, None))(a, b).sum(), (0, 1))(a, b)):
        for mine, theirs in zip(function(tj.matmul), function(jnp.matmul)):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("activation", [None, "relu", "gelu", "silu"])
def test_linear_is_one_pass_with_the_framework_s_values_and_gradients(activation):
    act = {None: lambda z: z, "relu": jax.nn.relu, "gelu": functools.partial(jax.nn.gelu, approximate=False), "silu": jax.nn.silu}[activation]
    x, w, bias = random(2, 9, 8, dtype=np.float64), random(8, 16, dtype=np.float64, seed=1), random(16, dtype=np.float64, seed=2)
    mine, theirs = functools.partial(tj.linear, activation=activation), lambda x, w, bias: act(x @ w + bias)
    assert primitives(mine, x, w, bias) == ["tessera_matmul"], "bias and activation are part of the product"
    results = [jax.jit(lambda *x: (f(*x), jax.grad(lambda *x: (f(*x) ** 2).sum(), (0, 1, 2))(*x)))(x, w, bias) for f in (mine, theirs)]
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-10, atol=1e-11), *results)
    check_grads(jax.jit(mine), (x, w, bias), order=1, modes=["fwd", "rev"])


@pytest.mark.parametrize("length, others, width, causal", [(1, 1, 1, False), (16, 16, 16, True), (5, 9, 7, False), (37, 37, 24, True)])
def test_attention_has_the_framework_s_values_and_gradients(length, others, width, causal):
    q, k, v = random(2, 3, length, width), random(2, 3, others, width, seed=1), random(2, 3, others, width + 1, seed=2)[..., :width]

    def theirs(q, k, v):
        q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
        return jax.nn.dot_product_attention(q, k, v, is_causal=causal).swapaxes(1, 2)

    mine = functools.partial(tj.attention, causal=causal)
    results = [jax.jit(lambda *x: (f(*x), jax.grad(lambda *x: (f(*x) ** 2).sum(), (0, 1, 2))(*x)))(q, k, v) for f in (mine, theirs)]
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-3, atol=1e-4), *results)


def test_attention_by_finite_differences_with_masks():
    q, k, v = (random(3, 4, dtype=np.float64, seed=i) for i in range(3))
    check_grads(functools.partial(tj.attention, causal=True), (q, k, v), order=1, modes=["fwd", "rev"])
    mask = jnp.asarray([[True, False, True], [False, False, False], [True, True, True]])
    masked = tj.attention(q, k, v, mask=mask)
    assert np.array_equal(masked[1], np.zeros(4)), "a row that sees nothing is zero"
    check_grads(functools.partial(tj.attention, mask=mask), (q, k, v), order=1, modes=["rev"])
    np.testing.assert_allclose(tj.attention(q, k, v, mask=jnp.where(mask, 0.0, -jnp.inf)), masked, rtol=1e-12)


def test_attention_hides_neither_nan_nor_infinity():
    q = jnp.zeros((3, 4)).at[0, 0].set(jnp.nan).at[1, 0].set(jnp.inf)
    got = tj.attention(q, jnp.ones((2, 4)), jnp.ones((2, 4)))
    assert np.isnan(got[:2]).all() and np.isfinite(got[2]).all()
    masked = tj.attention(q, jnp.ones((2, 4)), jnp.ones((2, 4)), mask=np.zeros((3, 2), bool))
    assert not masked.any(), "a row that sees nothing is zero, whatever it does not see"


@pytest.mark.parametrize("left, right", [((5, 0), (0, 3)), ((2, 5, 0), (0, 3)), ((2, 5, 7), (7, 0)), ((0, 5, 7), (7, 3))])
def test_gradients_of_products_without_elements(left, right):
    a, b = jnp.ones(left), jnp.ones(right)
    da, db = jax.grad(lambda a, b: jnp.sin(tj.matmul(a, b)).sum(), (0, 1))(a, b)
    assert da.shape == left and db.shape == right and not da.any() and not db.any()


def test_without_jit_the_product_still_runs():
    a, b = jnp.ones((3, 5)), jnp.ones((5, 4))
    with jax.disable_jit():
        assert (tj.matmul(a, b) == 5).all()
        assert (jax.grad(lambda a: tj.linear(a, b).sum())(a) == 4).all()
        assert tj.attention(a, a, a).shape == (3, 5)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, jax.vmap])
def test_what_debug_nans_finds_is_an_error_as_in_jax(wrap):
    a, b = jnp.full((2, 3, 3), jnp.inf), jnp.zeros((2, 3, 3))
    for product in (jnp.matmul, tj.matmul):
        with jax.debug_nans(True), pytest.raises(FloatingPointError):
            wrap(product)(a, b).block_until_ready()
    with jax.debug_infs(True), pytest.raises(FloatingPointError):
        jax.jit(tj.matmul)(a, a).block_until_ready()


def test_a_call_outside_of_jit_does_nothing_that_only_disable_jit_needs(monkeypatch):
    a, b = jnp.ones((3, 5)), jnp.ones((5, 4))
    monkeypatch.setattr(jax, "disable_jit", lambda *_: pytest.fail("as long as a small product"))
    monkeypatch.setattr(jnp, "asarray", lambda *_: pytest.fail("as long as a small product"))
    assert (tj.matmul(a, b) == 5).all()


@pytest.mark.parametrize("how, message", [
    ({"k": (2, 9, 6)}, r"attention: k has shape \(2, 9, 6\): expected \(..., S, 8\)"),
    ({"v": (2, 7, 4)}, r"attention: v has shape \(2, 7, 4\): expected \(..., 9, E\)"),
    ({"mask": (4, 4)}, r"attention: mask has shape \(4, 4\): expected one that broadcasts to \(2, 5, 9\)")])
def test_attention_names_what_does_not_fit(how, message):
    shapes = {"q": (2, 5, 8), "k": (2, 9, 8), "v": (2, 9, 4), **how}
    given = {name: jnp.ones(shape) for name, shape in shapes.items()}
    with pytest.raises(ValueError, match=message):
        tj.attention(given.pop("q"), given.pop("k"), given.pop("v"), **given)


def test_shard_map_with_gradients():
    mesh = jax.make_mesh((2,), ("rows",), axis_types=(jax.sharding.AxisType.Auto,))
    a, b = random(8, 5, dtype=np.float64), random(5, 3, dtype=np.float64, seed=1)

    def sharded(product):
        return jax.shard_map(product, mesh=mesh, in_specs=(P("rows"), P()), out_specs=P("rows"))

    np.testing.assert_allclose(jax.jit(sharded(tj.matmul))(a, b), a @ b, rtol=1e-12)
    da, db = jax.jit(jax.grad(lambda a, b: (sharded(tj.matmul)(a, b) ** 2).sum(), (0, 1)))(a, b)
    np.testing.assert_allclose(da, 2 * (a @ b) @ b.T, rtol=1e-12)
    np.testing.assert_allclose(db, 2 * a.T @ (a @ b), rtol=1e-12)


def test_subnormal_numbers_have_their_bits_inside_jit():
    tiny = jnp.full((4, 4), 1e-30, jnp.float32)
    small = jnp.full((4, 4), 1e-12, jnp.float32)
    expected = tessera.matmul(np.asarray(tiny), np.asarray(small))
    assert 0 < expected[0, 0] < np.finfo(np.float32).tiny
    assert np.array_equal(jax.jit(tj.matmul)(tiny, small), expected)


def test_calls_from_many_threads():
    a, b = random(300, 200), random(200, 250, seed=1)
    function, expected = jax.jit(tj.matmul), np.asarray(tj.matmul(a, b))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda _: np.array_equal(function(a, b), expected), range(64)))


def test_what_is_wrong_is_said_while_it_is_traced():
    a, b = random(3, 5), random(4, 2)
    with pytest.raises(ValueError, match=r"a has 5 columns but b has 4 rows: got shapes \(3, 5\) and \(4, 2\)"):
        jax.jit(tj.matmul)(a, b)
    with pytest.raises(ValueError, match=r"do not broadcast: got shapes \(2, 3, 5\) and \(3, 5, 1\)"):
        tj.matmul(random(2, 3, 5), random(3, 5, 1))
    with pytest.raises(TypeError, match="got float32 and float64"):
        tj.matmul(a, random(5, 2, dtype=np.float64))
    with pytest.raises(TypeError, match="one type of float64, .*got complex64"):
        tj.matmul(a.astype(jnp.complex64), a.T.astype(jnp.complex64))
    with pytest.raises(TypeError, match="expected a result of float32 for float32, got float16"):
        tj.matmul(a, a.T, dtype="float16")
    with pytest.raises(ValueError, match="'tild'.*tiled"):
        jax.jit(functools.partial(tj.matmul, algorithm="tild"))(a, a.T)
    with pytest.raises(ValueError, match="unknown activation 'tanh'"):
        tj.matmul(a, a.T, activation="tanh")
    with pytest.raises(ValueError, match=r"bias of shape \(3,\), .* got \(5,\)"):
        tj.matmul(a, a.T, bias=random(5))
    with pytest.raises(TypeError, match="mask has elements of int32: expected bool, or floating"):
        tj.attention(a, a, a, mask=np.ones((3, 3), np.int32))
    with pytest.raises(TypeError, match="bias has elements of float64: expected float32; convert"):
        tj.matmul(a, a.T, bias=random(3, dtype=np.float64))
    with pytest.raises(ValueError, match=r"one dimension or more, got shapes \(\) and \(3, 5\)"):
        tj.matmul(1.0, a)


@pytest.mark.parametrize("how, message", [
    ({"alpha": "2"}, "alpha is '2', a str: expected a number"), ({"threads": 1.5}, "threads is 1.5, a float: expected a whole number"),
    ({"algorithm": None}, "algorithm is None: expected 'auto'"), ({"activation": []}, r"activation is \[\], a list: expected None, 'relu'"),
    ({"transpose_a": "no"}, "transpose_a is 'no', a str: expected True or False"), ({"dtype": 5}, "dtype is 5, an int: expected float64"),
])
def test_arguments_of_another_kind_are_refused_in_a_sentence(how, message):
    a = random(3, 3)
    with pytest.raises(TypeError, match="^matmul: " + message) as error:
        tj.matmul(a, a, **how)
    assert "\n" not in str(error.value)


def test_lists_are_no_arrays():
    a = random(3, 3)
    for call, message in [(lambda: tj.matmul([[1.0]], a), r"matmul: a is \[\[1.0\]\], a list: expected an array of JAX or NumPy; jnp.asarray"),
                          (lambda: jax.jit(tj.matmul)(a, ((1.0,),)), "matmul: b is .* a tuple: expected an array"),
                          (lambda: tj.matmul(a, a, bias=[1.0, 2.0, 3.0]), "matmul: bias is .* a list"),
                          (lambda: tj.linear("x", a), "matmul: a is 'x', a str"), (lambda: tj.attention(a, None, a), "attention: k is None"),
                          (lambda: tj.attention(a, a, a, mask=[[True] * 3] * 3), "attention: mask is a list")]:
        with pytest.raises(TypeError, match="^" + message):
            call()
    assert np.array_equal(tj.matmul(np.asarray(a), np.float32(2) * np.eye(3, dtype=np.float32)), 2 * a)


def test_numbers_that_are_traced_are_refused_in_a_sentence():
    a = random(3, 3)
    for name, call in [("matmul: alpha", lambda x: tj.matmul(a, a, alpha=x)), ("attention: scale", lambda x: tj.attention(a, a, a, scale=x)),
                       ("matmul: threads", lambda x: tj.matmul(a, a, threads=x))]:
        with pytest.raises(TypeError, match=f"^{name} is a traced value, .*: expected one known before; (multiply|name it in static)") as error:
            jax.jit(call)(2)
        assert "\n" not in str(error.value)
    assert np.array_equal(tj.matmul(a, a, alpha=jnp.float32(2)), tj.matmul(a, a, alpha=2))
    assert np.array_equal(tj.attention(a, a, a, scale=np.float32(0.5)), tj.attention(a, a, a, scale=0.5))


def test_vectors_keep_their_shapes_in_messages():
    vector, matrix = random(5), random(4, 2)
    for call, message in [(lambda: tj.matmul(vector, matrix), r"a has 5 columns but b has 4 rows: got shapes \(5,\) and \(4, 2\)"),
                          (lambda: tj.matmul(matrix, vector), r"a has 2 columns but b has 5 rows: got shapes \(4, 2\) and \(5,\)"),
                          (lambda: tj.matmul(vector, matrix, transpose_a=True), r"a of shape \(5,\) cannot be transposed: expected at least two"),
                          (lambda: tj.matmul(matrix, vector, transpose_b=True), r"b of shape \(5,\) cannot be transposed"),
                          (lambda: tj.matmul(matrix, vector[:2], bias=vector), r"a bias needs columns to be added to, got b of shape \(2,\)"),
                          (lambda: tj.attention(vector, matrix, matrix), r"attention: q has shape \(5,\): expected \(..., L, D\)")]:
        with pytest.raises(ValueError, match=message):
            call()


def test_element_types_have_one_set_of_spellings():
    a = jnp.ones((3, 3), jnp.bfloat16)
    for spelling in ("float32", "f32", "f4", np.float32, np.dtype("float32"), jnp.float32, jnp.dtype("float32")):
        assert tj.matmul(a, a, dtype=spelling).dtype == jnp.float32
    for spelling in ("bf16", jnp.bfloat16, a.dtype):
        assert tj.matmul(a, a, dtype=spelling).dtype == jnp.bfloat16
        assert tessera.matmul(a, a, dtype=spelling).dtype == jnp.bfloat16
    with pytest.raises(TypeError, match="'f8', which is float64 in NumPy"):
        tj.matmul(a, a, dtype="f8")


def test_the_bits_are_those_of_numpy_in_every_transformation_of_the_product():
    a, b = random(4, 33, 20), random(20, 17, seed=1)
    expected = tessera.matmul(np.asarray(a), np.asarray(b))
    assert np.array_equal(jax.vmap(tj.matmul, (0, None))(a, b), expected)
    c, dc = jax.jvp(lambda a: tj.matmul(a, b), (a,), (2 * a,))
    assert np.array_equal(c, expected) and np.array_equal(dc, tessera.matmul(np.asarray(2 * a), np.asarray(b)))
    da = jax.grad(lambda a: tj.matmul(a, b).sum())(a)
    assert np.array_equal(da, tessera.matmul(np.ones(expected.shape, np.float32), np.asarray(b), transpose_b=True))


def test_tessera_matmul_returns_its_result_where_a_lies():
    for device in jax.devices("cpu"):
        a = jax.device_put(random(3, 3), device)
        for c in (tessera.matmul(a, a), tessera.matmul(a.astype(jnp.bfloat16), a.astype(jnp.bfloat16))):
            assert c.devices() == {device}
        np.testing.assert_array_equal(tessera.matmul(a, a, device=device), tj.matmul(a, a))


def test_whole_numbers_have_whole_results_or_none():
    a = jnp.ones((3, 3), jnp.int8)
    assert (tj.matmul(a, a, bias=jnp.ones(3, jnp.int32), activation="relu") == 4).all()
    assert (tj.matmul(a, a, bias=a[0]) == 4).all()
    for activation in ("gelu", "silu"):
        with pytest.raises(TypeError, match=f"int8 has no activation '{activation}'"):
            jax.jit(functools.partial(tj.linear, activation=activation))(a, a)
    with pytest.raises(TypeError, match="bias has elements of float32: expected int32 or int8"):
        tj.matmul(a, a, bias=random(3))


def test_what_only_the_product_can_refuse_comes_back_as_jax_s_error():
    a = jnp.ones((3, 3), jnp.int8)
    with pytest.raises(Exception, match="split_k|algorithm") as error:
        jax.block_until_ready(jax.jit(functools.partial(tj.matmul, algorithm="tensor_core"))(a.astype(jnp.int32), a.astype(jnp.int32)))
    assert "INVALID_ARGUMENT" in str(error.value)


def test_a_platform_without_a_product_is_named():
    with pytest.raises(NotImplementedError, match="no product for platform 'tpu': expected cpu"):
        jax.export.export(jax.jit(tj.matmul), platforms=["tpu"])(random(3, 3), random(3, 3))


def test_the_examples_of_the_document():
    with jax.enable_x64(False):
        found = doctest.testfile(str(ROOT / "docs/jax.md"), module_relative=False)
    assert found.attempted > 8 and found.failed == 0


def recipe(*words):
    return subprocess.run([sys.executable, "-m", "tessera.recipe", *words], capture_output=True, text=True)


def test_the_recipe_runs_every_algorithm_and_sees_a_wrong_element():
    run = recipe("matmul", "-m", "33", "-n", "17", "-k", "40")
    assert run.returncode == 0, run.stdout + run.stderr
    assert [line.split()[1:3] for line in run.stdout.splitlines()[1:]] == [[name, "ok"] for name in tessera.algorithms()]
    verdict = tessera.recipe.matmul.verdict
    assert verdict(np.array([[1, np.nan]], np.float32), np.ones((1, 2)))[0].startswith("WRONG in 1 elements, first C(0,1)")


@pytest.mark.parametrize("name, arguments", [("benchmarks", ("-s", "3", "4")), ("benchmarks", ("--rounds", "0")),
                                             ("matmul", ("-m", "-1")), ("matmol", ()), ("", ())])
def test_the_recipe_says_what_it_expects(name, arguments):
    run = recipe(name, *arguments)
    assert run.returncode == 2 and "error: expected" in run.stderr and "Traceback" not in run.stderr


def test_f8_is_widened():
    a, b = random(4, 9).astype(jnp.float8_e4m3fn), random(9, 3).astype(jnp.float8_e5m2)
    wide = a.astype(jnp.float32), b.astype(jnp.float32)
    for multiply in (tj.matmul, jax.jit(tj.matmul), tj.linear):
        c = multiply(a, b)
        assert c.dtype == jnp.float32
        np.testing.assert_allclose(c, np.matmul(*wide), rtol=1e-5, atol=1e-5)
    assert tj.matmul(a, b, dtype=jnp.bfloat16).dtype == jnp.bfloat16


def test_the_benchmark_shows_what_it_has_verified():
    run = recipe("benchmarks", "-s", "8", "9", "10", "--rounds", "2", "--algorithm", "auto", "tensor_core")
    assert run.returncode == 0, run.stdout + run.stderr
    rows = [line.split("|")[1].split()[0] for line in run.stdout.splitlines() if line.startswith("|")]
    assert rows == ["algorithm", "---", "jnp.matmul", "auto", "tensor_core", "tessera.matmul", "numpy.matmul"] and "not timed" not in run.stdout
    assert not tessera.recipe.benchmarks.is_right(np.full((1, 1), np.nan), 1, np.ones((1, 1)), np.ones((1, 1)), "")


def test_packed_weights_are_for_the_other_matmul():
    with pytest.raises(TypeError, match="matmul: b is a PackedMatrix: expected an array of JAX or NumPy"):
        tj.matmul(random(3, 3), tessera.PackedMatrix(np.ones((3, 3), np.float32)))
