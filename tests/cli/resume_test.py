#!/usr/bin/env python3
"""tessera multiply --memory --resume: a killed product continues after its finished blocks, with the same bits."""
import errno
import fcntl
import json
import os
import random
import signal
import subprocess
import time

import harness
import cases


class Resume(harness.CommandTest):
    ARGUMENTS = ("multiply", "a.npy", "b.npy", "-o", "c.npy", "--memory", "20kB", "--resume")

    def setUp(self):
        super().setUp()
        self.random = random.Random(5)
        self.random_npy("a.npy", 300, 400)
        self.random_npy("b.npy", 400, 260)
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "whole.npy")

    def random_npy(self, name, rows, cols):
        harness.write_npy(self.path(name), [self.random.uniform(-1, 1) for _ in range(rows * cols)], (rows, cols))

    def part(self):
        return self.path("c.npy.part")

    def journal(self):
        return self.path("c.npy.part.journal")

    def killed(self, after, *more):
        """The number of blocks in the journal of a command killed after this many seconds; None if it had finished."""
        run = subprocess.Popen([harness.COMMAND, *self.ARGUMENTS, "-q", *more], cwd=self.folder, env=harness.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after)
        run.send_signal(signal.SIGKILL)
        if run.wait() == 0:
            return None
        return self.journal().read_bytes().count(b"\n") - 1 if self.journal().exists() else 0

    def interrupted(self, call="write:40"):
        """Leaves a part of a product, as on a disk that is full at this write; returns the number of its blocks."""
        full = {"LD_PRELOAD": str(cases.options.build / "bin" / "libfaults.so"), "TESSERA_FAULT": f"{call}:{errno.ENOSPC}"}
        self.fails(1, *self.ARGUMENTS, env=full, says=("c.npy",))
        self.assertFalse(self.path("c.npy").exists())
        return self.journal().read_bytes().count(b"\n") - 1

    def goes_on(self, *more):
        report = json.loads(self.succeeds(*self.ARGUMENTS, "--json", *more).out)
        self.assertEqual(self.path("c.npy").read_bytes(), self.path("whole.npy").read_bytes())
        self.assertFalse(self.part().exists() or self.journal().exists())
        return report

    def test_killed_at_random_moments(self):
        for _ in range(10):
            blocks, done = 0, False
            while not done:
                now = self.killed(self.random.uniform(0.005, 0.15))
                done = self.path("c.npy").exists()  # also if killed between its renaming and the end
                self.assertTrue(done or now is not None)
                if not done:
                    self.assertGreaterEqual(now, blocks)  # a finished block is not computed again
                    blocks = now
                if not done and self.random.random() < 0.3:
                    self.assertGreaterEqual(self.goes_on()["resumed_blocks"], blocks - 1)  # its last line may be cut off
                    done = True
            self.assertEqual(self.path("c.npy").read_bytes(), self.path("whole.npy").read_bytes())
            os.remove(self.path("c.npy"))
            self.journal().unlink(missing_ok=True)

    def test_what_is_not_interrupted_leaves_nothing(self):
        self.assertEqual(self.goes_on()["resumed_blocks"], 0)

    def test_damaged_blocks_are_computed_again(self):
        blocks = self.interrupted()
        part = bytearray(self.part().read_bytes())
        part[len(harness.npy_header((300, 260), "f32"))] ^= 16  # in the first block
        self.part().write_bytes(part)
        self.assertEqual(self.goes_on()["resumed_blocks"], blocks - 1)

    def test_a_line_that_was_cut_off_counts_for_nothing(self):
        blocks = self.interrupted()
        self.journal().write_bytes(self.journal().read_bytes()[:-5])
        self.assertEqual(self.goes_on()["resumed_blocks"], blocks - 1)
        os.remove(self.path("c.npy"))
        blocks = self.interrupted()
        lines = self.journal().read_bytes().split(b"\n")
        lines[2] = lines[2].replace(lines[2][2:3], b"x", 1)
        self.journal().write_bytes(b"\n".join(lines))
        self.assertEqual(self.goes_on()["resumed_blocks"], blocks - 1)

    def test_half_of_a_symmetric_product(self):
        self.random_npy("a.npy", 400, 30)
        self.ARGUMENTS = ("multiply", "a.npy", "--gram", "-o", "c.npy", "--memory", "60kB", "--resume")
        self.path("copy.npy").write_bytes(self.path("a.npy").read_bytes())
        self.succeeds("multiply", "a.npy", "copy.npy", "--transpose-b", "-o", "whole.npy", "--force")
        blocks = self.interrupted("write:400")
        report = self.goes_on()
        self.assertEqual(report["resumed_blocks"], blocks)
        self.path("c.npy").unlink()
        # The second block is damaged left of the diagonal, where its copy is.
        blocks = self.interrupted("write:400")
        part, place = bytearray(self.part().read_bytes()), len(harness.npy_header((400, 400), "f32")) + 4 * 400 * 50
        part[place] ^= 16
        self.part().write_bytes(part)
        self.assertEqual(self.goes_on()["resumed_blocks"], blocks - 1)

    def test_a_part_that_is_too_short(self):
        self.interrupted()
        os.truncate(self.part(), 100)
        self.assertEqual(self.goes_on()["resumed_blocks"], 0)

    def refused(self, *says, more=()):
        before = self.part().read_bytes() if self.part().exists() else None
        self.fails(2, *self.ARGUMENTS, *more, says=says)
        self.assertFalse(self.path("c.npy").exists())
        if before is not None:
            self.assertEqual(self.part().read_bytes(), before)

    def test_another_product_is_refused(self):
        self.interrupted()
        whole, self.ARGUMENTS = self.ARGUMENTS, ("multiply", "a.npy", "b.npy", "-o", "c.npy", "--memory", "30kB", "--resume")
        self.refused("c.npy.part", "'--memory' differs")
        self.ARGUMENTS = whole
        self.refused("'alpha and beta' differs", more=("--alpha", "2"))
        old = self.path("b.npy").stat()
        self.random_npy("b.npy", 400, 260)
        self.refused("'B' differs")
        os.utime(self.path("b.npy"), ns=(old.st_atime_ns, old.st_mtime_ns))
        self.refused("'B' differs")  # by its content
        header = self.journal().read_bytes()
        self.journal().write_bytes(header[:5] + b"?" + header[6:])
        self.refused("journal", "damaged", "start again")

    def test_a_part_of_somebody_else_is_not_touched(self):
        self.part().write_bytes(b"precious")
        self.refused("c.npy.part", "no journal", "remove it")
        self.assertFalse(self.journal().exists())

    def test_one_process_at_a_time(self):
        self.interrupted()
        with open(self.journal(), "rb+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.refused("another process is writing it")
        self.goes_on()

    def test_an_output_that_exists(self):
        self.path("c.npy").write_bytes(b"old")
        self.fails(2, *self.ARGUMENTS, says=("exists already",))
        self.assertFalse(self.part().exists() or self.journal().exists())
        self.goes_on("--force")

    def test_words_that_do_not_go_together(self):
        self.fails(2, "multiply", "a.npy", "b.npy", "-o", "c.npy", "--resume", says=("--memory SIZE beside --resume",))

    def test_what_is_left_is_said_to_who_does_not_ask_for_it(self):
        self.interrupted()
        run = self.succeeds(*self.ARGUMENTS[:-1])
        self.assertIn("c.npy.part has blocks of an interrupted product: --resume continues from them", run.err)

    def test_a_link_as_output(self):
        os.mkdir(self.path("there"))
        self.path("there/real.npy").write_bytes(b"old")
        os.symlink("there/real.npy", self.path("c.npy"))
        self.succeeds(*self.ARGUMENTS, "--force")
        self.assertEqual(self.path("there/real.npy").read_bytes(), self.path("whole.npy").read_bytes())
        self.assertEqual(os.listdir(self.path("there")), ["real.npy"])


if __name__ == "__main__":
    harness.main()
