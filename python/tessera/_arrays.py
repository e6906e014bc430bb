"""The array libraries: which one an array is from, and how to make a result of its kind."""
import sys

import numpy

from . import _core

_NUMPY_TYPES = {name: numpy.dtype(name) for name in _core.multiplied_dtypes() if hasattr(numpy, name)}


def numpy_dtype(name):
    """The NumPy element type of that name; ml_dtypes has those that NumPy lacks."""
    if name in _NUMPY_TYPES:
        return _NUMPY_TYPES[name]
    try:
        import ml_dtypes
    except ImportError:
        raise TypeError(f"matmul: NumPy has no {name}: install ml_dtypes") from None
    return numpy.dtype(getattr(ml_dtypes, name))


def kind_of(array):
    """'numpy', 'jax', 'torch', 'cupy', 'namespace' (has __array_namespace__) or '' for other memory."""
    if isinstance(array, numpy.ndarray):
        return "numpy"
    root = type(array).__module__.partition(".")[0]
    if root in ("jaxlib", "jax"):
        return "jax"
    if root in ("torch", "cupy"):
        return root
    return "namespace" if hasattr(array, "__array_namespace__") else ""


_F8 = ("float8_e4m3fn", "float8_e5m2")


def operand_dtypes(prefix=""):
    """The element types of operands as messages list them."""
    return ", ".join(prefix + name for name in (*_core.multiplied_dtypes(), *_F8))


def widened(a, b, dtype):
    """(a, b, dtype of the result). Two arrays of f8 become copies in bfloat16, which is exact, because no algorithm multiplies f8; their
    result is float32 unless dtype says otherwise. Other arrays are returned unchanged."""
    if not all(str(getattr(each, "dtype", "")).removeprefix("torch.") in _F8 for each in (a, b)):
        return a, b, dtype
    def wide(array):
        return array.bfloat16() if kind_of(array) == "torch" else array.astype(numpy_dtype("bfloat16"))
    sums = sys.modules["torch"].float32 if kind_of(a) == "torch" else "float32"
    return wide(a), wide(b), sums if dtype is None else dtype


