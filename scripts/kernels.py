"""The steps of the ladder, in its order: what scripts, pages and tests walk through. `tessera --list` has them all; the first of its
list are these, as tests/house/lists_test.py checks."""
STEPS = ["naive", "coalescing", "tiled", "tiled_register", "block_tiled", "block_tiled_vectorized", "tensor_core", "pipelined"]
