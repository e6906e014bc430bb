#!/usr/bin/env python3
"""Sub-folders, not prefixes: at most two files of a folder of src begin with the same word. A file and its header are one."""
import collections
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

SUFFIXES = (".hpp", ".cpp", ".h", ".cuh", ".cu", ".inc", ".in")
MOST = 2
# Names that are given: instruction sets.
GIVEN = {("src/cpu/kernels", "avx512")}


def crowded(root):
    """One sentence for each folder with too many files that begin with one word."""
    found = []
    for folder in sorted({file.parent for file in (root / "src").rglob("*") if file.suffix in SUFFIXES}):
        begin = collections.defaultdict(set)
        for file in folder.iterdir():
            if file.suffix in SUFFIXES:
                stem = file.name.split(".")[0]
                begin[stem.split("_")[0]].add(stem)
        where = folder.relative_to(root).as_posix()
        found += [f"{where}: {', '.join(sorted(stems))}: move them to {where}/{word}" for word, stems in sorted(begin.items())
                  if len(stems) > MOST and (where, word) not in GIVEN]
    return found


class Folders(unittest.TestCase):
    def test_files_with_one_prefix_have_a_folder(self):
        self.assertGreater(len(list((cases.ROOT / "src").rglob("*.cpp"))), 300)
        self.assertEqual(crowded(cases.ROOT), [])

    def test_a_third_file_of_a_prefix_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src/io").mkdir(parents=True)
            for name in ("npz.cpp", "npz.hpp", "npz_write.cpp", "npy.cpp", "npy_types.hpp", "nozzle.cpp"):
                (root / "src/io" / name).touch()
            self.assertEqual(crowded(root), [])
            (root / "src/io/npz_absent.cpp").touch()
            self.assertEqual(crowded(root), ["src/io: npz, npz_absent, npz_write: move them to src/io/npz"])


if __name__ == "__main__":
    cases.main()
