"""Run by mpi_test.py under mpirun: products of distributed matrices, compared with tessera.matmul of the whole ones."""
import numpy as np
import tessera
import tessera.mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
random = np.random.default_rng(3)  # the same matrices on each rank


def band(array):
    """This rank's rows."""
    return array[len(array) * rank // ranks:len(array) * (rank + 1) // ranks]


def whole(shape, dtype):
    return random.integers(-100, 100, shape).astype(dtype) if np.dtype(dtype).kind in "iu" else random.uniform(-1, 1, shape).astype(dtype)


def refused(error, text, *arguments, **named):
    try:
        tessera.mpi.matmul(comm, *arguments, **named)
    except error as raised:
        assert text in str(raised), raised
    else:
        raise AssertionError(f"not refused: {text}")


for dtype in (np.float32, np.float64, np.int8):
    a, b = whole((37, 90), dtype), whole((90, 41), dtype)
    expected = tessera.matmul(a, b)
    out = tessera.mpi.matmul(comm, band(a), band(b))
    assert out.dtype == expected.dtype and np.array_equal(out, band(expected))
    # Bands of columns: the transpose of bands of rows. C on the last rank.
    columns = tessera.mpi.Distributed(b.shape, b.dtype, [(0, 41 * rank // ranks, b[:, 41 * rank // ranks:41 * (rank + 1) // ranks])])
    c = whole(expected.shape, expected.dtype)
    parts = [(0, 0, c.copy(order="F"))] if rank == ranks - 1 else []
    tessera.mpi.matmul(comm, band(a), columns, tessera.mpi.Distributed(c.shape, c.dtype, parts), alpha=2, beta=1)
    if parts:
        if dtype == np.int8:
            assert np.array_equal(parts[0][2], 2 * expected + c)
        else:
            assert np.array_equal(parts[0][2], tessera.matmul(a, b, out=c.copy(), alpha=2, beta=1))

half = tessera.mpi.Distributed((37, 90), np.float64, [(0, 0, np.ones((37, 90)))] if rank == 0 else [])
other = tessera.mpi.Distributed((90, 41), np.float64, [(0, 0, np.ones((90, 41)))] if rank == 0 else [])
refused(ValueError, "c says where", half, other)
missing = tessera.mpi.Distributed((37, 41), np.float64)
refused(ValueError, "do not fill", half, other, missing)
refused(NotImplementedError, "complex128", tessera.mpi.Distributed((37, 90), np.complex128), other, missing)
if rank == 0:
    print("right")
