#!/usr/bin/env python3
"""bench/results/cpu/tuning.md: each measurement is under the file that has the name which it was made for, and each file that refers to
the page has a part of it."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

NAME = "bench/results/cpu/tuning.md"
PER_PROCESSOR = "src/cpu/tuning"  # values that each microarchitecture has
PARTS = [part.split("\n", 1) for part in re.split(r"^## ", (cases.ROOT / NAME).read_text(), flags=re.M)[1:]]


def stale(file, entry, sources):
    """The names of an entry that its file does not have."""
    text = sources(PER_PROCESSOR if f" of {PER_PROCESSOR}" in entry else file)
    return [name for name in re.findall(r"`([^`]+)`", entry) if name not in text]


def source(name):
    path = cases.ROOT / name
    return "".join(each.read_text() for each in sorted(path.iterdir())) if path.is_dir() else path.read_text()


class TuningPage(unittest.TestCase):
    def test_every_measurement_is_under_the_file_that_it_was_made_for(self):
        found = []
        for file, body in PARTS:
            entries = re.findall(r"^- (.*)$", body, re.M)
            self.assertTrue(entries, f"{file} has no entry")
            for entry in entries:
                self.assertNotRegex(entry, r"^`(template|#pragma)", f"{file}: name the function")
                found += [f"{file} has no `{name}`" for name in stale(file, entry, source)]
        self.assertGreater(len(PARTS), 20)
        self.assertEqual(found, [], f"{NAME}: give these the name and the file that have what was measured")

    def test_what_refers_to_the_page_is_in_it(self):
        files = [file.relative_to(cases.ROOT).as_posix() for top in ("src", "include") for file in (cases.ROOT / top).rglob("*.?pp")]
        refer = {file for file in files if not file.startswith(PER_PROCESSOR + "/") and NAME in (cases.ROOT / file).read_text()}
        self.assertGreater(len(refer), 20)
        self.assertEqual(refer - {file for file, _ in PARTS}, set())

    def test_a_stale_name_is_found(self):
        self.assertEqual(stale("a.cpp", "`kOld`, `kNew`", lambda _: "constexpr int kNew = 1;"), ["kOld"])


if __name__ == "__main__":
    cases.main()
