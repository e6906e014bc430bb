#!/usr/bin/env python3
"""Files of one component can be compiled as one (CMAKE_UNITY_BUILD, which the wheel and the course do): what they keep to themselves in
anonymous namespaces has unique names, or is the same alias."""
import collections
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

PRIVATE = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.M | re.S)
TYPE = re.compile(r"(?:struct|class|enum class|enum|union) (?:\[\[.*?\]\] )?(\w+) (?:final )?[{:]")
ALIAS = re.compile(r"using (\w+) = ")
FUNCTION = re.compile(r"[\w:<>,*& ]*?[*& ](\w+)\(([^)]*)")
CONSTANT = re.compile(r"\b(k[A-Z]\w*)(?=[ {=\[])")


def private_names(text):
    """Pairs of what is named and how."""
    for part in PRIVATE.findall(text):
        for line in part.splitlines():
            if not line or line[0] in " }/#[":
                continue
            if found := TYPE.match(line):
                yield found[1], "a type"
            elif found := ALIAS.match(line):
                yield found[1], line
            elif "constexpr" in line and "(" not in line.split("=")[0]:
                yield from ((name, "a constant") for name in CONSTANT.findall(line.split("//")[0]) if name + " =" in line or name + "{" in line)
            elif found := FUNCTION.match(line):
                types = [re.sub(r"\s*\b\w+$", "", each.strip()) for each in found[2].split(",")]
                yield f"{found[1]}({', '.join(types)})", "a function"


class PrivateNames(unittest.TestCase):
    def test_no_two_files_of_a_component_give_a_name_to_two_things(self):
        found, files = [], 0
        folders = {path.parent for path in (cases.ROOT / "src").rglob("CMakeLists.txt")} - {cases.ROOT / "src"}
        for folder in sorted(folders):
            owners = collections.defaultdict(set)
            for path in folder.rglob("*.cpp"):
                if any(path.is_relative_to(each) for each in folders if each != folder and each.is_relative_to(folder)):
                    continue
                if path.parent.name == "kernels":  # one for each instruction set: never compiled as one
                    continue
                files += 1
                for name, what in private_names(path.read_text()):
                    owners[name].add((what if what.startswith("using") else path.name, path.name))
            for name, where in owners.items():
                users = {file for _, file in where}
                if len(users) > 1 and len({what for what, _ in where}) > 1:
                    found.append(f"{folder.relative_to(cases.ROOT)}: {name} in {', '.join(sorted(users))}")
        self.assertGreater(files, 150)
        self.assertEqual(found, [], "two files cannot be compiled as one; rename one of these, or share it in a header")

    def test_names_are_seen(self):
        text = "namespace {\nstruct A {\n};\nusing B = int;\nconstexpr int kC = 1, kD = 2;\nstd::string f(const X& x, int y) {\n}\n}  // namespace\n"
        self.assertEqual([name for name, _ in private_names(text)], ["A", "B", "kC", "kD", "f(const X&, int)"])


if __name__ == "__main__":
    cases.main()