def check_strided(array, name, call="matmul"):
    """Refuses PyTorch tensors that are not dense in memory with a stride for each dimension."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return
    if array.is_nested:
        raise TypeError(f"{call}: {name} is a nested tensor: expected one block of memory; give the tensors of its unbind() one by one, "
                        "or its to_padded_tensor(0.0)")
    if array.layout != torch.strided:
        raise TypeError(f"{call}: {name} has layout {array.layout}: expected torch.strided; give its to_dense()")
    if array.is_quantized:
        raise TypeError(f"{call}: {name} is quantized, of {array.dtype}: expected plain numbers; give its dequantize()")


def check_plain(array, name, call="matmul"):
    """Every array of a caller passes here, except those of JAX in tessera.jax and of PyTorch in tessera.torch. Refuses what is more
    than its numbers, or less: NumPy's masks, arrays inside jax.jit, PyTorch's views that are negated or conjugated only where they are
    read, and tensors whose gradient this product would lose."""
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError(f"{call}: {name} is a masked array; products ignore masks: give its filled() numbers")
    jax, torch = sys.modules.get("jax"), sys.modules.get("torch")
    if jax is not None and isinstance(array, jax.core.Tracer):
        raise TypeError(f"{call}: {name} is a traced array of JAX; inside jit, grad and vmap call tessera.jax.matmul")
    if torch is None or not isinstance(array, torch.Tensor):
        return
    check_strided(array, name, call)
    if array.is_meta:
        raise BufferError(f"{call}: {name} is a tensor on the device meta, which holds no numbers: expected the CPU or a CUDA GPU; call "
                          "tessera.torch.matmul for the shape of a product")
    if array.is_neg() or array.is_conj():
        raise TypeError(f"{call}: {name} is a view that PyTorch negates or conjugates where it is read: "
                        f"give {name}.resolve_{'neg' if array.is_neg() else 'conj'}()")
    if array.requires_grad and torch.is_grad_enabled():
        raise TypeError(f"{call}: {name} requires a gradient, which is not recorded here: call tessera.torch.matmul, "
                        f"or give {name}.detach()")


def in_numpy(array, name, call):
    """An array of NumPy in the same memory, of any array that is checked and that DLPack hands over."""
    if getattr(array, "requires_grad", False):
        # PyTorch exports no tensor that requires a gradient, even if none is recorded
        array = array.detach()
    try:
        seen = numpy.from_dlpack(array)
    except (RuntimeError, BufferError, TypeError) as error:
        raise BufferError(f"{call}: NumPy does not see the memory of {name}: {error}: expected memory of the CPU and elements that "
                          "NumPy has; give a copy of NumPy's") from error
    if seen.flags.writeable or not hasattr(array, "__array__"):
        return seen
    # Before NumPy 2.1 all arrays from DLPack are read-only; the library's own conversion keeps them writable.
    own = numpy.asarray(array)
    is_same = (own.ctypes.data, own.shape, own.strides, own.dtype) == (seen.ctypes.data, seen.shape, seen.strides, seen.dtype)
    return own if is_same else seen


def empty_like(array, shape, dtype, device):
    """Memory for a product of `array`, which is on `device`; finish() turns it into the caller's array."""
    kind = kind_of(array)
    if device != "cpu" and kind not in ("torch", "cupy", "namespace"):
        what, instead = {"jax": ("an array of JAX", "call tessera.jax.matmul, or give out")}.get(
            kind, (f"a {type(array).__name__}", "give out, or an array of CuPy or PyTorch"))
        raise TypeError(f"matmul: a is {what} on {device}, whose library cannot allocate the result: {instead}")
    if kind == "torch":
        import torch
        return torch.empty(shape, dtype=getattr(torch, dtype), device=array.device)
    if kind == "cupy":
        import cupy
        with array.device:
            return cupy.empty(shape, dtype=numpy_dtype(dtype))
    if kind == "namespace":
        xp = array.__array_namespace__()
        return xp.empty(shape, dtype=getattr(xp, dtype), device=array.device)
    if kind == "jax":
        return _aligned(shape, numpy_dtype(dtype))
    return numpy.empty(shape, numpy_dtype(dtype))


def _aligned(shape, dtype):
    """Memory that JAX can adopt without a copy: its buffers begin at multiples of 64 bytes."""
    size = dtype.itemsize
    for extent in shape:
        size *= extent
    room = numpy.empty(size + 64, numpy.uint8)
    start = -room.ctypes.data % 64
    return room[start:start + size].view(dtype).reshape(shape)


def finish(array, result):
    """The result as an array of the kind of `array`."""
    kind = kind_of(array)
    if kind == "jax":
        import jax
        if result.dtype.kind == "V":  # NumPy does not export bfloat16
            return jax.device_put(result, next(iter(array.devices())))
        made = jax.dlpack.from_dlpack(result)
        return made if made.devices() == array.devices() else jax.device_put(made, next(iter(array.devices())))
    if kind in ("numpy", "") and result.ndim == 0:
        return result[()]
    return result


def check_writable(out):
    """JAX arrays are immutable, even if their memory is writable."""
    if kind_of(out) == "jax":
        raise BufferError("matmul: out is an array of JAX, which cannot be written; take the result instead")


def written(out):
    """Tells PyTorch that a tensor was modified, so that no gradient is computed from its old elements."""
    if kind_of(out) == "torch" and not out.is_inference():
        import torch
        if hasattr(torch.autograd.graph, "increment_version"):
            torch.autograd.graph.increment_version(out)
        else:  # before PyTorch 2: a write to no element counts too
            out.detach()[..., :0].zero_()
    return out


def assign(out, c):
    """Writes c to out, both on a GPU and of one shape, in the order of the library's own stream."""
    out[...] = c


def stream_of(array):
    """The CUDA stream that the array's library works on now, as a number; 0 is the legacy default stream."""
    kind = kind_of(array)
    if kind == "torch":
        import torch
        return torch.cuda.current_stream(array.device).cuda_stream
    if kind == "cupy":
        import cupy
        return cupy.cuda.get_current_stream().ptr
    return 0
