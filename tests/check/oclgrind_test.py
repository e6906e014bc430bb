#!/usr/bin/env python3
"""An independent check: Oclgrind's findings on the OpenCL counterparts of broken kernels, compared with ours.

Both verdicts are those of tests/broken_kernels/opencl/verdicts.md, line by line: its table is what the two tools said here.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

OCLGRIND = shutil.which("oclgrind-kernel")
SOURCE = cases.ROOT / "tests/broken_kernels/opencl/tiled.cl"
CLEAN = "the clean kernel"
# Name of the broken kernel, its defect in words, (M, N, K, tile); the macro is the name in capitals.
CASES = {
    CLEAN: ("", (17, 31, 9, 16)),
    "no_barrier_after_load": ("no barrier after the load", (17, 31, 9, 8)),
    "no_barrier_before_next_load": ("no barrier before the next load", (17, 31, 9, 8)),
    "barrier_in_row_guard": ("the barrier inside the guard of the rows", (17, 31, 9, 8)),
    "early_return": ("threads past the edge return before the barrier", (17, 31, 9, 8)),
    "store_guard_wrong_dimension": ("the store guarded by the wrong dimensions", (17, 31, 9, 16)),
    "load_guard_wrong_dimension": ("the load of A guarded by a dimension of B", (17, 31, 9, 16)),
    "row_guard_one_too_far": ("the guard of the rows one too far", (17, 31, 9, 8)),
    "column_guard_one_too_far": ("the guard of the columns one too far", (17, 31, 9, 8)),
    "rows_added_into_one": ("all blocks of a column add into one row", (17, 31, 9, 8)),
    "two_blocks_one_element": ("two blocks store to one element", (17, 31, 9, 8)),
    "accumulator_without_value": ("the sum begins with nothing", (17, 31, 9, 8)),
    "edge_not_zeroed": ("the edge of the only tile not zeroed", (17, 31, 9, 16)),
    "edge_left_stale": ("the edge of the last tile not zeroed", (16, 24, 9, 8)),
    "last_k_tile_dropped": ("the last tile along k dropped", (17, 31, 9, 16))}
# What Oclgrind prints, and what we call it.
MESSAGES = {r"Read-write data race at (\w+) memory": "race, {}", r"Write-write data race at (\w+) memory": "race, {}",
            r"Invalid (?:read|write) of size \d+ at (\w+) memory": "out-of-bounds, {}",
            r"Uninitialized value written to (\w+) memory": "uninitialized value, {}",
            r"Work-group divergence detected": "divergence"}
HEAD = "| defect | Oclgrind | `tessera check` |\n|---|---|---|\n"


def verdict_of(text):
    """The kinds of messages in the output of Oclgrind, each once."""
    found = collections.Counter()
    for pattern, kind in MESSAGES.items():
        for match in re.finditer(pattern, text):
            found[kind.format(*match.groups()).replace("local", "shared")] += 1
    return ", ".join(f"{kind}" if "," not in kind else kind.replace(", ", " (") + ")" for kind in sorted(found)) or "silent"


def run_oclgrind(folder, name, extents):
    m, n, k, tile = extents
    options = f"-DM={m} -DN={n} -DK={k} -DT={tile}" + ("" if name == CLEAN else f" -D{name.upper()}")
    shutil.copy(SOURCE, folder / "tiled.cl")
    lines = ["tiled.cl", "product", f"{-(-n // tile) * tile} {-(-m // tile) * tile} 1", f"{tile} {tile} 1"]
    lines += [f"<size={4 * m * k} float fill=1>", f"<size={4 * k * n} float fill=2>", f"<size={4 * m * n} float fill=0>"]
    (folder / "tiled.sim").write_text("\n".join(lines) + "\n")
    return subprocess.run([OCLGRIND, "--data-races", "--uninitialized", "--max-errors", "100000", "--build-options", options, "tiled.sim"],
                          cwd=folder, capture_output=True, text=True, timeout=300)


def our_verdicts():
    """{case: (verdict of the broken kernel, verdict of its twin)}, as the cases of check_test leave them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "cases.json"
        subprocess.run([cases.options.build / "bin/check_test", "--gtest_filter=*/Broken*", f"--gtest_output=json:{out}"],
                       stdout=subprocess.DEVNULL, check=True, cwd=cases.options.build)
        found = collections.defaultdict(dict)
        for suite in json.loads(out.read_text())["testsuites"]:
            for case in suite["testsuite"]:
                if "verdict" in case:
                    test, name = case["name"].split("/")
                    found[name]["twin" if test.startswith("Twin") else "broken"] = case["verdict"]
        return found


@unittest.skipIf(OCLGRIND is None, "Oclgrind is NOT asked for its opinion: scripts/setup installs it")
class Oclgrind(unittest.TestCase):
    maxDiff = None

    def test_both_say_what_the_table_of_verdicts_says(self):
        ours, rows = our_verdicts(), []
        for name, (words, extents) in CASES.items():
            with tempfile.TemporaryDirectory() as folder:
                run = run_oclgrind(pathlib.Path(folder), name, extents)
            self.assertEqual(run.returncode, 0, run.stderr)  # whatever it found
            self.assertNotRegex(run.stdout + run.stderr, r"(?i)build (error|failed)|unable to|failed to")
            verdict = verdict_of(run.stdout + run.stderr)
            self.assertTrue(name != CLEAN or verdict == "silent", run.stderr)
            mine = ours[name]["broken"] if name != CLEAN else "silent"
            rows.append(f"| {f'`{name}`: {words}' if words else name} | {verdict} | {mine} |\n")
        self.assertEqual({each["twin"] for name, each in ours.items() if name in CASES}, {"silent"})
        table = HEAD + "".join(rows)
        self.assertEqual(table, HEAD + SOURCE.with_name("verdicts.md").read_text().partition(HEAD)[2])

    def test_the_messages_are_told_apart(self):
        self.assertEqual(verdict_of("Read-write data race at global memory address 0x1\nWork-group divergence detected (barrier):\n"),
                         "divergence, race (global)")
        self.assertEqual(verdict_of("Invalid write of size 4 at global memory address 0x2\n"), "out-of-bounds (global)")
        self.assertEqual(verdict_of("something else"), "silent")


if __name__ == "__main__":
    cases.main()
