"""Arrays of other libraries: DLPack of every version, the array API, kinds that come back, nothing copied."""
import numpy as np
import pytest

import tessera
from tessera._core import Operand

A = np.arange(12.0, dtype=np.float32).reshape(3, 4)


class Old:
    """A producer from before the array API of 2023: its __dlpack__ knows no max_version."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class New(Old):
    """One of today, which gives what it is asked for."""
    asked = None

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self.asked = max_version
        if max_version is None or np.lib.NumpyVersion(np.__version__) < "2.1.0":
            return self.array.__dlpack__()
        return self.array.__dlpack__(max_version=max_version)


class Namespace(New):
    """An array of a library with __array_namespace__: results are made by it."""
    device = "cpu"
    float32 = np.float32

    def __array_namespace__(self, api_version=None):
        return type(self)

    @classmethod
    def empty(cls, shape, *, dtype, device):
        assert device == "cpu"
        return cls(np.empty(shape, dtype))


@pytest.mark.parametrize("producer", [Old, New])
def test_dlpack_of_every_version_is_taken_without_a_copy(producer):
    for array in (A, A[::-1, ::2], A.T):
        operand = Operand(producer(array), "a")
        assert operand.address == array.ctypes.data and operand.shape == array.shape
        assert operand.strides == tuple(stride // 4 for stride in array.strides)
    np.testing.assert_array_equal(tessera.matmul(producer(A), producer(A.T)), tessera.matmul(A, A.T))
    out = np.zeros((3, 3), np.float32)
    wrapped = producer(out)
    assert tessera.matmul(A, A.T, out=wrapped) is wrapped
    np.testing.assert_array_equal(out, tessera.matmul(A, A.T))


def test_an_output_is_asked_for_with_a_version_that_can_say_read_only():
    new = New(np.zeros((3, 3), np.float32))
    tessera.matmul(A, A.T, out=new)
    assert new.asked is not None and new.asked[0] >= 1


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="NumPy before 2.1 cannot say read-only by DLPack")
def test_read_only_memory_is_read_and_not_written():
    frozen = A.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(tessera.matmul(New(frozen), A.T), tessera.matmul(A, A.T))
    frozen = np.zeros((3, 3), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match="out is read-only"):
        tessera.matmul(A, A.T, out=New(frozen))


def test_the_producers_own_refusal_is_what_is_said():
    class Elsewhere:
        def __dlpack__(self, **_):
            raise BufferError("this array is on the moon")

    with pytest.raises(BufferError, match="on the moon"):
        tessera.matmul(Elsewhere(), A)


def test_a_library_of_the_array_api_makes_its_own_results():
    got = tessera.matmul(Namespace(A), Namespace(A.T))
    assert type(got) is Namespace
    np.testing.assert_array_equal(got.array, tessera.matmul(A, A.T))


def test_jax_arrays_come_back_as_jax_arrays():
    jax = pytest.importorskip("jax")
    a, b = jax.numpy.asarray(A), jax.numpy.asarray(A.T)
    got = tessera.matmul(a, b)
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(np.asarray(got), tessera.matmul(A, A.T))
    assert Operand(a, "a").address == a.unsafe_buffer_pointer()
    half = tessera.matmul(a.astype(jax.numpy.bfloat16), b.astype(jax.numpy.bfloat16))
    assert isinstance(half, jax.Array) and half.dtype == jax.numpy.bfloat16
    with pytest.raises(BufferError, match="an array of JAX, which cannot be written"):
        tessera.matmul(a, b, out=got)
    with pytest.raises(TypeError, match="tessera.jax.matmul"):
        jax.jit(tessera.matmul)(a, b)
    for traced in (tessera.PackedMatrix, lambda x: tessera.matmul(a, b, bias=x[:, 0]), lambda x: tessera.matmul(A, A.T, c=x)):
        with pytest.raises(TypeError, match="tessera.jax.matmul"):
            jax.jit(traced)(got)


def test_torch_tensors_come_back_as_torch_tensors():
    torch = pytest.importorskip("torch")
    a, b = torch.from_numpy(A), torch.from_numpy(A).T
    got = tessera.matmul(a, b)
    assert isinstance(got, torch.Tensor) and Operand(b, "b").address == b.data_ptr()
    np.testing.assert_array_equal(got.numpy(), tessera.matmul(A, A.T))
    half = tessera.matmul(a.bfloat16(), b.bfloat16(), dtype=torch.float32)
    assert half.dtype == torch.float32
    out = torch.zeros(3, 3)
    assert tessera.matmul(a, b, out=out, c=torch.ones(3, 3)) is out
    assert torch.equal(out, got + 1)


@pytest.mark.parametrize("name, call", [
    ("a", lambda x: tessera.matmul(x, np.eye(3, dtype=np.float32))), ("b", lambda x: tessera.matmul(np.eye(3, dtype=np.float32), x)),
    ("b", lambda x: tessera.PackedMatrix(x)), ("bias", lambda x: tessera.matmul(A, A.T, bias=x[0])),
    ("c", lambda x: tessera.matmul(A, A.T, c=x)), ("out", lambda x: tessera.matmul(A, A.T, out=x)),
    ("a", lambda x: tessera.plan(x, np.eye(3, dtype=np.float32)))])
def test_what_a_torch_tensor_is_beside_its_numbers_is_not_dropped(name, call):
    torch = pytest.importorskip("torch")
    negated = torch.view_as_complex(torch.ones(3, 3, 2)).conj().imag
    assert negated.is_neg()
    with pytest.raises(TypeError, match=rf"{name} is a view .* give {name}.resolve_neg\(\)"):
        call(negated)
    call(negated.resolve_neg())
    with pytest.raises(TypeError, match=rf"{name} is a view .* give {name}.resolve_conj\(\)"):
        call(torch.ones(3, 3, dtype=torch.complex64).conj())
    learned = torch.ones(3, 3, requires_grad=True)
    with pytest.raises(TypeError, match=rf"{name} requires a gradient, .* tessera.torch.matmul, or give {name}.detach\(\)"):
        call(learned)
    call(learned.detach())
    with torch.no_grad():
        call(learned)
