#!/usr/bin/env python3
"""Allocations and system calls of the command fail, one in each run, as SQLite tests it: the first, the second, ... until a
run no longer reaches the fault. faults.cpp, loaded in front of the command, makes them fail.

Each run must end in time and by no signal. It succeeds, with the right and whole result and not a word on stderr, or it fails
with its documented exit code and one line. An old output is as it was, or the new one is there, whole; no temporary is left.
Interrupted calls and short transfers must not matter at all.

Of allocations, and of the system calls of `bench`, one fails for each *place* that calls (the last few callers), and those of
the start-up, which all commands share, fail for one command; TESSERA_FAULT_ALL=1 takes every call of every command. A thinned
test takes each third place of an allocation, of each command and of each way to fail others.
"""
import concurrent.futures
import errno
import json
import os
import pathlib
import re
import resource
import subprocess
import tempfile
import unittest

import harness
import cases

FAULTS = cases.options.build / "bin" / "libfaults.so"
SECONDS = 120  # a run takes milliseconds, but the machine may be busy with other things
OLD = b"precious"
# Before main CUDA's runtime registers the kernels, and dies where it gets no memory: what follows is ours.
VERSION = subprocess.run([harness.COMMAND, "--version"], capture_output=True, text=True).stdout
FROM = {"TESSERA_FAULT_FROM": "main"} if "CUDA: yes" in VERSION else {}
ALL = bool(os.environ.get("TESSERA_FAULT_ALL"))
# Memory shared by processes has to be mapped.
MORE_CODES = {("bench", "map"): {1}}


class Scene:
    """One command in its own folder, and its output on success."""

    def __init__(self, name, *arguments, output=None, stdin=None, timed=False):
        self.name, self.arguments, self.output, self.stdin, self.timed = name, arguments, output, stdin, timed
        self.wanted = None  # a run without faults

    def rows(self, run):
        """Of a document with figures, all but the figures."""
        document = json.loads(run.raw)
        return [(row.get("algorithm") or row["name"], row["status"]) for row in document.get("results") or document["benchmarks"]]

    def wrong(self, run):
        """What is wrong with a run that says it succeeded; None where all is well."""
        if run.err:
            return "it succeeded, but says something"
        if run.new != self.wanted.new and not self.timed:
            return "it succeeded, but its output is not the right one"
        if self.timed and self.output and run.new.decode() != run.out:
            return "it succeeded, but its output is not what it prints"
        same = self.rows(run) == self.rows(self.wanted) if self.timed else run.raw == self.wanted.raw
        return None if same else "it succeeded, but its stdout is not the right one"

    def whole(self, content):
        """Is that a complete output of this command?"""
        if not self.timed:
            return content == self.wanted.new
        try:
            return "benchmarks" in json.loads(content)  # with fewer rows where a contestant failed
        except ValueError:
            return False


class Ended(harness.Run):
    def __init__(self, code, out, err, new, names, reports):
        super().__init__(code, out, err)
        self.new, self.names, self.reports = new, names, reports


