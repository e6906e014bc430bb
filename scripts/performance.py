#!/usr/bin/env python3
"""Writes docs/performance*.md and their plots from the committed results of scripts/measure_suites: every cell, lost ones too.

    scripts/performance.py              a page for each machine, see PAGES
    scripts/performance.py FOLDER       docs/performance.md from these files
    scripts/performance.py --check      fails where a page does not show its files

A cell is one shape on one number of threads. Its figures are those that `tessera bench` wrote: medians over the turns, and
ratios taken turn by turn and then the median. A page has two generated parts: the first says what was measured, counts cells
and lists those that are lost, the second has all of them; what stands around them is written by hand.

FOLDER/reasons.txt says why cells are lost, in lines `PATTERN, PATTERN: reason`. A pattern, as of file names, fits the words
`SUITE SHAPE TYPE THREADS`, of a single call also its state; the first line with one that fits counts, and a cell that no line
fits is shown as lost for a reason that is not known. `#` begins a comment.
"""
import argparse
import fnmatch
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
RESULTS = ROOT / "bench/results"
PAGES = {"performance": RESULTS / "suites", "performance-zen4": RESULTS / "suites-zen4",
         "performance-xeon": RESULTS / "suites-xeon"}
BEGIN, END = "<!-- begin: written by scripts/performance.py; do not edit -->\n", "<!-- end -->\n"
SUITES = {
    "square": "Square", "skinny": "Skinny: few rows, or one column", "small_k": "Small K, large C", "long_k": "Long K, small C",
    "odd": "Odd sizes", "transposed": "Transposed operands", "tiny": "Tiny products, one call each",
    "small": "Small products, a microsecond to ten", "few_rows": "Few rows against a matrix in the caches",
    "thin": "Few columns, or few rows of a transposed B", "uneven": "Small sizes that fill no vectors, or are transposed",
    "batched": "Batches, one call for all", "update": "Updates, C = C - A B",
    "update_f64": "Updates of f64, C = C - A B", "f64": "f64, squares", "f64_shapes": "f64, other shapes",
    "bf16": "bf16 into f32", "bf16_shapes": "bf16 into f32, other shapes", "int8": "i8 into i32",
    "int8_shapes": "i8 into i32, other shapes", "u8i8_shapes": "u8 times i8 into i32", "latency": "Single calls"}
LOST = 0.97  # of the best peer's speed: below it a cell is listed, from there to 1 it is counted
NOT_KNOWN = "why is not known"
OURS = ("blas", "packed")  # the first that was measured is Tessera's figure


def three_digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:#.3g}"


def time_text(nanoseconds):
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * size:
            return f"{three_digits(nanoseconds / size)} {unit}"
    return f"{three_digits(nanoseconds / 1e9)} s"


def shape_of(entry):
    """MxNxK, a batch of them BATCHxMxNxK."""
    sides = [entry["m"], entry["n"], entry["k"]]
    text = "x".join(map(str, [entry["batch"], *sides] if entry["batch"] > 1 else sides))
    text += "" if entry["transposition"] == "NN" else f"-{entry['transposition']}"
    return f"{text}-update" if entry.get("update") else text


class Row:
    """One contestant on one cell: its aggregate of medians, or why there is none."""

    def __init__(self, entry):
        self.name, self.kind, self.status = entry["contestant"], entry["kind"], entry["status"]
        self.measured = self.status == "verified"
        self.time, self.gflops = entry["real_time"], entry.get("gflops")
        self.percent, self.peak_disturbed = entry.get("percent_of_peak"), entry.get("peak_disturbed", False)
        self.ratios = {key[len("ratio_"):]: value for key, value in entry.items() if key.startswith("ratio_") and value}


