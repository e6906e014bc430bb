"""Selected entries of a product whose C is too large to keep: top_k and entries_above."""
import numpy

from . import _arguments, _arrays, _core


def _select(call, a, b, k, threshold, threads):
    for array, name in ((a, "a"), (b, "b")):
        _arrays.check_plain(array, name, call)
    dtype, *parts = _core.select(_core.Operand(a, "a"), _core.Operand(b, "b"), k, threshold, _arguments.threads(threads, call) or 0)
    return [numpy.frombuffer(part, code) for part, code in zip(parts, (numpy.int64, numpy.int64, dtype))]


def top_k(a, b, k, /, *, threads=None):
    """The k largest entries of each row of a @ b, without a @ b in memory: (values, columns), each of shape (M, k).

    a is (M, K), b is (K, N), both on the CPU; k is at most N. Entries of a row are in descending order; of equal entries, the one in
    the lower column comes first; NaN comes last. values are float64 for float64, int32 for integers, else float32, with the bits that
    matmul gives. columns are int64. top_k(x, x.T, k) takes about half the arithmetic.

    Raises ValueError for shapes that do not fit or k beyond N, TypeError for other element types.
    """
    k = _arguments.whole("k", k, "top_k", least=0, bits=63)
    _, columns, values = _select("top_k", a, b, k, 0.0, threads)
    return values.reshape(-1, k) if k else values.reshape(a.shape[0], 0), columns.reshape(-1, k) if k else columns.reshape(a.shape[0], 0)


def entries_above(a, b, threshold, /, *, threads=None):
    """The entries of a @ b that are greater than threshold, without a @ b in memory: (values, columns, starts).

    Entries of row i have the numbers starts[i] to starts[i + 1], in order of columns:
    scipy.sparse.csr_array(tessera.entries_above(a, b, threshold), shape=(M, N)) takes them as they are. NaN is never among them.
    Else as top_k.
    """
    starts, columns, values = _select("entries_above", a, b, None, _arguments.number("threshold", threshold, "entries_above"), threads)
    return values, columns, starts
