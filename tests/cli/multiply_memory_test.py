#!/usr/bin/env python3
"""tessera multiply --memory: the same bits in any budget, the bytes of the plan, and no more memory."""
import json
import os
import random
import resource
import struct

import harness


class MultiplyInMemory(harness.CommandTest):
    def setUp(self):
        super().setUp()
        random.seed(3)

    def random_npy(self, name, rows, cols, dtype="f32"):
        self.write_npy(name, [[random.uniform(-1, 1) if dtype[0] == "f" else random.randint(-100, 100) for _ in range(cols)]
                              for _ in range(rows)], dtype)

    def same_bits(self, budgets, *words):
        """Multiplies in one piece and in each budget; the reports of the latter."""
        self.succeeds("multiply", *words, "-o", "whole.npy", "--force")
        reports = []
        for budget in budgets:
            run = self.succeeds("multiply", *words, "-o", "blocks.npy", "--force", "--memory", budget, "--json")
            self.assertEqual(self.path("blocks.npy").read_bytes(), self.path("whole.npy").read_bytes(), (budget, words))
            reports.append(json.loads(run.out))
            read = reports[-1]["bytes"]
            self.assertEqual(read["read"], read["planned_read"])
            self.no_leftovers()
        return reports

    def test_every_schedule_has_the_bits_of_the_whole_product(self):
        self.random_npy("a.npy", 150, 400)
        self.random_npy("b.npy", 400, 130)
        reports = self.same_bits((20000, 40000, 100000, "1MiB"), "a.npy", "b.npy")
        self.assertGreater(reports[0]["blocks"][0] * reports[0]["blocks"][1], 4)
        self.assertTrue(any(report["blocks"][2] > 1 for report in reports), reports)

    def test_types_and_orders(self):
        for dtype in ("f64", "i8", "i32"):
            self.random_npy("a.npy", 70, 200, dtype)
            self.write_npy("b.npy", [random.randint(-50, 50) for _ in range(200 * 60)], dtype, fortran=True, shape=(200, 60))
            self.same_bits((12000, 30000), "a.npy", "b.npy")
            self.same_bits((12000,), "b.npy", "a.npy", "--transpose-a", "--transpose-b")
        self.same_bits((30000,), "a.npy", "b.npy", "--dtype", "f64")
        self.random_npy("a.npy", 40, 1500, "i32")  # sums that are cut along K wrap as whole ones
        (report,) = self.same_bits((20000,), "a.npy", "a.npy", "--transpose-b")
        self.assertGreater(report["blocks"][2], 1)
        self.random_npy("a.npy", 70, 200)
        for dtype in ("f16", "bf16"):
            self.same_bits((12000, 20000), "a.npy", "a.npy", "--transpose-b", "--dtype", dtype)

    def test_epilogue_and_other_formats(self):
        self.random_npy("a.npy", 70, 200)
        self.random_npy("b.npy", 200, 60, "f64")
        self.random_npy("c0.npy", 70, 60, "f32")
        self.same_bits((40000,), "a.npy", "b.npy", "--alpha", "-1.5", "--beta", "0.25", "--c", "c0.npy")
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "p.safetensors:p", "--dtype", "f32")
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "p.npz:p", "--dtype", "f32")
        self.same_bits((20000,), "p.safetensors:p", "c0.npy", "--transpose-a")
        self.same_bits((60000,), "p.npz:p", "c0.npy", "--transpose-a")
        self.same_bits((60000,), "a.npy", "b.npy", "--algorithm", "tiled", "--dtype", "f32")

    def test_a_matrix_times_its_transpose(self):
        """Half of C is computed: the bits of a product with a copy of the file."""
        for dtype, options in (("f32", ()), ("f64", ("--alpha", "0.5")), ("i8", ()), ("f32", ("--dtype", "bf16"))):
            self.random_npy("a.npy", 700, 40, dtype)
            self.path("copy.npy").write_bytes(self.path("a.npy").read_bytes())
            self.succeeds("multiply", "a.npy", "copy.npy", "--transpose-b", "-o", "whole.npy", "--force", *options)
            for budget in ((), ("--memory", "60kB"), ("--memory", "200kB"), ("--memory", "1MiB"), ("--memory", "20kB")):
                run = self.succeeds("multiply", "a.npy", "--gram", "-o", "half.npy", "--force", "--json", *budget, *options)
                self.assertEqual(self.path("half.npy").read_bytes(), self.path("whole.npy").read_bytes(), (dtype, budget))
                report = json.loads(run.out)
                self.assertEqual(report["bytes"]["read"], report["bytes"]["planned_read"])
        self.random_npy("a.npy", 40, 700)
        self.path("copy.npy").write_bytes(self.path("a.npy").read_bytes())
        self.succeeds("multiply", "copy.npy", "a.npy", "--transpose-a", "-o", "whole.npy", "--force")
        for memory in ("100kB", "1MiB"):
            self.succeeds("multiply", "a.npy", "--gram", "--transpose-a", "-o", "half.npy", "--force", "--memory", memory)
            self.assertEqual(self.path("half.npy").read_bytes(), self.path("whole.npy").read_bytes())
            for select in (("--top", "9"), ("--above", "1.5")):
                self.succeeds("multiply", "copy.npy", "a.npy", "--transpose-a", "-o", "whole.npz", "--force", *select)
                self.succeeds("multiply", "a.npy", "--gram", "--transpose-a", "-o", "half.npz", "--force", "--memory", memory, *select)
                self.assertEqual(self.path("half.npz").read_bytes(), self.path("whole.npz").read_bytes())
        plan = self.succeeds("plan", "a.npy", "a.npy", "--transpose-a", "--memory", "100kB", "--gflops", "1", "--json").json
        self.assertLess(plan["seconds"]["arithmetic"], 0.7 * 2 * 700 * 700 * 40 / 1e9)

    def test_files_larger_than_the_memory(self):
        """Without --memory, blocks as large as the memory allows."""
        if harness.sanitized():
            self.skipTest("a sanitizer needs more address space than this limit")
        for name, shape in (("a.npy", (64, 1 << 20)), ("b.npy", (1 << 20, 64))):
            with open(self.path(name), "wb") as file:
                file.write(harness.npy_header(shape, "f32"))
                file.truncate(128 + (4 << 26))
        limits = [(resource.RLIMIT_AS, 560 << 20)]
        for words in (("-o", "c.npy"), ("--top", "3", "-o", "c.npz")):
            run = self.succeeds("multiply", "a.npy", "b.npy", "--threads", "1", *words, "--json", limits=limits)
            self.assertGreater(run.json["bytes"]["read"], 0)

    def test_the_memory_is_kept(self):
        n = 2048
        block = struct.pack(f"<{n}f", *(random.uniform(-1, 1) for _ in range(n)))
        self.write_npy("a.npy", [[0.0]])
        header = harness.npy_header((n, n), "f32")
        self.path("a.npy").write_bytes(header + block * n)
        budget = 4 << 20
        pid = os.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(harness.COMMAND, [str(harness.COMMAND), "multiply", "a.npy", "a.npy", "-o", "c.npy", "--memory", str(budget), "-q"])
        _, status, used = os.wait4(pid, 0)
        self.assertEqual(status, 0)
        if not harness.sanitized("address", "thread"):
            self.assertLess(used.ru_maxrss * 1024, budget + (64 << 20))

    def test_long_transfers(self):
        """Slices and blocks of more than a MiB go past the page cache, whether the files are in it or not, and faults too."""
        def write(name, rows, cols):
            self.path(name).write_bytes(harness.npy_header((rows, cols), "f32") + struct.pack(
                f"<{rows * cols}f", *random.choices(range(-9, 10), k=rows * cols)))
        write("a.npy", 3001, 411)
        write("b.npy", 411, 1203)

        def forget():
            for name in ("a.npy", "b.npy"):
                with open(self.path(name), "r+b") as file:
                    os.fsync(file.fileno())
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        for words in (("a.npy", "b.npy"), ("b.npy", "a.npy", "--transpose-a", "--transpose-b"), ("a.npy", "--gram")):
            self.same_bits(("40MiB", "7MiB"), *words)
            forget()
            self.same_bits(("7MiB", "2MiB"), *words)
        words = ("multiply", "a.npy", "b.npy", "--memory", "20MiB", "-q", "-o", "faulty.npy", "--force")
        self.succeeds("multiply", "a.npy", "b.npy", "-o", "whole.npy", "--force")
        faults = os.path.join(os.path.dirname(harness.COMMAND), "libfaults.so")
        if harness.sanitized() or not os.path.exists(faults):
            self.skipTest("no faults are injected")
        for kind, files in (("read", "a.npy"), ("write", "faulty.npy")):
            for at in (3, 6, 8):
                fault = {"LD_PRELOAD": faults, "TESSERA_FAULT_FILES": files}
                self.path("faulty.npy").unlink(missing_ok=True)
                forget()
                self.succeeds(*words, env={**fault, "TESSERA_FAULT": f"{kind}:{at}:short"})
                self.assertEqual(self.path("faulty.npy").read_bytes(), self.path("whole.npy").read_bytes(), (kind, at))
                self.path("faulty.npy").unlink()
            self.fails(1 if kind == "write" else 3, *words, env={**fault, "TESSERA_FAULT": f"{kind}:4+:5"})
            self.assertFalse(self.path("faulty.npy").exists())
            self.no_leftovers()

    def test_refusals(self):
        self.random_npy("a.npy", 30, 30)
        for words in (("--verify",), ("--format", "npz"), ("--algorithm", "split_k"), ("--memory", "x")):
            self.fails(2, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--memory", "1MiB", *words)
        self.fails(1, "multiply", "a.npy", "a.npy", "-o", "c.npy", "--memory", "50", says=("at least",))
        self.write_npy("bad.npy", [[0.5] * 30] * 30)
        self.fails(2, "multiply", "a.npy", "bad.npy", "-o", "c.npy", "--memory", "1MiB", "--dtype", "i32")
        self.assertFalse(self.path("c.npy").exists())

    def test_file_size_limit(self):
        self.random_npy("a.npy", 200, 10)
        limits = [(resource.RLIMIT_FSIZE, 20000)]
        self.fails(1, "multiply", "a.npy", "a.npy", "--transpose-b", "-o", "c.npy", "--memory", "10kB", limits=limits)
        self.no_leftovers()


if __name__ == "__main__":
    harness.main()