class Faults(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if harness.sanitized():
            raise unittest.SkipTest("sanitizers bring their own allocator: faults are NOT injected")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of flushes: not on a disk
        scratch = tempfile.TemporaryDirectory(prefix="tessera-faults-", dir=memory)
        cls.addClassCleanup(scratch.cleanup)
        cls.root = pathlib.Path(scratch.name)
        cls.workers = concurrent.futures.ThreadPoolExecutor(max_workers=2)
        cls.addClassCleanup(cls.workers.shutdown)
        values = [float(i % 5 - 2) for i in range(12 * 9)]
        harness.write_npy(cls.root / "a.npy", values, (12, 9))
        harness.write_npy(cls.root / "b.npy", values, (9, 12))
        for name in ("b.npz", "b.mtx", "b.safetensors"):
            subprocess.run([harness.COMMAND, "multiply", "a.npy", "b.npy", "-o", name, "--dtype", "f32", "--quiet"],
                           cwd=cls.root, env=harness.environment(), check=True)
        cls.scenes = list(cls.all_scenes())
        for scene in cls.scenes:
            scene.wanted = cls.run_scene(scene)
            assert scene.wanted.code == 0, scene.wanted.err
        cls.start_up = cls.run_scene(Scene("start-up", "multiply", "a", "b"), "allocate:0:places").reports[-1]

    @classmethod
    def all_scenes(cls):
        common = ["--threads", "1", "--quiet"]
        product = ["multiply", "../a.npy", "../b.npy", "--force", *common, "-o"]
        for end in ("npy", "npz", "mtx", "safetensors"):
            yield Scene(f"to_{end}", *product, f"c.{end}", output=f"c.{end}")
        for end in ("npz", "mtx", "safetensors"):
            yield Scene(f"from_{end}", "multiply", f"../b.{end}", "../a.npy", "--force", "--dtype", "f64", "--verify", *common,
                        "-o", "c.npy", output="c.npy")
        yield Scene("pipes", "multiply", "-", "../b.npy", *common, "-o", "-", "--format", "npz",
                    stdin=(cls.root / "a.npy").read_bytes())
        yield Scene("compare", "compare", "-m", "8", "-n", "9", "-k", "10", "--json", *common, timed=True)
        yield Scene("layout", "layout", "eval", "row_major(6,4)", "--quiet")
        yield Scene("bench", "bench", "--sizes", "8", "--algorithms", "tiled", "--peers", "none", "--repetitions", "1",
                    "--min-time", "0.0001", "--max-time", "100000", *common, "--json", "--force", "-o", "r.json",
                    output="r.json", timed=True)

    # ---- one run ---------------------------------------------------------------------------------

    @classmethod
    def run_scene(cls, scene, fault=""):
        with tempfile.TemporaryDirectory(dir=cls.root) as folder:
            work, report = pathlib.Path(folder), pathlib.Path(folder + ".report")
            if scene.output:
                (work / scene.output).write_bytes(OLD)
            extra = {"TESSERA_FAULT": fault, "TESSERA_FAULT_REPORT": str(report), "LD_PRELOAD": str(FAULTS), **FROM} if fault else {}
            process = subprocess.Popen([harness.COMMAND, *scene.arguments], cwd=work, env=harness.environment(**extra),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            try:
                out, err = process.communicate(scene.stdin, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                err += b"(killed: it took too long)"
            reports = [int(line) for line in report.read_text().split()] if report.exists() else []
            report.unlink(missing_ok=True)
            new = (work / scene.output).read_bytes() if scene.output else None
            return Ended(process.returncode, out, err.decode(errors="replace"), new, sorted(os.listdir(work)), reports)

    def complaint(self, scene, run, codes):
        """What a run did that it may not; None where all is well."""
        if run.code < 0:
            return f"ended by signal {-run.code}"
        if run.names != ([scene.output] if scene.output else []):
            return f"it leaves {run.names}"
        if scene.output and run.new != OLD and not scene.whole(run.new):
            return "the output is neither the old nor the new one"
        if run.code == 0:
            return scene.wrong(run)
        if run.code not in codes:
            return f"exit status {run.code}"
        lines = [line for line in run.lines if re.match(r"tessera( \w+)*: \S", line) and "std::" not in line]
        most = 2 if scene.name == "bench" else 1  # a line for each contestant that failed
        return None if lines == run.lines and 1 <= len(lines) <= most else "not one clear line"

    def numbers(self, scene, kind, later):
        """The calls to let fail; None for all."""
        if ALL or (kind != "allocate" and scene.name != "bench"):
            return None
        places = sorted(set(self.run_scene(scene, f"{kind}:0:places").reports))
        first = self.start_up if kind == "allocate" and scene is not self.scenes[0] else 0
        places = [number for number in places if number > first]
        if kind != "allocate":
            return places
        at = self.scenes.index(scene) + bool(later)  # commands share places; one failure and all from there on are apart
        return cases.thinned(places, 3, at)

    def sweep(self, scene, kind, how, codes, later):
        """Lets call after call fail; the complaints."""
        def attempt(number):
            run = self.run_scene(scene, f"{kind}:{number}{later}:{how}")
            self.reached += len(run.reports)
            what = self.complaint(scene, run, codes)
            return run.reports, what and f"{scene.name}: {kind} {number}{later}, {how}: {what}: {run.err.strip()!r}"

        numbers = self.numbers(scene, kind, later)
        if numbers is not None:
            return [what for _, what in self.workers.map(attempt, numbers) if what]
        complaints, first, step = [], 1, 4
        while True:
            done = list(self.workers.map(attempt, range(first, first + step)))
            complaints += [what for _, what in done if what]
            if not all(reports for reports, _ in done):
                return complaints
            first += step
            self.assertLess(first, 50000, f"{scene.name}: the faults never end")

    def check(self, kind, how, codes=frozenset(), later="", scenes=()):
        self.reached, complaints = 0, []
        for scene in scenes or self.scenes:
            complaints += self.sweep(scene, kind, how, codes | MORE_CODES.get((scene.name, kind), set()), later)
        self.assertGreater(self.reached, 0, f"no command makes a call of the kind {kind}")
        if complaints:
            self.fail(f"{len(complaints)} complaints:\n" + "\n".join(complaints))

    # ---- the demands -----------------------------------------------------------------------------

    def test_an_allocation_fails(self):
        self.check("allocate", errno.ENOMEM, {1})

    def test_all_allocations_fail_from_one_on(self):
        self.check("allocate", errno.ENOMEM, {1}, later="+")

    def test_interrupted_calls_do_not_matter(self):
        for kind in ("open", "read", "write", "flush", "reserve", "close"):
            with self.subTest(kind):
                self.check(kind, errno.EINTR)

    def test_short_transfers_do_not_matter(self):
        for kind in ("read", "write"):
            with self.subTest(kind):
                self.check(kind, "short")
                self.check(kind, "short", later="+")

    def test_input_and_output_fail(self):
        for kind, how, codes in [("open", errno.EMFILE, {1, 3}), ("read", errno.EIO, {1, 3}), ("write", errno.ENOSPC, {1}),
                                 ("flush", errno.EIO, {1}), ("rename", errno.EIO, {1}), ("reserve", errno.ENOSPC, {1}),
                                 ("close", errno.EIO, {1})]:
            with self.subTest(f"{kind} {errno.errorcode[how]}"):
                self.check(kind, how, codes)

    def test_a_file_that_cannot_be_mapped_is_read(self):
        self.check("map", errno.ENODEV)

    def test_mapping_without_address_space(self):
        self.check("map", errno.ENOMEM, {1})

    def test_threads_that_cannot_be_started_are_not_missed(self):
        scene = Scene("threads", "compare", "-m", "130", "-n", "130", "-k", "130", "--threads", "3", "--json", timed=True)
        scene.wanted = self.run_scene(scene)
        self.check("thread", errno.EAGAIN, scenes=[scene])
        self.check("thread", errno.EAGAIN, later="+", scenes=[scene])


if __name__ == "__main__":
    harness.main()
