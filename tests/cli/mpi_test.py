#!/usr/bin/env python3
"""tessera multiply under mpirun: the bits of one process for any number of ranks, the bytes that Open MPI counts, errors on one rank,
killed ranks. tests/scale/ranks_test.cpp has many more products, on threads."""
import errno
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

import harness
import cases
from mpi_case import LAUNCHERS, PATIENCE, MpiCase, available

FAULTS = cases.options.build / "bin" / "libfaults.so"
AT_ONCE = 5  # seconds from an error on one rank to the end of the job, and from a kill to that of all processes


@unittest.skipUnless(available("openmpi"), "products under mpirun are NOT tested: Open MPI was not there at the build, or this is the thread sanitizer")
class MpiTest(MpiCase):
    undisturbed = None

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

    def at_once(self):
        """Seconds; starting and ending of ranks takes as long as without an error."""
        if MpiTest.undisturbed is None:
            harness.write_npy(self.path("one.npy"), [1.0], (1, 1))
            start = time.monotonic()
            self.mpirun(4, "multiply", "one.npy", "one.npy", "-o", "/dev/null", "--dry-run")
            MpiTest.undisturbed = time.monotonic() - start
        return AT_ONCE + MpiTest.undisturbed

    def refuses(self, code, ranks, *arguments, says=(), **named):
        """One line of ours on stderr beside those of mpirun, with the texts of `says`; no output, no temporary."""
        run = self.ended(self.launch(ranks, arguments, **named), self.at_once())
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
                run = self.mpirun(ranks, "multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--json", options=self.counting())
                self.same()
                self.no_leftovers()
                if ranks > 1:
                    self.check_counts(run.json, ranks, sum(self.path(name).stat().st_size - 128 for name in ("a.npy", "b.npy")))

    def check_counts(self, report, ranks, file_bytes):
        self.assertEqual(len(report["ranks"]), ranks)
        self.check_open_mpi(report)
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
        # What it has measured is kept for `tessera plan`.
        speeds = json.loads(self.path("cache/tessera/speeds.json").read_text())
        self.assertTrue(all(speeds[name] > 0 for name in ("network", "message_seconds", "reading", "writing")), speeds)
        speeds["network"] = 1e3
        self.path("cache/tessera/speeds.json").write_text(json.dumps(speeds))
        words = ("plan", "-m", 90, "-n", 90, "-k", 90, "--ranks", 2, "--gflops", 1, "--json")
        plan = self.succeeds(*words, env={"XDG_CACHE_HOME": str(self.path("cache"))}).json
        self.assertGreater(plan["seconds"]["network"], plan["network"]["worst_received"] / 1e3 - 1e-9)

    # ---- the best entries ----------------------------------------------------------------------------------------------------------

    def test_selected_entries(self):
        """Equal entries, on ranks that share rows of C, in the order of one process."""
        harness.write_npy(self.path("a.npy"), [self.random.randint(-2, 2) for _ in range(80 * 12)], (80, 12))
        for options, ranks in ((("--top", "7"), 4), (("--top", "80"), 6), (("--above", "9.5"), 5)):
            self.succeeds("multiply", "a.npy", "--gram", *options, "-o", "whole.npz", "--force")
            run = self.mpirun(ranks, "multiply", "a.npy", "--gram", *options, "-o", "c.npz", "--force", "--json")
            self.same("whole.npz", "c.npz")
            self.assertGreater(run.json["entries"], 0)
        # Long sums are cut along K.
        self.matrix("a.npy", 30, 2000)
        self.succeeds("multiply", "a.npy", "--gram", "--top", "3", "-o", "whole.npz", "--force")
        self.mpirun(4, "multiply", "a.npy", "--gram", "--top", "3", "-o", "c.npz", "--force", "--memory", "1MB")
        self.same("whole.npz", "c.npz")
        self.refuses(2, 2, "multiply", "a.npy", "--gram", "--top", "31", "-o", "d.npz", says="k from 0 to 30")

    # ---- after an interruption -----------------------------------------------------------------------------------------------------

    def to_resume(self, memory="1MB"):
        return ("multiply", "a.npy", "b.npy", "-o", "c.npy", "--memory", memory, "--resume", "--json")

    def lines_of_journals(self):
        return sum(max(0, file.read_bytes().count(b"\n") - 1) for file in self.folder.glob("c.npy.part.journal*"))

    def interrupted(self, call, *memory):
        """The call fails on each rank that comes so far; returns the number of finished blocks."""
        fault = f"export LD_PRELOAD={FAULTS} TESSERA_FAULT={call} TESSERA_FAULT_FROM=main TESSERA_FAULT_FILES=.npy"
        run = self.ended(self.launch(4, self.to_resume(*memory), before=fault))
        self.assertNotEqual(run.code, 0)
        self.assertFalse(self.path("c.npy").exists())
        return self.lines_of_journals()

    def resumed(self, *memory):
        report = self.mpirun(4, *self.to_resume(*memory)).json
        self.same()
        self.assertEqual(list(self.folder.glob("c.npy.part*")), [])
        self.path("c.npy").unlink()
        return report

    def test_resumes_with_the_same_bits(self):
        if not FAULTS.exists():
            self.skipTest("no library of faults: interrupted products on ranks are NOT tested")
        for rows, cols, depth, memory in ((220, 180, 90, "1MB"), (100, 80, 1500, "360kB")):  # the second is cut along K
            self.matrix("a.npy", rows, depth)
            self.matrix("b.npy", depth, cols)
            self.succeeds("multiply", "a.npy", "b.npy", "-o", "whole.npy", "--force")
            blocks = self.interrupted(f"write:40:{errno.ENOSPC}", memory)
            self.assertGreater(blocks, 0)
            report = self.resumed(memory)
            self.assertEqual(report["resumed_blocks"], blocks)
            self.assertGreater(report["blocks"], blocks)
            # All blocks are finished: nothing is sent.
            self.interrupted(f"rename:1:{errno.EIO}", memory)
            report = self.resumed(memory)
            self.assertEqual((report["resumed_blocks"], report["sent"]), (report["blocks"], 0))

    def test_resumes_only_the_same_product(self):
        if not FAULTS.exists():
            self.skipTest("no library of faults: interrupted products on ranks are NOT tested")
        self.matrix("a.npy", 220, 90)
        self.matrix("b.npy", 90, 180)
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "whole.npy")
        blocks = self.interrupted(f"rename:1:{errno.EIO}")
        run = self.ended(self.launch(3, self.to_resume()), self.at_once())
        self.assertEqual(run.code, 2)
        self.assertIn("'ranks' differs", run.err)
        part = bytearray(self.path("c.npy.part").read_bytes())
        part[200] ^= 16
        self.path("c.npy.part").write_bytes(part)
        journal = self.path("c.npy.part.journal.2")
        journal.write_bytes(journal.read_bytes()[:-5])
        self.assertEqual(self.resumed()["resumed_blocks"], blocks - 2)

    # ---- what is sent --------------------------------------------------------------------------------------------------------------

    def check_open_mpi(self, report):
        """Open MPI counts the bytes of the plan."""
        for rank, planned in enumerate(report["ranks"]):
            self.assertLess(abs(self.sent_by(rank) - planned["planned_sent"]), 1024, f"rank {rank} of {len(report['ranks'])}")

    def test_long_sums_go_from_rank_to_rank(self):
        self.matrix("a.npy", 64, 4096)
        self.matrix("b.npy", 4096, 64)
        self.check_open_mpi(self.mpirun(4, "multiply", "a.npy", "b.npy", "-o", "c.npy", "--json", options=self.counting()).json)

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
        if not harness.sanitized():
            with open(self.path("large.npy"), "wb") as file:
                file.write(harness.npy_header((12000, 12000), "f32"))
                file.truncate(128 + 4 * 12000**2)
            self.refuses(1, 3, "multiply", "large.npy", "large.npy", "-o", "c.npy", "--memory", "1GiB",
                         before=self.on_rank(1, "ulimit -v 600000"), says=("rank 1: ", "memory"))

    def test_what_several_ranks_cannot_do(self):
        self.matrix("a.npy", 6, 6)
        for options, says in ((("--verify",), "--verify"), (("--resume",), "--memory SIZE beside --resume"), (("--memory", "40"), "memory")):
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
        run = self.ended(self.launch(ranks, ("multiply", "a.npy", "a.npy", "-o", "c.npy"), **named), self.at_once())
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
        start = time.monotonic()
        run = self.ended(process)
        if run.code == 0:
            return  # it had been read
        self.assertLess(time.monotonic() - start, self.at_once())
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
        for n, victim in enumerate(cases.thinned((["rank", "all", "mpirun"] * 17)[:50], 17, kind=str)):
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
                end = time.monotonic() + AT_ONCE
                if ranks and not self.ended_by(process, AT_ONCE):
                    os.kill(process.pid, signal.SIGKILL)  # rarely Open MPI's mpirun waits for ranks that died while it started them
                run = self.ended(process)
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
