"""Run by jax_sharding_test.py: products of sharded operands on four devices, of one process or of several.

    jax_sharded.py                      four devices of this process
    jax_sharded.py ADDRESS COUNT INDEX  4 / COUNT devices of each of COUNT processes
"""
import os
import sys

processes = int(sys.argv[2]) if len(sys.argv) > 1 else 1
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={4 // processes}"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402

if processes > 1:
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(sys.argv[1], processes, int(sys.argv[3]))
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import tessera.jax as tj  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

assert len(jax.devices()) == 4 and jax.process_count() == processes
mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
random = np.random.default_rng(0)


def whole(*shape, dtype=np.float32):
    if np.dtype(dtype).kind == "i":
        return random.integers(-100, 100, shape).astype(dtype)
    return random.uniform(-1, 1, shape).astype(dtype)


def sharded(array, spec):
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh, P(*spec)), lambda index: array[index])


def check(function, operands, specs, gathers, reduces=False, out=None):
    """The values of jnp.matmul; operands are gathered only where `gathers`; along K there is one sum over devices."""
    given = [sharded(x, spec) for x, spec in zip(operands, specs)]
    jitted = jax.jit(function(tj.matmul), out_shardings=None if out is None else NamedSharding(mesh, P(*out)))
    text = jitted.lower(*given).compile().as_text()
    case = (specs, out)
    assert ("all-gather(" in text) == gathers, (case, text)
    assert ("all-reduce(" in text or "reduce-scatter(" in text) == reduces, (case, text)
    assert text.count('custom_call_target="tessera_matmul"') == 1, (case, text)
    result = jitted(*given)
    wanted = np.asarray(function(jnp.matmul)(*operands))
    for shard in result.addressable_shards:
        np.testing.assert_allclose(np.asarray(shard.data), wanted[shard.index], rtol=1e-5, atol=1e-4, err_msg=str(case))
    return result


def plain(matmul):
    return lambda a, b: matmul(a, b)


a, b = whole(64, 96), whole(96, 32)
rows = check(plain, (a, b), (("x", None), (None, None)), gathers=False)
assert {shard.data.shape for shard in rows.addressable_shards} == {(32, 32)}
both = check(plain, (a, b), (("x", None), (None, "y")), gathers=False)
assert {shard.data.shape for shard in both.addressable_shards} == {(32, 16)}
check(plain, (a, b), ((("x", "y"), None), (None, None)), gathers=False)
check(plain, (a, b), (("x", "y"), ("y", None)), gathers=False, reduces=True)
check(plain, (a, b), ((None, ("x", "y")), (("x", "y"), None)), gathers=False, reduces=True)
check(plain, (a, b), ((None, None), (None, None)), gathers=False)
check(plain, (a, b), (("x", None), (None, None)), gathers=True, out=(None, None))  # who asks for all of C gets it
# i8 sums are exact on any number of devices.
numbers = whole(64, 96, dtype=np.int8), whole(96, 32, dtype=np.int8)
check(lambda matmul: (lambda a, b: matmul(a, b) if matmul is tj.matmul else matmul(a.astype(np.int32), b.astype(np.int32))), numbers,
      ((None, "x"), ("x", None)), gathers=False, reduces=True)


def turned(matmul):
    return lambda a, b: matmul(a, b, transpose_a=True, transpose_b=True) if matmul is tj.matmul else matmul(a.T, b.T)


check(turned, (a.T.copy(), b.T.copy()), ((None, "x"), ("y", None)), gathers=False)
check(turned, (a.T.copy(), b.T.copy()), (("x", None), (None, "x")), gathers=False, reduces=True)


def biased(matmul):
    if matmul is tj.matmul:
        return lambda a, b, bias: matmul(a, b, bias=bias, activation="relu")
    return lambda a, b, bias: jax.nn.relu(matmul(a, b) + bias)


bias = whole(32)
check(biased, (a, b, bias), (("x", None), (None, "y"), ("y",)), gathers=False)
check(biased, (a, b, bias), ((None, "x"), ("x", None), (None,)), gathers=False, reduces=True)  # once, after the sum

batch = whole(4, 64, 96)
check(plain, (batch, b), (("x", None, None), (None, "y")), gathers=False)
check(plain, (batch, whole(4, 96, 32)), (("x", "y", None), ("x", None, None)), gathers=False)
check(plain, (batch, whole(1, 96, 32)), (("x", None, None), (None, None, None)), gathers=False)


def gradient(matmul):
    return lambda a, b: jax.grad(lambda b: (matmul(a, b) ** 2).sum())(b)


# A data-parallel step: the gradient of the weights is summed over the devices, the batch is not gathered.
given = sharded(a, (("x", "y"), None)), sharded(b, (None, None))
step = jax.jit(gradient(tj.matmul))
assert "all-gather(" not in step.lower(*given).compile().as_text()
wanted = np.asarray(gradient(jnp.matmul)(a, b))
for shard in step(*given).addressable_shards:
    np.testing.assert_allclose(np.asarray(shard.data), wanted[shard.index], rtol=1e-4, atol=1e-2)
print("right")
