#!/usr/bin/env python3
"""The tuned products that the library ships, from the records of scripts/gpu: src/matmul/shipped_tuning.inc.

    scripts/tuned_table.py            writes the file
    scripts/tuned_table.py --check    exits with 1 where it is not what the records give

Of each device and product the newest good record counts; a throttled, cut or failed step gives none. Another device's results never
mix with it: an H100 is no H200. Records of a file for users are `tessera tune`'s own lines, of which the table keeps what a plan uses.
"""
import argparse
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORDS = ROOT / "bench/results/gpu/records.jsonl"
TABLE = ROOT / "src/matmul/shipped_tuning.inc"
KEPT = ("algorithm", "tile", "parts", "seconds", "peer", "peer_seconds", "slower")  # beside the product
MEASURED = ("clock_mhz", "watts", "limits")
TOP = "// Written by scripts/tuned_table.py from bench/results/gpu/records.jsonl; do not edit.\n"


def fields(line):
    return re.findall(r"(\w+)=(\S+)", line)


def products(records):
    """{device: {product: its line}}, the newest last."""
    out = {}
    for text in records:
        try:
            record = json.loads(text)
        except ValueError:
            continue  # half a record, of a call that was killed
        if not isinstance(record, dict) or record.get("status") != "good" or not str(record.get("step", "")).startswith("tune-"):
            continue
        device = record["gpu"].split(",")[0]
        for line in record["found"]:
            known = dict(fields(line))
            if known.get("hangs") == "yes":
                continue
            product = " ".join(f"{key}={value}" for key, value in fields(line) if key not in KEPT + MEASURED)
            of_device = out.setdefault(device, {})
            of_device.pop(product, None)
            of_device[product] = " ".join([product, *(f"{key}={known[key]}" for key in KEPT if key in known)])
    return out


def table(records):
    text = TOP
    for device, lines in sorted(products(records).items()):
        text += f'R"(device="{device}" capability="" driver="" version=""\n' + "\n".join(sorted(lines.values())) + '\n)",\n'
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--records", type=pathlib.Path, default=RECORDS)
    parser.add_argument("--table", type=pathlib.Path, default=TABLE)
    asked = parser.parse_args()
    text = table(asked.records.read_text().splitlines() if asked.records.exists() else [])
    if not asked.check:
        asked.table.write_text(text)
        return 0
    if asked.table.read_text() == text:
        return 0
    print(f"tuned_table.py: {asked.table.name} is not what the records give: run scripts/tuned_table.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
