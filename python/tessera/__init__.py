"""Tiled matrix multiplication: fast products of any shape, the kernels behind them, and a checker for them.

>>> import numpy as np, tessera
>>> tessera.matmul(np.eye(2), np.ones((2, 3))).shape
(2, 3)
"""
try:
    from . import _core
except ImportError as error:
    if "cannot open shared object file" not in str(error):
        raise
    raise ImportError(f"{error}: this build of tessera uses libraries of the system that built it (Debian: libfmt9); "
                      "install them, or a wheel made by scripts/wheel, which carries them") from error

from . import _cuda, _puzzle, layout
from ._config import devices, show_config
from ._core import PackedMatrix, Plan, algorithms, matmul
from ._core import version as __version__
from ._cuda import CudaCheck, check_cuda
from ._matmul import plan
from ._report import Check, Report, check, explain
from ._select import entries_above, top_k
from ._tensor import Tensor
from .layout import Layout, Swizzle, Tiler, col_major, row_major, swizzle

column_major = col_major


def load_ipython_extension(shell: object) -> None:
    """`%load_ext tessera` in a notebook: %%tessera_check and %tessera_puzzle."""
    _cuda.load_magics(shell)
    _puzzle.load_magics(shell)


__all__ = ["Check", "CudaCheck", "Layout", "PackedMatrix", "Plan", "Report", "Swizzle", "Tensor", "Tiler", "__version__", "algorithms",
           "check", "check_cuda", "col_major", "column_major", "devices", "entries_above", "explain", "layout", "load_ipython_extension",
           "matmul", "plan", "row_major", "show_config", "swizzle", "top_k"]
