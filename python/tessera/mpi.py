"""Products of matrices that the processes (ranks) of an MPI communicator have in parts, with mpi4py and Open MPI.

>>> from mpi4py import MPI; import numpy as np, tessera.mpi
>>> band = tessera.mpi.matmul(MPI.COMM_WORLD, np.ones((4, 8)), np.ones((8, 3)))    # each rank has 4 rows of A and 8 of B

The result has the same bits for any number of ranks and any distribution. It needs libtessera_scalapack.so, which Tessera's own
build makes where Open MPI is installed: beside the build's Python package, or where TESSERA_MPI_LIBRARY says.
"""
from __future__ import annotations

import ctypes
import os
import pathlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core

__all__ = ["Distributed", "by_rows", "matmul"]


class _Part(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("row", "col", "rows", "cols", "row_stride", "col_stride")] + [("data", ctypes.c_void_p)]


class _Parts(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_int64), ("cols", ctypes.c_int64), ("dtype", ctypes.c_char_p), ("count", ctypes.c_int64),
                ("parts", ctypes.POINTER(_Part))]


@dataclass
class Distributed:
    """What this rank has of a matrix of `shape`: parts (row, col, array), where the first element of array is at (row, col)."""

    shape: tuple[int, int]
    dtype: Any
    parts: list[tuple[int, int, np.ndarray]] = field(default_factory=list)


def by_rows(comm: Any, array: np.ndarray) -> Distributed:
    """The matrix of which each rank has `array`, a band of rows, one rank after the other. All ranks call it together."""
    if array.ndim != 2:
        raise ValueError(f"tessera.mpi: a band of rows has 2 dimensions, got {array.ndim}")
    rows = comm.allgather((array.shape[0], array.shape[1], str(array.dtype)))
    others = {each[1:] for each in rows}
    if len(others) > 1:
        raise ValueError(f"tessera.mpi: the bands have different columns or types: {sorted(others)}")
    first = sum(each[0] for each in rows[:comm.Get_rank()])
    return Distributed((sum(each[0] for each in rows), array.shape[1]), array.dtype, [(first, 0, array)])


def _library() -> ctypes.CDLL:
    wanted = os.environ.get("TESSERA_MPI_LIBRARY")
    beside = pathlib.Path(__file__).parent.parent.parent / "libtessera_scalapack.so"  # build/release/python/tessera/mpi.py
    path = wanted or str(beside)
    try:
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        raise RuntimeError(f"tessera.mpi: {error}; build Tessera where Open MPI is installed, and set TESSERA_MPI_LIBRARY to its "
                           "libtessera_scalapack.so") from None


def _c_parts(matrix: Distributed, what: str) -> tuple[_Parts, Any]:
    dtype = np.dtype(matrix.dtype)
    try:
        name = _core.dtype_name(dtype.name)
    except TypeError:
        raise NotImplementedError(f"tessera.mpi: {what} is of type {dtype.name}, which tessera does not have") from None
    parts = (_Part * max(1, len(matrix.parts)))()
    for n, (row, col, array) in enumerate(matrix.parts):
        if array.ndim != 2 or array.dtype != dtype:
            raise ValueError(f"tessera.mpi: a part of {what}: expected 2 dimensions of {dtype.name}, got {array.ndim} of {array.dtype.name}")
        strides = [stride // array.itemsize for stride in array.strides]
        parts[n] = _Part(row, col, *array.shape, *strides, array.ctypes.data)
    return _Parts(*matrix.shape, name.encode(), len(matrix.parts), parts), parts


def matmul(comm: Any, a: np.ndarray | Distributed, b: np.ndarray | Distributed, c: Distributed | None = None, *, alpha: float = 1,
           beta: float = 0, threads: int = 1) -> np.ndarray | Distributed:
    """C = alpha * A * B + beta * C of distributed matrices; all ranks of `comm` call it together.

    An array is a band of rows: see by_rows(). Without `c` the result is an array, the rows of C that belong to this rank's rows of A.
    A rank whose arguments are wrong raises ValueError, the others RuntimeError; an error in the middle ends the job.
    """
    whole_a = a if isinstance(a, Distributed) else by_rows(comm, a)
    whole_b = b if isinstance(b, Distributed) else by_rows(comm, b)
    band = None
    if c is None:
        if isinstance(a, Distributed):
            raise ValueError("tessera.mpi: with a Distributed for a, c says where the result goes")
        dtype = np.dtype(np.int32) if np.dtype(whole_a.dtype).itemsize == 1 else np.dtype(whole_a.dtype)
        band = np.zeros((a.shape[0], whole_b.shape[1]), dtype)
        c = Distributed((whole_a.shape[0], whole_b.shape[1]), dtype, [(whole_a.parts[0][0], 0, band)])
    for _, _, array in c.parts:
        if not array.flags.writeable:
            raise ValueError("tessera.mpi: a part of c may not be written")
    library = _library()
    (c_a, _keep_a), (c_b, _keep_b), (c_c, _keep_c) = _c_parts(whole_a, "a"), _c_parts(whole_b, "b"), _c_parts(c, "c")
    text = ctypes.create_string_buffer(1000)
    code = library.tessera_matmul_parts(ctypes.c_int(comm.py2f()), ctypes.byref(c_a), ctypes.byref(c_b), ctypes.byref(c_c),
                                        ctypes.c_double(alpha), ctypes.c_double(beta), ctypes.c_int(threads), text, ctypes.c_int64(1000))
    if code == 2:
        raise ValueError(text.value.decode())
    if code != 0:
        raise RuntimeError(text.value.decode())
    return c if band is None else band
