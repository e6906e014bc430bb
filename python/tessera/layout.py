"""Layouts: functions from coordinates to indices, written shape:stride, and the algebra on them.

Each function has the name and the meaning that it has in C++ and in `tessera layout eval`. Arguments are layouts, numbers,
tuples or lists (which may nest), tilers, or text for any of them.

>>> from tessera.layout import Layout, logical_divide, row_major
>>> print(logical_divide(row_major(4, 8), (2, 4)))
((2,2),(4,2)):((8,16),(1,4))
"""
from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence, Union

from . import _arguments, _core
from ._core import Swizzle, Tiler

IntTuple = Union[int, Sequence["IntTuple"]]
LayoutLike = Union["Layout", str]

__all__ = ["Layout", "Swizzle", "Tiler", "blocked_product", "coalesce", "coalesce_modes", "col_major", "complement", "composed",
           "composition", "cosize", "crd2idx", "downcast", "evaluate", "filter", "flat_divide", "idx2crd", "left_inverse",
           "logical_divide", "logical_product", "make_layout", "make_ordered_layout", "raked_product", "rank", "right_inverse",
           "row_major", "shape", "shape_div", "size", "stride", "sublayout", "swizzle", "tile_to_shape", "tiled_divide",
           "transpose", "upcast", "zipped_divide"]


class Layout(_core.LayoutBase):
    """Layout("(4,2):(2,1)"), Layout((4, 2), (2, 1)), or any expression as text; without strides the first mode runs fastest.

    layout(i, j) is the index of a coordinate. print() shows shape:stride, a notebook the picture."""

    def __init__(self, shape: IntTuple | LayoutLike, stride: IntTuple | None = None):
        if stride is not None:
            super().__init__(f"{_text(shape)}:{_text(stride)}")
        elif isinstance(shape, (str, _core.LayoutBase)):
            super().__init__(str(shape))
        else:
            super().__init__(f"col_major({_text(shape)})")

    def __call__(self, *coordinate: IntTuple) -> int:
        """The index of a coordinate: one number for each mode, or a single one."""
        if len(coordinate) == 1 and isinstance(coordinate[0], int) and -(1 << 63) <= coordinate[0] < 1 << 63:
            return self.index(coordinate[0])
        return self.index(_text(coordinate[0] if len(coordinate) == 1 else coordinate))

    def __getitem__(self, mode: int) -> Layout:
        """The layout of one mode; -1 is the last."""
        mode = _arguments.whole("a mode", mode, "Layout")
        if not -self.rank <= mode < self.rank:
            raise IndexError(f"{self} has modes 0 to {self.rank - 1}, not {mode}")
        return sublayout(self, mode % self.rank)

    def __len__(self) -> int:
        """The number of modes; size() counts coordinates."""
        return self.rank

    def __iter__(self) -> Iterator[Layout]:
        """The modes."""
        return (sublayout(self, mode) for mode in range(self.rank))

    def __repr__(self) -> str:
        return f"tessera.Layout('{self}')"

    def __reduce__(self):
        return Layout, (str(self),)

    def table(self, tile: IntTuple | None = None, at: IntTuple | None = None) -> str:
        """The indices as a table of text; the elements of a marked tile are in brackets."""
        return super().table(_text_or_none(tile), _text_or_none(at))

    def svg(self, tile: IntTuple | None = None, at: IntTuple | None = None, value_at: Callable[[int], str] | None = None) -> str:
        """The picture, with a tile marked; with value_at, what that gives for an index is in its place."""
        return super().svg(_text_or_none(tile), _text_or_none(at), None if value_at is None else _gives_text(value_at))

    def tile(self, shape: IntTuple, at: IntTuple) -> tuple[int, Layout]:
        """(the index of the first element, the layout from there on) of the tile `at` among tiles of `shape`, clipped at the edge."""
        first, layout = super().tile_at(_text(shape), _text(at))
        return first, Layout(str(layout))

    def svg_banks(self, elements_per_bank: int = 1, banks: int = 32) -> str:
        """Indices before and after a swizzle, coloured by bank of shared memory."""
        return super().svg_banks(_arguments.whole("elements_per_bank", elements_per_bank, "Layout.svg_banks"),
                                 _arguments.whole("banks", banks, "Layout.svg_banks"))

    def svg_thread_values(self, shape: IntTuple) -> str:
        """For a layout (thread, value) -> position in a tile of `shape`: which thread owns which element."""
        return super().svg_thread_values(_text(shape))

    def _repr_svg_(self) -> str:
        return self.svg()


def _gives_text(value_at: Any) -> Callable[[int], str]:
    """The function, with every value checked."""
    if not callable(value_at):
        raise _arguments.refuse("Layout.svg", "value_at", value_at, "a function that gives text for an index, such as str")
    return lambda index: _arguments.text(f"what value_at gives for index {index}", value_at(index), "text, such as str() makes",
                                         "Layout.svg")


def _text(value: Any) -> str:
    """The expression of a value."""
    try:
        return _written(value)
    except RecursionError:
        raise ValueError("tuples nest too deeply here, or hold themselves: expected fewer than 48 levels") from None


