#!/usr/bin/env python3
"""NumPy, SciPy, R and Octave with our matrix products, preloaded and as the system's libblas.so.3."""
import shutil

import libraries
from libraries import cases

NUMPY = """
import numpy as np
rng = np.random.default_rng(1)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    def integers(*shape):
        x = rng.integers(-4, 5, shape).astype(np.float64)
        return (x + 1j * rng.integers(-4, 5, shape) if np.issubdtype(dtype, np.complexfloating) else x).astype(dtype)
    for m, n, k in ((2, 3, 4), (31, 17, 65), (200, 150, 300)):
        a, b = integers(m, k), integers(k, n)
        exact = np.einsum("ik,kj->ij", a, b, optimize=False)
        for x, y in ((a, b), (np.asfortranarray(a), b), (a, np.asfortranarray(b)), (a[:, ::-1], b[::-1])):
            assert (x @ y == exact).all(), (dtype, m, n, k)
        assert (a @ a.T == np.einsum("ik,jk->ij", a, a, optimize=False)).all()  # syrk
        assert a @ b[:, 0] is not None and np.vdot(a[0], a[0]) == (a[0].conj() * a[0]).sum()
x = rng.standard_normal((60, 60))
assert np.allclose(np.linalg.inv(x) @ x, np.eye(60))
print("right")
"""

SCIPY = """
import numpy as np, scipy.linalg, scipy.linalg.blas as blas
a = np.arange(12.0).reshape(3, 4)
assert (blas.dgemm(2.0, a, a, trans_b=True) == 2 * np.einsum("ik,jk->ij", a, a, optimize=False)).all()
assert (blas.zgemm(1j, a, a, trans_a=2) == 1j * np.einsum("ki,kj->ij", a, a, optimize=False)).all()
assert blas.zdotc([1j, 2], [3, 4]) == 8 - 3j and abs(blas.snrm2([3, 4]) - 5) < 1e-6
lu = scipy.linalg.lu_factor(np.eye(50) * 4 + 1)
assert np.allclose(scipy.linalg.lu_solve(lu, np.ones(50)), 1 / 54)
print("right")
"""

FORK = """
import multiprocessing as mp, numpy as np
a = np.ones((300, 300))
def product(_): return float((a @ a)[7, 7])
if __name__ == "__main__":
    assert product(0) == 300
    with mp.get_context("fork").Pool(4) as pool:
        print(set(pool.map_async(product, range(40)).get(timeout=60)))
"""

R = """
a <- matrix((1:60000) %% 7, 300); b <- matrix((1:40000) %% 5, 200)
stopifnot(all((a %*% b)[c(1, 300), 200] == c(sum(a[1, ] * b[, 200]), sum(a[300, ] * b[, 200]))))
stopifnot(all.equal(solve(diag(3) * 2), diag(3) / 2), sqrt(sum(crossprod(1:3))) == sqrt(14))
dyn.load(Sys.getenv("LIBBLAS"))
bad <- try(.Fortran("dsyrk", 1L, 1L, -1L, -1L, 1, 1, 1L, 0, 1, 1L), silent = TRUE)
cat(if (inherits(bad, "try-error")) "right\\n" else "an illegal argument was not R's error\\n")
"""

OCTAVE = """
a = mod(reshape(1:60000, 300, 200), 7); b = mod(reshape(1:40000, 200, 200), 5);
c = a * b; z = complex(a, 1) * complex(b, -1); s = single(a) * single(b);
assert(c(300, 200), sum(a(300, :)' .* b(:, 200))); assert(real(z(1, 1)), sum(a(1, :)' .* b(:, 1)) + 200); assert(double(s), c);
assert(norm([3 4]), 5); assert(inv(eye(3) * 2), eye(3) / 2);
disp("right")
"""


class Programs(libraries.BlasTest):
    def both_ways(self, command, counted, expected="right\n", **more):
        """Runs a program with our functions and without them: `counted` must show up in what they report."""
        for route in libraries.ROUTES:
            with self.subTest(route):
                out, said = self.run_in(route, command, TESSERA_VERBOSE=1, **more)
                self.assertEqual(out, expected)
                self.assertIn(f"tessera: {counted}", said)
        out, said = self.run_in(None, command, TESSERA_VERBOSE=1, **more)
        self.assertEqual(out, expected)
        self.assertNotIn("tessera:", said)

    def test_numpy(self):
        self.need("numpy")
        self.both_ways([libraries.PYTHON, "-c", NUMPY], "cblas_zgemm ")

    def test_scipy(self):
        self.need("scipy.linalg")
        self.both_ways([libraries.PYTHON, "-c", SCIPY], "dgemm_ ")

    def test_multiprocessing_with_fork(self):
        self.need("numpy")
        self.both_ways([libraries.PYTHON, "-c", FORK], "cblas_dgemm ", "{300.0}\n")

    def test_r(self):
        if shutil.which("Rscript") is None:
            self.skipTest("R is NOT tested: install r-base-core")
        # R's start script puts the system's folders first: only preloading works without changing the system.
        out, said = self.run_in("preloaded", ["Rscript", "-e", R], TESSERA_VERBOSE=1, LIBBLAS=libraries.LIBRARY)
        self.assertEqual(out, "right\n")
        self.assertIn("tessera: dgemm_ ", said)

    def test_octave(self):
        if shutil.which("octave-cli") is None:
            self.skipTest("Octave is NOT tested: install octave")
        self.both_ways(["octave-cli", "--no-init-file", "--eval", OCTAVE], "zgemm_ ")


if __name__ == "__main__":
    cases.main()
