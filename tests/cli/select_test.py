#!/usr/bin/env python3
"""tessera multiply --top K and --above X: the entries that a sort of the whole product gives, as SciPy's sparse .npz."""
import array
import io
import json
import random
import re
import zipfile

import harness


def member(archive, name):
    """The vector of that name, or its bytes."""
    raw = archive.read(name + ".npy")
    header = raw[10 : 10 + int.from_bytes(raw[8:10], "little")].decode()
    code = re.search(r"'descr': '(.*?)'", header)[1]
    data = raw[10 + len(header) :]
    return data if code == "|S3" else list(array.array({"<i8": "q", "<f4": "f", "<f8": "d", "<i4": "i", "|b1": "b"}[code], data))


class Select(harness.CommandTest):
    def setUp(self):
        super().setUp()
        random.seed(11)

    def numbers(self, name, rows, cols, dtype="f32"):
        """Whole numbers, so that entries are equal and sums exact."""
        values = [[random.randint(-4, 4) for _ in range(cols)] for _ in range(rows)]
        self.write_npy(name, values, dtype)
        return values

    def rows(self, name, shape):
        """Of each row the columns and the values."""
        with zipfile.ZipFile(io.BytesIO(self.path(name).read_bytes())) as archive:
            self.assertEqual(member(archive, "format"), b"csr")
            self.assertEqual(member(archive, "shape"), list(shape))
            starts, columns, values = (member(archive, each) for each in ("indptr", "indices", "data"))
        self.assertEqual(len(starts), shape[0] + 1)
        return [list(zip(columns[a:b], values[a:b])) for a, b in zip(starts, starts[1:])]

    def expect_top(self, k, product, *words):
        expected = [[(j, row[j]) for j in sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]] for row in product]
        shape = (len(product), len(product[0]))
        for budget in ((), ("--memory", "30kB")):
            self.succeeds("multiply", *words, "--top", k, "-o", "top.npz", "--force", *budget)
            self.assertEqual(self.rows("top.npz", shape), expected)

    def test_the_largest_of_each_row(self):
        for dtype in ("f32", "f64", "i8", "i32"):
            a, b = self.numbers("a.npy", 90, 30, dtype), self.numbers("b.npy", 30, 110, dtype)
            for k in (0, 1, 7, 110):
                self.expect_top(k, harness.product(a, b), "a.npy", "b.npy")

    def test_of_a_matrix_and_its_transpose(self):
        a = self.numbers("a.npy", 70, 20)
        turned = [list(column) for column in zip(*a)]
        self.expect_top(5, harness.product(a, turned), "a.npy", "--gram")
        self.expect_top(5, harness.product(a, turned), "a.npy", "a.npy", "--transpose-b")
        self.expect_top(5, harness.product(turned, a), "a.npy", "--gram", "--transpose-a")
        self.succeeds("multiply", "a.npy", "--gram", "-o", "whole.npy")
        self.succeeds("multiply", "a.npy", "a.npy", "--transpose-b", "-o", "same.npy")
        self.assertEqual(self.path("whole.npy").read_bytes(), self.path("same.npy").read_bytes())

    def test_entries_above(self):
        product = harness.product(self.numbers("a.npy", 60, 25), self.numbers("b.npy", 25, 80))
        for above in (-1000, 0, 20.5, 1000):
            expected = [[(j, value) for j, value in enumerate(row) if value > above] for row in product]
            for budget in ((), ("--memory", "30kB")):
                self.succeeds("multiply", "a.npy", "b.npy", "--above", above, "-o", "some.npz", "--force", *budget)
                self.assertEqual(self.rows("some.npz", (60, 80)), expected)

    def test_what_is_reported(self):
        self.numbers("a.npy", 20, 10)
        report = json.loads(self.succeeds("multiply", "a.npy", "--gram", "--top", "3", "-o", "t.npz", "--json").out)
        self.assertEqual((report["shape"], report["entries"]), ([20, 20], 60))

    def test_refusals(self):
        self.numbers("a.npy", 6, 6)
        top = ("multiply", "a.npy", "a.npy", "--top", "2")
        for words, says in (((*top, "-o", "t.npy"), "FILE.npz"), ((*top, "-o", "t.npz:x"), "FILE.npz"),
                            ((*top, "-o", "t.npz", "--above", "1"), "--above"), ((*top, "-o", "t.npz", "--alpha", "2"), "--alpha"),
                            ((*top, "-o", "t.npz", "--verify"), "--verify"), ((*top, "-o", "t.npz", "--resume", "--memory", "1MiB"), "--resume"),
                            (("multiply", "a.npy", "a.npy", "--top", "7", "-o", "t.npz"), "from 0 to 6"),
                            (("multiply", "a.npy", "a.npy", "--top", "1.5", "-o", "t.npz"), "a number of entries"),
                            (("multiply", "a.npy", "a.npy", "--above", "nan", "-o", "t.npz"), "a number"),
                            (("multiply", "a.npy", "--top", "2", "-o", "t.npz"), "one and --gram"),
                            (("multiply", "a.npy", "a.npy", "--gram", "-o", "t.npz"), "no B")):
            self.fails(2, *words, says=(says,))
            self.assertFalse(self.path("t.npz").exists())


if __name__ == "__main__":
    harness.main()