class Cell:
    def __init__(self, entry):
        self.dtype, self.threads, self.shape = entry["dtype"], entry["threads"], shape_of(entry)
        self.state = "first call of a process" if entry["first_call"] else \
            f"after {entry['idle_seconds']:g} s of idleness" if entry["idle_seconds"] else ""
        self.rows = {}

    def key(self):
        return self.dtype, self.threads, self.shape, self.state

    @property
    def name(self):
        """The shape, of a single call with its state."""
        return f"{self.shape}, {self.state}" if self.state else self.shape

    @property
    def ours(self):
        rows = [self.rows[name] for name in OURS if name in self.rows and self.rows[name].measured]
        return rows[0] if rows else None

    @property
    def best(self):
        """The fastest peer and Tessera's speed as a multiple of its."""
        return min(self.ours.ratios.items(), key=lambda item: item[1], default=None) if self.ours else None


def cells_of(document):
    cells = {}
    for entry in document["benchmarks"]:
        wanted = entry.get("aggregate_name") == "median" or (entry["run_type"] == "iteration" and entry["status"] != "verified")
        if wanted:
            cell = Cell(entry)
            cells.setdefault(cell.key(), cell).rows[entry["contestant"]] = Row(entry)
    return list(cells.values())


def table(head, rows):
    """Numbers stand to the right, the first column to the left."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def ratio_number(ratio):
    """Two decimals; three where two would show a loss as 1.00."""
    return f"{ratio:.2f}" if ratio >= 1 or ratio < 0.995 else f"{min(ratio, 0.999):.3f}"


def ratio_text(ratio):
    return ratio_number(ratio) if ratio >= 1 else f"**{ratio_number(ratio)}**"


def beside_best(cell):
    """The best peer and times its speed, of a cell that may have neither."""
    best, ratio = cell.best or ("-", None)
    return [best, ratio_text(ratio) if ratio else "-"]


def cell_row(cell):
    if cell.ours is None:
        return [cell.shape, f"**{why_unmeasured(cell)}**", "", "", "", ""]
    percent = f"{three_digits(cell.ours.percent)} %" if cell.ours.percent else "-"
    if cell.ours.peak_disturbed:
        percent += " (the peak was disturbed)"
    return [cell.shape, time_text(cell.ours.time), three_digits(cell.ours.gflops), percent, *beside_best(cell)]


def why_unmeasured(cell):
    return next((row.status for row in cell.rows.values() if row.name in OURS), "not measured")


def names_of(cells, *kinds):
    return list(dict.fromkeys(row.name for cell in cells for row in cell.rows.values() if row.kind in kinds))


def cell_text(row, figure):
    if row is None:
        return ""
    return figure(row) if row.measured else "-" if row.status == "unsupported" else row.status


def everyone(cells, figure, *kinds):
    """All contestants of those kinds that have such products down, cells across."""
    rows = []
    for name in names_of(cells, *kinds):
        found = [cell.rows.get(name) for cell in cells]
        if all(row is None or row.status == "unsupported" for row in found):
            continue
        rows.append(["measured peak" if name == "peak" else name] + [cell_text(row, figure) for row in found])
    return table([""] + [cell.name for cell in cells], rows)


def groups_of(cells):
    groups = {}
    for cell in cells:
        groups.setdefault((cell.dtype, cell.threads), []).append(cell)
    return groups


def title_of(dtype, threads):
    return f"{dtype}, {threads} thread{'s' if threads > 1 else ''}"


def latency_row(cell):
    if cell.ours is None:
        return [call_name(cell), f"**{why_unmeasured(cell)}**", "", ""]
    return [call_name(cell), time_text(cell.ours.time), *beside_best(cell)]


def call_name(cell):
    return f"{cell.shape}, {cell.state or 'call after call'}"


def section(suite, cells, context):
    text = f"## {SUITES.get(suite, suite)}\n\nMeasured at commit {context.get('commit', 'unknown')} on {context['date'][:10]}.\n\n"
    for key, group in groups_of(cells).items():
        text += f"### {title_of(*key)}\n\n"
        if suite == "latency":
            text += table(["one call", "time", "best peer", "times its speed"], map(latency_row, group))
            text += details("Times of everyone; - where one has no such product", everyone(group, lambda row: time_text(row.time), "algorithm", "peer"))
        else:
            text += table(["", "time", "GFLOP/s", "of peak", "best peer", "times its speed"], map(cell_row, group))
            text += details("GFLOP/s of everyone; - where one has no such product", everyone(group, lambda row: three_digits(row.gflops), "algorithm", "peer", "peak"))
    return text


def details(title, text):
    return f"\n<details><summary>{title}</summary>\n\n{text}\n</details>\n\n"


def comparable(suites, dtype="f32"):
    """Each cell of a type once, single calls aside: some shapes are in several suites."""
    cells = {}
    for suite, found in suites.items():
        for cell in found:
            if cell.dtype == dtype and suite != "latency":
                cells.setdefault(cell.key(), (suite, cell))
    return [(suite, cell) for suite, cell in cells.values() if cell.best]


def types_of(suites):
    return list(dict.fromkeys(cell.dtype for found in suites.values() for cell in found))


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(suites):
    """Of each type and number of threads: how many cells are won, nearly so and lost, and the worst."""
    kinds = {dtype: [cell for _, cell in comparable(suites, dtype)] for dtype in types_of(suites)}
    kinds["single calls"] = [cell for cell in suites.get("latency", ()) if cell.best]
    rows = []
    for kind, cells in kinds.items():
        counts = sorted({cell.threads for cell in cells})
        for threads in [*counts, None] if len(counts) > 1 else counts:
            of = [cell for cell in cells if threads in (None, cell.threads)]
            ratios = [cell.best[1] for cell in of]
            worst = min(of, key=lambda cell: cell.best[1])
            rows.append([kind, str(threads or "all"), str(len(of)), str(sum(ratio >= 1 for ratio in ratios)),
                         str(sum(LOST <= ratio < 1 for ratio in ratios)), str(sum(ratio < LOST for ratio in ratios)),
                         ratio_text(mean(ratios)), f"{ratio_text(worst.best[1])} ({worst.name}, {worst.best[0]})"])
    return table(["type", "threads", "cells", "at least as fast as the best peer", f"{LOST} to 1", f"below {LOST}",
                  "geometric mean of times its speed", "worst"], rows)


def reasons_of(folder):
    """[(patterns, reason)] of FOLDER/reasons.txt, in its order."""
    file = folder / "reasons.txt"
    lines = [line for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")] if file.exists() else []
    return [([one.strip() for one in patterns.split(",")], reason) for patterns, reason in (line.split(": ", 1) for line in lines)]


LOST_INTRODUCTION = """## What is lost

