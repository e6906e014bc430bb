"""matmul for everything that the compiled fast way does not take, and plan."""
from . import _arrays, _core
from ._core import Operand, PackedMatrix


def _operand(array, name, write=False):
    _arrays.check_plain(array, name)
    return Operand(array, name, write)


def _left_and_right(a, b, transpose_a, transpose_b):
    left = _operand(a, "a")
    if transpose_a:
        left.transpose()
    if isinstance(b, PackedMatrix):
        if transpose_b:
            raise ValueError("matmul: a PackedMatrix is not transposed here: pack it with transpose=True")
        return left, b
    right = _operand(b, "b")
    if transpose_b:
        right.transpose()
    return left, right


def _result_dtype(left, dtype, out):
    """The name of the result's element type: asked for, that of out, or the usual one."""
    possible = _core.result_dtypes(left.dtype)
    wanted = _dtype_name(dtype) if dtype is not None else out.dtype if out is not None else possible[0]
    if wanted not in possible:
        raise TypeError(f"matmul: a product of {left.dtype} is {' or '.join(possible)}, not {wanted}")
    return wanted


def _dtype_name(dtype):
    """'float32' of 'f32', numpy.float32, numpy.dtype('float32'), jax.numpy.float32 or torch.float32."""
    if isinstance(dtype, str):
        return _core.dtype_name(dtype)
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]
    return _core.dtype_name(name)


def _check_device(left, device):
    if device is None:
        return
    wanted = "cuda:0" if str(device) == "cuda" else str(device)
    if wanted != left.device:
        raise BufferError(f"matmul: a lies on {left.device}: expected {wanted}; move it there first")


def _beta(beta, c, out):
    if beta is None:
        return 0.0 if c is None else 1.0
    if beta != 0 and c is None and out is None:
        raise ValueError("matmul: beta scales c, or what out holds: give c or out")
    return beta


def matmul(a, b, /, *, out=None, transpose_a=False, transpose_b=False, alpha=1.0, beta=None, c=None, bias=None,
           activation=None, dtype=None, algorithm="auto", tile=None, device=None, threads=None):
    left, right = _left_and_right(a, b, transpose_a, transpose_b)
    _check_device(left, device)
    beta = _beta(beta, c, out)
    shape = _core.product_shape(left, right)
    target = None
    if out is not None:
        _arrays.check_writable(out)
        target = _operand(out, "out", write=True)
    wanted = _result_dtype(left, dtype, target)
    if out is None:
        result = _arrays.empty_like(a, shape, wanted)
        target = Operand(result, "out", write=True)
    elif target.dtype != wanted:
        raise TypeError(f"matmul: out has elements of {target.dtype}: expected {wanted}")
    else:
        result = out
    vector = None if bias is None else _operand(bias, "bias")
    options = {"alpha": alpha, "beta": beta, "activation": activation, "algorithm": algorithm, "tile": tile, "threads": threads}
    if left.device != "cpu":
        options["stream"] = _arrays.stream_of(a)
    added = None
    if c is not None and target.device == "cpu":
        added = _operand(c, "c")
    elif c is not None and beta != 0:
        _arrays.check_plain(c, "c")
        result[...] = c
    _core.multiply(left, right, target, vector, added, **options)
    return out if out is not None else _arrays.finish(a, result)


def plan(a, b, /, *, out=None, transpose_a=False, transpose_b=False, alpha=1.0, beta=None, c=None, bias=None,
         activation=None, dtype=None, algorithm="auto", tile=None, device=None, threads=None):
    """What matmul with these arguments decides, and why; nothing is multiplied. Returns a Plan, which print() shows."""
    left, right = _left_and_right(a, b, transpose_a, transpose_b)
    _check_device(left, device)
    target = None if out is None else _operand(out, "out", write=True)
    vector = None if bias is None else _operand(bias, "bias")
    made, _ = _core.plan(left, right, _result_dtype(left, dtype, target), vector, alpha=alpha, beta=_beta(beta, c, out),
                         activation=activation, algorithm=algorithm, tile=tile, threads=threads)
    return made


_core._set_general(matmul)
