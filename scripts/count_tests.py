#!/usr/bin/env python3
"""Counts the single test cases of a ctest run and prints 'N passed, N failed' as the last line.

RESULTS_FOLDER/ctest.junit says how each test ended; RESULTS_FOLDER/NAME.xml, where the test NAME left one, has its single
cases. A test without such a file is one case. A test that failed although none of its cases did (it crashed, or took too
long) is one failure more. Exit status: 0 when at least one case passed and none failed.
"""
import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    """'passed', 'failed' or 'skipped' for one case as GoogleTest, unittest or bats write it."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    if case.find("skipped") is not None or case.get("status") == "notrun" or case.get("result") == "skipped":
        return "skipped"
    return "passed"


def cases_of(report):
    """(name, outcome) of each case; none if the file is missing or was cut off."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    # A case that a filter excludes counts neither as run nor as skipped.
    return [(f"{case.get('classname')}.{case.get('name')}", outcome(case)) for case in root.iter("testcase")
            if case.get("status") != "notrun" or case.get("result") != "suppressed"]


def count(folder):
    """The lists of names by outcome."""
    found = {"passed": [], "failed": [], "skipped": []}
    try:
        root = ElementTree.parse(folder / "ctest.junit").getroot()
    except (OSError, ElementTree.ParseError):
        return found
    for test in root.iter("testcase"):
        name, status = test.get("name"), test.get("status")
        cases = cases_of(folder / f"{name}.xml")
        for case, how in cases:
            found[how].append(f"{name}: {case}")
        if status == "fail" and not any(how == "failed" for _, how in cases):
            found["failed"].append(name)
        elif not cases:
            found["passed" if status == "run" else "skipped"].append(name)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="RESULTS_FOLDER", type=pathlib.Path)
    found = count(parser.parse_args().folder)
    for how in ("skipped", "failed"):
        for name in found[how]:
            print(f"{how.upper()}: {name}")
    print(f"{len(found['passed'])} passed, {len(found['failed'])} failed")
    return 0 if found["passed"] and not found["failed"] else 1


if __name__ == "__main__":
    sys.exit(main())
