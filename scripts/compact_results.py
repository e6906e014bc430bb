#!/usr/bin/env python3
"""Makes files of `tessera bench -o` a third as large, for bench/results: a line for each row, every sample and the medians kept, other
aggregates, which follow from the samples, left out, numbers to six digits. `tessera bench --from` reads them as before.

    scripts/compact_results.py FILE.json...
"""
import argparse
import json
import os
import pathlib


def six_digits(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value


def compact(text):
    document = json.loads(text)
    rows = [json.dumps({key: six_digits(value) for key, value in row.items()}, separators=(",", ":")) for row in document["benchmarks"]
            if row["run_type"] == "iteration" or row["aggregate_name"] == "median"]
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
