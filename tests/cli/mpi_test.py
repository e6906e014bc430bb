#!/usr/bin/env python3
"""tessera multiply under mpirun: the bits of one process for any number of ranks, the bytes that Open MPI counts, errors on one rank,
killed ranks. tests/scale/ranks_test.cpp has many more products, on threads."""
import errno
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import harness
import cases

PLUGINS = {mpi: next(cases.options.build.glob(f"lib*/**/libtessera_{mpi}.so"), None) for mpi in ("openmpi", "mpich")}
LAUNCHERS = {"openmpi": shutil.which("mpirun.openmpi") or shutil.which("mpirun"), "mpich": shutil.which("mpiexec.mpich")}
FAULTS = cases.options.build / "bin" / "libfaults.so"
# Ranks share cores here: without a pause a waiting one keeps the others from running.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "ASAN_OPTIONS": "detect_leaks=0"}  # MPI keeps memory until the end
PATIENCE = 120
# An error on one rank ends the job within five seconds; a busy machine starts and ends processes slowly.
AT_ONCE = 30


def available(mpi):
    # The thread sanitizer does not know what the libraries of MPI synchronize.
    return not harness.sanitized("tsan") and PLUGINS[mpi] is not None and LAUNCHERS[mpi] is not None


class MpiCase(harness.CommandTest):
    """Runs programs under Open MPI."""

    def started(self, command, env=None):
        return subprocess.Popen(command, cwd=self.folder, env=harness.environment(**OPEN_MPI, **(env or {})), stdout=subprocess.PIPE,
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


@unittest.skipUnless(available("openmpi"), "products under mpirun are NOT tested: Open MPI was not there at the build, or this is the thread sanitizer")
class MpiTest(MpiCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(7)

    def matrix(self, name, rows, cols, dtype="f32"):
        whole = dtype in ("i8", "u8")
        values = [self.random.randint(-100, 100) if whole else self.random.uniform(-1, 1) for _ in range(rows * cols)]
        harness.write_npy(self.path(name), values, (rows, cols), dtype)
        return name

    def launch(self, ranks, arguments, options=(), before="", env=None):
        """mpirun with this many ranks of the command; `before`: a shell command that each rank runs first, in the scratch folder."""
        command = ["sh", "-c", f'{before}; exec "$@"', "sh", harness.COMMAND] if before else [harness.COMMAND]
        return self.started([LAUNCHERS["openmpi"], "-n", str(ranks), *options, *command, *map(str, arguments)], env)

    def mpirun(self, ranks, *arguments, **named):
        run = self.ended(self.launch(ranks, arguments, **named))
        self.assertEqual(run.code, 0, f"{arguments}: {run.err}")
        return run

    def refuses(self, code, ranks, *arguments, says=(), **named):
        """One line of ours on stderr beside those of mpirun, with the texts of `says`; no output, no temporary."""
        run = self.ended(self.launch(ranks, arguments, **named), AT_ONCE)
        ours = [line for line in run.lines if line.startswith("tessera")]
        self.assertEqual(len(ours), 1, run.err)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, ours[0])
        self.assertEqual(run.code, code, run.err)
        self.assertFalse(self.path("c.npy").exists())
        self.no_leftovers()

    def same(self, one="whole.npy", other="c.npy"):
        self.assertEqual(self.path(one).read_bytes(), self.path(other).read_bytes())

    # ---- what is computed ----------------------------------------------------------------------------------------------------------

    def test_the_same_bits_on_any_number_of_ranks(self):
        for dtype in ("f32", "f64", "i8"):
            self.matrix("a.npy", 150, 210, dtype)
            self.matrix("b.npy", 210, 130, dtype)
            self.succeeds("multiply", "a.npy", "b.npy", "-o", "whole.npy", "--force")
            for ranks in {"f32": (1, 2, 3, 4, 5, 6, 7, 8), "f64": (4, 7), "i8": (5, 8)}[dtype]:
                run = self.mpirun(ranks, "multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--json")
                self.same()
                self.no_leftovers()
                if ranks > 1:
                    self.check_counts(run.json, ranks, sum(self.path(name).stat().st_size - 128 for name in ("a.npy", "b.npy")))

    def check_counts(self, report, ranks, file_bytes):
        self.assertEqual(len(report["ranks"]), ranks)
        for rank in report["ranks"]:
            for what in ("sent", "received", "messages"):
                self.assertEqual(rank[what], rank["planned_" + what])
        self.assertEqual(report["read"], file_bytes)

    def test_options_of_the_product(self):
        self.matrix("a.npy", 90, 70)
        self.matrix("b.npy", 110, 70)
        self.matrix("c0.npy", 90, 110)
        options = ("--transpose-b", "--alpha", "0.5", "--beta", "-1", "--c", "c0.npy")
        self.succeeds("multiply", "a.npy", "b.npy", *options, "-o", "whole.npy")
        self.mpirun(5, "multiply", "a.npy", "b.npy", *options, "-o", "c.npy")
        self.same()
        self.mpirun(3, "multiply", "a.npy", "b.npy", *options, "-o", "c.npy", "--force", "--memory", "60kB")
        self.same()
        self.succeeds("multiply", "a.npy", "b.npy", "--transpose-b", "--dtype", "f64", "-o", "whole.npy", "--force")
        self.mpirun(2, "multiply", "a.npy", "b.npy", "--transpose-b", "--dtype", "f64", "-o", "c.npy", "--force")
        self.same()

    def test_a_dry_run_prints_the_plan_once(self):
        self.matrix("a.npy", 40, 40)
        run = self.mpirun(2, "multiply", "a.npy", "a.npy", "--dry-run")
        self.assertEqual(run.out.count("split      2 boxes"), 1)

    # ---- what is sent --------------------------------------------------------------------------------------------------------------

    def test_open_mpi_counts_the_bytes_of_the_plan(self):
        for shape, ranks in (((256, 256, 256), 8), ((210, 190, 200), 7), ((64, 64, 4096), 4)):
            rows, cols, depth = shape
            self.matrix("a.npy", rows, depth)
            self.matrix("b.npy", depth, cols)
            report = self.mpirun(ranks, "multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--json", options=self.counting()).json
            for rank in range(ranks):
                self.assertLess(abs(self.sent_by(rank) - report["ranks"][rank]["planned_sent"]), 1024, f"{shape}, rank {rank} of {ranks}")

    def test_distributed_matrices_in_a_program(self):
        """Programs link to the plug-in: products on communicators of 1 to 8 ranks, each element compared."""
        run = self.ended(self.started([LAUNCHERS["openmpi"], "-n", "8", cases.options.build / "bin/mpi_products"]))
        self.assertEqual(run.code, 0, run.err)
        self.assertRegex(run.out, r"^\d+ products, 0 wrong\n$")
        self.assertGreater(int(run.out.split()[0]), 50)

    # ---- errors --------------------------------------------------------------------------------------------------------------------

    def on_rank(self, rank, command):
        return f'if [ "$OMPI_COMM_WORLD_RANK" = {rank} ]; then {command}; fi'

    def test_an_error_on_one_rank_ends_all(self):
        self.matrix("a.npy", 60, 60)
        self.matrix("other.npy", 60, 60)
        self.matrix("wide.npy", 60, 61)
        product = ("multiply", "a.npy", "a.npy", "-o", "c.npy")
        self.path("folder").mkdir()
        self.refuses(3, 4, "multiply", "none.npy", "a.npy", "-o", "c.npy", says="none.npy")
        self.refuses(2, 4, "multiply", "wide.npy", "a.npy", "-o", "c.npy", says="61")
        self.refuses(3, 4, *product, before=self.on_rank(2, "cd folder"), says=("rank 2: ", "a.npy"))
        shutil.copy(self.path("other.npy"), self.path("folder/a.npy"))
        self.refuses(3, 4, *product, before=self.on_rank(3, "cd folder"), says=("rank 3: ", "A (a.npy) differs from that of rank 0"))
        # The same file in a folder of its own: the output is not the one that rank 0 has begun.
        shutil.copy(self.path("a.npy"), self.path("folder/a.npy"))
        self.refuses(3, 4, *product, before=self.on_rank(1, "cd folder"), says=("rank 1: ", "share"))
        # A file of the right header that is too short.
        short = self.path("a.npy").read_bytes()[:-4]
        self.path("short.npy").write_bytes(short)
        self.refuses(3, 4, "multiply", "a.npy", "short.npy", "-o", "c.npy", says="short.npy")
        self.assertEqual(sorted(os.listdir(self.path("folder"))), ["a.npy"])

    def test_what_several_ranks_cannot_do(self):
        self.matrix("a.npy", 6, 6)
        for options, says in ((("--verify",), "--verify"), (("--top", "2"), "--top"), (("--memory", "1MB", "--resume"), "--resume"),
                              (("--memory", "40"), "memory")):
            self.refuses(1 if says == "memory" else 2, 2, "multiply", "a.npy", "a.npy", "-o", "c.npy", *options, says=says)
        self.refuses(2, 2, "multiply", "a.npy", "a.npy", "-o", "c.npz", says="format")
        self.path("old.npy").write_bytes(b"old")
        self.refuses(2, 2, "multiply", "a.npy", "a.npy", "-o", "old.npy", says="exists")
        self.assertEqual(self.path("old.npy").read_bytes(), b"old")

    def test_a_failing_call_of_one_rank_ends_all(self):
        if not FAULTS.exists():
            self.skipTest("no library of faults: calls that fail on one rank are NOT tested")
        self.matrix("a.npy", 200, 200)
        # Calls on the matrices' files, not those of MPI: the first read of a rank is of a header, the last one of the elements of a share.
        for rank, call, code in ((0, "write:2", errno.ENOSPC), (3, "write:1", errno.ENOSPC), (1, "read:1", errno.EIO), (2, "read:9+", errno.EIO),
                                 (2, "flush:1", errno.EIO), (0, "rename:1", errno.EIO), (0, "reserve:1", errno.ENOSPC)):
            with self.subTest(rank=rank, call=call):
                fault = f"export LD_PRELOAD={FAULTS} TESSERA_FAULT={call}:{code} TESSERA_FAULT_FROM=main TESSERA_FAULT_FILES=.npy"
                run = self.refuses_any(4, before=self.on_rank(rank, fault))
                self.assertIn("rank " if rank else "c.npy", run)

    def refuses_any(self, ranks, **named):
        run = self.ended(self.launch(ranks, ("multiply", "a.npy", "a.npy", "-o", "c.npy"), **named), AT_ONCE)
        ours = [line for line in run.lines if line.startswith("tessera")]
        self.assertEqual(len(ours), 1, run.err)
        self.assertNotEqual(run.code, 0)
        self.assertFalse(self.path("c.npy").exists())
        self.no_leftovers()
        return ours[0]

    def test_a_file_that_shrinks_while_it_is_read(self):
        # A sparse file: reading it takes long enough to truncate it before the end.
        rows = 6000
        with open(self.path("a.npy"), "wb") as file:
            file.write(harness.npy_header((rows, rows), "f32"))
            file.truncate(128 + 4 * rows * rows)
        process = self.launch(2, ("multiply", "a.npy", "a.npy", "-o", "c.npy", "--memory", "1GiB"))
        while process.poll() is None and not any(name.endswith(".tmp") for name in os.listdir(self.folder)):
            time.sleep(0.001)
        os.truncate(self.path("a.npy"), 1000)
        run = self.ended(process)
        if run.code == 0:
            return  # it had been read
        ours = [line for line in run.lines if line.startswith("tessera")]
        self.assertEqual(len(ours), 1, run.err)
        self.assertIn("ended while it was read", ours[0])
        self.assertFalse(self.path("c.npy").exists())

    # ---- kills ---------------------------------------------------------------------------------------------------------------------

    def processes(self, group):
        """The ranks of a session that mpirun leads."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == group and fields[0] != "Z" and (entry / "comm").read_text().strip() == "tessera":
                    found.append(int(entry.name))
            except (OSError, IndexError):
                pass
        return found

    def test_kills_at_random_moments(self):
        self.matrix("a.npy", 900, 900)
        start = time.monotonic()
        self.mpirun(4, "multiply", "a.npy", "a.npy", "-o", "whole.npy", "--memory", "8MB")
        whole = time.monotonic() - start
        killed = 0
        for n, victim in enumerate(cases.thinned(["rank", "all", "mpirun"] * 17, 5, kind=str)[:50]):
            with self.subTest(number=n, victim=victim):
                process = self.launch(4, ("multiply", "a.npy", "a.npy", "-o", "c.npy", "--memory", "8MB"))
                time.sleep(self.random.uniform(0, whole))
                ranks = self.processes(process.pid)
                if victim == "mpirun":
                    os.kill(process.pid, signal.SIGKILL)
                for rank in ranks if victim == "all" else ranks[-1:] if victim == "rank" else []:
                    try:
                        os.kill(rank, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                if victim == "all" and not self.ended_by(process, AT_ONCE):
                    os.kill(process.pid, signal.SIGKILL)  # rarely Open MPI's mpirun waits for ranks that died while it started them
                run = self.ended(process)
                end = time.monotonic() + AT_ONCE
                while self.processes(process.pid) and time.monotonic() < end:
                    time.sleep(0.01)
                self.assertEqual(self.processes(process.pid), [])
                if run.code == 0 or self.path("c.npy").exists():
                    self.same()  # it had ended before
                    self.path("c.npy").unlink()
                else:
                    killed += 1
                for name in os.listdir(self.folder):  # SIGKILL of rank 0 leaves its temporary, as without MPI
                    if name.endswith(".tmp"):
                        self.path(name).unlink()
        self.assertGreater(killed, 0)

    # ---- without the plug-in -------------------------------------------------------------------------------------------------------

    def test_no_plug_in_one_sentence(self):
        self.matrix("a.npy", 6, 6)
        self.refuses(4, 3, "multiply", "a.npy", "a.npy", "-o", "c.npy", env={"TESSERA_MPI": "/nowhere/plugin.so"}, says=("plug-in", "/nowhere"))

    def test_every_process_for_itself(self):
        self.matrix("a.npy", 6, 6)
        self.mpirun(2, "multiply", "a.npy", "a.npy", "-o", "/dev/null", "--format", "npy", env={"TESSERA_MPI": "off"})


@unittest.skipUnless(available("openmpi") and not harness.sanitized() and (cases.options.build / "bin/scalapack_product").exists(),
                     "pdgemm is NOT tested beside ScaLAPACK: libscalapack-openmpi-dev was not there at the build, or this is a sanitizer")
class Scalapack(MpiCase):
    LIBRARY = cases.options.build / "libtessera_scalapack.so"

    def counted(self, grid, shape, block, preload):
        """Bytes that Open MPI counts for one pdgemm, all ranks together."""
        for file in self.folder.glob("p.*.prof"):
            file.unlink()
        command = [LAUNCHERS["openmpi"], "-n", str(grid[0] * grid[1]), *self.counting(), *(("-x", f"LD_PRELOAD={self.LIBRARY}") if preload else ()),
                   cases.options.build / "bin/scalapack_product", *map(str, (*grid, *shape, block))]
        run = self.ended(self.started(command))
        self.assertEqual((run.code, run.out), (0, "right\n"), run.err)
        return sum(self.sent_by(rank) for rank in range(grid[0] * grid[1]))

    def test_pdgemm_sends_no_more_than_scalapack(self):
        for grid, shape, most in (((2, 2), (512, 512, 512), 1), ((2, 4), (500, 300, 400), 1), ((3, 1), (200, 512, 100), 1),
                                  ((2, 2), (128, 128, 8192), 0.8), ((2, 4), (128, 128, 8192), 0.8)):
            with self.subTest(grid=grid, shape=shape):
                theirs, ours = (self.counted(grid, shape, 32, preload) for preload in (False, True))
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


@unittest.skipUnless(available("mpich"), "products under MPICH are NOT tested: it was not there at the build")
class Mpich(harness.CommandTest):
    def test_smoke(self):
        values = [n % 7 - 3 for n in range(60 * 60)]
        harness.write_npy(self.path("a.npy"), values, (60, 60))
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "whole.npy")
        done = subprocess.run([LAUNCHERS["mpich"], "-n", "3", harness.COMMAND, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--json"],
                              cwd=self.folder, env=harness.environment(), capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(json.loads(done.stdout)["ranks"]), 3)
        self.assertEqual(self.path("whole.npy").read_bytes(), self.path("c.npy").read_bytes())


if __name__ == "__main__":
    cases.main()
