#!/usr/bin/env python3
"""Bad input and bad luck: one clear line, the documented exit code, and nothing lost."""
import fcntl
import json
import math
import os
import resource
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

import harness
from harness import npy_header


class HostileFiles(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("good.npy", [[1, 2], [3, 4]])

    def bad(self, data, *says, name="bad.npy", code=3):
        self.path(name).write_bytes(data)
        for order in ([name, "good.npy"], ["good.npy", name]):
            self.fails(code, "multiply", *order, "-o", "c.npy", says=says)
        self.assertFalse(self.path("c.npy").exists())
        self.no_leftovers()

    def test_npy(self):
        good = self.path("good.npy").read_bytes()
        self.bad(b"", "bad.npy")
        self.bad(good[:-1], "bad.npy")
        self.bad(good + b"x", "bad.npy")
        self.bad(good[:40], "bad.npy")
        self.bad(good[:7], "bad.npy")
        self.bad(b"\x93NUMPY\x07\x00" + good[8:], "bad.npy")
        self.bad(b"\x93NUMPY\x02\x00" + struct.pack("<I", 0xFFFFFFF0) + b"{'descr'", "bad.npy")
        self.bad(b"not a matrix at all, just some text\n" * 9, "bad.npy")
        for shape in [(-1, 2), (2**40, 2**40), (2**62, 4), (2**63, 1), (10**30, 1)]:
            self.bad(npy_header(shape, "f32") + b"\0" * 16, "bad.npy")
        for descr in ["|O", "|S5", "<c8", "|V3", "<M8[s]", "<f3", ">f16", ""]:
            self.bad(npy_header((2, 2), descr) + b"\0" * 64, "bad.npy")

    def test_wrong_ranks(self):
        for shape in [(), (1, 2, 2), (1,) * 33]:
            self.path("bad.npy").write_bytes(npy_header(shape, "f32") + b"\0" * 4 * math.prod(shape))
            run = self.tessera("multiply", "bad.npy", "good.npy", "-o", "c.npy")
            self.assertIn(run.code, (2, 3))
            self.assertEqual(len(run.lines), 1, run.err)

    def test_matrix_market(self):
        for text in ["", "%%MatrixMarket", "hello\n2 2\n", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
                     "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\nx\n",
                     "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 5.0\n",
                     "%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 1\n1 1 5.0\n",
                     "%%MatrixMarket matrix array complex general\n1 1\n1 2\n"]:
            self.path("bad.mtx").write_text(text)
            run = self.tessera("multiply", "bad.mtx", "good.npy", "-o", "c.npy")
            self.assertIn(run.code, (1, 3), text + run.err)
            self.assertEqual(len(run.lines), 1, run.err)
            self.assertIn("bad.mtx", run.err)

    def test_archives(self):
        self.bad(b"PK\x03\x04 no archive", "bad.npz", name="bad.npz")
        self.bad(struct.pack("<Q", 2**60) + b"{}", "bad.safetensors", name="bad.safetensors")
        for header in [b"{broken: ", b"", b"[", b"{\"a\": 1", b"\xff\xfe", b"{} x"]:
            self.path("bad.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
            run = self.fails(3, "multiply", "bad.safetensors", "good.npy", "-o", "c.npy", says="bad.safetensors")
            self.assertNotIn("exception", run.err)
            if header:
                self.assertIn("line 1, column ", run.err)
        self.path("bad.json").write_bytes(b"{\n \"context\": ]")
        self.fails(3, "bench", "--from", "nofile.json", says=["cannot read 'nofile.json': No such file", "check the name and the folder"])
        self.fails(3, "bench", "--from", ".", says=[".: is a folder", "a file that 'tessera bench -o' wrote"])
        run = self.fails(3, "bench", "--from", "bad.json", says=["'bad.json' is not JSON", "line 2, column 13"])
        self.assertNotIn("exception", run.err)
        self.succeeds("multiply", "good.npy", "good.npy", "-o", "two.npz:first")
        run = self.tessera("multiply", "two.npz:second", "good.npy", "-o", "c.npy")
        self.assertIn(run.code, (2, 3))
        self.assertIn("first", run.err)

    def test_what_is_no_file(self):
        self.fails(3, "multiply", "missing.npy", "good.npy", "-o", "c.npy", says=["missing.npy", "No such file"])
        os.mkdir(self.path("folder.npy"))
        self.fails(3, "multiply", "folder.npy", "good.npy", "-o", "c.npy", says="folder.npy")
        os.symlink("loop.npy", self.path("loop.npy"))
        self.fails(3, "multiply", "loop.npy", "good.npy", "-o", "c.npy", says="loop.npy")
        self.fails(3, "multiply", "/dev/null", "good.npy", "-o", "c.npy", says="/dev/null")
        self.fails(3, "multiply", "", "good.npy", "-o", "c.npy")
        self.fails(3, "multiply", "x" * 5000 + ".npy", "good.npy", "-o", "c.npy")

    def test_every_cut_and_many_damages_are_refused_or_right(self):
        good = self.path("good.npy").read_bytes()
        for at in range(0, 128, 5):
            damaged = bytearray(good)
            damaged[at] ^= 0x41
            self.path("bad.npy").write_bytes(damaged)
            run = self.tessera("multiply", "bad.npy", "good.npy", "-o", "c.npy", "--force")
            self.assertIn(run.code, (0, 1, 2, 3), run.err)
            self.assertEqual(len(run.lines), 1, run.err)


class Shapes(harness.CommandTest):
    def test_shapes_that_do_not_fit_name_both_and_the_way_out(self):
        self.write_npy("a.npy", [[1, 2, 3]] * 5)
        self.write_npy("b.npy", [[1, 2]] * 7)
        self.fails(2, "multiply", "a.npy", "b.npy", "-o", "c.npy",
                   says=["A (a.npy) has 3 columns but B (b.npy) has 7 rows", "(5,3)", "(7,2)"])
        self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", says="try --transpose-b")
        self.write_npy("t.npy", [[1, 2]] * 5)
        self.fails(2, "multiply", "a.npy", "t.npy", "-o", "c.npy", says="try --transpose-a")
        self.write_npy("c0.npy", [[1, 2]])
        self.write_npy("k.npy", [[1, 2]] * 3)
        self.fails(2, "multiply", "a.npy", "k.npy", "--beta", 1, "--c", "c0.npy", "-o", "c.npy", says=["C0 (c0.npy)", "(5,2)"])
        self.fails(2, "multiply", "a.npy", "k.npy", "--beta", 1, "-o", "c.npy", says="--c")
        self.fails(2, "multiply", "a.npy", "k.npy", "--c", "c0.npy", "-o", "c.npy", says="--beta")

    def test_numbers_that_are_none(self):
        self.write_npy("a.npy", [[1]])
        for option in [["--alpha", "one"], ["--alpha", "1e999"], ["--threads", "-1"], ["--tile", "0x0"], ["--tile", "axb"]]:
            self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", *option)
        self.fails(4, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--device", "cuda:99", says="cuda:99")


class Values(harness.CommandTest):
    def test_nan_and_infinity_stay_in_their_row_and_column(self):
        nan, inf = math.nan, math.inf
        self.write_npy("a.npy", [[1, nan], [1, 1], [inf, 0]])
        self.write_npy("b.npy", [[1, 0], [1, 1]])
        for algorithm in harness.algorithms():
            with self.subTest(algorithm):
                self.succeeds("multiply", "a.npy", "b.npy", "-o", "c.npy", "--force", "--verify", "--algorithm", algorithm)
                values = self.read_npy("c.npy")[2]
                self.assertEqual([math.isnan(value) for value in values], [True, True, False, False, False, True])
                self.assertEqual(values[2:5], [2, 1, inf])

    def test_beta_zero_does_not_read_c(self):
        self.write_npy("a.npy", [[1, 2], [3, 4]])
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "--beta", 0)
        self.assertEqual(self.read_npy("c.npy")[2], [7, 10, 15, 22])

    def test_alpha_nan_is_a_value(self):
        self.write_npy("a.npy", [[1]])
        self.succeeds("multiply", "a.npy", "a.npy", "-o", "c.npy", "--alpha", "nan")
        self.assertTrue(math.isnan(self.read_npy("c.npy")[2][0]))


class Resources(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.write_npy("a.npy", [[float(i % 7) for i in range(300)]] * 300)
        self.path("old.npy").write_bytes(b"precious")

    def unchanged(self):
        self.assertEqual(self.path("old.npy").read_bytes(), b"precious")
        self.no_leftovers()

    def test_full_device(self):
        self.fails(1, "multiply", "a.npy", "a.npy", "-o", "/dev/full", says=["cannot write /dev/full", "No space left"])
        with open("/dev/full", "wb") as full:
            for form in ["npy", "npz", "mtx", "safetensors"]:
                self.fails(1, "multiply", "a.npy", "a.npy", "-o", "-", "--format", form, stdout=full,
                           says=["cannot write standard output", "No space left"])

    def test_full_disk(self):
        folder = tempfile.mkdtemp(prefix="tessera-small-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", folder], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("no right to mount a small disk")
        try:
            for name in ["c.npy", "c.npz", "c.mtx", "c.safetensors"]:
                with self.subTest(name):
                    self.fails(1, "multiply", "a.npy", "a.npy", "-o", f"{folder}/{name}", says=["No space left", name])
                    self.assertEqual(os.listdir(folder), [])
        finally:
            subprocess.run(["umount", folder], check=True)

    def test_file_size_limit(self):
        for name in ["c.npy", "c.npz", "c.mtx", "c.safetensors", "old.npy"]:
            with self.subTest(name):
                self.fails(1, "multiply", "a.npy", "a.npy", "-o", name, "--force", says=name,
                           limits=[(resource.RLIMIT_FSIZE, 65536)])
                self.unchanged()
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy", "old.npy"])

    def test_out_of_memory(self):
        if harness.sanitized():
            self.skipTest("sanitizers need more address space than any limit allows")
        harness.write_npy(self.path("tall.npy"), [1.0] * 6000, (6000, 1))
        codes = set()
        for megabytes in [60, 80, 100, 140, 200, 300]:
            run = self.tessera("multiply", "tall.npy", "tall.npy", "--transpose-b", "-o", "old.npy", "--force", "--algorithm",
                               "block_tiled", "--threads", 1, limits=[(resource.RLIMIT_AS, megabytes << 20)])
            codes.add(run.code)
            if run.code == 0:
                self.path("old.npy").write_bytes(b"precious")
                continue
            self.assertEqual(len(run.lines), 1, run.err)
            self.unchanged()
        self.assertLessEqual(codes, {0, 1})
        self.assertIn(1, codes)

    def test_folder_without_permission(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o700)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            done = subprocess.run([harness.COMMAND, "multiply", "a.npy", "a.npy", "-o", "c.npy"], cwd=self.folder,
                                  env=harness.environment(), capture_output=True, **nobody)
        except PermissionError:
            self.skipTest("the command lies where only root may run it")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr.decode(), r"^tessera multiply: .*c\.npy.*Permission denied.*\n$")


class Interrupted(harness.CommandTest):
    def start(self, output, algorithm="naive", threads=1):
        return subprocess.Popen([harness.COMMAND, "multiply", "l.npy", "r.npy", "-o", output, "--force", "--algorithm", algorithm,
                                 "--threads", str(threads)], cwd=self.folder, env=harness.environment(), stderr=subprocess.PIPE,
                                preexec_fn=lambda: [resource.setrlimit(resource.RLIMIT_CORE, (0, 0))] + [
                                    signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)])

    def setUp(self):
        super().setUp()
        self.size = 300 if harness.sanitized() else 700  # enough work to be interrupted in
        harness.write_npy(self.path("l.npy"), [0.5] * self.size * 64, (self.size, 64))
        harness.write_npy(self.path("r.npy"), [0.5] * 64 * self.size, (64, self.size))

    def test_signals_leave_the_whole_old_or_the_whole_new_file(self):
        whole = 128 + self.size * self.size * 4
        seen = set()
        begin = time.monotonic()
        # Slow: signals come before, within and after the product.
        self.start("c.npy", "single_block").communicate(timeout=harness.PATIENCE)
        takes = time.monotonic() - begin  # on this machine, in this build
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]:
            for part in range(9):
                self.path("c.npy").write_bytes(b"old")
                process = self.start("c.npy", "single_block")
                time.sleep(takes * part / 8)
                process.send_signal(number)
                _, err = process.communicate(timeout=harness.PATIENCE)
                # Before the handlers stand, the signal's own meaning holds.
                self.assertIn(process.returncode, (0, code, -number), err)
                seen.add(process.returncode)
                self.assertIn(self.path("c.npy").stat().st_size, (3, whole))
                if process.returncode == code:
                    *before, last = [line for line in err.decode().splitlines() if not line.endswith((" so far", " left"))]
                    self.assertRegex(last, r"^tessera( multiply)?: (interrupted|ended by a signal)$")
                    # A signal between the summary line and the end: then the new file is there, whole.
                    if before:
                        self.assertEqual(len(before), 1, err)
                        self.assertRegex(before[0], r"^tessera multiply: c\.npy: ")
                        self.assertEqual(self.path("c.npy").stat().st_size, whole)
                self.no_leftovers()
        if not harness.sanitized("tsan"):  # which holds signals back until the product is done
            self.assertLessEqual({129, 130, 143}, seen)

    def test_an_interrupt_leaves_one_line_where_the_bar_stood(self):
        columns = 40  # narrower than a bar with its times
        master, slave = harness.terminal(self)
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([harness.COMMAND, "compare", "-m", "3000", "-n", "3000", "-k", "3000"], cwd=self.folder, stdin=slave,
                                   stdout=slave, stderr=slave, start_new_session=True, env=harness.environment(TERM="xterm"))
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        shown, end = b"", time.monotonic() + harness.PATIENCE
        while shown.count(b"\r\033[K") < 3:
            self.assertIsNone(process.poll(), shown)
            self.assertLess(time.monotonic(), end, shown)
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 4096)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=harness.PATIENCE), 130)
        while select.select([master], [], [], 0.1)[0]:
            try:
                shown += os.read(master, 4096)
            except OSError:
                break
        *bars, last = shown.decode().split("\r\033[K")
        self.assertEqual(last, "tessera compare: interrupted\r\n")
        self.assertLess(max(map(len, bars)), columns)
        self.assertNotIn("\n", "".join(bars))

    def test_every_signal_that_ends_the_command_leaves_no_temporary(self):
        ask = [signal.SIGQUIT, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU,
               signal.SIGIO, signal.SIGPWR, signal.SIGRTMIN, signal.SIGRTMIN + 7, signal.SIGRTMAX]
        crash = [signal.SIGSEGV, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS]
        for number in ask + ([] if harness.sanitized() else crash):  # which sanitizers handle
            with self.subTest(signal.Signals(number).name if number in signal.Signals.__members__.values() else number):
                self.path("c.npy").write_bytes(b"old")
                process = self.start("c.npy", "single_block")
                for _ in range(600):
                    if any(name.startswith(".c.npy") for name in os.listdir(self.folder)) or process.poll() is not None:
                        break
                    time.sleep(0.005)
                process.send_signal(number)
                _, err = process.communicate(timeout=harness.PATIENCE)
                self.assertIn(process.returncode, (-number,) if number in crash else (128 + number,), err)
                self.no_leftovers()
                self.assertEqual(self.path("c.npy").read_bytes(), b"old")

    def bench(self, *options):
        """A benchmark of one size that would take a quarter of an hour."""
        return subprocess.Popen([harness.COMMAND, "bench", "--sizes", "128", "--algorithms", "tiled,block_tiled,packed", "--peers", "none",
                                 "--repetitions", "5000", "--max-time", "100000", "-o", "r.json", *options], cwd=self.folder,
                                env=harness.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: [signal.signal(number, signal.SIG_DFL) for number in (signal.SIGINT, signal.SIGTERM)])

    def test_an_interrupted_benchmark_keeps_what_it_has(self):
        for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
            for seconds in (1.5, 6, 24):  # longer where that is too early for results: a busy machine, a sanitizer
                process = self.bench("--markdown")
                time.sleep(seconds)
                self.assertIsNone(process.poll())
                sent = time.monotonic()
                process.send_signal(number)
                out, err = process.communicate(timeout=harness.PATIENCE)
                self.assertLess(time.monotonic() - sent, 30)
                self.assertEqual(process.returncode, code, err)
                if b"4 measured rows" in err:
                    break
                self.path("r.json").unlink(missing_ok=True)
            self.assertRegex(err.decode().splitlines()[-1], r"^tessera bench: interrupted; 4 measured rows are kept$")
            self.assertIn("Interrupted: ", out.decode())
            document = json.loads(self.path("r.json").read_text())
            self.assertIs(document["context"]["interrupted"], True)
            rows = [entry for entry in document["benchmarks"] if entry["run_type"] == "iteration"]
            self.assertEqual({row["contestant"] for row in rows}, {"tiled", "block_tiled", "packed", "peak"})
            for row in rows:
                self.assertEqual(row["status"], "verified")
                self.assertIn("of 5000 repetitions (interrupted)", row["remark"])
            self.assertIn("block_tiled", self.succeeds("bench", "--from", "r.json").out)
            self.path("r.json").unlink()
            self.no_leftovers()

    def test_a_benchmark_under_nohup_outlives_its_terminal(self):
        process = subprocess.Popen([harness.COMMAND, "bench", "--sizes", "64", "--algorithms", "packed", "--peers", "none",
                                    "--repetitions", "40", "-o", "r.json"], cwd=self.folder, env=harness.environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        time.sleep(1.5)
        self.assertIsNone(process.poll())
        os.killpg(process.pid, signal.SIGHUP)
        _, err = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        rows = json.loads(self.path("r.json").read_text())["benchmarks"]
        self.assertEqual({row["status"] for row in rows}, {"verified"})

    def test_a_benchmark_interrupted_at_once_ends_at_once(self):
        codes = set()
        for delay in [0, 0.02, 0.05, 0.1, 1, 5]:
            if delay >= 1 and 130 in codes:
                break  # only where it starts slowly
            process = self.bench()
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=harness.PATIENCE)
            self.assertIn(process.returncode, (130, -signal.SIGINT), err)
            codes.add(process.returncode)
            if self.path("r.json").exists():
                json.loads(self.path("r.json").read_text())
                self.path("r.json").unlink()
            self.no_leftovers()
        self.assertIn(130, codes)

    def test_kill_leaves_the_old_file(self):
        self.path("c.npy").write_bytes(b"old")
        process = self.start("c.npy")
        time.sleep(0.05)
        process.kill()
        process.communicate()
        self.assertIn(self.path("c.npy").stat().st_size, (3, 128 + self.size * self.size * 4))

    def test_input_that_shrinks_while_two_threads_read_it(self):
        codes = set()
        for _ in range(8):
            harness.write_npy(self.path("l.npy"), [0.5] * 3000 * 700, (3000, 700))
            harness.write_npy(self.path("r.npy"), [0.5] * 700 * 64, (700, 64))
            process = self.start("c.npy", threads=2)
            time.sleep(0.03)
            os.truncate(self.path("l.npy"), 4096)
            _, err = process.communicate(timeout=harness.PATIENCE)
            self.assertIn(process.returncode, (0, 3), err)
            codes.add(process.returncode)
            self.assertEqual(err.decode().count("\n"), 1, err)
            self.no_leftovers()
        self.assertIn(3, codes, "the file never shrank in time")


if __name__ == "__main__":
    harness.main()