Every cell below {least} of the best peer's speed, by what it is lost to, as far as that is known: times the speed of the best peer, and
which that is, where it is lost. A shape that is in several suites counts once above, and each of its cells is here. Figures in a reason
are of separate runs, of which no file was kept. Cells from {least} to 1 are bold in their tables and only counted above: so much is
within what single cells differ from run to run.

"""


def lost(suites, reasons):
    """Every lost cell: a table for each reason in the order of the file, those without one last, the worst first in each."""
    groups = {reason: [] for _, reason in reasons}
    groups[NOT_KNOWN] = groups.pop(NOT_KNOWN, [])
    for suite, cells in suites.items():
        for cell in cells:
            if cell.best and cell.best[1] < LOST:
                words = " ".join(filter(None, (suite, cell.shape, cell.dtype, str(cell.threads), cell.state)))
                fits = (reason for patterns, reason in reasons if any(fnmatch.fnmatchcase(words, one) for one in patterns))
                groups[next(fits, NOT_KNOWN)].append((suite, cell))
    parts = []
    for reason, found in groups.items():
        rows, threads = {}, sorted({cell.threads for _, cell in found})
        for suite, cell in sorted(found, key=lambda of: of[1].best[1]):
            peer, ratio = cell.best
            number = ratio_number(ratio) if ratio < LOST - 0.005 else f"{min(ratio, LOST - 0.001):.3f}"
            rows.setdefault((cell.name, suite, cell.dtype), {})[cell.threads] = f"**{number}** {peer}"
        if rows:
            head = ["shape", "suite", "type"] + ["1 thread" if n == 1 else f"{n} threads" for n in threads]
            parts.append(f"{reason[0].upper()}{reason[1:]}:\n\n" + table(head, [[*names, *(of.get(n, "") for n in threads)] for names, of in rows.items()]))
    return LOST_INTRODUCTION.format(least=LOST) + "\n".join(parts) + "\n" if parts else ""


def more_threads(suites):
    """What the most threads gain over the fewest, a sentence or two for each type: nothing may become slower by them."""
    return "".join(gain_of(dtype, comparable(suites, dtype)) for dtype in types_of(suites))


def gain_of(dtype, cells):
    times = {}
    for suite, cell in cells:
        times.setdefault((suite, cell.shape), {})[cell.threads] = cell.ours.time
    gains = {shape: of[min(of)] / of[max(of)] for (_, shape), of in times.items() if len(of) > 1}
    if not gains:
        return ""
    worst = min(gains, key=gains.get)
    slower = sorted((shape for shape in gains if gains[shape] < 1), key=gains.get)
    names = ", ".join(f"{shape} {ratio_number(gains[shape])}" for shape in slower if gains[shape] < 0.98)
    return (f"On the most threads {len(gains) - len(slower)} of {len(gains)} products of {dtype} are at least as fast as on one; "
            f"the geometric mean is {ratio_number(mean(list(gains.values())))} times the speed, the least {ratio_number(gains[worst])} ({worst})"
            f"{f'. More than 2 % slower: {names}' if names else ''}.\n\n")


def side(cell):
    return int(cell.shape.split("x")[0])


# What the library is to reach: suites, which of their cells, the share of the measured peak in %, times the best peer's speed;
# both as (required, aimed at), or None.
GOALS = (
    ("f32, squares from 192 on, 1 thread", ("square",), lambda c: c.threads == 1 and side(c) >= 192, (95, 98), (1, None)),
    ("f32, squares from 256 on, 2 threads", ("square",), lambda c: c.threads == 2 and side(c) >= 256, (94, 97), (1, None)),
    ("f32, squares 64, 96, 128, 2 threads", ("square",), lambda c: c.threads == 2 and side(c) <= 128, None, (1.15, None)),
    ("f64, squares", ("f64",), lambda c: side(c) >= 128, (93, 97), (1.03, None)),
    ("bf16 and i8, squares from 512 on", ("bf16", "int8"), lambda c: side(c) >= 512, (93, 96), (1, None)),
    ("f32, 1 to 128 rows times 4096x4096", ("skinny",), lambda c: side(c) <= 128, None, (1, None)),
    ("f32, small or long K", ("small_k", "long_k"), lambda c: True, None, (1.05, None)),
    ("f32, tiny, one call", ("tiny",), lambda c: True, None, (1, 1.5)))


GOALS_INTRODUCTION = """## Goals

