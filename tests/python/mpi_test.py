"""tessera.mpi with mpi4py, under mpirun."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import tessera

LIBRARY = pathlib.Path(tessera.__file__).absolute().parent.parent.parent / "libtessera_scalapack.so"


def test_products_of_distributed_matrices():
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if mpirun is None or not LIBRARY.exists():
        pytest.skip("tessera.mpi is NOT tested: Open MPI was not there at the build")
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("tessera.mpi is NOT tested: mpi4py is not in build/python")
    for ranks in (1, 3, 4):
        run = subprocess.run([mpirun, "-n", str(ranks), sys.executable, pathlib.Path(__file__).with_name("mpi_ranks.py")], capture_output=True,
                             text=True, timeout=120, env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                                          "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
                                                          "OMPI_MCA_btl_vader_single_copy_mechanism": "none"})
        assert (run.returncode, run.stdout) == (0, "right\n"), run.stderr
