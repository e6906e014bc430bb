#!/usr/bin/env python3
"""The tests of NumPy and SciPy, with our matrix products, preloaded and as the system's libblas.so.3."""
import re

import libraries
from libraries import cases


class Suites(libraries.BlasTest):
    def own_tests(self, least, *modules, only=()):
        """A package's own tests with our library, which must compute at least this many products for them."""
        self.need(f"pytest, hypothesis, {', '.join(modules)}")
        # As pytest captures by default it would swallow what a library writes on stderr.
        command = [libraries.PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--capture=sys", *only, "--pyargs", *modules]
        for route in libraries.ROUTES:
            with self.subTest(route):
                out, said = self.run_in(route, command, timeout=500, TESSERA_VERBOSE=1)
                self.assertRegex(out, r"[1-9]\d* passed")
                self.assertNotRegex(out, r"\d+ (failed|error)")
                self.assertGreaterEqual(len(re.findall(r"^tessera: \w*gemm\w* order=", said, re.M)), least, f"products of {modules}")

    def test_numpys_own_products(self):
        # test_huge_vectordot takes gigabytes and a minute.
        self.own_tests(200, "numpy.core.tests.test_multiarray", only=(
            "-k", "(TestDot or TestMatmul or TestMatmulOperator or TestInner or TestVdot or dot) and not huge"))

    def test_numpys_own_sums_by_indices(self):
        self.own_tests(500, "numpy.core.tests.test_einsum")

    def test_numpys_own_linear_algebra(self):
        self.own_tests(100_000, "numpy.linalg.tests.test_linalg", "numpy.linalg.tests.test_regression")

    def test_scipys_own_blas(self):
        self.own_tests(10, "scipy.linalg.tests.test_blas", "scipy.linalg.tests.test_fblas")

    def test_scipys_own_linear_algebra(self):
        self.own_tests(50_000, *(f"scipy.linalg.tests.test_{name}" for name in (
            "basic", "decomp", "decomp_cholesky", "decomp_cossin", "decomp_ldl", "decomp_polar", "decomp_update", "interpolative",
            "lapack", "matfuncs", "procrustes", "solvers", "special_matrices")))


if __name__ == "__main__":
    cases.main()
