"""Tessera's products in PyTorch: torch.ops.tessera.matmul, with autograd, vmap and torch.compile, on the CPU and on CUDA GPUs.

    import tessera.torch as tt

    c = tt.matmul(a, b)                                   # as torch.matmul; algorithm="tiled" takes a step of the ladder
    y = tt.linear(x, weight, bias, activation="gelu")     # as torch.nn.functional.linear and an activation, one pass
    o = tt.attention(q, k, v, causal=True)

Tensors of any strides are multiplied in place, a.mT too; the result has rows without gaps. A derivative is again
products by Tessera, of any order. On a GPU the product runs in the order of PyTorch's current stream.
"""
import math
from typing import Optional

import torch
from torch._library.autograd import make_autograd_impl
from torch.autograd import forward_ad

from . import _arguments, _arrays, _core
from . import matmul as _multiply

__all__ = ["attention", "linear", "matmul"]

_ACTIVATIONS = {
    "none": lambda z: z,
    "relu": torch.nn.functional.relu,
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
}


def matmul(a, b, /, *, algorithm="auto", alpha=1.0, bias=None, activation=None, dtype=None, threads=None):
    """activation(alpha * a @ b + bias), as torch.matmul: a is (..., M, K) or (K,), b is (..., K, N) or (K,), batches broadcast.

    bias: (N,), added to each row, of the operands' type or that of the sums: float32 for two bytes, int32 for one.
    activation: None, "relu"; "gelu" (exact) or "silu" of floating numbers.
    algorithm: "auto", or a name that tessera.algorithms() lists. dtype: of the result, that of the operands unless said:
    torch.float32 is possible for float16 and bfloat16, int8 and uint8 give int32, and f8, widened to bfloat16 first, gives
    torch.float32 or torch.bfloat16. threads: of the CPU.

    Raises ValueError for shapes that do not fit and unknown names, TypeError for element types, BufferError for devices.
    """
    _check_tensors("matmul", a=a, b=b, bias=bias)
    a, b, dtype = _arrays.widened(a, b, dtype)
    how = _how("matmul", alpha, activation, algorithm, threads)
    _check_shapes(a.shape, b.shape, None if bias is None else bias.shape)
    row, column = a.ndim == 1, b.ndim == 1
    c = torch.ops.tessera.matmul(a.unsqueeze(0) if row else a, b.unsqueeze(1) if column else b, bias, dtype=_dtype(dtype), **how)
    c = c.squeeze(-1) if column else c
    return c.squeeze(-1 if column else -2) if row else c


def linear(x, weight, bias=None, *, activation=None, algorithm="auto", threads=None):
    """activation(x @ weight.mT + bias): x is (..., K), weight is (N, K), bias is (N,). One pass; where a gradient will be
    asked for, the activation is a second one, so that its argument is kept instead of being computed again."""
    _check_tensors("linear", x=x, weight=weight, bias=bias)
    if weight.ndim != 2:
        raise ValueError(f"linear: weight has shape {tuple(weight.shape)}: expected (N, K)")
    if x.ndim == 0 or x.shape[-1] != weight.shape[1]:
        raise ValueError(f"linear: x has shape {tuple(x.shape)}: expected (..., {weight.shape[1]}) for a weight of shape "
                         f"{tuple(weight.shape)}")
    kept = torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in (x, weight, bias))
    y = matmul(x, weight.mT, bias=bias, activation=None if kept else activation, algorithm=algorithm, threads=threads)
    return _ACTIVATIONS[_how("linear", 1.0, activation, algorithm, threads)["activation"]](y) if kept else y


