"""Pictures of the course that no command of Tessera draws: threads over data, products of matrices, supersteps, a tree.

Each is one SVG element made of the numbers of the puzzle's own launch; its colours are those of the page around it.
"""
import html


class Drawing:
    """Shapes on a plane whose size is what they need."""

    def __init__(self, label, fine=False):
        self.label, self.fine, self.parts, self.width, self.height = label, fine, [], 0, 0

    def grow(self, x, y):
        self.width, self.height = max(self.width, x + 4), max(self.height, y + 4)

    def cell(self, x, y, w, h, kind, text=""):
        self.grow(x + w, y + h)
        self.parts.append(f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}"/>')
        if text != "":
            self.text(x + w / 2, y + h / 2 + 4, text, "in")

    def text(self, x, y, text, kind=""):
        """`kind` in: in the middle of a cell; mid: centred; end: ends at x; otherwise begins there."""
        reach = 7.2 * len(str(text))
        self.grow(x + (0 if kind == "end" else reach / 2 if kind in ("in", "mid") else reach), y)
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{html.escape(str(text))}</text>')

    def line(self, x1, y1, x2, y2, kind="thin"):
        self.grow(max(x1, x2), max(y1, y2))
        self.parts.append(f'<path class="{kind}" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>')

    def arrow(self, x1, y1, x2, y2):
        self.line(x1, y1, x2, y2, "arrow")

    def svg(self):
        w, h = round(self.width), round(self.height)
        return (f'<svg class="drawing{" fine" if self.fine else ""}" width="{w}" height="{h}" viewBox="0 0 {w} {h}" style="min-width:{min(w, max(320, round(0.75 * w)))}px" '
                f'role="img" aria-label="{html.escape(self.label)}">\n'
                '<defs><marker id="tip" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
                '<path d="M0 0L6 3L0 6z"/></marker></defs>\n' + "\n".join(self.parts) + "\n</svg>")


class Launch:
    """One case of the solution: what was launched on which tensors."""

    def __init__(self, case):
        self.grid, self.block = case["launch"]["grid"], case["launch"]["block"]
        self.tensors = [(each["name"], *each["shape"]) for each in case["tensors"]]
        name, rows, cols = [(t["name"], *t["shape"]) for t in case["tensors"] if t["is_output"]][-1]
        self.output = name, *((1, rows) if cols == 1 else (rows, cols))

    def product(self):
        """M, N, K of C = A B; where B comes transposed, or is A, too."""
        (_, m, k), (_, n) = self.tensors[0], self.output[1:]
        return m, n, k


def threads(launch):
    """Each thread where its element is; those without an element are empty. There is a gap between blocks."""
    name, rows, cols = launch.output
    (gx, gy, _), (bx, by, _) = launch.grid, launch.block
    drawing = Drawing(f"{gx * gy} blocks of {bx} x {by} threads over {name}, {rows} x {cols}")
    if rows == 1:
        size, left = (22, 64) if bx > 16 else (44, 64)
        drawing.text(left, 14, "threads 0 to " + str(bx - 1) + ("; in each the number of its element" if gx > 1 else ""))
        for block in range(gx):
            y = 24 + block * 34
            drawing.text(0, y + 19, f"block {block}")
            for thread in range(bx):
                element = block * bx + thread
                has = element < cols
                drawing.cell(left + thread * size, y, size - 2, 28, "one" if has else "none", element if has else "")
        if gx == 1:
            drawing.text(0, 109, name)
            for element in range(cols):
                drawing.arrow(left + element * size + size / 2, 54, left + element * size + size / 2, 88)
                drawing.cell(left + element * size, 90, size - 2, 28, "two", element)
        return drawing
    size, gap, left, top = 46, 12, 64, 40
    drawing.text(left, 14, "x: columns")
    drawing.text(0, top + 8, "y: rows")
    for y in range(gy * by):
        for x in range(gx * bx):
            has = y < rows and x < cols
            drawing.cell(left + x * size + x // bx * gap, top + y * 32 + y // by * gap, size - 2, 30, "one" if has else "none",
                         f"{y},{x}" if has else "")
    return drawing


