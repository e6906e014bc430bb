"""Layouts in Python: the same values as in the command, coordinates, pictures."""
import itertools
import subprocess
import sys

import numpy as np
import pytest

import tessera
from tessera import _core, layout
from tessera.layout import Layout, Swizzle, Tiler


def test_text_and_tuples_make_the_same_layout():
    a = Layout("(4,2):(2,1)")
    assert str(a) == "(4,2):(2,1)" and repr(a) == "tessera.Layout('(4,2):(2,1)')"
    assert a == Layout((4, 2), (2, 1)) == tessera.row_major(4, 2) and hash(a) == hash(tessera.row_major(4, 2))
    assert a != tessera.col_major(4, 2) == tessera.column_major(4, 2) == Layout((4, 2)) and a != "(4,2):(2,1)"
    assert (a.shape, a.stride, a.rank, len(a)) == ((4, 2), (2, 1), 2, 2) and str(a[0]) == "4:2"
    assert [str(mode) for mode in a] == ["4:2", "2:1"]


def test_modes_are_found_as_in_a_sequence():
    a = Layout("((2,2),8,3):((1,16),2,64)")
    assert [str(mode) for mode in a] == [str(a[i]) for i in range(len(a))] == ["((2,2)):((1,16))", "8:2", "3:64"]
    assert a[-1] == a[2] and a[-3] == a[0] and a[np.int64(1)] == a[1]
    for mode in (3, -4):
        with pytest.raises(IndexError, match=f"has modes 0 to 2, not {mode}"):
            a[mode]
    assert [0, *a][0] == 0 and "8:2" in map(str, reversed(a))


def test_lists_are_tuples():
    assert Layout([4, [2, 2]], [4, [2, 1]]) == Layout((4, (2, 2)), (4, (2, 1))) and tessera.row_major([4, 2], 3) == tessera.row_major((4, 2), 3)
    assert tessera.row_major(4, 2)([3, 1]) == 7 and layout.logical_divide(tessera.row_major(4, 8), [2, 4]).rank == 2


def test_values_of_another_kind_are_not_equal():
    for value in (tessera.row_major(4, 2), tessera.swizzle(3, 0, 3), Tiler("<2:1,4:1>")):
        assert value != None and value != str(value) and not value == 5  # noqa: E711


def test_a_tile_is_where_its_elements_are():
    for whole in (tessera.row_major(5, 6), Layout("(5,6):(-6,2)"), layout.composition(tessera.swizzle(2, 0, 2), tessera.row_major(5, 6))):
        for i, j in itertools.product(range(3), range(2)):
            first, tile = whole.tile((2, 4), (i, j))
            assert tile.shape == (min(2, 5 - 2 * i), min(4, 6 - 4 * j))
            assert all(first + tile(r, c) == whole(2 * i + r, 4 * j + c) for r, c in itertools.product(*map(range, tile.shape)))
    for shape, at in [((2, 2), (3, 0)), ((2, 2), (0, -1)), ((0, 2), (0, 0)), ((2,), (0,)), ((2, 2, 2), (0, 0, 0))]:
        with pytest.raises(ValueError, match="^tile: "):
            tessera.row_major(5, 6).tile(shape, at)


def test_calling_gives_the_index_of_a_coordinate():
    a = Layout("((2,2),8):((1,16),2)")
    for (i, j), k in itertools.product(itertools.product(range(2), range(2)), range(8)):
        assert a((i, j), k) == a(i + 2 * j, k) == a(i + 2 * j + 4 * k) == i + 16 * j + 2 * k
    assert a(np.int64(3)) == a(3)


FAR = 1 << 62


@pytest.mark.parametrize("text, coordinate, message", [
    (f"4:{FAR}", (3,), f"3 \\* {FAR} does not fit in 64 bits"), (f"(4,4):(1,{FAR})", (3, 3), "does not fit in 64 bits"),
    (f"(4,2):({FAR},{FAR})", (1, 1), f"{FAR} \\+ {FAR} does not fit in 64 bits"), (f"((4,2),3):((1,{FAR}),1)", ((0, 2), 0), "64 bits"),
    (f"composed(swizzle(3,0,3),{FAR},4:{FAR})", (1,), "does not fit in 64 bits"), ("4:1", (1 << 63,), "does not fit in 64 bits"),
    (f"composed(4:{FAR},0,4:1)", (3,), "does not fit in 64 bits"), ("4:1", (-(1 << 63) - 1,), "does not fit in 64 bits")])
