#!/usr/bin/env python3
"""safetensors files between Tessera and the format's own Python package: each reads what the other writes, bit for bit, and
both refuse the same files. Where they differ, the specification decides; each such case has its reason here.

The package is in build/python, where scripts/setup puts it (tests/requirements.txt).
"""
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402
from convert_tool import Tool  # noqa: E402

sys.path.insert(0, str(cases.ROOT / "build/python"))
try:
    import numpy as np
    import safetensors
    import safetensors.numpy
    MISSING = ""
except ImportError as error:
    MISSING = f"safetensors files are NOT compared with those of the Python package: {error}; scripts/setup installs it"

# Ours, the package's when it writes, the format's, bytes; NumPy's name, or nothing where it is raw bytes.
TYPES = [("f64", "float64", "F64", 8, "f8"), ("f32", "float32", "F32", 4, "f4"), ("f16", "float16", "F16", 2, "f2"),
         ("bf16", "bfloat16", "BF16", 2, ""), ("f8e4m3", "float8_e4m3fn", "F8_E4M3", 1, ""),
         ("f8e5m2", "float8_e5m2", "F8_E5M2", 1, ""), ("i8", "int8", "I8", 1, "i1"), ("u8", "uint8", "U8", 1, "u1"),
         ("i16", "int16", "I16", 2, "i2"), ("u16", "uint16", "U16", 2, "u2"), ("i32", "int32", "I32", 4, "i4"),
         ("u32", "uint32", "U32", 4, "u4"), ("i64", "int64", "I64", 8, "i8"), ("u64", "uint64", "U64", 8, "u8"),
         ("bool", "bool", "BOOL", 1, "b1")]
SHAPES = [(1, 1), (4, 7), (7,), (2, 3, 4), (0, 0), (0, 5), (5, 0), (0,), ()]
NAMES = ["t", "layer.0.weight", "two words", "dtype", "a:b", "a/b", "../up", "x.safetensors:y", "\"quoted\"", "back\\slash",
         "Grüße", "行列", "🧊", "\u0001\u001f", "nul\u0000nul", "__metadata", " ", "x" * 300]


def elements(ours, size, count, rng):
    """Random bits of a type; bool knows two values only."""
    return bytes(rng.randrange(2) for _ in range(count)) if ours == "bool" else rng.randbytes(size * count)


def count_of(shape):
    out = 1
    for extent in shape:
        out *= extent
    return out


@unittest.skipIf(MISSING, MISSING)
class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of flushes: not on a disk
        scratch = tempfile.TemporaryDirectory(prefix="tessera-safetensors-", dir=memory)
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.tool = Tool(str(cases.options.build / "bin/io_convert_tool"))
        cls.addClassCleanup(cls.tool.close)

    def read(self, path, name):
        """Tessera's answer, and the elements it read."""
        answer = self.tool(f"{path}:{name}" if name else path, self.folder / "back.npy")
        return answer, np.load(self.folder / "back.npy").tobytes() if answer.startswith("ok ") else None

    def package_saves(self, path, tensors, metadata=None):
        """`tensors`: name -> (the package's type, shape, bytes)."""
        kept = {name: np.frombuffer(data + b"\0", np.uint8) for name, (_, _, data) in tensors.items()}  # no data, no pointer
        specs = {name: safetensors.TensorSpec(dtype=dtype, shape=list(shape), data_ptr=kept[name].ctypes.data, data_len=len(data))
                 for name, (dtype, shape, data) in tensors.items()}
        safetensors.serialize_file(specs, str(path), metadata)


