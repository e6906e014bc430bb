#!/usr/bin/env python3
"""Keeps benchmark results as medians, and writes docs/performance.md and the figures of README.md from them.

    bench/report.py keep NAME FILE.json...   reduces files of `tessera bench -o` to bench/results/cpu/NAME.csv and NAME.json
    bench/report.py                          writes both pages and docs/performance.svg (the plot needs matplotlib)
    bench/report.py --check                  exits with 1 if a page does not show the kept results

NAME.csv has one row for each suite, product and contestant: the median time of a call, its spread (the median distance from
the median, in percent), the share of the measured peak, and Tessera's speed over the contestant's, taken round by round. NAME.json
has the machine, compiler, peers and method, and for each suite the date and the commit. `keep` replaces the suites that it is
given and keeps the others. The suite of a file is its name without `.json`.
"""
import argparse
import csv
import hashlib
import io
import json
import math
import pathlib
import statistics
import sys

import gpu_cells

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- begin: written by bench/report.py; do not edit -->\n", "<!-- end -->\n"
COLUMNS = ["suite", "type", "threads", "shape", "state", "contestant", "kind", "status", "time_ns", "spread_percent", "gflops",
           "percent_of_peak", "tessera_speedup"]
OURS = ("blas", "packed")  # Tessera's figure is the first of these that was measured
# Shown one by one; a product counts as beaten by the best of all peers.
SHOWN = {"OpenBLAS": ("openblas-new", "openblas"), "oneDNN": ("onednn",), "MKL": ("mkl",)}
SUITES = {
    "square": "squares, 64 to 4096", "skinny": "few rows or columns, 4096", "small_k": "small K, large C",
    "long_k": "long K, small C", "odd": "odd sizes", "transposed": "transposed operands", "tiny": "tiny, one call",
    "small": "small, 1 to 10 us", "few_rows": "few rows, B in cache", "thin": "few columns, or B transposed",
    "uneven": "remainders, transposes, to 100", "batched": "batches", "update": "updates, C - A B", "update_f64": "updates, C - A B",
    "f64": "squares, 128 to 4096", "f64_shapes": "skinny, thin, uneven", "bf16": "squares, 512 to 4096",
    "bf16_shapes": "skinny, thin, uneven", "int8": "squares, 512 to 4096", "int8_shapes": "skinny, thin, uneven",
    "u8i8_shapes": "skinny, thin, uneven", "latency": "first calls, after a pause",
    "threads": "squares, 1 to 16 threads", "ladder": "the ladder on the CPU engine"}


def shape_of(entry):
    """MxNxK with the batch before it and the transposition after it, as `tessera bench --sizes` takes it."""
    sides = [entry["m"], entry["n"], entry["k"]]
    text = "x".join(map(str, [entry["batch"], *sides] if entry["batch"] > 1 else sides))
    text += "" if entry["transposition"] == "NN" else f"-{entry['transposition']}"
    return f"{text}-update" if entry.get("update") else text


def state_of(entry):
    return "first call" if entry["first_call"] else f"after {entry['idle_seconds']:g} s" if entry["idle_seconds"] else ""


def rounded(value, digits=5):
    return "" if value is None else f"{value:.{digits}g}"


def rows_of(suite, document):
    """The rows of COLUMNS of one result file."""
    products = {}
    for entry in document["benchmarks"]:
        key = entry["dtype"], entry["threads"], shape_of(entry), state_of(entry)
        contestants = products.setdefault(key, {})
        samples, median = contestants.setdefault(entry["contestant"], ([], {}))
        if entry["run_type"] == "iteration":
            samples.append(entry["real_time"])
            if not median:
                median.update(entry)
        elif entry["aggregate_name"] == "median":
            median.update(entry)
    for key, contestants in products.items():
        ours = next((contestants[name][1] for name in OURS if name in contestants and contestants[name][1]["status"] == "verified"), {})
        for name, (samples, median) in contestants.items():
            row = dict(zip(COLUMNS, (suite, *key, name, median["kind"], median["status"])))
            if median["status"] == "verified":
                time = median["real_time"]
                spread = 100 * statistics.median(abs(sample - time) for sample in samples) / time if samples else None
                share = None if median.get("peak_disturbed") else median.get("percent_of_peak")
                row |= {"time_ns": rounded(time), "spread_percent": rounded(spread, 2), "gflops": rounded(median.get("gflops"), 4),
                        "percent_of_peak": rounded(share, 4), "tessera_speedup": rounded(ours.get(f"ratio_{name}"), 4)}
            yield row


