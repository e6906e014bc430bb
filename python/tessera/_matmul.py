"""matmul for all arguments that the compiled fast path does not handle, and plan."""
from . import _arguments, _arrays, _core
from ._core import Operand, PackedMatrix, Plan
from ._tensor import Tensor


def _check(array, name):
    if isinstance(array, Tensor):
        raise TypeError(f"matmul: {name} is a tessera.Tensor with its own layout: expected an array; give its numpy(), a copy")
    _arrays.check_plain(array, name)


def _operand(array, name, write=False):
    _check(array, name)
    return Operand(array, name, write)


def _given(array, name, write=False):
    return None if array is None else _operand(array, name, write)


def _left_and_right(a, b, transpose_a, transpose_b):
    left = Operand(a, "a")
    if _arguments.flag("transpose_a", transpose_a):
        left.transpose()
    if isinstance(b, PackedMatrix):
        if _arguments.flag("transpose_b", transpose_b):
            raise ValueError("matmul: a PackedMatrix is not transposed here: pack it with transpose=True")
        return left, b
    right = Operand(b, "b")
    if _arguments.flag("transpose_b", transpose_b):
        right.transpose()
    return left, right


def _widened(a, b, dtype, out):
    """_arrays.widened() of operands that are checked first: a copy would hide errors."""
    _check(a, "a")
    _check(b, "b")
    wide_a, wide_b, wide = _arrays.widened(a, b, dtype)
    return wide_a, wide_b, dtype if out is not None else wide


def _result_dtype(left, dtype, out):
    """The name of the result's element type: the requested one, that of out, or the usual one."""
    possible = _core.result_dtypes(left.dtype)
    wanted = _arguments.dtype_name(dtype) if dtype is not None else out.dtype if out is not None else possible[0]
    if wanted not in possible:
        raise TypeError(f"matmul: a product of {left.dtype} is {' or '.join(possible)}, not {wanted}")
    if out is not None and out.dtype != wanted:
        raise TypeError(f"matmul: out has elements of {out.dtype}: expected {wanted}")
    return wanted


def _device(left, device):
    """Where to multiply: OpenCL and AMD devices multiply arrays in host memory; for others the arrays decide."""
    wanted = _core.default_device() if device is None else _arguments.device_name(device)
    if wanted.startswith(("opencl", "hip")) and left.device == "cpu":
        return wanted
    if device is not None and wanted != left.device:
        raise BufferError(f"matmul: a is on {left.device}: expected {wanted}; move it there first")
    return left.device


def _beta(beta, c, out):
    if beta is None:
        return 0.0 if c is None else 1.0
    beta = _arguments.number("beta", beta)
    if beta != 0 and c is None and out is None:
        raise ValueError("matmul: beta scales c, or what out holds: give c or out")
    return beta


def _options(alpha, beta, c, out, activation, algorithm, tile, threads, arithmetic):
    return {"alpha": _arguments.number("alpha", alpha), "beta": _beta(beta, c, out), "activation": _arguments.activation(activation),
            "algorithm": _arguments.algorithm(algorithm), "tile": _arguments.tile(tile), "threads": _arguments.threads(threads),
            "arithmetic": _arguments.arithmetic(arithmetic)}


def matmul(a, b, /, *, out=None, transpose_a=False, transpose_b=False, alpha=1.0, beta=None, c=None, bias=None,
           activation=None, dtype=None, algorithm="auto", tile=None, device=None, threads=None, arithmetic="chain"):
    a, b, dtype = _widened(a, b, dtype, out)
    left, right = _left_and_right(a, b, transpose_a, transpose_b)
    options = _options(alpha, beta, c, out, activation, algorithm, tile, threads, arithmetic)
    options["device"] = _device(left, device)
    shape = _core.product_shape(left, right)
    result = out
    if out is None:
        result = _arrays.empty_like(a, shape, _result_dtype(left, dtype, None), left.device)
        target = Operand(result, "out", write=True)
    else:
        _arrays.check_writable(out)
        target = _operand(out, "out", write=True)
        _result_dtype(left, dtype, target)
    if left.device != "cpu":
        options["stream"] = _arrays.stream_of(a)
        options["copy"] = lambda: _arrays.assign(result, c)
    _core.multiply(left, right, target, _given(bias, "bias"), _given(c, "c"), **options)
    return _arrays.written(out) if out is not None else _arrays.finish(a, result)


def plan(a, b, /, *, out=None, transpose_a=False, transpose_b=False, alpha=1.0, beta=None, c=None, bias=None,
         activation=None, dtype=None, algorithm="auto", tile=None, device=None, threads=None, arithmetic="chain") -> Plan:
    """The plan of matmul for these arguments, with its reasons: checks them and multiplies nothing. Returns a Plan, which print() shows."""
    a, b, dtype = _widened(a, b, dtype, out)
    left, right = _left_and_right(a, b, transpose_a, transpose_b)
    options = _options(alpha, beta, c, out, activation, algorithm, tile, threads, arithmetic)
    options["device"] = _device(left, device)
    if out is not None:
        _arrays.check_writable(out)
    target = _given(out, "out", write=True)
    return _core.plan(left, right, _result_dtype(left, dtype, target), target, _given(bias, "bias"), _given(c, "c"), **options)


_core._set_general(matmul)