def attention(q, k, v, *, mask=None, causal=False, scale=None, algorithm="auto", threads=None):
    """softmax(scale * q @ k.mT) @ v. q is (..., L, D), k is (..., S, D), v is (..., S, E), the result (..., L, E).

    mask: broadcasts to (..., L, S); True takes part, or numbers that are added. causal: row i sees no column beyond i.
    scale: 1 / sqrt(D) unless said. A row that sees nothing is zero. The softmax is summed in float32 at least.
    """
    _check_tensors("attention", q=q, k=k, v=v)
    for name, x, meant in (("q", q, "(..., L, D)"), ("k", k, "(..., S, D)"), ("v", v, "(..., S, E)")):
        if x.ndim < 2:
            raise ValueError(f"attention: {name} has shape {tuple(x.shape)}: expected {meant}")
    if mask is not None and not isinstance(mask, torch.Tensor):
        _arrays.check_plain(mask, "mask", "attention")
        mask = torch.as_tensor(mask, device=q.device)
    _arguments.check_attention(*(None if x is None else tuple(x.shape) for x in (q, k, v, mask)), torch.broadcast_shapes)
    if not q.is_floating_point():
        raise TypeError(f"attention: q has elements of {q.dtype}: expected floating numbers; convert q, k and v first")
    scale = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else _arguments.number("scale", scale, "attention")
    wide = q.dtype if q.dtype == torch.float64 else torch.float32
    scores = matmul(q, k.mT, alpha=scale, dtype=wide, algorithm=algorithm, threads=threads)  # (..., L, S)
    if mask is not None:
        if mask.dtype != torch.bool and not mask.dtype.is_floating_point:
            raise TypeError(f"attention: mask has elements of {mask.dtype}: expected torch.bool, or floating numbers to add")
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    if _arguments.flag("causal", causal, "attention"):
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril().logical_not(), -math.inf)
    unseen = (scores == -math.inf).all(-1, keepdim=True)
    weights = torch.softmax(scores.masked_fill(unseen, 0), -1).masked_fill(unseen, 0).to(v.dtype)
    return matmul(weights, v, algorithm=algorithm, threads=threads)


# ---- the operation -------------------------------------------------------------------------------------------------------


def _check_tensors(call, **given):
    for name, tensor in given.items():
        if not isinstance(tensor, torch.Tensor) and not (name == "bias" and tensor is None):
            raise _arguments.refuse(call, name, tensor, "a torch.Tensor; torch.as_tensor makes one")
        _arrays.check_strided(tensor, name, call)


def _dtype(given):
    """PyTorch's element type of that name, or None."""
    return given if given is None or isinstance(given, torch.dtype) else getattr(torch, _arguments.dtype_name(given))


def _how(call, alpha, activation, algorithm, threads):
    """The non-tensor arguments, in the operation's form."""
    return {"alpha": _arguments.number("alpha", alpha, call), "activation": _known(_arguments.activation(activation, call) or "none"),
            "algorithm": _arguments.algorithm(algorithm, call), "threads": _arguments.threads(threads, call) or 0}


def _check_shapes(a, b, bias):
    """Shapes as they were given; a vector is a row on the left, a column on the right."""
    if len(a) == 0 or len(b) == 0:
        raise ValueError(f"matmul: expected two tensors of one dimension or more, got shapes {tuple(a)} and {tuple(b)}")
    if a[-1] != (b[0] if len(b) == 1 else b[-2]):
        raise ValueError(f"matmul: the columns of a are not as many as the rows of b: got shapes {tuple(a)} and {tuple(b)}")
    if bias is not None and len(b) == 1:
        raise ValueError(f"matmul: a bias needs columns to be added to, got b of shape {tuple(b)}")
    if bias is not None and (len(bias) != 1 or bias[0] != b[-1]):
        raise ValueError(f"matmul: expected a bias of shape ({b[-1]},), one number for each column, got {tuple(bias)}")


def _check_matrices(a, b, bias):
    """Shapes as the operation itself takes them."""
    if len(a) < 2 or len(b) < 2:
        raise ValueError(f"matmul: expected two matrices or batches of them, got shapes {tuple(a)} and {tuple(b)}")
    _check_shapes(a, b, bias)


def _known(activation, dtype=torch.float32):
    if activation not in _ACTIVATIONS:
        raise ValueError(f"matmul: unknown activation {activation!r}: expected None, {', '.join(map(repr, list(_ACTIVATIONS)[1:]))}")
    if activation in ("gelu", "silu") and not dtype.is_floating_point:
        raise TypeError(f"matmul: a product of {dtype} has no activation {activation!r}: expected None or 'relu'; "
                        "convert a and b to torch.float32 first")
    return activation


