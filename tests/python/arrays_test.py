"""Arrays of other libraries: DLPack of every version, the array API, kinds that come back, nothing copied."""
import weakref

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
    """A current version, which supports every request."""
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


class Again(Old):
    """A producer that gives one capsule again and again."""

    def __init__(self, array):
        super().__init__(array)
        self.capsule = array.__dlpack__()

    def __dlpack__(self, **_):
        return self.capsule


def test_a_capsule_is_taken_once():
    """Twice would free the memory twice."""
    class Released(np.ndarray):
        pass

    again = Again(A.copy().view(Released))
    memory = weakref.ref(again.array)
    np.testing.assert_array_equal(tessera.matmul(again, A.T), tessera.matmul(A, A.T))
    for call in (lambda: tessera.matmul(again, A.T), lambda: tessera.matmul(A.T, again), lambda: tessera.matmul(A, A.T, out=again)):
        with pytest.raises(BufferError, match=r"its __dlpack__ gives no DLPack capsule, or one that was used before: expected a new one"):
            call()
    again.array = None
    assert memory() is None, "and what was taken is given back"
    both = Again(np.eye(3))
    with pytest.raises(BufferError, match="b: its __dlpack__ gives .* one that was used before"):
        tessera.matmul(both, both)


def test_what_gives_no_capsule_is_refused():
    class Wrong(Old):
        def __dlpack__(self, **_):
            return 5

    with pytest.raises(BufferError, match="a: its __dlpack__ gives no DLPack capsule"):
        tessera.matmul(Wrong(A), A.T)


def test_arrays_of_a_class_of_their_own_come_back_plain():
    class Own(np.ndarray):
        pass

    for array in (A.view(Own), A.view(np.matrix)):
        got = tessera.matmul(array, A.T)
        assert type(got) is np.ndarray
        np.testing.assert_array_equal(got, tessera.matmul(A, A.T))


@pytest.mark.parametrize("made, message", [
    (lambda torch, x: torch.nested.nested_tensor([x, x]), "a nested tensor: expected one block of memory; give the tensors of its unbind"),
    (lambda torch, x: torch.nested.nested_tensor([x, x], layout=torch.jagged), "a nested tensor"),
    (lambda torch, x: x.to_sparse(), r"layout torch.sparse_coo: expected torch.strided; give its to_dense\(\)"),
    (lambda torch, x: x.to_sparse_csr(), "layout torch.sparse_csr"),
    (lambda torch, x: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8), r"quantized, of torch.qint8: expected plain numbers; give its dequantize"),
])
def test_torch_tensors_without_strides_are_refused(made, message):
    torch = pytest.importorskip("torch")
    x = torch.ones(3, 3)
    if "nested" in message and not hasattr(torch, "jagged"):
        pytest.skip("this PyTorch has no nested tensors with the layout torch.jagged")
    wrong = made(torch, x)
    for call in (lambda: tessera.matmul(wrong, x), lambda: tessera.matmul(x, wrong), lambda: tessera.matmul(x, x, out=wrong),
                 lambda: tessera.PackedMatrix(wrong), lambda: tessera.plan(wrong, x), lambda: tessera.Tensor(wrong)):
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(BufferError, match="a is a tensor on the device meta, which holds no numbers"):
        tessera.matmul(x.to("meta"), x)


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
    for traced in (tessera.PackedMatrix, tessera.Tensor, lambda x: tessera.matmul(a, b, bias=x[:, 0]), lambda x: tessera.matmul(A, A.T, c=x)):
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
    ("c", lambda x: tessera.matmul(A, A.T, c=x)), ("out", lambda x: tessera.matmul(A, A.T, out=x)), ("array", tessera.Tensor),
    ("x", lambda x: tessera.check_cuda("__global__ void k(const float*) {}", "k<<<1, 1>>>(x)", {"x": x})),
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