def test_an_index_beyond_64_bits_is_an_error(text, coordinate, message):
    assert Layout(text)(0) in (0, FAR) and Layout("4:1")(FAR) == FAR
    with pytest.raises(ValueError, match=message):
        Layout(text)(*coordinate)


def test_tuples_without_end_are_refused():
    endless, deep = [], 4
    endless.append(endless)
    for _ in range(5000):
        deep = (deep,)
    for value in (endless, deep):
        for call in (Layout, tessera.row_major, tessera.row_major(4, 2), lambda tile: tessera.row_major(4, 2).tile(tile, (0, 0))):
            with pytest.raises(ValueError, match="tuples nest too deeply here, or hold themselves"):
                call(value)


def test_a_tiler_of_numbers_and_layouts():
    assert Tiler((2, 4)) == Tiler([np.int64(2), "4:1"]) == Tiler("<2:1,4:1>") and Tiler((Layout("(2,2):(1,4)"),)) == Tiler("<(2,2):(1,4)>")
    assert layout.zipped_divide(tessera.row_major(4, 8), Tiler((2, 4))) == layout.zipped_divide(tessera.row_major(4, 8), (2, 4))


def test_a_layout_is_the_strides_of_an_array():
    array = np.arange(24).reshape(4, 6)
    view = array[::2, ::3]
    a = Layout(view.shape, tuple(stride // view.itemsize for stride in view.strides))
    assert [[a(i, j) for j in range(2)] for i in range(2)] == view.tolist()


def test_every_function_of_the_language_is_here():
    names = {usage.partition("(")[0] for usage in _core.functions()} - {"a"}
    assert names <= set(layout.__all__) and all(callable(getattr(layout, name)) for name in names)


@pytest.mark.parametrize("value, text", [
    (lambda: layout.logical_divide(tessera.row_major(4, 8), (2, 4)), "((2,2),(4,2)):((8,16),(1,4))"),
    (lambda: layout.zipped_divide("(4,4):(4,1)", Tiler("<2:1,2:1>")), "((2,2),(2,2)):((4,1),(8,2))"),
    (lambda: layout.composition("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),8)"),
    (lambda: layout.complement("4:2", 24), "(2,3):(1,8)"),
    (lambda: layout.coalesce("(2,(1,4)):(1,(4,2))"), "8:1"),
    (lambda: layout.right_inverse(tessera.row_major(4, 8)), "(8,4):(4,1)"),
    (lambda: layout.left_inverse("(4,8):(1,5)"), "(5,8):(1,4)"),
    (lambda: layout.blocked_product("(2,5):(5,1)", "(3,4):(1,3)"), "((2,3),(5,4)):((5,10),(1,30))"),
    (lambda: layout.upcast("(8,1024):(1024,1)", 16), "(8,64):(64,1)"),
    (lambda: layout.idx2crd(3, tessera.row_major(4, 2)), "(3, 0)"),
    (lambda: layout.size("(4,2):(2,1)"), "8"),
])
def test_the_algebra(value, text):
    assert str(value()) == text


def test_swizzles():
    s = tessera.swizzle(3, 0, 3)
    assert s == Swizzle(3, 0, 3) and str(s) == "swizzle(3,0,3)" and sorted(map(s, range(64))) == list(range(64))
    tile = layout.composition(s, tessera.row_major(8, 8))
    assert tile(1, 0) == s(8) == 9 and str(tile) == "composition(swizzle(3,0,3),(8,8):(8,1))"
    assert tile.svg_banks(1, 8).startswith("<svg")


def test_pictures_and_tables_are_those_of_the_command():
    a = tessera.row_major(2, 6)
    for words, text in [([], a.table()), (["--tile", "2,2", "--at", "0,1"], a.table((2, 2), (0, 1))), (["--svg"], a._repr_svg_()),
                        (["--svg", "--tile", "2,2"], a.svg(tile=(2, 2)))]:
        done = subprocess.run([sys.executable, "-m", "tessera", "layout", "row_major(2,6)", *words], capture_output=True, text=True)
        assert done.stdout == text


@pytest.mark.parametrize("wrong, exception", [
    (lambda: Layout("(4,2):(2"), ValueError), (lambda: Layout("4"), ValueError), (lambda: Layout((4, 2), (1,)), ValueError),
    (lambda: layout.composition("(6,2):(8,2)", 1.5), TypeError), (lambda: tessera.row_major(4, 2)[2], IndexError),
    (lambda: tessera.row_major(4, 2)(1, 2, 3), ValueError), (lambda: Layout("(4,?):(1,2)")._repr_svg_(), ValueError)])
def test_mistakes_are_exceptions(wrong, exception):
    with pytest.raises(exception):
        wrong()
