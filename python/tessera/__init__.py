"""Tiled matrix multiplication: fast products of any shape, the kernels behind them, and a checker for them.

>>> import numpy as np, tessera
>>> tessera.matmul(np.eye(2), np.ones((2, 3))).shape
(2, 3)
"""
from ._core import Plan, PackedMatrix, algorithms, matmul
from ._core import version as __version__
from ._config import show_config
from ._matmul import plan

__all__ = ["PackedMatrix", "Plan", "__version__", "algorithms", "matmul", "plan", "show_config"]
