"""Arrays that claim to be on a GPU: what is refused before any access. Needs neither a GPU nor CUDA."""
import ctypes

import numpy as np
import pytest

import tessera
from tessera import _arrays

INT64, INT32 = ctypes.c_int64, ctypes.c_int32
CUDA = 2


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", INT32), ("device_id", INT32), ("ndim", INT32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(INT64)), ("strides", ctypes.POINTER(INT64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAME = ctypes.c_char_p(b"dltensor")


class OnGpu:
    """An array of float32 in the memory of NumPy, said to be that of a GPU."""

    def __init__(self, array):
        self.array, self.written = array, []
        shape, strides = ((INT64 * array.ndim)(*numbers) for numbers in (array.shape, [stride // 4 for stride in array.strides]))
        self.managed = Managed(DLTensor(array.ctypes.data, CUDA, 0, array.ndim, 2, 32, 1, shape, strides, 0), None, None)

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), NAME, None)

    def __dlpack_device__(self):
        return CUDA, 0

    def __setitem__(self, where, value):
        self.written.append((where, value))


def on_gpu(*shape):
    return OnGpu(np.ones(shape, np.float32))


def test_c_is_looked_at_before_it_is_written_to_out():
    a, b = on_gpu(3, 4), on_gpu(4, 2)
    for c, exception, message in [(on_gpu(1, 2), ValueError, r"c has shape \(1,2\): expected \(3,2\)"),
                                  (on_gpu(2), ValueError, r"c has shape \(2,\)"),
                                  (np.ones((3, 2), np.float32), BufferError, "a is on cuda:0 and c on the CPU")]:
        out = on_gpu(3, 2)
        with pytest.raises(exception, match=message):
            tessera.matmul(a, b, out=out, c=c)
        assert out.written == []
    out = on_gpu(3, 2)
    with pytest.raises((ValueError, NotImplementedError), match="unknown algorithm|not available"):
        tessera.matmul(a, b, out=out, c=on_gpu(3, 2), algorithm="nonsense")
    with pytest.raises(BufferError, match="overlaps A"):
        tessera.matmul(a, b, out=OnGpu(a.array[:, :2]), c=on_gpu(3, 2))
    bias = np.ones(8, np.float32)
    with pytest.raises(BufferError, match="out shares memory with bias"):
        tessera.matmul(a, b, out=OnGpu(bias[:6].reshape(3, 2)), bias=OnGpu(bias[:2]))
    assert out.written == []


def test_results_come_from_libraries_that_have_memory_there(monkeypatch):
    a, b = on_gpu(3, 4), on_gpu(4, 2)
    with pytest.raises(TypeError, match="a is a OnGpu on cuda:0, whose library cannot allocate the result: give out, or an array of CuPy"):
        tessera.matmul(a, b)
    monkeypatch.setattr(_arrays, "kind_of", lambda array: "jax")
    with pytest.raises(TypeError, match="a is an array of JAX on cuda:0, .*: call tessera.jax.matmul"):
        tessera.matmul(a, b)


def test_a_device_that_was_asked_for_is_compared():
    with pytest.raises(BufferError, match="a is on cuda:0: expected cpu"):
        tessera.matmul(on_gpu(3, 4), on_gpu(4, 2), device="CPU")
    with pytest.raises(BufferError, match="a is on cuda:0: expected cuda:1"):
        tessera.matmul(on_gpu(3, 4), on_gpu(4, 2), device="cuda:1")
