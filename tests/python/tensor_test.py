"""tessera.Tensor: an array through a layout, the same elements as NumPy finds, in the same memory."""
import itertools

import numpy as np
import pytest

import tessera
from tessera import Layout, Tensor, layout


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::-1, 1::2], lambda x: x.T, lambda x: x[1], lambda x: x[:, :0],
                                  lambda x: np.broadcast_to(x[0], (3, 6))])
def test_has_the_elements_of_its_array(view):
    array = view(np.arange(24.0).reshape(4, 6))
    tensor = Tensor(array)
    assert tensor.dtype == array.dtype and np.shape(tensor.numpy()) == array.shape
    np.testing.assert_array_equal(tensor.numpy(), array)
    for coordinate in itertools.product(*map(range, array.shape)):
        assert tensor[coordinate] == array[coordinate]


def test_is_a_view():
    array = np.zeros((4, 6), np.int32)
    Tensor(array)[1, 2] = 5
    Tensor(array).tile((2, 2), (1, 2))[1, 1] = 7
    assert array[1, 2] == 5 and array[3, 5] == 7 and array.sum() == 12
    copied = Tensor(array).numpy()
    copied[:] = 1
    assert array.sum() == 12
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        Tensor(array)[0, 0] = 1


def test_tiles_are_numpys_slices():
    array = np.arange(35.0).reshape(5, 7)
    for i, j in itertools.product(range(3), range(3)):
        np.testing.assert_array_equal(Tensor(array).tile((2, 3), (i, j)).numpy(), array[2 * i:2 * i + 2, 3 * j:3 * j + 3])
    np.testing.assert_array_equal(Tensor(array[::-1]).tile((4, 4), (0, 0)).tile((2, 2), (1, 1)).numpy(), array[::-1][2:4, 2:4])


def test_memory_through_any_layout():
    memory = np.arange(32)
    blocks = Tensor(memory, layout.zipped_divide(tessera.row_major(4, 8), (2, 4)))
    np.testing.assert_array_equal(blocks.numpy()[:, 1], memory.reshape(4, 8)[2:, :4].ravel(order="F"))
    assert blocks[(1, 2), (0, 1)] == memory.reshape(4, 8)[1, 6]
    swizzled = Tensor(memory.reshape(4, 8), layout.composition(tessera.swizzle(2, 0, 3), "(4,8):(8,1)"))
    assert [swizzled[i, 0] for i in range(4)] == [0, 9, 18, 27]
    np.testing.assert_array_equal(swizzled.tile((2, 2), (1, 0)).numpy(), swizzled.numpy()[2:4, :2])
    turned = Tensor(memory.reshape(4, 8))
    np.testing.assert_array_equal(turned.through(layout.transpose(turned.layout)).numpy(), memory.reshape(4, 8).T)


def test_the_picture_shows_the_elements():
    tensor = Tensor(np.array([[0.5, -1, np.nan], [1e9, 2, 3]], np.float32))
    picture = tensor._repr_svg_()
    assert all(f">{text}</text>" in picture for text in ("0.5", "-1", "nan", "1e+09")) and "index 5" in picture
    assert 'class="mark"' in tensor.svg(tile=(1, 2), at=(1, 0)) and 'class="mark"' not in picture
    assert ">True</text>" in Tensor(np.array([True])).svg()
    assert repr(tensor) == "<tessera.Tensor float32 (2,3):(3,1)>" and str(tensor) == str(tensor.numpy())


@pytest.mark.parametrize("array, text", [
    (np.array([None, "a<b"], object), "a&lt;b"), (np.array([{}], object), "{}"), (np.ones(3, [("x", "f4")]), ">(1"),
    (np.zeros(3, "V1"), "\\x00"), (np.array([1j]), "1j"), (np.array(["2026-11-22"], "M8[D]"), "2026-11-22"),
    (np.ones(2, np.longdouble), ">1<")])
def test_the_picture_shows_elements_of_every_type(array, text):
    assert text in Tensor(array)._repr_svg_()


def test_arrays_of_other_libraries_are_seen_where_they_lie():
    torch = pytest.importorskip("torch")
    array = torch.zeros(3, 4).T
    Tensor(array)[3, 2] = 1
    assert array[3, 2] == 1 and Tensor(array).layout == Layout((4, 3), (1, 4))


@pytest.mark.parametrize("wrong, exception, message", [
    (lambda: Tensor([1, 2]), TypeError, r"Tensor: the array is \[1, 2\], a list: expected an array of NumPy"),
    (lambda: Tensor(np.float64(1)), TypeError, "Tensor: the array is .*float64: expected an array"),
    (lambda: Tensor(np.zeros(3, "V0")), TypeError, r"elements of .V0, which take no memory"),
    (lambda: Tensor(np.array(1)), ValueError, "expected at least one axis"),
    (lambda: Tensor(np.zeros(3, [("x", "f4"), ("y", "u1")])["x"]), ValueError, "strides of whole elements, of 4 bytes"),
    (lambda: Tensor(np.zeros(8)[::2], "4:1"), ValueError, "has gaps or repeats elements"),
    (lambda: Tensor(np.zeros(8), "(4,2):(2,2)"), ValueError, r"has indices from 0 to 8: expected 0 to 7"),
    (lambda: Tensor(np.zeros(8), "4:-1"), ValueError, r"has indices from -3 to 0: expected 0 to 7"),
    (lambda: Tensor(np.zeros(8)).through("9:1"), ValueError, "indices from 0 to 8"),
    (lambda: Tensor(np.zeros((4, 2)))[4, 0], IndexError, r"no element \(4, 0\) in \(4,2\):\(2,1\)"),
    (lambda: Tensor(np.zeros((4, 2)))[0, -1], IndexError, "no element"),
    (lambda: Tensor(np.zeros((4, 2)))[1 << 40, 0], IndexError, "no element"),
    (lambda: Tensor(np.zeros((4, 2)))[0, 0, 0], IndexError, "no element"),
    (lambda: Tensor(np.zeros((4, 2)))["x"], TypeError, "a coordinate is 'x', a str"),
    (lambda: Tensor(np.zeros((4, 2))).tile((2, 2), (2, 0)), ValueError, "tile: there is no tile"),
])
def test_mistakes_are_exceptions(wrong, exception, message):
    with pytest.raises(exception, match=message):
        wrong()


def test_numpy_sees_the_elements_and_a_product_asks_for_them():
    tensor = Tensor(np.arange(6.0), "(2,3):(1,2)")
    np.testing.assert_array_equal(np.asarray(tensor), tensor.numpy())
    assert np.array(tensor, np.float32).dtype == np.float32
    with pytest.raises(TypeError, match="a is a tessera.Tensor with its own layout: expected an array; give its numpy"):
        tessera.matmul(tensor, np.eye(3))