def _check_bias(a, bias, dtype):
    """Where it is and what it is made of; `dtype` is that of the result."""
    sums = torch.float32 if a.dtype.itemsize == 2 else dtype
    if bias.device != a.device:
        raise BufferError(f"matmul: expected a bias on {a.device}, as a and b, got {bias.device}")
    if bias.dtype not in (a.dtype, sums):
        both = sums if sums == a.dtype else f"{sums} or {a.dtype}"
        raise TypeError(f"matmul: bias has elements of {bias.dtype}: expected {both}; convert it first")


def _result(a, b, bias, dtype):
    """An empty result with contiguous rows. Checks all that does not need the elements."""
    if a.device != b.device or a.device.type not in ("cpu", "cuda", "meta"):
        raise BufferError(f"matmul: expected two tensors on one device, the CPU or a CUDA GPU, got {a.device} and {b.device}")
    if a.dtype != b.dtype or str(a.dtype).removeprefix("torch.") not in _core.multiplied_dtypes():
        raise TypeError(f"matmul: expected two tensors of one type of {_arrays.operand_dtypes('torch.')}, got {a.dtype} and {b.dtype}")
    own = torch.int32 if a.dtype.itemsize == 1 else a.dtype
    dtype = own if dtype is None else dtype
    if dtype != own and not (a.dtype.itemsize == 2 and dtype == torch.float32):
        raise TypeError(f"matmul: expected a result of {own}{' or torch.float32' if a.dtype.itemsize == 2 else ''}, got {dtype}")
    for name, tensor in (("a", a), ("b", b), ("bias", bias)):
        _arrays.check_strided(tensor, name)
    _check_matrices(a.shape, b.shape, None if bias is None else bias.shape)
    if bias is not None:
        _check_bias(a, bias, dtype)
    try:
        batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except RuntimeError:
        raise ValueError(f"matmul: the batches do not broadcast: got shapes {tuple(a.shape)} and {tuple(b.shape)}") from None
    return a.new_empty((*batch, a.shape[-2], b.shape[-1]), dtype=dtype)


@torch.library.custom_op("tessera::matmul", mutates_args=())
def _matmul(a: torch.Tensor, b: torch.Tensor, bias: Optional[torch.Tensor] = None, *, activation: str = "none",
            alpha: float = 1.0, algorithm: str = "auto", dtype: Optional[torch.dtype] = None, threads: int = 0) -> torch.Tensor:
    c = _result(a, b, bias, dtype)
    if bias is not None:
        bias = bias.detach().to(torch.float32 if a.dtype.itemsize == 2 else c.dtype).contiguous()
    _multiply(a.detach(), b.detach(), out=c, bias=bias, activation=_known(activation, a.dtype), alpha=alpha, algorithm=algorithm,
              threads=threads or None)
    return c


@_matmul.register_fake
def _fake(a, b, bias=None, *, activation="none", alpha=1.0, algorithm="auto", dtype=None, threads=0):
    _core.check_algorithm(algorithm)
    _known(activation, a.dtype)
    return _result(a, b, bias, dtype)


def _save(ctx, inputs, keyword_only_inputs, output):
    ctx.how = keyword_only_inputs
    ctx.save_for_backward(*inputs, output if keyword_only_inputs["activation"] == "relu" else None)


def _product(a, b, how):
    wide = torch.promote_types(a.dtype, b.dtype)
    return torch.ops.tessera.matmul(a.to(wide), b.to(wide), alpha=how["alpha"], algorithm=how["algorithm"], threads=how["threads"])


def _summed_to(gradient, like):
    return gradient.sum_to_size(like.shape).to(like.dtype)


def _before_activation(how, saved, dy):
    """dZ of Z = alpha * A B + bias. Z itself is recomputed if its activation needs it."""
    a, b, bias, y = saved
    activation = how["activation"]
    if activation == "none":
        return dy
    if activation == "relu":
        return torch.ops.aten.threshold_backward(dy, y, 0)
    z = torch.ops.tessera.matmul(a, b, bias, **{**how, "activation": "none"})
    if activation == "gelu":
        return torch.ops.aten.gelu_backward(dy, z)
    share = torch.sigmoid(z)
    return dy * share * (1 + z * (1 - share))


