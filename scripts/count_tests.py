#!/usr/bin/env python3
"""Counts single test cases of a ctest run and prints 'N passed, N failed[, N skipped]' as the last line.

Usage: count_tests.py JUNIT_FILE GTEST_XML_FOLDER
GoogleTest programs report their cases in the folder; every other ctest entry counts as one case. Exit status: 0 when at
least one case passed and none failed.
"""
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def main():
    junit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    passed = failed = skipped = 0
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        report = folder / (name + "_test.xml")
        if report.exists() and report.stat().st_size > 0:
            bad = 0
            for single in ElementTree.parse(report).getroot().iter("testcase"):
                if single.find("failure") is not None:
                    bad += 1
                    print(f"FAILED  {single.get('classname')}.{single.get('name')}")
                elif single.get("status") != "run" or single.get("result") == "skipped":
                    skipped += 1
                    print(f"SKIPPED {single.get('classname')}.{single.get('name')}")
                else:
                    passed += 1
            failed += bad
            if status == "fail" and bad == 0:  # the program crashed after, or exited badly
                failed += 1
                print(f"FAILED  {name}")
        elif status == "run":
            passed += 1
        elif status == "fail":
            failed += 1
            print(f"FAILED  {name}")
        else:
            skipped += 1
            print(f"SKIPPED {name}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 0 if passed > 0 and failed == 0 else 1


sys.exit(main())
