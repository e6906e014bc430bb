"""What the tests of the command share: running it, reading and writing .npy without NumPy, scratch folders.

Each run must end with an exit code, never by a signal, and a failure must say so in one line that names the command.
"""
import array
import ast
import json
import os
import pathlib
import pty
import resource
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

COMMAND = str(cases.options.build / "bin" / "tessera")
ALGORITHMS = []  # filled by the first call of algorithms()
CODES = {"f64": "d", "f32": "f", "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
DESCR = {"f64": "<f8", "f32": "<f4", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4",
         "i64": "<i8", "u64": "<u8"}


# A program that has not ended after this many seconds hangs. Sanitizers and busy machines make all of them slow.
PATIENCE = 600


class Run:
    """What one run of the command gave."""

    def __init__(self, code, out, err):
        self.code, self.raw, self.err = code, out, err

    @property
    def out(self):
        return self.raw.decode()

    @property
    def json(self):
        return json.loads(self.raw)

    @property
    def lines(self):
        return self.err.splitlines()


def terminal(test):
    """Both ends of a terminal; skips the test where the machine has none (a chroot without /dev/pts)."""
    try:
        return pty.openpty()
    except OSError as error:
        test.skipTest(f"what the command shows on a terminal is NOT tested: {error}")


def environment(**extra):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("TESSERA_", "OMP_", "NO_COLOR", "CLICOLOR"))}
    clean["XDG_CONFIG_HOME"] = "/nowhere"  # a test finds no files but its own
    clean.update(extra)
    return clean


def sanitized(*by):
    """True for a build with one of these sanitizers, or any: it needs address space that no limit allows."""
    data = pathlib.Path(COMMAND).read_bytes()
    return any(f"__{each}_init".encode() in data for each in by or ("asan", "tsan"))


class CommandTest(unittest.TestCase):
    """Runs the command in its own scratch folder."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="tessera-cli-")
        self.folder = pathlib.Path(self._folder.name)
        self.addCleanup(self._folder.cleanup)

    def path(self, name):
        return self.folder / name

    def tessera(self, *arguments, env=None, limits=(), stdin=None, stdout=subprocess.PIPE, timeout=PATIENCE):
        def prepare():
            for what, bytes_ in limits:
                resource.setrlimit(what, (bytes_, bytes_))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        done = subprocess.run([COMMAND, *map(str, arguments)], cwd=self.folder, env=environment(**(env or {})),
                              input=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=timeout, preexec_fn=prepare)
        run = Run(done.returncode, done.stdout, done.stderr.decode(errors="replace"))
        self.assertGreaterEqual(run.code, 0, f"{arguments}: ended by signal {-run.code}: {run.err}")
        return run

    def succeeds(self, *arguments, **named):
        run = self.tessera(*arguments, **named)
        self.assertEqual(run.code, 0, f"{arguments}: {run.err}")
        return run

    def fails(self, code, *arguments, says=(), **named):
        """One line on stderr that begins with the command's name and holds each text of `says`; the exit code."""
        run = self.tessera(*arguments, **named)
        self.assertEqual(run.code, code, f"{arguments}: {run.err}")
        lines = [line for line in run.lines if not line.endswith("with a note")]
        self.assertEqual(len(lines), 1, f"{arguments}: not one line: {run.err!r}")
        self.assertRegex(lines[0], r"^tessera( \w+)*: ")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, lines[0])
        return run

    def write_npy(self, name, rows, dtype="f32", fortran=False, shape=None):
        """`rows`: a list of lists, or a flat list with `shape`."""
        if shape is None:
            shape = (len(rows), len(rows[0]) if rows else 0)
            rows = [value for row in rows for value in row]
        write_npy(self.path(name), rows, shape, dtype, fortran)
        return name

    def read_npy(self, name):
        return read_npy(self.path(name))

    def no_leftovers(self):
        self.assertEqual([entry for entry in os.listdir(self.folder) if entry.startswith(".")], [])


def npy_header(shape, dtype, fortran=False):
    descr = DESCR.get(dtype, dtype)
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {tuple(shape)}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def write_npy(path, values, shape, dtype="f32", fortran=False):
    path.write_bytes(npy_header(shape, dtype, fortran) + array.array(CODES[dtype], values).tobytes())


def read_npy(path):
    """(type code, shape, flat values in C order)"""
    data = path.read_bytes()
    assert data[:6] == b"\x93NUMPY", data[:16]
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + size].decode())
    names = {descr: name for name, descr in DESCR.items()}
    dtype = names[header["descr"]]
    values = array.array(CODES[dtype], data[10 + size:])
    assert not header["fortran_order"]
    return dtype, header["shape"], list(values)


def algorithms():
    if not ALGORITHMS:
        text = subprocess.run([COMMAND, "--list"], capture_output=True, check=True).stdout.decode()
        section = text.split("algorithms:\n")[1].split("element types:")[0]
        ALGORITHMS.extend(line.split()[0] for line in section.splitlines())
    return ALGORITHMS


def product(a, b):
    """Of lists of lists, exact for small integers."""
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


main = cases.main