class Files(PackageTest):
    def test_tessera_reads_what_the_package_writes(self):
        rng = random.Random(1)
        tensors, expected = {}, {}
        for ours, theirs, _, size, _ in TYPES:
            for shape in SHAPES:
                data = elements(ours, size, count_of(shape), rng)
                tensors[f"{ours} {shape}"] = (theirs, shape, data)
                expected[f"{ours} {shape}"] = (f"ok {ours} {shape}", data)
        for metadata in (None, {}, {"format": "np", "Grüße": "\"\\\n\u0000🧊", "": ""}):
            self.package_saves(self.folder / "p.safetensors", tensors, metadata)
            for name, wanted in expected.items():
                self.assertEqual(self.read(self.folder / "p.safetensors", name), wanted, name)

    def test_the_package_reads_what_tessera_writes(self):
        rng = random.Random(2)
        path = self.folder / "t.safetensors"
        for ours, _, format_name, size, numpy_name in TYPES:
            for shape in SHAPES:
                data = elements(ours, size, count_of(shape), rng)
                np.save(self.folder / "s.npy", np.frombuffer(data, numpy_name or f"V{size}").reshape(shape))
                path.unlink(missing_ok=True)
                answer = self.tool(self.folder / "s.npy", f"{path}:t", "" if numpy_name else f"untyped={ours}")
                self.assertEqual(answer, f"ok {ours} {shape}")
                found = safetensors.deserialize(path.read_bytes())
                self.assertEqual([(name, each["dtype"], tuple(each["shape"]), bytes(each["data"])) for name, each in found],
                                 [("t", format_name, shape, data)])
                if numpy_name:
                    loaded = safetensors.numpy.load_file(path)["t"]  # mapped
                    self.assertEqual((loaded.dtype, loaded.shape, loaded.tobytes()), (np.dtype(numpy_name), shape, data))

    def test_the_package_reads_files_to_which_tessera_added(self):
        rng = random.Random(3)
        path = self.folder / "t.safetensors"
        tensors = {f"{ours} {shape}": (theirs, shape, elements(ours, size, count_of(shape), rng))
                   for ours, theirs, _, size, _ in TYPES for shape in SHAPES}
        metadata = {"format": "np", "Grüße": "\"\\\n🧊"}
        self.package_saves(path, tensors, metadata)
        for ours, _, _, size, numpy_name in TYPES:
            data = elements(ours, size, 28, rng)
            np.save(self.folder / "s.npy", np.frombuffer(data, numpy_name or f"V{size}").reshape(4, 7))
            for name in (f"new {ours}", f"{ours} (4, 7)"):  # one more, and one replaced
                answer = self.tool(self.folder / "s.npy", f"{path}:{name}", "" if numpy_name else f"untyped={ours}")
                self.assertEqual(answer, f"ok {ours} (4, 7)")
                tensors[name] = (None, (4, 7), data)
        found = {name: (tuple(each["shape"]), bytes(each["data"])) for name, each in safetensors.deserialize(path.read_bytes())}
        self.assertEqual(found, {name: (tuple(shape), data) for name, (_, shape, data) in tensors.items()})
        text = path.read_bytes()
        header = json.loads(text[8:8 + int.from_bytes(text[:8], "little")])
        self.assertEqual(header["__metadata__"], metadata)
        widths = {name: size for _, _, name, size, _ in TYPES}
        for name, each in header.items():
            if name != "__metadata__":
                self.assertEqual(each["data_offsets"][0] % widths[each["dtype"]], 0, name)

    def test_names_with_odd_characters(self):
        np.save(self.folder / "s.npy", np.arange(6, dtype="f4").reshape(2, 3))
        data = np.load(self.folder / "s.npy").tobytes()
        for name in NAMES:
            with self.subTest(name):
                if "\0" not in name:  # no path holds one
                    path = self.folder / "t.safetensors"
                    path.unlink(missing_ok=True)
                    self.assertEqual(self.tool(self.folder / "s.npy", f"{path}:{name}"), "ok f32 (2, 3)")
                    (found, each), = safetensors.deserialize(path.read_bytes())
                    self.assertEqual((found, bytes(each["data"])), (name, data))
                self.package_saves(self.folder / "p.safetensors", {name: ("float32", (2, 3), data)})
                self.assertEqual(self.read(self.folder / "p.safetensors", ""), ("ok f32 (2, 3)", data))
        everything = {name: ("uint8", (index,), bytes(index)) for index, name in enumerate(NAMES)}
        self.package_saves(self.folder / "p.safetensors", everything)
        for index, name in enumerate(NAMES):
            if "\0" not in name:
                self.assertEqual(self.read(self.folder / "p.safetensors", name), (f"ok u8 ({index},)", bytes(index)), name)


def file(header, data=b"", length=None):
    header = header if isinstance(header, bytes) else header.encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def tensor(name="t", dtype='"U8"', shape="[4]", offsets="[0,4]", more=""):
    return f'"{name}":{{"dtype":{dtype},"shape":{shape},"data_offsets":{offsets}{more}}}'


def header(*parts):
    return "{" + ",".join(parts) + "}"


GOOD = header(tensor())
DATA = b"abcd"


