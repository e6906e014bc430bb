"""tessera.jax on a GPU, where XLA has one: products, derivatives, batches and graphs, beside products of NumPy."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="tessera.jax is NOT tested: install jax")
import jax.numpy as jnp  # noqa: E402

import tessera.jax as tj  # noqa: E402

try:
    gpus = jax.devices("cuda")
except RuntimeError:
    gpus = []
pytestmark = pytest.mark.skipif(not gpus, reason="CUDA is NOT tested: no GPU answers")
BOUND = {"float32": 1e-5, "bfloat16": 2e-2, "float16": 2e-3}


def random(*shape, dtype="float32", seed=0):
    return jax.device_put(jnp.asarray(np.random.default_rng([seed, *shape]).standard_normal(shape), dtype), gpus[0])


def close(got, expected, dtype="float32"):
    assert got.devices() == {gpus[0]}
    expected = np.asarray(expected, np.float64)
    assert not (np.abs(np.asarray(got, np.float64) - expected) > BOUND[dtype] * (1 + np.abs(expected)).max()).any()


def exact(x):
    return np.asarray(x, np.float64)


@pytest.mark.parametrize("dtype", list(BOUND))
@pytest.mark.parametrize("shape", [(64, 64, 64), (100, 70, 50), (1, 300, 200), (512, 256, 768)])
def test_products_on_cuda(shape, dtype):
    m, n, k = shape
    a, b = random(m, k, dtype=dtype), random(k, n, dtype=dtype, seed=1)
    for multiply in (tj.matmul, jax.jit(tj.matmul)):
        close(multiply(a, b), exact(a) @ exact(b), dtype)
    close(tj.matmul(a, b.T, transpose_b=True), exact(a) @ exact(b), dtype)


def test_a_bias_and_an_activation_on_cuda():
    a, b, bias = random(64, 48), random(48, 80, seed=1), random(80, seed=2)
    close(jax.jit(lambda *x: tj.matmul(*x[:2], bias=x[2], activation="relu"))(a, b, bias), np.maximum(exact(a) @ exact(b) + exact(bias), 0))


def test_derivatives_and_batches_on_cuda():
    a, b = random(4, 40, 30), random(30, 20, seed=1)
    da, db = jax.jit(jax.grad(lambda a, b: (tj.matmul(a, b) ** 2).sum(), argnums=(0, 1)))(a, b)
    dc = 2 * exact(a) @ exact(b)
    close(da, dc @ exact(b).T)
    close(db, np.einsum("bmk,bmn->kn", exact(a), dc))
    close(jax.vmap(tj.matmul, (0, None))(a, b), exact(a) @ exact(b))


def test_the_order_of_xlas_stream_on_cuda():
    """Products after and before XLA's own operations, without a wait in between."""
    a, b = random(256, 256), random(256, 256, seed=1)

    @jax.jit
    def chain(a, b):
        for _ in range(10):
            a = tj.matmul(a * 2, b / 32) - a
        return a
    expected = exact(a)
    for _ in range(10):
        expected = (expected * 2) @ (exact(b) / 32) - expected
    close(chain(a, b), expected)
