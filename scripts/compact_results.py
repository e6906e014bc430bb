#!/usr/bin/env python3
"""Reduces files of `tessera bench -o` to their medians, for bench/results/gpu: a line for each row, with the spread of its samples (the
median distance from the median, in percent) and numbers to six digits.

    scripts/compact_results.py FILE.json...
"""
import argparse
import json
import os
import pathlib
import statistics


def six_digits(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def compact(text):
    document = json.loads(text)
    samples = {}
    for row in document["benchmarks"]:
        if row["run_type"] == "iteration" and row["status"] == "verified":
            samples.setdefault(row["run_name"], []).append(row["real_time"])
    rows = []
    for row in document["benchmarks"]:
        if row.get("aggregate_name") == "median" or (row["run_type"] == "iteration" and row["status"] != "verified"):
            times = samples.get(row["run_name"])
            if times:
                row["spread_percent"] = 100 * statistics.median(abs(time - row["real_time"]) for time in times) / row["real_time"]
            rows.append(json.dumps({key: six_digits(value) for key, value in row.items()}, separators=(",", ":")))
    return f'{{"context": {json.dumps(document["context"], indent=1)},\n"benchmarks": [\n' + ",\n".join(rows) + "\n]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    for path in parser.parse_args().files:
        new = path.with_name(path.name + ".new")
        new.write_text(compact(path.read_text(encoding="utf-8")), encoding="utf-8")
        os.replace(new, path)


if __name__ == "__main__":
    main()