def _backward(ctx, dy):
    a, b, bias, _ = saved = ctx.saved_tensors  # read once: checkpoint() provides them once
    dz = _before_activation(ctx.how, saved, dy)
    da = db = dbias = None
    if ctx.needs_input_grad[0]:
        da = _summed_to(_product(dz, b.mT, ctx.how), a)
    if ctx.needs_input_grad[1]:
        one = b.ndim == 2 and a.ndim > 2  # then one product sums over the batch too
        left, right = (a.flatten(0, -2), dz.flatten(0, -2)) if one else (a, dz)
        db = _summed_to(_product(left.mT, right, ctx.how), b)
    if bias is not None and ctx.needs_input_grad[2]:
        dbias = dz.sum(tuple(range(dz.ndim - 1))).to(bias.dtype)
    return da, db, dbias


_matmul.register_autograd(_backward, setup_context=_save)
_library = torch.library.Library("tessera", "FRAGMENT")  # registrations last as long as it


def _only_backwards(autograd):
    """What PyTorch can derive of an operation of this kind; the rest in a sentence. It would drop the tangents of forward mode, so that
    the derivative would be zero, and refuses torch.func.grad with words about its own insides."""
    def kernel(keyset, a, b, bias=None, **how):
        for name, tensor in (("a", a), ("b", b), ("bias", bias)):
            if tensor is not None and forward_ad.unpack_dual(tensor).tangent is not None:
                raise NotImplementedError(f"matmul: {name} carries a tangent, and forward mode (jvp, jacfwd) is not supported: expected "
                                          "reverse mode, such as backward(), torch.autograd.grad or torch.autograd.functional.jvp")
        try:
            return autograd(keyset, a, b, bias, **how)
        except RuntimeError as error:
            if "override the setup_context staticmethod" not in str(error):
                raise
        raise NotImplementedError("matmul: torch.func.grad, vjp and jacrev do not know this operation: expected backward(), "
                                  "torch.autograd.grad or torch.autograd.functional")
    return kernel


for _key in ("AutogradCPU", "AutogradCUDA"):
    _library.impl("matmul", _only_backwards(make_autograd_impl(torch.ops.tessera.matmul.default, _matmul)), _key, with_keyset=True)


def _autocast(device_type):
    """Inside torch.autocast the floating operands have its type, as those of torch.matmul; float64 stays."""
    def cast(x):
        lower = x is not None and x.is_floating_point() and x.dtype != torch.float64 and x.device.type == device_type
        return x.to(torch.get_autocast_dtype(device_type)) if lower else x

    def kernel(_, a, b, bias=None, **how):
        with torch.autocast(device_type, enabled=False):
            return torch.ops.tessera.matmul(cast(a), cast(b), cast(bias), **how)
    return kernel


for _type, _key in (("cpu", "AutocastCPU"), ("cuda", "AutocastCUDA")):
    _library.impl("matmul", _autocast(_type), _key, with_keyset=True)


def _in_front(tensor, dim, rank):
    """The tensor with its dimension `dim` in front, and this many after it."""
    if dim is None:
        return tensor
    tensor = tensor.movedim(dim, 0)
    return tensor[(slice(None),) + (None,) * (rank + 1 - tensor.ndim)]


def _shape_of_one(tensor, dim):
    return tuple(n for i, n in enumerate(tensor.shape) if dim is None or i != dim % tensor.ndim)


@_matmul.register_vmap
def _vmap(info, in_dims, a, b, bias=None, *, activation="none", **how):
    """One product with one more leading batch dimension. A bias for each of them is added after it."""
    a_dim, b_dim, bias_dim = (*in_dims, None)[:3]
    _check_matrices(*(None if x is None else _shape_of_one(x, dim) for x, dim in ((a, a_dim), (b, b_dim), (bias, bias_dim))))
    rank = max(x.ndim - (d is not None) for x, d in ((a, a_dim), (b, b_dim)))
    a, b = _in_front(a, a_dim, rank), _in_front(b, b_dim, rank)
    if bias_dim is None:
        return torch.ops.tessera.matmul(a, b, bias, activation=activation, **how), 0
    z = torch.ops.tessera.matmul(a, b, **how)
    _known(activation, a.dtype)
    _check_bias(a, bias, z.dtype)
    z = z if a_dim is not None or b_dim is not None else z[None]
    return _ACTIVATIONS[activation](z + _in_front(bias, bias_dim, rank).to(z.dtype)), 0
