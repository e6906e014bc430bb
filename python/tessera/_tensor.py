"""Tensor: the elements of an array, indexed by a layout."""
from __future__ import annotations

import math
from typing import Any

import numpy

from . import _arguments, _arrays
from .layout import IntTuple, Layout, LayoutLike


class Tensor:
    """Memory and a layout: tensor[i, j] is the element at index layout(i, j). A view, nothing is copied.

    Tensor(array): with the shape and the strides that the array has. Tensor(array, layout): the elements of an array without
    gaps, numbered in the order of memory. The array is NumPy's, or another that DLPack hands over."""

    def __init__(self, array: Any, layout: LayoutLike | None = None):
        array = _numpy(array)
        self._memory, self._first = _memory(array)
        if layout is None:
            self._layout = Layout(array.shape, tuple(stride // array.itemsize for stride in array.strides))
            return
        if self._memory.size != array.size:
            raise ValueError(f"Tensor: the array of shape {array.shape} has gaps or repeats elements: expected one without them, or no "
                             "layout but its own")
        self._first = 0
        self._layout = _inside(layout, 0, self._memory)

    @property
    def layout(self) -> Layout:
        """From coordinates to elements counted from the first."""
        return self._layout

    @property
    def shape(self) -> Any:
        """The layout's shape; it may nest."""
        return self._layout.shape

    @property
    def dtype(self) -> Any:
        """NumPy's element type."""
        return self._memory.dtype

    def _at(self, coordinate: Any) -> int:
        """The position of an element in memory. (The layout itself has no bounds.)"""
        given = coordinate if isinstance(coordinate, tuple) else (coordinate,)
        sizes = _sizes(self.shape)
        sizes = sizes if len(given) == len(sizes) else [math.prod(sizes)]
        fits = len(given) == len(sizes) and all(isinstance(i, tuple) or 0 <= _arguments.whole("a coordinate", i, "Tensor", bits=63) < n
                                                for i, n in zip(given, sizes))
        index = self._first + self._layout(*given) if fits else -1
        if not 0 <= index < self._memory.size:
            raise IndexError(f"Tensor: there is no element {coordinate} in {self._layout}")
        return index

    def __getitem__(self, coordinate: Any) -> Any:
        """The element of a coordinate: a number for each mode, or a single one, which counts with the first mode fastest."""
        return self._memory[self._at(coordinate)]

    def __setitem__(self, coordinate: Any, value: Any) -> None:
        self._memory[self._at(coordinate)] = value

    def tile(self, shape: IntTuple, at: IntTuple) -> Tensor:
        """The tile `at` among tiles of `shape`, clipped at the edge: a view too."""
        first, layout = self._layout.tile(shape, at)
        return self._view(self._first + first, layout)

    def through(self, layout: LayoutLike) -> Tensor:
        """The same memory from the same first element on, seen through another layout, such as one that a function of the algebra
        makes of tensor.layout."""
        return self._view(self._first, _inside(layout, self._first, self._memory))

    def _view(self, first: int, layout: Layout) -> Tensor:
        out = object.__new__(Tensor)
        out._memory, out._first, out._layout = self._memory, first, layout
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.ndarray:
        """For numpy.asarray and all that calls it: numpy(), so a copy always."""
        if copy is False:
            raise ValueError("Tensor: the layout orders the elements, so an array is a copy: expected copy=None or True")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def numpy(self) -> numpy.ndarray:
        """A copy of the elements, with an axis for each mode."""
        indices = numpy.array(self._layout.indices(), numpy.intp) + self._first
        return self._memory[indices.reshape(_sizes(self.shape), order="F")]

    def svg(self, tile: IntTuple | None = None, at: IntTuple | None = None) -> str:
        """The picture of the layout with the elements in it, and a tile marked."""
        return self._layout.svg(tile, at, lambda index: _shown(self._memory[self._first + index]))

    def _repr_svg_(self) -> str:
        return self.svg()

    def __str__(self) -> str:
        return str(self.numpy())

    def __repr__(self) -> str:
        return f"<tessera.Tensor {self.dtype} {self._layout}>"


def _numpy(array: Any) -> numpy.ndarray:
    """As an array of NumPy in the same memory."""
    if not isinstance(array, numpy.ndarray) and not hasattr(array, "__dlpack__"):
        raise _arguments.refuse("Tensor", "the array", array, "an array of NumPy, or another that DLPack hands over")
    _arrays.check_plain(array, "array", "Tensor")
    if not isinstance(array, numpy.ndarray):
        array = _arrays.in_numpy(array, "array", "Tensor")
    if array.itemsize == 0:
        raise TypeError(f"Tensor: the array has elements of {array.dtype}, which take no memory: expected some that do")
    if array.ndim == 0 or any(stride % array.itemsize for stride in array.strides):
        raise ValueError(f"Tensor: the array has shape {array.shape} and strides of {array.strides} bytes: expected at least one axis, "
                         f"and strides of whole elements, of {array.itemsize} bytes")
    return array


def _memory(array: numpy.ndarray) -> tuple[numpy.ndarray, int]:
    """(all elements between the lowest and the highest address, which of them is the array's first)."""
    forwards = array[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in array.strides)]
    steps = [stride // array.itemsize for stride in forwards.strides]
    count = 1 + sum((n - 1) * step for n, step in zip(array.shape, steps)) if array.size else 0
    first = sum((n - 1) * step for n, step, stride in zip(array.shape, steps, array.strides) if stride < 0) if array.size else 0
    return numpy.lib.stride_tricks.as_strided(forwards, (count,), (array.itemsize,)), first


def _inside(layout: LayoutLike, first: int, memory: numpy.ndarray) -> Layout:
    """The layout, all of whose indices, counted from `first`, are in memory."""
    out = layout if isinstance(layout, Layout) else Layout(layout)
    indices = out.indices()
    if indices and not (0 <= first + min(indices) and first + max(indices) < memory.size):
        raise ValueError(f"Tensor: {out} has indices from {min(indices)} to {max(indices)}: expected {-first} to "
                         f"{memory.size - 1 - first}, where the array has elements")
    return out


def _sizes(shape: Any) -> list[int]:
    """How many coordinates each mode has."""
    def size(mode: Any) -> int:
        return math.prod(map(size, mode)) if isinstance(mode, tuple) else mode
    return [size(mode) for mode in (shape if isinstance(shape, tuple) else (shape,))]


def _shown(value: Any) -> str:
    """A floating-point number, also of ml_dtypes, with four digits; any other element as NumPy prints it."""
    kind = value.dtype.kind if isinstance(value, numpy.generic) else ""
    return f"{float(value):.4g}" if kind == "f" or (kind == "V" and not isinstance(value, numpy.void)) else str(value)
