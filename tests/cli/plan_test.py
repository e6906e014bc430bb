#!/usr/bin/env python3
"""tessera plan: inputs, output and errors."""
import json

import harness


class Plan(harness.CommandTest):
    def plan(self, *words):
        return json.loads(self.succeeds("plan", *words, "--gflops", 100, "--disk", 1.5, "--json").out)

    def test_files_and_extents_give_the_same_plan(self):
        self.write_npy("a.npy", [[1.0] * 30] * 20)
        self.write_npy("b.npy", [[1.0] * 30] * 10)
        words = ("--memory", "4KiB", "--ranks", 3)
        by_files = self.plan("a.npy", "b.npy", "--transpose-b", *words)
        self.assertEqual(by_files, self.plan("-m", 20, "-n", 10, "-k", 30, *words))
        self.assertEqual(len(by_files["boxes"]), 3)
        self.assertLessEqual(by_files["memory"]["needed"], 4096)

    def test_only_headers_of_files_are_read(self):
        # A sparse file as large as any disk: it cannot be read in time.
        self.write_npy("a.npy", [[1.0] * 8] * 8)
        start = (self.folder / "a.npy").read_bytes()[:128]
        rows = 1 << 34
        header = start.replace(b"(8, 8)", b"(%d, 8)" % rows)
        extra = len(header) - len(start)
        header = header[:128 + extra].replace(b" " * (extra + 1) + b"\n", b" \n", 1)
        self.assertEqual(len(header), 128)
        with open(self.folder / "a.npy", "wb") as file:
            file.write(header)
            file.truncate(128 + rows * 8 * 4)
        self.assertEqual(self.plan("a.npy", "a.npy", "--transpose-b", "--memory", "1GiB", "--ranks", 16384)["m"], rows)

    def test_picture(self):
        self.succeeds("plan", "-m", 90, "-n", 80, "-k", 70, "--ranks", 5, "--gflops", 1, "--svg", "boxes.svg")
        self.assertEqual((self.folder / "boxes.svg").read_text().count("<polygon"), 15)

    def test_refusals(self):
        shape = ("-m", 900, "-n", 900, "-k", 900, "--gflops", 1)
        self.fails(1, "plan", *shape, "--memory", "100")
        for words in (("-m", 4), ("a.npy",), (*shape, "--ranks", 0), (*shape, "--memory", "12 parsecs"), (*shape, "--memory", "0"),
                      (*shape, "--disk", "-1"), (*shape, "--dtype", "f33")):
            self.fails(2, "plan", *words)

    def test_sizes(self):
        shape = ("-m", 9, "-n", 9, "-k", 9)
        for text, count in (("4096", 4096), ("4KiB", 4096), ("4kB", 4000), ("0.5MiB", 524288), ("2G", 2000000000), ("1TiB", 1 << 40)):
            self.assertEqual(self.plan(*shape, "--memory", text)["memory"]["given"], count)


if __name__ == "__main__":
    harness.main()
