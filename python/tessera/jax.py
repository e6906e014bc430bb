"""Tessera's products in JAX: under jit, grad and jvp, vmap and shard_map, on the CPU and on CUDA GPUs.

    import tessera.jax as tj

    c = tj.matmul(a, b)                                   # as jnp.matmul; algorithm="tiled" takes a step of the ladder
    y = tj.linear(x, w, bias, activation="gelu")          # one pass
    o = tj.attention(q, k, v, causal=True)

XLA calls Tessera with the addresses of its own buffers: no operand is copied. A derivative is again products by Tessera,
in both modes and of any order; vmap gives one batched product. A transposed operand is not moved but named: transpose_b=True.
"""
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import dispatch
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir, xla
from jax.sharding import NamedSharding, PartitionSpec

from . import _arguments, _arrays, _core

__all__ = ["attention", "linear", "matmul"]

_ACTIVATIONS = {
    "none": lambda z: z,
    "relu": jax.nn.relu,
    "gelu": functools.partial(jax.nn.gelu, approximate=False),
    "silu": jax.nn.silu,
}


def matmul(a, b, /, *, algorithm="auto", transpose_a=False, transpose_b=False, alpha=1.0, bias=None, activation=None, dtype=None,
           threads=None):
    """activation(alpha * a @ b + bias), as jnp.matmul: a is (..., M, K) or (K,), b is (..., K, N) or (K,), batches broadcast.

    transpose_a, transpose_b: the last two dimensions of that operand are the other way round; it is not moved.
    bias: (N,), added to each row, of the operands' type or that of the sums: float32 for two bytes, int32 for one.
    activation: None, "relu"; "gelu" (exact) or "silu" of floating numbers.
    algorithm: "auto", or a name that tessera.algorithms() lists. dtype: of the result, that of the operands unless said:
    float32 is possible for float16 and bfloat16, int8 and uint8 give int32, and f8, widened to bfloat16 first, gives float32 or
    bfloat16. threads: of the CPU.

    Raises ValueError for shapes that do not fit and unknown names, TypeError for element types, both while it is traced.
    """
    a, b, bias = _array("matmul", "a", a), _array("matmul", "b", b), None if bias is None else _array("matmul", "bias", bias)
    a, b, dtype = _arrays.widened(a, b, dtype)
    how = _fixed("matmul", alpha, activation, algorithm, threads)
    transposed = _arguments.flag("transpose_a", transpose_a), _arguments.flag("transpose_b", transpose_b)
    _check_shapes(a.shape, b.shape, *transposed, None if bias is None else np.shape(bias))
    _check_activation(how["activation"], a.dtype)
    out = _checked_dtype(a.dtype, b.dtype, dtype)
    row, column = a.ndim == 1, b.ndim == 1
    a, b = a[None, :] if row else a, b[:, None] if column else b
    operands = [a, b] if bias is None else [a, b, _checked_bias(bias, a.dtype, _accumulator(out))]
    c = product_p.bind(*_varying_alike(operands), transpose_a=transposed[0], transpose_b=transposed[1], dtype=out, **how)
    return c.reshape(c.shape[:-2] + (() if row else c.shape[-2:-1]) + (() if column else c.shape[-1:])) if row or column else c


def linear(x, w, bias=None, *, activation=None, algorithm="auto", threads=None):
    """activation(x @ w + bias) in one pass. x is (..., K), w is (K, N), bias is (N,)."""
    return matmul(x, w, bias=bias, activation=activation, algorithm=algorithm, threads=threads)


