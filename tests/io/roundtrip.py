"""Files between NumPy, SciPy and Tessera, both ways, compared bit for bit.

Usage: roundtrip.py CONVERT_TOOL. Ends with 77 (skipped) when NumPy or SciPy is missing.
"""

import os
import sys
import tempfile
import time
import warnings
import zipfile

try:
    import numpy as np
    import scipy.io
    import scipy.sparse
except ImportError as error:
    print(f"SKIPPED: files are NOT compared with NumPy and SciPy: {error}")
    print("install python3-numpy and python3-scipy")
    sys.exit(77)

from convert_tool import Tool

TYPES = ["f8", "f4", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "b1"]
NAMES = dict(zip(TYPES, ["f64", "f32", "f16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"]))
SHAPES = [(0, 0), (0, 5), (5, 0), (1, 1), (1, 9), (9, 1), (4, 7), (130, 65)]

failures = 0
checks = 0


def check(condition, what):
    global failures, checks
    checks += 1
    if not condition:
        failures += 1
        print("FAILED:", what)


def sample(code, shape, rng):
    """Random bits of this type: infinities, NaNs and subnormals included."""
    dtype = np.dtype(code)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        return rng.integers(0, 2, count).astype(bool).reshape(shape)
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype=dtype).reshape(shape).copy()


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def npy_and_npz(tool, folder, rng):
    source, target = folder + "/s.npy", folder + "/t.npy"
    packed, unpacked = folder + "/s.npz", folder + "/t.npz"
    for code in TYPES:
        for shape in SHAPES + [(), (6,), (2, 3, 4)]:
            for order in "CF":
                array = np.asarray(sample(code, shape, rng), order=order)
                where = f"{code} {shape} {order}"
                np.save(source, array)
                answer = tool(source, target)
                check(answer == f"ok {NAMES[code]} {shape}", f"npy {where}: {answer}")
                check(same(np.load(target), array), f"npy {where}: elements")
                with open(source, "rb") as a, open(target, "rb") as b:
                    check(a.read() == b.read(), f"npy {where}: not the bytes that NumPy writes")
                for byte_order in "<>":
                    np.save(source, array.astype(np.dtype(code).newbyteorder(byte_order)))
                    answer = tool(source, target)
                    check(answer.startswith("ok ") and same(np.load(target), array),
                          f"npy {where} {byte_order}: {answer}")
                for save, option in ((np.savez, ""), (np.savez_compressed, "deflate")):
                    save(packed, other=np.zeros(3), x=array)
                    if os.path.exists(unpacked):
                        os.unlink(unpacked)
                    answer = tool(packed + ":x", unpacked + ":y", option)
                    check(answer == f"ok {NAMES[code]} {shape}", f"npz {where}: {answer}")
                    with np.load(unpacked) as members:
                        check(members.files == ["y"] and same(members["y"], array), f"npz {where}: elements")
                    with zipfile.ZipFile(unpacked) as archive:
                        check(archive.testzip() is None, f"npz {where}: checksum")
    array = sample("f4", (5, 6), rng)
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(source, "wb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.lib.format.write_array(file, array, version=version)
        answer = tool(source, target)
        check(answer == "ok f32 (5, 6)" and same(np.load(target), array), f"npy version {version}: {answer}")
    # What the C++ side turns into Fortran order is the same array to NumPy.
    np.save(source, array)
    tool(source, target, "fortran")
    back = np.load(target)
    check(same(np.ascontiguousarray(back), array) and back.flags.f_contiguous, "fortran order")


# Codes, letters and names that NumPy 1 or 2 knows, those of types without a product, and some that are nobody's.
DESCRS = ([order + code for order in ("", "<", ">", "=", "|") for code in
           [*TYPES, *"?bBhHiIlLqQpPefdgFDGOSUVMmcnNxk", "c8", "c16", "f16", "f12", "i16", "i3", "b2", "S3", "U2", "V3", "M8[s]", "m8"]]
          + """bool bool_ int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 half single double float int uint
          byte ubyte short ushort intc uintc long longlong ulonglong intp uintp int_ longdouble complex complex64 complex128 cdouble
          object str bytes void datetime64 timedelta64 Float64 FLOAT int4 float8 none""".split() + ["", " ", "<", "f8_", "+f8"])


def numpy_reads(path):
    """What np.load gives, or nothing where it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.load(path, allow_pickle=False)
    except Exception:  # of any kind: SyntaxError, ValueError, TypeError, ...
        return None


def npy_headers(tool, folder, rng):
    """Headers in all the ways that Python could write them: what NumPy loads and has a product, loads, with the same elements."""
    source, target = folder + "/h.npy", folder + "/h2.npy"
    one_of = lambda *choices: choices[rng.integers(len(choices))]
    blank = lambda: one_of("", "", "", " ", "  ", "\t", "\n")
    for round_ in range(1500):
        descr = DESCRS[round_] if round_ < len(DESCRS) else one_of(*DESCRS)
        try:
            dtype = np.dtype(descr)
        except TypeError:
            dtype = np.dtype("V8")
        version = int(rng.integers(1, 4))
        shape = tuple(int(extent) for extent in rng.integers(0, 4, rng.integers(0, 4)))
        suffix = one_of("", "", "L") if version < 3 else ""
        quote = one_of("'", '"')
        extents = "(" + ",".join(f"{blank()}{extent}{suffix}" for extent in shape) + one_of("", ",") * bool(shape) + blank() + ")"
        if len(shape) == 1:
            extents = f"({shape[0]}{suffix},{blank()})"
        order = one_of("True", "False")
        fields = [f"{quote}descr{quote}:{blank()}{one_of('', '', 'u')}{quote}{descr}{quote}",
                  f"'fortran_order'{blank()}: {order}", f"{blank()}'shape': {extents}"]
        fields = [fields[i] for i in rng.permutation(3)]
        more = one_of("", "", "", ", 'x': 1")
        text = "{" + blank() + f"{blank()},{blank()}".join(fields) + more + one_of("", ",", " , ") + "}" + one_of("", " ", "\n", "    \n")
        count = int(np.prod(shape))
        data = bytes(count * dtype.itemsize) if dtype.kind == "b" else rng.bytes(count * dtype.itemsize)
        length = len(text).to_bytes(2 if version == 1 else 4, "little")
        with open(source, "wb") as file:
            file.write(b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data)
        wanted, answer = numpy_reads(source), tool(source, target)
        where = f"version {version} {text!r}: {answer}"
        native = wanted.dtype.newbyteorder("=").str[1:] if wanted is not None else ""
        if native in NAMES:
            check(answer == f"ok {NAMES[native]} {wanted.shape}" and same(np.load(target), wanted.astype(native)), f"not read: {where}")
        elif not answer.startswith("ok "):
            check(answer.startswith("error 3 "), f"not refused in a sentence: {where}")
        elif descr.lstrip("<>=|") not in ("n", "N", "long"):  # which NumPy 2 knows, or has as something else
            check(False, f"NumPy refuses, Tessera reads: {where}")


def npz_names(tool, folder):
    """Members as np.load names them: with .npy or without, the last of two, and what is no array left out."""
    path, target = folder + "/n.npz", folder + "/n.npy"
    arrays = [np.arange(6, dtype="f4").reshape(2, 3) + 10 * i for i in range(3)]
    packed = []
    for array in arrays:
        np.save(target, array)
        packed.append(open(target, "rb").read())
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name twice
        for name, content in [("bare", packed[0]), ("read.me", b"text"), ("w.npy", packed[1]), ("w.npy", packed[2]), ("folder/", b"")]:
            archive.writestr(name, content)
    for name in ("bare", "w", "w.npy"):
        answer = tool(f"{path}:{name}", target)
        check(answer == "ok f32 (2, 3)" and same(np.load(target), np.load(path)[name]), f"member {name}: {answer}")
    check("read.me" not in tool(path, target).split("holds 2 arrays: ")[-1], "a text is listed as an array")
    for name in ("read.me", "nothing"):
        check(tool(f"{path}:{name}", target).startswith("error 2 "), f"member {name}")
    np.save(target, arrays[0] + 100)
    check(tool(target, f"{path}:w").startswith("ok "), "a member replaced")
    with zipfile.ZipFile(path) as archive:
        check(sorted(archive.namelist()) == ["bare", "folder/", "read.me", "w.npy"], f"others kept: {archive.namelist()}")
        check(archive.read("read.me") == b"text" and archive.read("bare") == packed[0], "others unchanged")
        check(archive.testzip() is None, "checksums")
    check(same(np.load(path)["w"], arrays[0] + 100), "the new member")


def many_npz_members(tool, folder):
    """Four times the members may take ten times as long, where quadratic time is sixteen; the least of three."""
    path, target = folder + "/many.npz", folder + "/many.npy"
    np.save(target, np.ones((2, 2), "f4"))
    with open(target, "rb") as file:
        packed = file.read()
    for ending in (".npy", ""):
        seconds = []
        for count in (2000, 8000):
            with zipfile.ZipFile(path, "w") as archive:
                for i in range(count):
                    archive.writestr(f"layer{i}{ending}", packed)
            rounds = []
            for _ in range(3):
                begin = time.monotonic()
                check(tool(f"{path}:layer{count - 1}", target).startswith("ok "), "one of many members")
                rounds.append(time.monotonic() - begin)
            seconds.append(min(rounds))
        check(seconds[1] < max(10 * seconds[0], 0.1), f"members called layer0{ending}: {seconds} s")


def npz_members(tool, folder, rng):
    """Members added to archives that others wrote: the packed bytes of the rest stay."""
    path, source = folder + "/k.npz", folder + "/k.npy"
    rest = {f"layer{i}": rng.standard_normal((20, 30)) for i in range(5)}
    for save, method in ((np.savez, zipfile.ZIP_STORED), (np.savez_compressed, zipfile.ZIP_DEFLATED)):
        save(path, **rest)

        def packed():
            with open(path, "rb") as file, zipfile.ZipFile(path) as archive:
                out = {}
                for info in archive.infolist():
                    file.seek(info.header_offset + 26)
                    skipped = sum(int.from_bytes(file.read(2), "little") for _ in range(2))
                    file.seek(skipped, 1)
                    out[info.filename] = (info.compress_type, info.CRC, info.date_time, file.read(info.compress_size))
                return out
        before = packed()
        np.save(source, rng.standard_normal((4, 4)))
        check(tool(source, f"{path}:P", "").startswith("ok "), "a member added")
        after = packed()
        check(after.pop("P.npy")[0] == zipfile.ZIP_STORED, "the new member is stored")
        check(after == before, f"members of {save.__name__} changed")
        check(all(each[0] == method for each in after.values()), "methods")
        check(same(np.load(path)["P"], np.load(source)), "the new member")
    data = bytearray(open(path, "rb").read())
    data[1] = ord("Q")
    open(path, "wb").write(data)
    check("PK" in tool(path + ":layer0", source), "a wrong magic number in a zip header")
    check(tool(path + ":layer1", source).startswith("ok "), "and the members beside it")


def refusals(tool, folder):
    source, target = folder + "/r.npy", folder + "/r2.npy"
    for array, word in ((np.zeros((2, 2), complex), "complex"), (np.array([["a"]]), "text"),
                        (np.array([[b"a"]]), "text"), (np.zeros((2, 2), "f4,i4"), "structured"),
                        (np.array([[None]]), "Python objects"), (np.zeros((2, 2), np.longdouble), "width"),
                        (np.zeros((2, 2), "M8[s]"), "dates"), (np.zeros((2, 2), "V3"), "raw bytes")):
        np.save(source, array, allow_pickle=True)
        answer = tool(source, target)
        check(answer.startswith("error 3 ") and word in answer, f"{array.dtype} refused: {answer}")


def bfloat16(tool, folder, rng):
    """NumPy has no bf16: its bits travel as V2, and their values are the upper halves of f32."""
    source, raw, wide = folder + "/f.npy", folder + "/b.npy", folder + "/w.npy"
    values = rng.standard_normal((33, 21)).astype(np.float32)
    np.save(source, values)
    check(tool(source, raw, "dtype=bf16").startswith("ok bf16"), "f32 -> bf16")
    bits = np.load(raw)
    check(bits.dtype == np.dtype("V2"), f"bf16 is stored as {bits.dtype}")
    as_integers = values.view(np.uint32)
    nearest_even = ((as_integers + 0x7FFF + ((as_integers >> 16) & 1)) >> 16).astype(np.uint16)
    check((bits.view(np.uint16) == nearest_even).all(), "bf16 is not rounded to nearest even")
    check(tool(raw, wide, "untyped=bf16", "dtype=f32").startswith("ok f32"), "bf16 -> f32")
    check((np.load(wide).view(np.uint32) == nearest_even.astype(np.uint32) << 16).all(), "bf16 values")
    check("--dtype bf16" in tool(raw, wide), "bf16 without a type is refused with advice")
    with np.errstate(over="ignore"):
        np.save(source, rng.standard_normal((50, 50)) * 10.0 ** rng.integers(-9, 6, (50, 50)))
        tool(source, wide, "dtype=f16")
        check(same(np.load(wide), np.load(source).astype(np.float16)), "f64 -> f16 differs from NumPy")


def matrix_market(tool, folder, rng):
    source, target, back = folder + "/m.mtx", folder + "/m.npy", folder + "/m2.mtx"
    for shape in [(1, 1), (1, 9), (9, 1), (4, 7), (40, 25)]:
        for code in ("f8", "i8", "u8", "i4"):
            array = sample(code, shape, rng)
            if code == "f8":
                array[~np.isfinite(array)] = -0.0
            scipy.io.mmwrite(source, array, precision=17)
            answer = tool(source, target)
            wanted = scipy.io.mmread(source)
            check(answer.startswith("ok ") and same(np.ascontiguousarray(np.load(target)), np.ascontiguousarray(wanted)),
                  f"mtx array {code} {shape}: {answer}")
            check((np.load(target) == array).all(), f"mtx array {code} {shape}: elements")
            np.save(target, array)
            answer = tool(target, back)
            check(answer.startswith("ok ") and (scipy.io.mmread(back) == array).all(),
                  f"mtx written {code} {shape}: {answer}")
            sparse = scipy.sparse.random(*shape, density=0.4, random_state=7, format="coo")
            sparse.data = (sparse.data * 1000).astype(np.int64 if code != "f8" else np.float64)
            doubled = scipy.sparse.coo_matrix((np.r_[sparse.data, sparse.data],
                                               (np.r_[sparse.row, sparse.row], np.r_[sparse.col, sparse.col])), shape)
            for field in (None, "pattern"):
                scipy.io.mmwrite(source, doubled, field=field, precision=17)
                answer = tool(source, target)
                check(answer.startswith("ok ") and same(np.load(target), scipy.io.mmread(source).toarray()),
                      f"mtx coordinate {code} {field} {shape}: {answer}")
    square = rng.standard_normal((12, 12))
    for array, symmetry in ((square + square.T, "symmetric"), (square - square.T, "skew-symmetric")):
        for dense in (True, False):
            scipy.io.mmwrite(source, array if dense else scipy.sparse.coo_matrix(array), symmetry=symmetry, precision=17)
            answer = tool(source, target)
            wanted = scipy.io.mmread(source)
            wanted = wanted if dense else wanted.toarray()
            check(answer.startswith("ok ") and (np.load(target) == wanted).all(), f"mtx {symmetry} {dense}: {answer}")
    scipy.io.mmwrite(source, np.ones((2, 2), complex))
    check("complex" in tool(source, target), "mtx complex refused")
    special = np.array([[np.nan, np.inf], [-np.inf, 5e-324]])
    np.save(target, special)
    tool(target, back)
    check(np.array_equal(scipy.io.mmread(back), special, equal_nan=True), "mtx special values")


def safetensors(tool, folder, rng):
    """What the format says, through our own reader; safetensors_package_test.py has the package's."""
    source, target, back = folder + "/s.npy", folder + "/s.safetensors", folder + "/s2.npy"
    for code in TYPES:
        array = sample(code, (6, 11), rng)
        np.save(source, array)
        tool(source, target + ":t")
        answer = tool(target + ":t", back)
        check(answer == f"ok {NAMES[code]} (6, 11)" and same(np.load(back), array), f"safetensors {code}: {answer}")
        with open(target, "rb") as file:
            head = int.from_bytes(file.read(8), "little")
            check((8 + head) % 64 == 0, "safetensors data is not aligned")
            file.seek(8 + head)
            check(file.read() == array.tobytes(), f"safetensors {code}: data")


def main():
    tool = Tool(sys.argv[1])
    rng = np.random.default_rng(20260101)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of flushes: not on a disk
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        npy_and_npz(tool, folder, rng)
        npy_headers(tool, folder, rng)
        npz_names(tool, folder)
        npz_members(tool, folder, rng)
        many_npz_members(tool, folder)
        refusals(tool, folder)
        bfloat16(tool, folder, rng)
        matrix_market(tool, folder, rng)
        safetensors(tool, folder, rng)
        leftovers = [name for name in os.listdir(folder) if name.startswith(".")]
        check(not leftovers, f"temporaries left: {leftovers}")
    check(tool.close() == 0, "the tool ended with an error")
    print(f"{checks} checks with NumPy {np.__version__} and SciPy {scipy.__version__}, {failures} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