def provenance(documents):
    """Machine, method and peers of all files, and what differs from suite to suite."""
    contexts = [document["context"] for document in documents.values()]
    newest = max(contexts, key=lambda context: context["date"])
    keep = ("cpu_model", "cpu_stepping", "num_cpus", "mhz_per_cpu", "caches", "instruction_sets", "kernel", "transparent_huge_pages",
            "compiler", "flags", "version", "method")
    peers = {peer["name"]: {key: peer[key] for key in ("version", "settings", "environment")} for context in contexts for peer in context["peers"]}
    per_suite = ("date", "commit", "peak", "seed", "min_time", "max_time", "others_busy", "load_avg")
    return {**{key: newest[key] for key in keep if key in newest}, "peers": peers,
            "suites": {suite: {key: document["context"][key] for key in per_suite if key in document["context"]}
                       for suite, document in documents.items()}}


def keep(name, files, results):
    documents = {file.stem: json.loads(file.read_text()) for file in files}
    table, about = results / f"cpu/{name}.csv", results / f"cpu/{name}.json"
    rows, known = [], {"peers": {}, "suites": {}}
    if table.exists():
        rows = [row for row in read(table) if row["suite"] not in documents]
        known = json.loads(about.read_text())
    rows += [row for suite, document in documents.items() for row in rows_of(suite, document)]
    new = provenance(documents)
    new["peers"] = known["peers"] | new["peers"]
    new["suites"] = known["suites"] | new["suites"]
    order = list(SUITES)
    rows.sort(key=lambda row: order.index(row["suite"]) if row["suite"] in order else len(order))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(text.getvalue())
    about.write_text(json.dumps(new, indent=1) + "\n")


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class Product:
    """One product on one number of threads: Tessera's speed over each peer's."""

    def __init__(self, rows):
        first = rows[0]
        self.suite, self.type, self.threads = first["suite"], first["type"], int(first["threads"])
        self.name = f"{first['shape']}, {first['state']}" if first["state"] else first["shape"]
        self.speedups = {row["contestant"]: float(row["tessera_speedup"]) for row in rows if row["tessera_speedup"]}
        self.best = min(self.speedups, key=self.speedups.get, default=None)

    @property
    def speedup(self):
        return self.speedups[self.best]

    def over(self, names):
        """The least speedup over those of these peers that were measured; None if there is none."""
        return min((self.speedups[name] for name in names if name in self.speedups), default=None)


def products_of(rows):
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in COLUMNS[:5]), []).append(row)
    return [product for product in map(Product, groups.values()) if product.best]


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def ratio_text(ratio):
    """Two decimals; bold below 1, and never a loss that reads as a draw."""
    if ratio is None:
        return ""
    return f"{ratio:.2f}" if ratio >= 1 else f"**{min(ratio, 0.99):.2f}**"