What this library is to reach, in shares of the measured peak and in times the best peer's speed, and how many of the cells
do; in brackets, what is aimed at. `least` is the cell that is furthest, as (shape, type, threads). Shares that the tables mark "the
peak was disturbed" do not count here. In the second table bold is what is not reached.

"""


def goals(suites):
    """How many cells reach what they are to reach, and the one that is furthest from it."""
    def reached(values, goal, text):
        known = {cell: value for cell, value in values.items() if value}
        if goal is None or not known:
            return [""] * 3
        goal, aim = goal
        least = min(known, key=known.get)
        there = sum(value >= goal for value in known.values())
        number = text(known[least])
        if known[least] < goal and number == text(goal):
            number = f"{known[least]:.2f} %" if number.endswith("%") else f"{known[least]:.3f}"
        aimed = f" ({text(aim)})" if aim else ""
        as_aimed = f" ({sum(value >= aim for value in known.values())})" if aim else ""
        return [text(goal) + aimed, f"{there}{as_aimed} of {len(known)}", f"{number} ({least.shape}, {least.dtype}, {least.threads})"]

    rows = []
    for name, of, wanted, percent, ratio in GOALS:
        cells = [cell for suite in of for cell in suites.get(suite, ()) if cell.best and wanted(cell)]
        shares = {cell: None if cell.ours.peak_disturbed else cell.ours.percent for cell in cells}
        rows.append([name, *reached(shares, percent, lambda share: f"{share:.3g} %"),
                     *reached({cell: cell.best[1] for cell in cells}, ratio, ratio_number)])
    text = GOALS_INTRODUCTION + table(["cells", "share of peak", "reached by", "least", "times the best peer", "reached by", "least"],
                                  [row for row in rows if any(row[1:])]) + "\n"
    rows = list(goals_beside_cells(suites))
    return text + (table(["of several cells", "at least", "at most", "aim", "measured"], rows) + "\n" if rows else "")


def goals_beside_cells(suites):
    """What is asked of several cells together: (what, the least, the most, what was measured in bold where it is not so)."""
    def row(what, value, least=None, most=None, aim=None, unit=""):
        reached = (least is None or value >= least) and (most is None or value <= most)
        number = ratio_number(value) if unit == "" else f"{value:.0f}{unit}"
        if not reached and number in (f"{least or most:.2f}", f"{least or most:.0f}{unit}"):
            number = f"{value:.3f}" if unit == "" else f"{value:.1f}{unit}"
        return [what, *("" if limit is None else f"{limit:g}{unit}" for limit in (least, most, aim)), number if reached else f"**{number}**"]

    for name, added in (("all cells of f32", ()), ("all but those of small and thin products and few rows in the caches", ("small", "few_rows", "thin", "uneven"))):
        f32 = [cell.best[1] for suite, cell in comparable(suites) if suite not in added]
        if f32 and (not added or any(suite in suites for suite in added)):
            yield row(f"{name}, geometric mean of times the best peer", mean(f32), least=1.05)
            yield row(f"{name}, the worst of them", min(f32), least=0.97)
    found = {(suite, cell.threads, cell.shape, cell.state): cell for suite, cells in suites.items() for cell in cells if cell.ours}
    for threads in sorted({key[1] for key in found}):
        on = f", {threads} thread{'s' if threads > 1 else ''}"
        rows = [cell.best[1] for key, cell in found.items() if key[:2] == ("skinny", threads) and side(cell) <= 128 and cell.best]
        if rows:
            yield row("f32, 1 to 128 rows times 4096x4096, geometric mean of times the best peer" + on, mean(rows), least=1.3)
        for suite in ("odd", "transposed"):
            plain = found.get((suite, threads, "1024x1024x1024", ""))
            others = {shape: cell.ours.gflops / plain.ours.gflops for (of, n, shape, _), cell in found.items()
                      if plain and (of, n) == (suite, threads) and shape != plain.shape}
            for shape, speed in others.items():
                yield row(f"{shape}{on}, speed as a multiple of that of {plain.shape}", speed, least=0.98, aim=1)
        plans = [cell.rows["xsmm"].time / cell.rows["plan"].time for key, cell in found.items() if key[:2] == ("tiny", threads)
                 and all(name in cell.rows and cell.rows[name].measured for name in ("plan", "xsmm"))]
        if plans:
            yield row(f"tiny{on}, a call of a GemmPlan as a multiple of the speed of libxsmm's kernel, the least", min(plans), least=1)
    after = [found.get(("latency", threads, "128x128x128", "after 0.05 s of idleness")) for threads in (1, 2)]
    if all(after):
        yield row("128x128x128, 50 ms after the last call, time on 2 threads as a multiple of that on one", after[1].ours.time / after[0].ours.time, most=1.2, aim=1)
    first, again = (found.get(("latency", 1, "128x128x128", state)) for state in ("first call of a process", ""))
    if first and again:
        yield row("128x128x128, 1 thread, first call of a process, time beyond that of a later call", (first.ours.time - again.ours.time) / 1000, most=100, aim=30, unit=" us")


def measured(documents):
    """When and beside what: the first lines of a page."""
    contexts = [document["context"] for document in documents.values()]
    dates = {}
    for context in contexts:
        dates.setdefault(context["date"][:10], []).append(context.get("commit", "unknown"))
    when = " and ".join(f"on {date} with the code of {', '.join(dict.fromkeys(dates[date]))}" for date in sorted(dates))
    versions = ", ".join(dict.fromkeys(peer["version"].split("-Product")[0] for context in contexts for peer in context["peers"]))
    return (f"Measured {when}: what has changed in the code since then is not in these cells.\n\n"
            f"The peers are {versions}; their set-up is at the end. {NOT_MEASURED}\n\n")


NOT_MEASURED = ("Not measured: AMD's AOCL-BLAS, of which Debian and PyPI have no package, and BLIS and oneDNN newer than those of Debian 12, "
                "so nothing here says how fast these are.")


def about(documents):
    """Machine, compiler and method, once where all files agree; peers with their set-up."""
    text, contexts = "## Machine, method, peers\n\n", [document["context"] for document in documents.values()]
    lines = {f"{c['cpu_model']}, {c['num_cpus']} processors; {c['compiler']}, {c['library_build_type']}, "
             f"{c['flags'].strip() or 'no flags'}": None for c in contexts}
    text += "".join(f"Machine: {line}.\n\n" for line in lines)
    others = {suite: document["context"]["others_busy"] for suite, document in documents.items() if "others_busy" in document["context"]}
    if others:
        busy = ", ".join(f"{suite} {count:.1f}" for suite, count in others.items() if count >= 0.1)
        text += f"Processors that other programs kept busy as each file began: {busy or 'none'}.\n\n"
    loads = ", ".join(f"{suite} {document['context']['load_avg'][0]:.1f}" for suite, document in documents.items()
                      if document["context"].get("load_avg") and suite not in others)
    text += f"Load, the average of the minute before each file began (the contestants before it count too): {loads}.\n\n" if loads else ""
    text += "".join(f"Method: {line}\n\n" for line in dict.fromkeys(c["method"] for c in contexts))
    peers = {peer["name"]: ", ".join(filter(None, (peer["version"], peer["settings"], peer["environment"])))
             for c in contexts for peer in c["peers"]}
    return text + "Peers:\n\n" + "".join(f"- {name}: {what}\n" for name, what in peers.items())


TICKS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 4, 5, 6)
COARSE_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
STYLE = """<style>
text{font-family:system-ui,'DejaVu Sans',Arial,sans-serif;font-size:12px;fill:#24292f}
.page{fill:#ffffff}.title{font-size:15px;font-weight:600}.suite{font-weight:600}.small{font-size:10.5px;fill:#57606a}
.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#d8dee4}.one{stroke:#6e7781;stroke-width:1.5}
.won{fill:#1f6feb;stroke:#1f6feb}.lost{fill:#d1570e;stroke:#d1570e}.ring{fill:none;stroke-width:2}
@media (prefers-color-scheme: dark){
text{fill:#e6edf3}.page{fill:#0d1117}.small{fill:#9da7b3}.grid{stroke:#262c36}.one{stroke:#9da7b3}
.won{fill:#58a6ff;stroke:#58a6ff}.lost{fill:#f0883e;stroke:#f0883e}.ring{fill:none}}
</style>
"""


def plot(suites):
    """One line for each shape, one mark for each number of threads: Tessera's speed as a multiple of the best peer's."""
    cells = comparable(suites)
    counts = sorted({cell.threads for _, cell in cells})
    lines = list(dict.fromkeys((suite, cell.shape) for suite, cell in cells))
    least, most = (bound([1, *(cell.best[1] for _, cell in cells)]) for bound in (min, max))
    ticks = TICKS if most / least < 6 else COARSE_TICKS
    low = max((t for t in ticks if t < 0.99 * least), default=least)  # the ends are ticks, and no mark lies on them
    high = min((t for t in ticks if t > 1.01 * most), default=most)
    left, right, top, step, width = 250, 710, 74, 17, 860

    def x_of(ratio):
        return left + (right - left) * math.log(ratio / low) / math.log(high / low)

    body, y, before, two_names = [], top, None, False
    for suite, shape in lines:
        if suite != before:
            y += 8
            body.append(f'<text x="14" y="{y + 4}" class="suite">{suite}</text>')
            before = suite
        body.append(f'<text x="{left - 14}" y="{y + 4}" class="end">{shape}</text>')
        body.append(f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}" class="grid"/>')
        names = []
        for cell in (cell for where, cell in cells if (where, cell.shape) == (suite, shape)):
            name, ratio = cell.best
            mark = "won" if ratio >= 1 else "lost"
            shape_of_mark = f'r="4" class="{mark}"' if cell.threads == counts[0] else f'r="6.5" class="ring {mark}"'
            body.append(f'<circle cx="{x_of(ratio):.1f}" cy="{y}" {shape_of_mark}/>')
            names.append(name)
        body.append(f'<text x="{right + 14}" y="{y + 4}" class="small">{", ".join(dict.fromkeys(names))}</text>')
        two_names = two_names or len(set(names)) > 1
        y += step
    height = y + 40
    for tick in (t for t in ticks if low <= t <= high):
        body.insert(0, f'<line x1="{x_of(tick):.1f}" y1="{top - 8}" x2="{x_of(tick):.1f}" y2="{y}" class="{"one" if tick == 1 else "grid"}"/>'
                       f'<text x="{x_of(tick):.1f}" y="{y + 16}" class="middle">{tick:g}</text>')
    which = f"; of two names the first is that on {counts[0]} thread{'s' if counts[0] > 1 else ''}, the other on {counts[-1]}" if two_names else ""
    marks = "; ".join(f"{'dot' if count == counts[0] else 'ring'}: {count} thread{'s' if count > 1 else ''}" for count in counts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">\n'
            f"<title>Tessera's speed as a multiple of the best peer's</title>\n{STYLE}"
            f'<rect class="page" width="{width}" height="{height}"/>\n'
            f'<text x="20" y="26" class="title">f32: Tessera\'s speed as a multiple of the best peer\'s</text>\n'
            f'<text x="20" y="46" class="small">right of 1 Tessera is faster; {marks}; the names are those peers{which}</text>\n'
            + "\n".join(body) + "\n</svg>\n")


def generated(folder, name):
    """(the two generated parts of page NAME, its plot or None)"""
    files = sorted(folder.glob("*.json"), key=lambda f: (list(SUITES).index(f.stem) if f.stem in SUITES else len(SUITES), f.stem))
    if not files:
        return ["\nThere are no results yet: `scripts/measure_suites` makes them, on a machine that does nothing else.\n\n", ""], None
    documents = {file.stem: json.loads(file.read_text()) for file in files}
    suites = {suite: cells_of(document) for suite, document in documents.items()}
    text, drawn = "\n" + measured(documents) + summary(suites) + "\n" + more_threads(suites) + lost(suites, reasons_of(folder)), None
    if comparable(suites):
        text += goals(suites) + "![Every cell of f32](" + name + ".svg)\n\n"
        drawn = plot(suites)
    sections = "".join(section(suite, cells, documents[suite]["context"]) for suite, cells in suites.items())
    return [text, "\n" + sections + about(documents) + "\n"], drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="change nothing; fail where the page does not match the files")
    parser.add_argument("--to", type=pathlib.Path, default=ROOT / "docs", metavar="FOLDER", help="where the page and the plot are; default docs")
    arguments = parser.parse_args()
    pages = {"performance": arguments.folder} if arguments.folder else PAGES
    stale = [name for name, folder in pages.items() if not written(name, folder, arguments.to, arguments.check)]
    if stale:
        sys.exit(f"performance.py: {', '.join(stale)} in {arguments.to} does not match the results; run scripts/performance.py")


def written(name, folder, to, check):
    """Writes a page and its plot, or says whether they are as they would be written."""
    parts, drawn = generated(folder, name)
    page, picture = to / f"{name}.md", to / f"{name}.svg"
    head, *rest = (ROOT / f"docs/{name}.md").read_text().split(BEGIN)
    new = head + "".join(BEGIN + part + END + behind.split(END)[1] for part, behind in zip(parts, rest, strict=True))
    if check:
        return (page.read_text(), picture.read_text() if picture.exists() else None) == (new, drawn)
    page.write_text(new)
    if drawn:
        picture.write_text(drawn)
    else:
        picture.unlink(missing_ok=True)
    return True


if __name__ == "__main__":
    main()
