"""The products that `scripts/gpu bench` measured beside cuBLAS and cuBLASLt, from bench/results/gpu/*-bench-*.json."""
import json

# Rows of the README's table: what it says, the type of A, and which products.
HEADLINES = {"f32": ("f32", lambda cell: cell.is_square), "f64": ("f64", lambda cell: cell.is_square),
             "TF32": ("TF32", lambda cell: cell.is_square), "bf16": ("bf16", lambda cell: cell.is_square),
             "f16": ("f16", lambda cell: cell.is_square), "f8": ("f8e4m3", lambda cell: cell.is_square),
             "i8": ("i8", lambda cell: cell.is_square), "bf16, 1 to 64 rows": ("bf16", lambda cell: cell.is_thin),
             "f8, 1 to 64 rows": ("f8e4m3", lambda cell: cell.is_thin), "bf16, batches": ("bf16", lambda cell: cell.batch > 1)}


class Cell:
    """The default algorithm on one product; `peer` is the fastest of cuBLAS and of cuBLASLt's choices with the same arithmetic."""

    def __init__(self, row, rows):
        tf32 = row["dtype"].startswith("f32") and row["contestant"] != "auto"
        self.type = "TF32" if tf32 else row["dtype"].split(":")[0]
        self.batch, self.m, self.n, self.k = (row[key] for key in ("batch", "m", "n", "k"))
        self.shape = (f"{self.batch}x" if self.batch > 1 else "") + f"{self.m}x{self.n}x{self.k}"
        self.shape += "" if row["transposition"] == "NN" else f"-{row['transposition']}"
        self.tflops, self.percent = row["gflops"] / 1000, row.get("percent_of_peak")
        ratios = {key.removeprefix("ratio_"): row[key] for key in row if key.startswith("ratio_") and ("tf32" in key) == tf32}
        self.peer = min(ratios, key=ratios.get)
        self.ratio = ratios[self.peer]
        self.peer_tflops = next(each["gflops"] for each in rows if each["contestant"] == self.peer) / 1000
        self.is_thin = self.batch == 1 and min(self.m, self.n) <= 64
        self.is_square = self.batch == 1 and self.m == self.n == self.k


def newest(folder):
    """(what the newest file says of its device and peers, with the commits of all; the cells of that device); (None, []) where nothing was
    measured. Of each product the newest result counts, and a whole file rather than a part of one."""
    files = sorted(folder.glob("*-bench-*.json"), key=lambda file: (file.name[:len("2026-11-28")], "-part" not in file.name, file.name))
    documents = [json.loads(file.read_text()) for file in files]
    if not documents:
        return None, []
    newest_one = documents[-1]["context"]
    cells, commits = {}, {}
    for document in documents:
        if document["context"]["device"]["name"] != newest_one["device"]["name"]:
            continue
        products = {}
        for row in document["benchmarks"]:
            if row.get("aggregate_name") == "median" and row["status"] == "verified":
                products.setdefault(tuple(row[key] for key in ("batch", "m", "n", "k", "transposition")), []).append(row)
        for rows in products.values():
            ours = [row for row in rows if row["kind"] == "algorithm"]
            chosen = next((row for row in ours if row["contestant"] == "auto"), None) or next(
                (row for row in ours if row["contestant"] == "warpgroup"), None)
            if chosen and any(key.startswith("ratio_") for key in chosen):
                cell = Cell(chosen, rows)
                cells[cell.type, cell.shape] = cell
                commits[cell.type, cell.shape] = document["context"]["commit"]
    order = sorted(cells.values(), key=lambda cell: (list(HEADLINES).index(cell.type) if cell.type in HEADLINES else 9, cell.type, cell.batch,
                                                     cell.is_thin, cell.m, cell.n, cell.k))
    return {**newest_one, "commit": ", ".join(dict.fromkeys(commits.values()))}, order