def table_of(products):
    groups = {}
    for product in products:
        groups.setdefault((product.type, product.suite), []).append(product)
    lines = ["| type | products | cells | >= 1.00 | best peer | worst cell | " + " | ".join(SHOWN) + " |",
             "|---|---|--:|--:|--:|---|" + "--:|" * len(SHOWN)]
    for (dtype, suite), found in groups.items():
        worst = min(found, key=lambda product: product.speedup)
        over = [[value for value in (product.over(names) for product in found) if value] for names in SHOWN.values()]
        cells = [dtype, SUITES.get(suite, suite), str(len(found)), str(sum(product.speedup >= 1 for product in found)),
                 ratio_text(mean([product.speedup for product in found])),
                 f"{ratio_text(worst.speedup)} {worst.name} ({worst.threads}, {worst.best})",
                 *(ratio_text(mean(values)) if values else "" for values in over)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def peers_of(found):
    """The versions of all peers of these machines, once."""
    versions = (peer["version"] for about, _ in found.values() for peer in about["peers"].values())
    return ", ".join(sorted({version.split(" for Intel")[0].split("-Product")[0].replace("Intel(R) oneAPI Math Kernel Library Version", "MKL")
                             for version in versions}))


def machine_section(name, about, rows):
    products = [product for product in products_of(rows) if product.suite != "ladder"]
    days = sorted(suite["date"][:10] for suite in about["suites"].values())
    return (f"### {name}: {', '.join(filter(None, (about['cpu_model'].strip(), about.get('cpu_stepping'))))}, {about['num_cpus']} cores\n\n"
            f"{' to '.join(dict.fromkeys((days[0], days[-1])))}, [{name}.csv](../bench/results/cpu/{name}.csv), "
            f"[{name}.json](../bench/results/cpu/{name}.json)\n\n{table_of(products)}\n")


def machines(results):
    """{name: (provenance, rows)} of everything that is kept, the newest first."""
    found = {table.stem: (json.loads(table.with_suffix(".json").read_text()), read(table)) for table in (results / "cpu").glob("*.csv")}
    return dict(sorted(found.items(), key=lambda item: max(suite["date"] for suite in item[1][0]["suites"].values()), reverse=True))


def digest(results):
    """What a plot is drawn from, as its file names it."""
    return hashlib.sha256(b"".join(table.read_bytes() for table in sorted((results / "cpu").glob("*.csv")))).hexdigest()[:16]


def draw(found, path, source):
    """A panel for each machine with several suites, a row for each suite, a dot for each product: how many times the best peer's speed."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    plt.rcParams |= {"svg.hashsalt": "tessera", "svg.fonttype": "none", "font.size": 9, "font.family": ["DejaVu Sans"]}
    panels = {name: [p for p in products_of(rows) if p.suite in SUITES and p.suite != "ladder"] for name, (_, rows) in found.items()}
    panels = {name: products for name, products in panels.items() if len({p.suite for p in products}) > 1}
    suites = [(dtype, suite) for suite in SUITES for dtype in dict.fromkeys(p.type for ps in panels.values() for p in ps if p.suite == suite)]
    figure, axes = plt.subplots(1, len(panels), sharey=True, figsize=(3.2 + 2.6 * len(panels), 1.1 + 0.27 * len(suites)), squeeze=False)
    for axis, (name, products) in zip(axes[0], panels.items()):
        axis.axvline(1, color="#57606a", linewidth=1)
        for y, key in enumerate(suites):
            ratios = [p.speedup for p in products if (p.type, p.suite) == key]
            for colour, dots in (("#1f6feb", [r for r in ratios if r >= 1]), ("#d1570e", [r for r in ratios if r < 1])):
                axis.plot(dots, [y] * len(dots), "o", color=colour, markersize=3.5, alpha=0.5, markeredgewidth=0)
            if ratios:
                axis.plot([mean(ratios)], [y], "|", color="#24292f", markersize=9, markeredgewidth=1.6)
        axis.set_xscale("log")
        axis.set_xlim(0.13, 6)
        axis.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
        axis.minorticks_off()
        axis.grid(axis="x", color="#d8dee4", linewidth=0.6)
        axis.set_title(name, fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_yticks(range(len(suites)), [f"{dtype}  {SUITES[suite]}" for dtype, suite in suites])
    axes[0][0].set_ylim(len(suites) - 0.4, -0.6)
    figure.supxlabel("speed of Tessera / speed of the fastest peer; each dot a product, the bar their geometric mean", fontsize=9)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Description": source}, facecolor="white")


# Rows of the README's table: what it says, the type and suite on the CPU, and the row of gpu_cells.HEADLINES on a GPU.
HEADLINES = {"f32 squares, 64 to 4096": ("f32", "square", "f32"), "f64 squares, 128 to 4096": ("f64", "f64", "f64"),
             "bf16 squares, 512 to 4096": ("bf16:f32", "bf16", "bf16"), "i8 squares, 512 to 4096": ("i8:i32", "int8", "i8"),
             "f8 squares, 4096": (None, None, "f8"), "f32, few rows times 4096 x 4096": ("f32", "skinny", None),
             "bf16, 1 to 64 rows": (None, None, "bf16, 1 to 64 rows"), "f32, 4 to 32 in each extent, one call": ("f32", "tiny", None),
             "f32, batches of 8 to 64": ("f32", "batched", None)}


def on_gpu(cells, headline, label):
    """The figure of a GPU, with its sizes where they are others than those of the label."""
    dtype, belongs = gpu_cells.HEADLINES[headline]
    found = [cell for cell in cells if cell.type == dtype and belongs(cell)]
    if not found:
        return ""
    least, most = min(cell.m for cell in found), max(cell.m for cell in found)
    sizes = f" ({least})" if least == most else f" (from {least})"
    return f"{mean([cell.ratio for cell in found]):.2f}" + (sizes if "squares" in label and f", {least}" not in label else "")


def headlines(results):
    """The README's table: the newest machine with all suites beside OpenBLAS and oneDNN, the newest GPU beside cuBLAS."""
    name, (about, rows) = max(machines(results).items(), key=lambda item: len(item[1][0]["suites"]))
    products = products_of(rows)
    gpu, cells = gpu_cells.newest(results / "gpu")
    lines = ["| C = A * B, speed of Tessera / speed of the other | OpenBLAS | oneDNN | cuBLAS |", "|---|--:|--:|--:|"]
    shown = {headline for _, _, headline in HEADLINES.values()}
    more = {each if "," in each else f"{each} squares": (None, None, each) for each in gpu_cells.HEADLINES if each not in shown and on_gpu(cells, each, each)}
    for label, (dtype, suite, headline) in {**HEADLINES, **more}.items():
        found = [product for product in products if (product.type, product.suite) == (dtype, suite)]
        over = [[value for value in (product.over(SHOWN[peer]) for product in found) if value] for peer in ("OpenBLAS", "oneDNN")]
        figures = [f"{mean(values):.2f}" if values else "" for values in over] + [on_gpu(cells, headline, label) if headline else ""]
        lines.append(f"| {label} | {' | '.join(figures)} |")
    date = max(suite["date"] for suite in about["suites"].values())[:10]
    on_device = f"; cuBLAS on an {gpu['device']['name']}, {gpu['date'][:10]}" if gpu else ""
    return ("\n" + "\n".join(lines) + f"\n\n{about['cpu_model']} ({name}), 1 and 2 threads, {date}{on_device}.\nGeometric means over every product of "
            "a suite; [performance.md](docs/performance.md) has all suites and the products that lose.\n\n")


def tflops(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def gpu_section(results):
    about, cells = gpu_cells.newest(results / "gpu")
    if not cells:
        return ""
    lines = ["| type | product | TFLOP/s | of the peak | fastest peer | its TFLOP/s | speedup |", "|---|---|--:|--:|---|--:|--:|"]
    for cell in cells:
        percent = f"{cell.percent:.0f} %" if cell.percent else ""
        columns = (cell.type, cell.shape, tflops(cell.tflops), percent, cell.peer, tflops(cell.peer_tflops), ratio_text(cell.ratio))
        lines.append(f"| {' | '.join(columns)} |")
    return (f"### {about['device']['summary']}\n\nData: `bench/results/gpu/*-bench-*.json`. Code: {about['commit']}. Peers: cuBLAS, and "
            "the two fastest of at most 16 algorithms of cuBLASLt.\n\n" + "\n".join(lines) + "\n\n")


def generated(results):
    found = machines(results)
    peers = f"Peers: {peers_of(found)}.\n\n" if found else ""
    return "\n" + peers + "".join(machine_section(name, about, rows) for name, (about, rows) in found.items()) + gpu_section(results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="*", metavar="keep NAME FILE.json")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the page does not show the kept results")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results", help="default: bench/results")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/performance.md", help="default: docs/performance.md; the plot lies beside it")
    arguments = parser.parse_args()
    if arguments.command:
        if arguments.command[0] != "keep" or len(arguments.command) < 3 or arguments.check:
            parser.error(f"expected 'keep NAME FILE.json...', got '{' '.join(arguments.command)}'")
        return keep(arguments.command[1], list(map(pathlib.Path, arguments.command[2:])), arguments.results)
    pages = {arguments.page: generated(arguments.results)}
    if arguments.page == ROOT / "docs/performance.md":
        pages[ROOT / "README.md"] = headlines(arguments.results)
    plot, source = arguments.page.with_suffix(".svg"), digest(arguments.results)
    drawn = plot.exists() and source in plot.read_text()
    for page, part in pages.items():
        before, rest = page.read_text().split(BEGIN)
        text = before + BEGIN + part + END + rest.split(END)[1]
        if not arguments.check:
            page.write_text(text)
        elif page.read_text() != text or not drawn:
            sys.exit(f"report.py: {page} does not show the kept results; run bench/report.py")
    if not drawn and not arguments.check:
        draw(machines(arguments.results), plot, source)


if __name__ == "__main__":
    main()