def _written(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return "(" + ",".join(map(_written, value)) + ")"
    if isinstance(value, (int, str, _core.LayoutBase, Swizzle, Tiler)) and not isinstance(value, bool):
        return str(value)
    try:
        return str(value.__index__())
    except AttributeError:
        raise TypeError(f"{_arguments.said(value)}, is no part of the layout algebra: expected a Layout, a whole number, a tuple, "
                        "a Tiler, a Swizzle, or text for one") from None


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


def _call(name: str, *arguments: Any) -> Any:
    return evaluate(f"{name}({','.join(map(_text, arguments))})")


def evaluate(text: str) -> Any:
    """The value of an expression of `tessera layout eval`: an int, a tuple, a Layout, a Tiler or a Swizzle."""
    value = _core.evaluate(_arguments.text("the expression", text, "text such as 'row_major(4,8)'", "evaluate"))
    return Layout(str(value)) if isinstance(value, _core.LayoutBase) else value


def row_major(*shape: IntTuple) -> Layout:
    """Compact, the last mode fastest."""
    return _call("row_major", *shape)


def col_major(*shape: IntTuple) -> Layout:
    """Compact, the first mode fastest."""
    return _call("col_major", *shape)


def make_ordered_layout(shape: IntTuple, order: IntTuple) -> Layout:
    """Compact, the mode with the smallest order fastest."""
    return _call("make_ordered_layout", shape, order)


def make_layout(*modes: LayoutLike) -> Layout:
    """One layout with a mode for each."""
    return _call("make_layout", *modes)


def swizzle(bits: int, base: int, shift: int) -> Swizzle:
    """Exclusive-or of index bits."""
    return Swizzle(bits, base, shift)


def composed(outer: LayoutLike | Swizzle, offset: int, inner: LayoutLike) -> Layout:
    """outer(offset + inner(i))."""
    return _call("composed", outer, offset, inner)


def size(a: LayoutLike | IntTuple) -> int:
    """The number of coordinates."""
    return _call("size", a)


def cosize(a: LayoutLike) -> int:
    """One more than the largest index."""
    return _call("cosize", a)


def rank(a: LayoutLike | IntTuple) -> int:
    """The number of modes."""
    return _call("rank", a)


def shape(a: LayoutLike) -> IntTuple:
    """The shape."""
    return _call("shape", a)


def stride(a: LayoutLike) -> IntTuple:
    """The strides, in elements."""
    return _call("stride", a)


def coalesce(a: LayoutLike, profile: IntTuple | None = None) -> Layout:
    """The same function with the fewest modes; with a profile, separately for each of its modes."""
    return _call("coalesce", a) if profile is None else _call("coalesce", a, profile)


def coalesce_modes(a: LayoutLike) -> Layout:
    """coalesce, mode by mode."""
    return _call("coalesce_modes", a)


def filter(a: LayoutLike) -> Layout:  # noqa: A001: the name that it has everywhere
    """Without the modes of stride 0 or extent 1."""
    return _call("filter", a)


def composition(a: LayoutLike | Swizzle, b: LayoutLike | Tiler | IntTuple) -> Layout:
    """i -> a(b(i)); with a Tiler or a tuple mode by mode."""
    return _call("composition", a, b)


def complement(a: LayoutLike, n: int = 1) -> Layout:
    """The layout of the indices below n that a does not reach."""
    return _call("complement", a, n)


def right_inverse(a: LayoutLike) -> Layout:
    """The longest layout r with a(r(i)) = i."""
    return _call("right_inverse", a)


def left_inverse(a: LayoutLike) -> Layout:
    """The layout l with l(a(i)) = i."""
    return _call("left_inverse", a)


def logical_divide(a: LayoutLike, tile: LayoutLike | Tiler | IntTuple) -> Layout:
    """(tile, rest); with a Tiler or a tuple mode by mode."""
    return _call("logical_divide", a, tile)


def zipped_divide(a: LayoutLike, tile: LayoutLike | Tiler | IntTuple) -> Layout:
    """((tiles), (rests))."""
    return _call("zipped_divide", a, tile)


def tiled_divide(a: LayoutLike, tile: LayoutLike | Tiler | IntTuple) -> Layout:
    """((tiles), rest, rest, ...)."""
    return _call("tiled_divide", a, tile)


def flat_divide(a: LayoutLike, tile: LayoutLike | Tiler | IntTuple) -> Layout:
    """(tile, tile, ..., rest, rest, ...)."""
    return _call("flat_divide", a, tile)


def logical_product(block: LayoutLike, by: LayoutLike | Tiler) -> Layout:
    """(block, repetition)."""
    return _call("logical_product", block, by)


def blocked_product(block: LayoutLike, by: LayoutLike) -> Layout:
    """Blocks side by side."""
    return _call("blocked_product", block, by)


def raked_product(block: LayoutLike, by: LayoutLike) -> Layout:
    """Blocks interleaved."""
    return _call("raked_product", block, by)


def tile_to_shape(block: LayoutLike, shape: IntTuple, order: IntTuple | None = None) -> Layout:
    """The block repeated to fill a shape."""
    return _call("tile_to_shape", block, shape) if order is None else _call("tile_to_shape", block, shape, order)


def upcast(a: LayoutLike, n: int) -> Layout:
    """The layout in elements n times as wide."""
    return _call("upcast", a, n)


def downcast(a: LayoutLike, n: int) -> Layout:
    """The layout in elements n times as narrow."""
    return _call("downcast", a, n)


def sublayout(a: LayoutLike, *modes: int) -> Layout:
    """The selected modes, in the given order."""
    return _call("sublayout", a, *modes)


def transpose(a: LayoutLike) -> Layout:
    """The modes in reverse order."""
    return _call("transpose", a)


def idx2crd(i: int, a: LayoutLike | IntTuple) -> IntTuple:
    """The coordinate of a linear position."""
    return _call("idx2crd", i, a)


def crd2idx(coordinate: IntTuple, a: LayoutLike) -> int:
    """The index of a coordinate."""
    return _call("crd2idx", coordinate, a)


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """One shape divided by another."""
    return _call("shape_div", a, b)