def attention(q, k, v, *, mask=None, causal=False, scale=None, algorithm="auto", threads=None):
    """softmax(scale * q @ k^T) @ v. q is (..., L, D), k is (..., S, D), v is (..., S, E), the result (..., L, E).

    mask: broadcasts to (..., L, S); True takes part, or numbers that are added. causal: row i sees no column beyond i.
    scale: 1 / sqrt(D) unless said. A row that sees nothing is zero. The softmax is summed in float32 at least.
    """
    q, k, v = _array("attention", "q", q), _array("attention", "k", k), _array("attention", "v", v)
    mask = None if mask is None else _array("attention", "mask", mask)
    for name, x, meant in (("q", q, "(..., L, D)"), ("k", k, "(..., S, D)"), ("v", v, "(..., S, E)")):
        if x.ndim < 2:
            raise ValueError(f"attention: {name} has shape {x.shape}: expected {meant}")
    _arguments.check_attention(q.shape, k.shape, v.shape, None if mask is None else mask.shape, np.broadcast_shapes)
    if not jnp.issubdtype(q.dtype, jnp.floating):
        raise TypeError(f"attention: q has elements of {q.dtype.name}: expected floating numbers; convert q, k and v first")
    scale = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale
    how = _fixed("attention", scale, None, algorithm, threads, "scale")
    return _attention(q, k, v, mask, _arguments.flag("causal", causal, "attention"), how["alpha"], algorithm, threads)