def hostile():
    """(what, file): both judge them alike; which way is for them to say."""
    yield "good", file(GOOD, DATA)
    yield "nothing", b""
    yield "prefix cut", b"1234567"
    yield "no header", file("")
    for length in (1000, len(GOOD) + 5, 2**31, 2**63, 2**64 - 1):
        yield f"header of {length} bytes", file(GOOD, DATA, length)
    yield "data without a tensor", file("{}", DATA)
    for text in ("[]", "null", '"t"', "1", "x", "[" * 100000, GOOD + " x", GOOD + "{}", GOOD[:-1], "{/**/" + GOOD[1:], "\f" + GOOD):
        yield f"header {text[:20]!r}", file(text, DATA)
    yield "padded", file(GOOD + " " * 9, DATA)
    yield "bom", file(b"\xef\xbb\xbf" + GOOD.encode(), DATA)
    yield "zero behind", file(GOOD + "\0", DATA)
    for name in (b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\\ud800", b"\x01", b"\\x", b"\\u00"):
        yield f"name {name}", file(GOOD.encode().replace(b'"t"', b'"' + name + b'"'), DATA)
    for key in ("dtype", "shape", "data_offsets"):
        entry = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}
        twice = json.dumps(entry)[:-1] + f', "{key}": {json.dumps(entry[key])}}}'
        yield f"{key} twice", file('{"t": ' + twice + "}", DATA)
        del entry[key]
        yield f"no {key}", file(json.dumps({"t": entry}), DATA)
    for shape in ("[-4]", "[4.0]", "[4e0]", '["4"]', "[null]", "4", "[4", "[-0]", "[true]", "[04]", "[[4]]", '{"0":4}', "[3]", "[5]",
                  "[2,2]", "[4,]", "[]", "[0]", "null", "[18446744073709551616]", "[18446744073709551615]", "[9223372036854775808]",
                  "[4294967296,4294967296]", "[4611686018427387905,4]", "[" + "1," * 39 + "4]"):
        yield f"shape {shape}", file(header(tensor(shape=shape)), DATA)
    for offsets in ("[4,0]", "[4]", "[0,4,4]", "[0,5]", "[0,3]", "[1,4]", "[1,5]", "[0.0,4.0]", "[-1,4]", '["0","4"]', "null", "4",
                    '{"0":0,"1":4}', "[0,18446744073709551616]", "[0,18446744073709551615]", "[-0,4]", "[false,4]", "[]",
                    "[18446744073709551612,18446744073709551615]"):
        yield f"offsets {offsets}", file(header(tensor(offsets=offsets)), DATA)
    for dtype in ('"U9"', '"u8"', "1", "null", '["U8"]', '""', '"U8 "', '"C64"', '"F32"', '"F64"', '"BOOL"', '"F8_E5M2"'):
        yield f"type {dtype}", file(header(tensor(dtype=dtype)), DATA)
    for metadata in ("{}", '{"a":"b"}', '{"a":1}', '{"a":null}', '{"a":{"b":"c"}}', "[]", '"x"', "1", GOOD):
        yield f"metadata {metadata}", file(header(f'"__metadata__":{metadata}', tensor()), DATA)
    yield "metadata twice", file(header('"__metadata__":{}', '"__metadata__":{}', tensor()), DATA)
    for begin, end in ((4, 8), (0, 4), (2, 6), (5, 9), (4, 9), (4, 7), (4, 4), (8, 8), (0, 8)):
        yield f"second at {begin}, {end}", file(header(tensor(), tensor("u", offsets=f"[{begin},{end}]")), DATA + DATA)
    yield "second cut", file(header(tensor(), tensor("u", offsets="[4,8]")), DATA + DATA[:3])
    yield "second too small", file(header(tensor(), tensor("u", '"F32"', "[2]", "[4,8]")), DATA + DATA)
    yield "second overflows", file(header(tensor(), tensor("u", '"U8"', "[4294967296,4294967296]", "[4,4]")), DATA)
    for at in (0, 2, 4, 9):
        yield f"empty at {at}", file(header(tensor(), tensor("e", '"F32"', "[0,3]", f"[{at},{at}]")), DATA)
    yield "empty between", file(header(tensor(), tensor("e", '"F32"', "[0]", "[4,4]"), tensor("u", offsets="[4,8]")), DATA + DATA)
    yield "empty and huge", file(header(tensor(shape="[0,9223372036854775807,9223372036854775807]", offsets="[0,0]")))
    yield "null for a tensor", file('{"t":null}')
    yield "more keys", file(header(tensor(more=',"x":{"y":[1]}')), DATA)
    yield "NaN", file(header(tensor(more=',"x":NaN')), DATA)
    yield "a number beyond f64", file(header(tensor(more=',"x":1e999')), DATA)


