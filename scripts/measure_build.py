#!/usr/bin/env python3
"""CPU seconds of a build and of its tests, by component.

    ./test && scripts/measure_build.py build/release    reads what ninja and ctest recorded; writes bench/results/build.csv
    scripts/measure_build.py                            writes the table of CONTRIBUTING.md from it

Both record how long each command took, several at a time; their sum is scaled to what the processors of this machine had, as if all of
them were at work. Nothing else should run on it. The build folder should be new: of a command that ran again the first time counts.
"""
import argparse
import collections
import csv
import os
import pathlib
import re
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA, PAGE = ROOT / "bench/results/build.csv", ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- begin: written by scripts/measure_build.py; do not edit -->\n", "<!-- end -->\n"
COLUMNS = ("sources", "tests' sources", "tests")
LEAST = 10  # seconds of a component that has a row of its own


def component_of_output(name):
    """(component, column) of what a command made."""
    if (found := re.match(r"(?:.*/)?src/(\w+)/", name)) is not None:
        return found[1], COLUMNS[0]
    if (found := re.match(r"tests/CMakeFiles/(\w+?)(?:ed)?_tests?\.dir/", name)) is not None:
        return found[1], COLUMNS[1]
    return "others", COLUMNS[name.startswith("tests/")]


def scaled(seconds, wall):
    """CPU seconds, where these commands took `wall` seconds side by side."""
    factor = min(1, os.cpu_count() * wall / sum(seconds.values()))
    return collections.Counter({key: value * factor for key, value in seconds.items()})


def seconds_of_build(log):
    """{(component, column): seconds} of a log of ninja."""
    first = {}
    for line in log.splitlines():
        if not line.startswith("#"):
            begin, end, _, output, command = line.split("\t")  # a command with several outputs has a line for each
            first.setdefault(command, (output, int(begin) / 1000, int(end) / 1000))
    out = collections.Counter()
    for output, begin, end in first.values():
        out[component_of_output(output)] += end - begin
    return scaled(out, max(end for _, _, end in first.values()))


def seconds_of_tests(junit, house):
    """The same of a report of ctest; `house`: the tests of the whole project."""
    suite, out = ElementTree.fromstring(junit), collections.Counter()
    for case in suite.iter("testcase"):
        name = case.get("name")
        component = "house" if name in house else name.split(".")[0]
        known = (ROOT / "tests" / component).is_dir()
        out[component if known else component.split("_")[0], COLUMNS[2]] += float(case.get("time"))
    return scaled(out, float(suite.get("time")))


def measure(build):
    house = {path.stem for path in (ROOT / "tests/house").glob("*_test.py")}
    seconds = seconds_of_build((build / ".ninja_log").read_text())
    seconds += seconds_of_tests((build / "test-results/ctest.junit").read_text(), house)
    known = {name for name, _ in seconds} - {"others"}
    rows = {name: [seconds[name, column] for column in COLUMNS] for name in known}
    small = {name for name, values in rows.items() if sum(values) < LEAST}
    rows["others"] = [seconds["others", column] + sum(rows[name][i] for name in small) for i, column in enumerate(COLUMNS)]
    with DATA.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("component", *COLUMNS))
        for name in sorted(set(rows) - small, key=lambda each: (each == "others", -sum(rows[each]))):
            writer.writerow((name, *(round(value) for value in rows[name])))


def table(text):
    rows = [(name, *map(int, values)) for name, *values in list(csv.reader(text.splitlines()))[1:]]
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    return (f"| seconds | {' | '.join(COLUMNS)} |\n|---|--:|--:|--:|\n"
            + "".join(f"| {name} | {' | '.join(str(value) if value else '-' for value in values)} |\n" for name, *values in rows))


def page(old, text):
    head, rest = old.split(BEGIN)
    return head + BEGIN + "\n" + table(text) + "\n" + END + rest.split(END, 1)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", nargs="?", type=pathlib.Path, help="a build folder with the results of ./test")
    asked = parser.parse_args()
    if asked.build:
        for needed in (".ninja_log", "test-results/ctest.junit"):
            if not (asked.build / needed).is_file():
                parser.error(f"{asked.build} has no {needed}: run ./test first")
        measure(asked.build)
    PAGE.write_text(page(PAGE.read_text(), DATA.read_text()))


if __name__ == "__main__":
    main()
