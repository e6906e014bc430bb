"""What the tests under mpirun share."""
import os
import resource
import shutil
import signal
import subprocess
import time

import harness
import cases

PLUGINS = {mpi: next(cases.options.build.glob(f"lib*/**/libtessera_{mpi}.so"), None) for mpi in ("openmpi", "mpich")}
LAUNCHERS = {"openmpi": shutil.which("mpirun.openmpi") or shutil.which("mpirun"), "mpich": shutil.which("mpiexec.mpich")}
# Ranks share cores here: without a pause a waiting one keeps the others from running.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "ASAN_OPTIONS": "detect_leaks=0"}  # MPI keeps memory until the end
PATIENCE = 120


def available(mpi):
    # The thread sanitizer does not know what the libraries of MPI synchronize.
    return not harness.sanitized("tsan") and PLUGINS[mpi] is not None and LAUNCHERS[mpi] is not None


class MpiCase(harness.CommandTest):
    """Runs programs under Open MPI."""

    def started(self, command, env=None):
        return subprocess.Popen(command, cwd=self.folder, env=harness.environment(XDG_CACHE_HOME=str(self.path("cache")), **OPEN_MPI, **(env or {})), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, start_new_session=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))

    def ended(self, process, timeout=PATIENCE):
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.fail(f"hangs: {process.args}")
        return harness.Run(process.returncode, out, err.decode(errors="replace"))

    @staticmethod
    def ended_by(process, seconds):
        end = time.monotonic() + seconds
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        return process.returncode is not None

    def counting(self):
        """Options with which Open MPI counts what each rank sends."""
        return ("--mca", "pml_monitoring_enable", "2", "--mca", "pml_monitoring_enable_output", "3",
                "--mca", "pml_monitoring_filename", str(self.path("p")))

    def sent_by(self, rank):
        fields = map(str.split, self.path(f"p.{rank}.prof").read_text().splitlines())
        return sum(int(line[3]) for line in fields if line[0] in ("E", "I"))