@functools.partial(jax.jit, static_argnums=(4, 5, 6, 7))
def _attention(q, k, v, mask, causal, scale, algorithm, threads):
    wide = jnp.promote_types(q.dtype, jnp.float32)
    scores = matmul(q, k, transpose_b=True, alpha=scale, dtype=wide, algorithm=algorithm, threads=threads)  # (..., L, S)
    if mask is not None:
        if mask.dtype != bool and not jnp.issubdtype(mask.dtype, jnp.floating):
            raise TypeError(f"attention: mask has elements of {mask.dtype.name}: expected bool, or floating numbers to add")
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask.astype(wide)
    if causal:
        scores = jnp.where(jnp.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    seen = scores.max(-1, keepdims=True, initial=-jnp.inf) != -jnp.inf if scores.shape[-1] else False
    weights = jnp.where(seen, jax.nn.softmax(jnp.where(seen, scores, 0), axis=-1), 0).astype(v.dtype)
    return matmul(weights, v, algorithm=algorithm, threads=threads)


# ---- what is checked before anything is traced ---------------------------------------------------------------------------


def _array(call, name, given):
    """A JAX array. Refuses lists, as jnp.matmul does: each call would copy them, number by number."""
    if isinstance(given, jax.Array):
        return given  # jnp.asarray takes as long as a small product
    is_number = isinstance(given, (int, float, complex))
    if isinstance(given, _core.PackedMatrix) or not (is_number or hasattr(given, "dtype") or hasattr(given, "__jax_array__")):
        raise _arguments.refuse(call, name, given, "an array of JAX or NumPy; jnp.asarray makes one")
    _arrays.check_plain(given, name, call)
    return jnp.asarray(given)


def _fixed(call, alpha, activation, algorithm, threads, name="alpha"):
    """The parameters that are compiled into the call."""
    for what, given in ((name, alpha), ("activation", activation), ("algorithm", algorithm), ("threads", threads)):
        if isinstance(given, jax.core.Tracer):
            raise TypeError(f"{call}: {what} is a traced value, known only when the function runs: expected one known before; "
                            + ("multiply the result, or an operand, by it" if what == name else "name it in static_argnames"))
    activation = _arguments.activation(activation, call) or "none"
    if activation not in _ACTIVATIONS:
        raise ValueError(f"{call}: unknown activation {activation!r}: expected None, {', '.join(map(repr, list(_ACTIVATIONS)[1:]))}")
    _core.check_algorithm(_arguments.algorithm(algorithm, call))
    return {"alpha": _arguments.number(name, alpha, call), "activation": activation, "algorithm": algorithm,
            "threads": _arguments.threads(threads, call) or 0}


def _check_activation(name, dtype):
    if name in ("gelu", "silu") and jnp.issubdtype(dtype, jnp.integer):
        raise TypeError(f"matmul: a product of {dtype.name} has no activation {name!r}: expected None or 'relu'; "
                        "convert a and b to float32 first")


def _accumulator(dtype):
    return jnp.dtype(jnp.float32) if dtype.itemsize == 2 else dtype


def _checked_dtype(a, b, out):
    """The element type of the result."""
    if a != b or a.name not in _core.multiplied_dtypes():
        raise TypeError(f"matmul: expected two arrays of one type of {_arrays.operand_dtypes()}, got {a.name} and {b.name}")
    own = jnp.dtype(jnp.int32) if a.itemsize == 1 else a
    out = own if out is None else jnp.dtype(_arguments.dtype_name(out))
    if out != own and not (a.itemsize == 2 and out == jnp.float32):
        raise TypeError(f"matmul: expected a result of {own.name}{' or float32' if a.itemsize == 2 else ''} for {a.name}, "
                        f"got {out.name}")
    return out


def _checked_bias(bias, of_operands, of_sums):
    """The bias in the type of the sums."""
    if bias.dtype not in (of_operands, of_sums):
        both = of_sums.name if of_sums == of_operands else f"{of_sums.name} or {of_operands.name}"
        raise TypeError(f"matmul: bias has elements of {bias.dtype.name}: expected {both}; convert it first")
    return bias.astype(of_sums)


def _check_shapes(a, b, transpose_a, transpose_b, bias):
    """Shapes as they were given; a vector is a row on the left, a column on the right."""
    if not a or not b:
        raise ValueError(f"matmul: expected two arrays of one dimension or more, got shapes {a} and {b}")
    for name, shape, transposed in (("a", a, transpose_a), ("b", b, transpose_b)):
        if transposed and len(shape) == 1:
            raise ValueError(f"matmul: {name} of shape {shape} cannot be transposed: expected at least two dimensions")
    k = a[-2] if transpose_a else a[-1]
    rows, columns = (b[0], None) if len(b) == 1 else (b[-1], b[-2]) if transpose_b else b[-2:]
    flags = "".join(f", {name}=True" for name, on in (("transpose_a", transpose_a), ("transpose_b", transpose_b)) if on)
    if k != rows:
        raise ValueError(f"matmul: a has {k} columns but b has {rows} rows: got shapes {a} and {b}{flags}")
    if bias is not None and columns is None:
        raise ValueError(f"matmul: a bias needs columns to be added to, got b of shape {b}")
    if bias is not None and bias != (columns,):
        raise ValueError(f"matmul: expected a bias of shape ({columns},), one number for each column, got {bias}")
    try:
        np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise ValueError(f"matmul: the batches do not broadcast: got shapes {a} and {b}") from None


def _varying(x):
    """The axes of a shard_map along which x differs from device to device."""
    kind = jax.typeof(x)
    return getattr(kind, "mat", None).varying if hasattr(kind, "mat") else getattr(kind, "vma", frozenset())


def _varying_alike(operands):
    """The operands, each said to differ along every axis along which one of them does."""
    own = [_varying(x) for x in operands]
    axes = frozenset().union(*own)
    return [jax.lax.pcast(x, tuple(axes - some), to="varying") if axes - some else x for x, some in zip(operands, own)]


# ---- the primitive -------------------------------------------------------------------------------------------------------

product_p = Primitive("tessera_matmul")


def _turned(x, transposed):
    return jnp.swapaxes(x, -1, -2) if transposed else x


def _reference(a, b, *bias, transpose_a, transpose_b, dtype, **_):
    """A value of the product's type as JAX describes it: how it is sharded, along which axes of the mesh it varies."""
    c = jnp.matmul(_turned(a, transpose_a), _turned(b, transpose_b), preferred_element_type=dtype).astype(dtype)
    return functools.reduce(lambda c, each: c + each.astype(dtype), bias, c)


@product_p.def_abstract_eval
def _abstract(*kinds, **how):
    return jax.make_jaxpr(functools.partial(_reference, **how))(*kinds).out_avals[0]


product_p.def_impl(functools.partial(xla.apply_primitive, product_p))


def _product(a, b, transpose_a=False, transpose_b=False, **how):
    """The plain product of two operands whose types may differ, for the derivatives."""
    wide = jnp.promote_types(a.dtype, b.dtype)
    how = {**how, "activation": "none", "transpose_a": transpose_a, "transpose_b": transpose_b, "dtype": wide}
    return product_p.bind(*_varying_alike([a.astype(wide), b.astype(wide)]), **how)


def _jvp(primals, tangents, *, activation, **how):
    z = product_p.bind(*primals, activation="none", **how)
    if all(type(t) is ad.Zero for t in tangents):
        return product_p.bind(*primals, activation=activation, **how), ad.Zero(jax.typeof(z).to_tangent_aval())
    (a, b, *_), (da, db, *dbias) = primals, tangents
    plain = dict(how, activation="none")
    terms = [product_p.bind(*_varying_alike(pair), **plain) for pair, t in (((da, b), da), ((a, db), db)) if type(t) is not ad.Zero]
    terms += [jnp.broadcast_to(t, z.shape).astype(z.dtype) for t in dbias if type(t) is not ad.Zero]
    dz = functools.reduce(jnp.add, terms)
    return jax.jvp(_ACTIVATIONS[activation], (z,), (dz,)) if activation != "none" else (z, dz)


ad.primitive_jvps[product_p] = _jvp


def _summed_to(gradient, kind):
    """The gradient of an operand, summed over the batch that the operand was repeated for."""
    missing = gradient.ndim - len(kind.shape)
    axes = tuple(range(missing)) + tuple(i + missing for i, n in enumerate(kind.shape[:-2]) if n != gradient.shape[i + missing])
    return gradient.sum(axes, keepdims=True).reshape(kind.shape).astype(kind.dtype) if axes else gradient.astype(kind.dtype)


def _rows(x):
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _transpose(dc, a, b, *, transpose_a, transpose_b, dtype, activation, **how):
    """From dC, dA = dC B^T or dB = A^T dC; for a transposed operand, its transpose."""
    if type(dc) is ad.Zero:
        return [None, None]
    if ad.is_undefined_primal(a):
        if transpose_a:
            da = _product(b, dc, transpose_b, True, **how)
        else:
            da = _product(dc, b, False, not transpose_b, **how)
        return [_summed_to(da, a.aval), None]
    if b.aval.ndim == 2 and a.shape[:-2] == dc.shape[:-2] and not transpose_a:
        a, dc = _rows(a), _rows(dc)  # one product sums over the batch too
    if transpose_b:
        db = _product(dc, a, True, transpose_a, **how)
    else:
        db = _product(a, dc, not transpose_a, False, **how)
    return [None, _summed_to(db, b.aval)]


ad.primitive_transposes[product_p] = _transpose


def _batch(operands, dims, *, activation, **how):
    """One product with one more leading batch dimension. A bias for each of them is added after it."""
    (a, b, *bias), (a_dim, b_dim, *bias_dim) = operands, dims
    rank = max(x.ndim - (d is not None) for x, d in ((a, a_dim), (b, b_dim)))
    a, b = _in_front(a, a_dim, rank), _in_front(b, b_dim, rank)
    if bias_dim in ([], [None]):
        return product_p.bind(a, b, *bias, activation=activation, **how), 0
    z = product_p.bind(a, b, activation="none", **how)
    z = z if a_dim is not None or b_dim is not None else z[None]
    return _ACTIVATIONS[activation](z + _in_front(*bias, *bias_dim, rank).astype(z.dtype)), 0


def _in_front(x, dim, rank):
    """x with its dimension `dim` moved to the front, and padded to this many dimensions after it."""
    if dim is None:
        return x
    x = jnp.moveaxis(x, dim, 0)
    return x.reshape(x.shape[:1] + (1,) * (rank + 1 - x.ndim) + x.shape[1:])


batching.primitive_batchers[product_p] = _batch


# ---- for XLA ----------------------------------------------------------------------------------------------------

_TARGET = "tessera_matmul"


def _lower(ctx, *operands, alpha, algorithm, activation, transpose_a, transpose_b, threads, dtype):
    del dtype  # that of the result
    return jax.ffi.ffi_lowering(_TARGET)(
        ctx, *operands, alpha=np.float64(alpha), algorithm=algorithm, activation=activation, threads=np.int64(threads),
        transpose_a=np.bool_(transpose_a), transpose_b=np.bool_(transpose_b))


def _refuse(ctx, *_, **__):
    platforms = ", ".join(ctx.platforms or ctx.module_context.platforms)
    there = " or ".join(_core.xla_targets())
    raise NotImplementedError(f"tessera.jax: no product for platform '{platforms}': expected {there.lower()}; use jnp.matmul there, or "
                              "put the arrays on a device of those: jax.device_put(x, jax.devices('cpu')[0])")


# ---- sharded operands ------------------------------------------------------------------------------------------------------


def _factors(shapes, transpose_a, transpose_b):
    """The dimensions of the operands and of the result by name: i, j, k and those of the batch. Dimensions that are repeated have names
    of their own."""
    batch = np.broadcast_shapes(*(shape[:-2] for shape in shapes[:2]))
    names = [f"b{n}" for n in range(len(batch))]
    first = [names[len(batch) - len(shape) + 2 + n] if size == batch[len(batch) - len(shape) + 2 + n] else f"{which}{n}"
             for which, shape in zip(("p", "q"), shapes) for n, size in enumerate(shape[:-2])]
    of_a, of_b = first[:len(shapes[0]) - 2], first[len(shapes[0]) - 2:]
    rows, columns = ["k", "i"] if transpose_a else ["i", "k"], ["j", "k"] if transpose_b else ["k", "j"]
    return [of_a + rows, of_b + columns, *([["j"]] if len(shapes) > 2 else [])], [*names, "i", "j"]


def _rule(operands, result):
    return ", ".join(" ".join(names) for names in operands) + " -> " + " ".join(result)


def _axes(sharded, names):
    """For each name the axes of the mesh along which an array is cut there."""
    spec = tuple(sharded.sharding.spec)
    return {name: axes if isinstance(axes, tuple) else (axes,) for name, axes in zip(names, spec) if axes not in (None, ())}


@functools.lru_cache(maxsize=None)
def _partitioned(shapes, **how):
    """The product as a function that XLA may cut along i, j, k and the batch: along k, partial sums are added up before bias and
    activation."""
    operands, result = _factors(shapes, how["transpose_a"], how["transpose_b"])

    @custom_partitioning
    def product(*given):
        return local_p.bind(*given, **how)

    def partition(mesh, arguments, out):
        chosen = {}
        cuts = [_axes(out, result), *(_axes(x, names) for x, names in zip(arguments, operands))]
        for cut in cuts:
            for name, axes in cut.items():
                used = {axis for some in chosen.values() for axis in some}
                if name in (*result, "k") and name not in chosen and not used & set(axes):
                    chosen[name] = axes

        def sharding(names):
            return NamedSharding(mesh, PartitionSpec(*(chosen.get(name) for name in names)))

        def local(a, b, *bias):
            if "k" not in chosen:
                return local_p.bind(a, b, *bias, **how)
            sums = _accumulator(how["dtype"])
            z = local_p.bind(a, b, **{**how, "activation": "none", "dtype": sums})
            z = functools.reduce(jnp.add, (each.astype(sums) for each in bias), jax.lax.psum(z, chosen["k"]))
            return _ACTIVATIONS[how["activation"]](z).astype(how["dtype"])

        return mesh, local, sharding(result), tuple(sharding(names) for names in operands)

    product.def_partition(partition, sharding_rule=_rule(operands, result), reduction_factors=("k",))
    return product


local_p = Primitive("tessera_local_matmul")  # of what one device has
local_p.def_abstract_eval(_abstract)
# custom_partitioning() needs to know the devices when a product is lowered; JAX has no public name for this.
dispatch.prim_requires_devices_during_lowering.add(product_p)


def _lower_for_devices(ctx, *operands, **how):
    """One call for one device, and where each device already has its own part (shard_map)."""
    if getattr(ctx.module_context.axis_context, "num_devices", 1) == 1:
        return _lower(ctx, *operands, **how)
    shapes = tuple(kind.shape for kind in ctx.avals_in)
    return mlir.lower_fun(_partitioned(shapes, **how), multiple_results=False)(ctx, *operands)


for _primitive in (product_p, local_p):
    mlir.register_lowering(_primitive, _refuse)
for _platform, _capsule in _core.xla_targets().items():
    jax.ffi.register_ffi_target(_TARGET, _capsule, platform=_platform)
    mlir.register_lowering(product_p, _lower_for_devices, platform=_platform.lower())
    mlir.register_lowering(local_p, _lower, platform=_platform.lower())