# What they judge differently: who takes it, and why Tessera does as it does.
DIFFERENT = [
    ("blank first", file(" " + GOOD, DATA), "package", "the format: the header MUST begin with {"),
    ("name twice", file(header(tensor(), tensor()), DATA), "package", "the format: duplicate keys are disallowed"),
    ("name twice, once escaped", file(header(tensor(), tensor("\\u0074")), DATA), "package", "the same"),
    ("metadata key twice", file(header('"__metadata__":{"a":"b","a":"c"}', tensor()), DATA), "package", "the same"),
    ("metadata null", file(header('"__metadata__":null', tensor()), DATA), "package", "the format: a map of texts to texts"),
    ("type as an object", file(header(tensor(dtype='{"U8":null}')), DATA), "package", "the format: a text"),
    ("tensor as a list", file('{"t":["U8",[4],[0,4]]}', DATA), "package", "the format: an object"),
    ("no tensor", file("{}"), "package", "valid, but there is no matrix to be read"),
    ("extent beyond 2^63", file(header(tensor(shape="[9223372036854775808,0]", offsets="[0,0]"))), "package", "our extents are signed"),
    ("huge and empty", file(header(tensor(shape="[9223372036854775807,9223372036854775807,0]", offsets="[0,0]"))), "tessera",
     "no elements are no bytes, in whatever order they are multiplied"),
    ("another type beside", file(header(tensor(), tensor("u", '"Q32"', "[1]", "[4,8]")), DATA + DATA), "tessera",
     "a type that comes later is in nobody's way"),
    ("another type of a wrong size beside", file(header(tensor(), tensor("u", '"C64"', "[2]", "[4,12]")), DATA * 3), "tessera",
     "the size of what is not read is not known"),
    ("depth in an unknown key", file(header(tensor(more=',"x":' + "[" * 500 + "]" * 500)), DATA), "tessera", "it is not looked at"),
]


class Hostile(PackageTest):
    def verdicts(self, content, names=("t",)):
        """(does the package take it, does Tessera, what they say)"""
        path = self.folder / "h.safetensors"
        path.write_bytes(content)
        try:
            safetensors.deserialize(content)
            theirs = "ok"
        except safetensors.SafetensorError as error:
            theirs = str(error)
        # A name that is not there is no fault of the file: it has been read and judged before.
        ours = [self.tool(f"{path}:{name}", self.folder / "back.safetensors") for name in names]
        ours = [answer for answer in ours if "has no array" not in answer]
        for answer in ours:
            self.assertRegex(answer, r"^(ok|error 3) ")
        takes = all(answer.startswith("ok ") for answer in ours)
        return theirs == "ok", takes, f"package: {theirs}; Tessera: {ours}"

    def test_both_refuse_the_same(self):
        taken = 0
        for what, content in hostile():
            with self.subTest(what):
                theirs, ours, text = self.verdicts(content)
                self.assertEqual(theirs, ours, text)
                taken += ours
        self.assertGreater(taken, 10)

    def test_where_they_differ_the_format_decides(self):
        for what, content, who, why in DIFFERENT:
            with self.subTest(f"{what}: {why}"):
                theirs, ours, text = self.verdicts(content)
                self.assertEqual((theirs, ours), (who == "package", who == "tessera"), text)

    def test_random_damage(self):
        rng = random.Random(3)
        good = header('"__metadata__":{"a":"b"}', tensor(), tensor("u", '"F32"', "[1,2]", "[4,12]"))
        whole = bytearray(file(good, DATA * 3))
        differ = 0
        for _ in range(4000):
            damaged = whole.copy()
            for _ in range(rng.randrange(1, 4)):
                at = rng.randrange(len(damaged) if rng.randrange(4) == 0 else 8 + len(good))
                kind = rng.randrange(3)
                if kind == 0:
                    damaged[at] ^= 1 << rng.randrange(8)
                elif kind == 1 and at > 8:  # as long as before
                    damaged[at - 1:at + 1] = damaged[at:at + 1] + damaged[at - 1:at]
                else:
                    damaged[at] = rng.choice(b'{}[]",:0123456789 tu\\-.e')
            theirs, ours, text = self.verdicts(bytes(damaged), ("t", "u"))
            # As above: types of later days, and names that are written twice.
            if theirs != ours and "unknown variant" not in text and "named twice" not in text and "begin with '{'" not in text:
                self.fail(f"{bytes(damaged)}: {text}")
            differ += theirs != ours
        self.assertLess(differ, 400)


if __name__ == "__main__":
    cases.main()
