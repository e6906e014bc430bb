#!/usr/bin/env python3
"""Programs that use ScaLAPACK, with libtessera_scalapack loaded before it: the bytes of their products, and the testers of the PBLAS."""
import pathlib
import re
import shutil
import unittest

import harness
import cases
from mpi_case import LAUNCHERS, MpiCase, available


@unittest.skipUnless(available("openmpi") and not harness.sanitized() and (cases.options.build / "bin/scalapack_product").exists(),
                     "pdgemm is NOT tested beside ScaLAPACK: libscalapack-openmpi-dev was not there at the build, or this is a sanitizer")
class Scalapack(MpiCase):
    LIBRARY = cases.options.build / "libtessera_scalapack.so"

    def counted(self, letters, grid, shape, block, preload):
        """Bytes that Open MPI counts for one pdgemm or pzgemm, all ranks together."""
        for file in self.folder.glob("p.*.prof"):
            file.unlink()
        command = [LAUNCHERS["openmpi"], "-n", str(grid[0] * grid[1]), *self.counting(), *(("-x", f"LD_PRELOAD={self.LIBRARY}") if preload else ()),
                   cases.options.build / "bin/scalapack_product", *letters, *map(str, (*grid, *shape, block))]
        run = self.ended(self.started(command))
        self.assertEqual((run.code, run.out), (0, "right\n"), run.err)
        return sum(self.sent_by(rank) for rank in range(grid[0] * grid[1]))

    def test_products_send_no_more_than_those_of_scalapack(self):
        for letters, grid, shape, most in (("dN", (2, 2), (512, 512, 512), 1), ("dN", (2, 4), (500, 300, 400), 1), ("dN", (3, 1), (200, 512, 100), 1),
                                           ("dN", (2, 2), (128, 128, 8192), 0.8), ("dN", (2, 4), (128, 128, 8192), 0.8),
                                           ("dT", (2, 2), (300, 200, 250), 1), ("zN", (2, 4), (97, 130, 161), 1), ("zC", (4, 2), (400, 400, 100), 1)):
            with self.subTest(letters, grid=grid, shape=shape):
                theirs, ours = (self.counted(letters, grid, shape, 32, preload) for preload in (False, True))
                self.assertLessEqual(ours, most * theirs + 1024 * grid[0] * grid[1])

    def test_the_testers_of_the_pblas(self):
        testers = next(pathlib.Path("/usr/lib").glob("*/scalapack/openmpi-tests/PBLAS"), None)
        if testers is None:
            self.skipTest("the testers of the PBLAS are NOT run: scalapack-mpi-test is not installed")
        for file in pathlib.Path("/usr/share/scalapack").rglob("P?BLAS3TST.dat"):
            shutil.copy(file, self.folder)
        for letter in "sdcz":
            with self.subTest(letter):
                run = self.ended(self.started([LAUNCHERS["openmpi"], "-n", "4", "-x", f"LD_PRELOAD={self.LIBRARY}", testers / f"{letter}pb3tst"]))
                self.assertEqual(run.code, 0, run.err)
                totals = re.findall(rf"^ *\| *P{letter.upper()}GEMM +(\d+) +(\d+) +(\d+) +(\d+)$", run.out, re.M)
                self.assertEqual(totals, [("16", "16", "0", "0")], run.out)


if __name__ == "__main__":
    cases.main()
