#!/usr/bin/env python3
"""Signals and files that shrink while the command works: nothing is lost and no files are left."""
import fcntl
import json
import os
import resource
import select
import signal
import struct
import subprocess
import termios
import time

import harness


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
                # Before the handlers are installed, the signal has its default effect.
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
