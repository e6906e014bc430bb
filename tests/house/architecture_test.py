#!/usr/bin/env python3
"""docs/architecture.md: its components are those that there are, and the calls that it follows are in the source."""
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

PAGE = (cases.ROOT / "docs/architecture.md").read_text()
HOP = re.compile(r"^(\d+)\. `(\w+)` in (\S+): ", re.M)


class Architecture(unittest.TestCase):
    def test_each_call_is_defined_where_it_is_said_to_be_and_leads_to_the_next(self):
        lists = [HOP.findall(part) for part in PAGE.split("\n## ")[1:]]
        lists = [hops for hops in lists if hops]
        self.assertEqual(len(lists), 2)
        for hops in lists:
            self.assertLessEqual(len(hops), 9)
            for (number, name, file), following in zip(hops, [*hops[1:], None]):
                text = (cases.ROOT / file).read_text()
                self.assertRegex(text, rf"\b{name}(<[^<>]*>)?\(", f"hop {number}: {file} has no {name}")
                if following is not None:
                    self.assertRegex(text, rf"\b{self.mentioned(following[1])}\b", f"hop {number}: {file} does not lead to {following[1]}")

    @staticmethod
    def mentioned(name):
        """How a file refers to what comes next: the table of microkernels by its entries."""
        return {"make_kernels": "kernels_"}.get(name, name)

    def test_every_component_is_described(self):
        components = {path.name for top in ("include/tessera", "src") for path in (cases.ROOT / top).iterdir() if path.is_dir()}
        self.assertEqual(components - {"python"}, set(re.findall(r"^\| `(\w+)` \|", PAGE, re.M)))


if __name__ == "__main__":
    cases.main()
