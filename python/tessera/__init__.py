"""Tiled matrix multiplication: fast products of any shape, the kernels behind them, and a checker for them.

>>> import numpy as np, tessera
>>> tessera.matmul(np.eye(2), np.ones((2, 3))).shape
(2, 3)
"""
from . import layout
from ._config import show_config
from ._core import PackedMatrix, Plan, algorithms, matmul
from ._core import version as __version__
from ._matmul import plan
from ._report import check, explain
from .layout import Layout, Swizzle, Tiler, col_major, row_major, swizzle

column_major = col_major

__all__ = ["Layout", "PackedMatrix", "Plan", "Swizzle", "Tiler", "__version__", "algorithms", "check", "col_major",
           "column_major", "explain", "layout", "matmul", "plan", "row_major", "show_config", "swizzle"]