def product(launch, tile="1,1,1", at="0,0", k="0", names="A,B,C", parts="1", shown=""):
    """C = A B with one tile of C, the strips of A and B it needs, and the pair of tiles of step k. parts: blocks that share K.
    shown: M, N, K of the corner that is drawn."""
    whole, (tm, tn, tk), (i, j) = launch.product(), map(int, tile.split(",")), map(int, at.split(","))
    m, n, depth = map(int, shown.split(",")) if shown else whole
    step, parts, labels = int(k), int(parts), names.split(",")
    rows, cols = max(m, 1, (i + 1) * tm), max(n, (j + 1) * tn)  # a tile may reach beyond the matrix
    size = max(6, min(34, 390 // (rows + depth), 390 // (cols + depth)))
    ax, ay, bx, by = 24, 46 + depth * size, 50 + depth * size, 20
    drawing = Drawing(f"a product, tile ({i},{j}) of {labels[2]}, step {step}", fine=size < 10)
    for x, y, name, height, width in ((ax + depth * size / 2, ay - 6, labels[0], whole[0], whole[2]),
                                   (bx + n * size / 2, by - 6, labels[1], whole[2], whole[1]),
                                   (bx + n * size / 2, ay + rows * size + 16, labels[2], whole[0], whole[1])):
        drawing.text(x, y, f"{name} ({height},{width})" + (", a corner" if shown else ""), "mid")

    def matrix(x0, y0, rows, cols, kind):
        for row in range(rows):
            for col in range(cols):
                drawing.cell(x0 + col * size, y0 + row * size, size - 1, size - 1, kind(row, col))

    def of_k(position, in_strip):
        if parts > 1:
            return f"part{position * parts // depth}"
        return "idle" if not in_strip else "two" if position // tk == step else "strip"

    matrix(ax, ay, m, depth, lambda r, c: of_k(c, r // tm == i))
    matrix(bx, by, depth, n, lambda r, c: of_k(r, c // tn == j))
    matrix(bx, ay, m, n, lambda r, c: "one" if (r // tm, c // tn) == (i, j) else "idle")
    for x, y, rows, cols in ((ax + step * tk * size, ay + i * tm * size, tm, tk), (bx + j * tn * size, by + step * tk * size, tk, tn),
                             (bx + j * tn * size, ay + i * tm * size, tm, tn)):
        if parts == 1:
            drawing.cell(x, y, cols * size - 1, rows * size - 1, "frame")
    return drawing


def tree(launch, shown="16"):
    """The sums of a block: in each step half as many threads add the element half as far away."""
    shown, size = int(shown), 40
    drawing = Drawing(f"a sum in a tree, the last {shown} numbers")
    width, y = shown, 0
    while True:
        for i in range(shown):
            drawing.cell(i * size, y, size - 3, 26, "one" if i < width else "idle", f"{i}" if i < width else "")
        if width == 1:
            return drawing
        width //= 2
        for i in range(width):
            drawing.line((i + width) * size + size / 2, y + 27, i * size + size / 2 + 4, y + 57, "arrow")
            drawing.line(i * size + size / 2, y + 27, i * size + size / 2, y + 57, "arrow")
        y += 60


def reverse(launch, shown="8"):
    """Out through shared memory: each thread writes its own element, and reads the one that another has written."""
    shown, size, left = int(shown), 48, 70
    drawing = Drawing("elements through shared memory, turned round")
    for row, name in enumerate(("a", "shared", "out")):
        drawing.text(0, row * 90 + 19, name)
        for i in range(shown):
            drawing.cell(left + i * size, row * 90, size - 4, 28, ("one", "two", "one")[row], i if row < 2 else shown - 1 - i)
    for i in range(shown):
        x = left + i * size + size / 2
        drawing.arrow(x, 29, x, 88)
        drawing.arrow(left + (shown - 1 - i) * size + size / 2, 119, x, 178)
    drawing.line(0, 136, left + shown * size, 136, "barrier")
    drawing.text(0, 131, "barrier")
    return drawing


def transpose(launch, shown="8", row="2"):
    """Rows into the tile, columns out of it."""
    shown, row, size = int(shown), int(row), 22
    drawing = Drawing("a matrix is turned in a tile of shared memory")
    for which, (name, marked) in enumerate((("a, in global memory", "row"), ("the tile, in shared memory", "both"), ("out", "column"))):
        x0 = which * (shown * size + 56)
        drawing.text(x0 + shown * size / 2, 14, name, "mid")
        for r in range(shown):
            for c in range(shown):
                in_row, in_column = r == row and marked != "column", (c == row if marked == "both" else r == row and marked == "column")
                drawing.cell(x0 + c * size, 24 + r * size, size - 1, size - 1, "two" if in_column else "one" if in_row else "idle")
        if which < 2:
            y = 24 + (row + 0.5) * size
            drawing.arrow(x0 + shown * size + 4, y, x0 + shown * size + 50, y)
            drawing.text(x0 + shown * size + 28, y - 8, ("row", "column")[which], "mid")
    return drawing


def timeline(launch, *threads_, barriers="", end=""):
    """What threads do over time: 'fast: load 0-3, multiply 5-7, load 7-10!'. ! marks what must not happen there."""
    drawing, size, left = Drawing("what threads do over time"), 46, 84
    for at, thread in enumerate(threads_):
        who, what = thread.split(": ")
        drawing.text(0, at * 46 + 49, who)
        for each in what.split(", "):
            name, _, span = each.rstrip("!").rpartition(" ")
            begin, finish = map(float, span.split("-"))
            kind = "bad" if each.endswith("!") else {"load": "one", "multiply": "two", "wait": "none"}.get(name.split()[0], "idle")
            drawing.cell(left + begin * size, at * 46 + 28, (finish - begin) * size - 2, 34, kind, name)
    for at in filter(None, barriers.split(",")):
        x = left + float(at) * size - 1
        drawing.line(x, 20, x, len(threads_) * 46 + 24, "barrier")
        drawing.text(x, 14, "barrier", "mid")
    drawing.text(left, len(threads_) * 46 + 40, "time " + "→" if not end else end)
    return drawing


def attention(launch, row="5"):
    """One row: scores with all rows of K, weights, the mean of the rows of V."""
    row, (_, length, width), size = int(row), launch.tensors[0], 11
    drawing, x = Drawing("attention for one row"), 0
    side = length * size
    for name, kind, sign in (("Q", "row", "·"), ("Kᵀ", "all", "→"), ("scores", "strip", "→"), ("weights", "strip", "·"), ("V", "all", "→"), ("out", "row", "")):
        drawing.text(x + (side if kind != "strip" else size * 1.5) / 2, 14, name, "mid")
        for r in range(length):
            for c in range(width if kind != "strip" else 1):
                w = size if kind != "strip" else 3 * size
                colour = "two" if kind == "all" else "one" if r == row or kind == "strip" else "idle"
                drawing.cell(x + c * size, 22 + r * size, w - 1, size - 1, colour)
        x += (side if kind != "strip" else 3 * size) + 12
        drawing.text(x, 22 + side / 2, sign, "mid")
        x += 16
    return drawing


DRAWINGS = {each.__name__: each for each in (threads, product, tree, reverse, transpose, timeline, attention)}
