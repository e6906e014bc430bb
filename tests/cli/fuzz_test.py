#!/usr/bin/env python3
"""Random command lines: the command always ends with a documented exit code and a message."""
import random
import subprocess

import harness

WORDS = ["multiply", "compare", "layout", "eval", "doctor", "completion", "help", "bash", "zsh", "types", "a.npy", "b.npy", "c.npy",
         "missing.npy", "bad.npy", "-", "--", "", "x", "-o", "--output", "--force", "--json", "-q", "-v", "--quiet", "--color",
         "always", "auto", "-m", "-n", "-k", "0", "1", "3", "17", "-1", "1e3", "99999999999999999999", "nan", "inf", "--alpha",
         "--beta", "--c", "--dtype", "f32", "f64", "bf16", "i32", "i8", "f99", "--algorithm", "--algorithms", "naive", "tiled",
         "tensor_core", "naive,tiled", "all", "--tile", "16x16x16", "2,2", "0x0", "--at", "0,1", "--svg", "out.svg", "--swizzle",
         "3,0,3", "(4,2):(2,1)", "row_major(2,6)", "((", "size(4:1)", "composition(8:2,4:1)", "--transpose-a", "--transpose-b",
         "--verify", "--dry-run", "--device", "cpu", "cuda:0", "--threads", "2", "--seed", "--order", "shuffled", "--data",
         "graded", "--list", "--version", "--help", "-h", "--format", "npy", "npz", "--thread-values", "--banks", "é\n\t", "--=",
         "-=", "---", "--json=1", "-ofoo", "--dtype=f32", "-m3", "-m=3", "\x7f", "%s%n", "a" * 300]
PAIRS = [["--dtype", "f64"], ["--dtype", "i8"], ["--algorithm", "tiled"], ["--algorithms", "naive,tiled"], ["--device", "cuda:0"],
         ["--tile", "16x16x16"], ["--threads", "1"], ["--alpha", "-2"], ["--beta", "1", "--c", "c.npy"], ["--force"], ["--verify"],
         ["--json"], ["--order", "backward"], ["--seed", "3"], ["--data", "integers"], ["--at", "1,1"], ["--tile", "2,2"], ["--svg"],
         ["--swizzle", "1,0,2"], ["--transpose-a"], ["--transpose-a", "--transpose-b"], ["--dry-run"], ["-q"], ["-v"]]
STARTS = [["multiply", "a.npy", "b.npy", "-o", "c.npy"], ["multiply", "a.npy", "bad.npy", "-o", "c.npy"],
          ["multiply", "missing.npy", "b.npy", "-o", "d.npy"], ["compare", "-m", "5", "-n", "4", "-k", "3"],
          ["layout", "(4,2):(2,1)"], ["layout", "eval", "size(4:1)"], ["doctor"], ["help"], ["completion", "zsh"]]
RUNS = 300


def command_line(source):
    """Mostly something that gets past the first hurdle."""
    words = [source.choice(WORDS) for _ in range(source.randint(0, 9))]
    kind = source.random()
    if kind < 0.2:
        return words
    start = source.choice(STARTS)
    if kind < 0.4:
        return start + words[:4]
    return start + [word for _ in range(source.randint(0, 3)) for word in source.choice(PAIRS)]




class Fuzz(harness.CommandTest):
    def test_random_command_lines_end_with_a_documented_code(self):
        seed = 20261121
        source = random.Random(seed)
        self.write_npy("a.npy", [[1, 2, 3], [4, 5, 6]])
        self.write_npy("b.npy", [[1, 2], [3, 4], [5, 6]])
        self.path("bad.npy").write_bytes(b"\x93NUMPY\x01\x00")
        codes = set()
        for i in range(RUNS):
            words = command_line(source)
            run = self.tessera(*words, stdin=b"")
            codes.add(run.code)
            self.assertIn(run.code, (0, 1, 2, 3, 4), f"seed {seed}, run {i}, {words}: {run.err}")
            if run.code != 0 and "eval" not in words and "layout" not in words:
                last = [line for line in run.lines if line.startswith("tessera")]
                self.assertTrue(last, f"seed {seed}, run {i}, {words}: nothing said")
        self.assertGreaterEqual(codes, {0, 2, 3, 4})
        self.no_leftovers()

    def test_option_values_of_all_kinds(self):
        source = random.Random(7)
        letters = "0123456789-+.eExX,:/()<>%\\'\"\n\0"[:-1] + "abcnanif "
        options = [("compare", "-m"), ("compare", "--tile"), ("compare", "--alpha"), ("compare", "--seed"), ("layout", "--at"),
                   ("layout", "--tile"), ("layout", "--swizzle"), ("layout", "--thread-values"), ("layout", "")]
        for i in range(150):
            command, option = source.choice(options)
            value = "".join(source.choice(letters) for _ in range(source.randint(1, 12)))
            base = ["compare", "-m", "3", "-n", "3", "-k", "3"] if command == "compare" else ["layout", "row_major(4,4)"]
            words = base + [f"{option}={value}"] if option else ["layout", "eval", value]
            run = self.tessera(*words)
            self.assertIn(run.code, (0, 1, 2), f"run {i}, {words}: {run.err}")


if __name__ == "__main__":
    harness.main()
