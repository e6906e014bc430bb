#!/usr/bin/env python3
"""What the documents show is what happens: runs the examples of README.md, CONTRIBUTING.md, bench/README.md and docs/*.md.

    ```console              each `$ command` runs in one temporary folder per document, with the built command first on
    $ command               the PATH and data/ linked; its stdout must be the lines that follow. A line `...` stands for
    output                  any number of lines, `...` inside a line for any text, and blanks at line ends do not matter.
    ```                     A command may end with a backslash and continue in the next line, which begins with `> `.
                            `$ command   # exit 2` promises an exit status.
    ```cpp                  with `int main` it is compiled, linked and run; with `file=NAME` it is also kept under that
                            name for the commands of the document. A ```text block right behind it is its stdout.
                            `fragment` marks one that is no program, or that commands compile; `fragment=FILE` must stand in that file as it is.

An indented block, which nothing would run, is refused: every block has fences.

`<!-- not run: reason -->` in the line before a block leaves it out, `<!-- run with NumPy and without a sanitizer: reason -->`
where one of the two is not so, `<!-- run with Open MPI: reason -->` where it was not there at the build; such blocks are listed. `python3` is one that has NumPy, where there is one.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

BLOCK = re.compile(r"^(?P<before>[^\n]*)\n```(?P<kind>console|cpp)(?P<info>[^\n]*)\n(?P<body>.*?)^```$"
                   r"(?:\n```text\n(?P<output>.*?)^```$)?", re.M | re.S)


INDENTED = re.compile(r"(?:\A|\n\n)((?: {4,}|\t)\S[^\n]*)")


def flags():
    """The build's own flags: a library built with a sanitizer needs them in the program too."""
    cache = (cases.options.build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_CXX_FLAGS:\w+=(.*)$", cache, re.M)[1].split()


def numpy_python():
    """The Python that has NumPy, or None."""
    done = subprocess.run([cases.ROOT / "scripts/numpy_python"], capture_output=True, text=True)
    return done.stdout.strip() or None


def numpy_unsanitized():
    return numpy_python() is not None and not any("-fsanitize" in flag for flag in flags())


def has_mpi():
    return shutil.which("mpirun") is not None and any(cases.options.build.glob("lib*/**/libtessera_openmpi.so"))


# A program may start more ranks than there are cores, as any user.
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_mpi_yield_when_idle": "1"}


def blocks(text):
    """(line number, kind, info, body, stdout of a program or None, reason not to run or None) of each block."""
    found = list(BLOCK.finditer("\n" + text))
    fences = re.findall(r"^```(?:console|cpp)\b", text, re.M)
    outside = re.sub(r"^```.*?^```$", lambda fenced: "```" + "\n" * fenced[0].count("\n"), text, flags=re.M | re.S)
    for block in INDENTED.finditer(outside):
        raise AssertionError(f"line {outside.count(chr(10), 0, block.start(1)) + 1}: give this block fences, console, cpp or text, so that "
                             f"what it shows is run: {block[1].strip()}")
    if len(found) != len(fences):
        raise AssertionError(f"{len(fences)} blocks of console or cpp, but only {len(found)} can be run: each needs a line of text before "
                             "it; what a program prints is a text block behind it")
    for match in found:
        before = match["before"].strip()
        reason = re.fullmatch(r"<!-- (not run|run with NumPy and without a sanitizer|run with Open MPI): (.+) -->", before)
        runs = reason is None or {"not run": lambda: False, "run with Open MPI": has_mpi}.get(reason[1], numpy_unsanitized)()
        number = text.count("\n", 0, match.start("body") - 1)
        yield number, match["kind"], match["info"].strip(), match["body"], match["output"], None if runs else reason[2]


def commands(body):
    """(command, expected lines, promised status) of a console block."""
    found = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\") and not found[-1][1] and line.startswith("> "):
            found[-1][0] = found[-1][0][:-1] + line[2:]
        elif found:
            found[-1][1].append(line)
        else:
            raise AssertionError(f"a console block begins with `$ command`, not with: {line}")
    for command, expected in found:
        status = re.search(r"\s+# exit (\d+)$", command)
        yield command[:status.start()] if status else command, expected, int(status[1]) if status else 0


def matches(expected, output):
    pattern = []
    for line in expected:
        line = line.rstrip()
        pattern.append("(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + " *\n")
    text = "".join(line.rstrip() + "\n" for line in output.splitlines())
    return re.fullmatch("".join(pattern), text) is not None


class Documents(unittest.TestCase):
    maxDiff = None

    def run_document(self, document):
        build = cases.options.build
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        for part in ("data", "examples", "include"):  # the folder looks like a checkout that has been built
            (folder / part).symlink_to(cases.ROOT / part)
        (folder / "build").mkdir()
        (folder / "build/release").symlink_to(build)
        (folder / "tools").mkdir()
        tools = {"g++": f'{shutil.which(cases.options.compiler)} {" ".join(flags())}', "python3": numpy_python()}
        for name, command in tools.items():
            if command is not None:
                (folder / "tools" / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
                (folder / "tools" / name).chmod(0o755)
        env = {**os.environ, "PATH": f"{folder / 'tools'}:{build / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "TESSERA_SOURCE": str(cases.ROOT),
               "XDG_STATE_HOME": str(folder / "state"), "XDG_CACHE_HOME": str(folder / "cache"), **MPI}
        for number, kind, info, body, output, reason in blocks(document.read_text(encoding="utf-8")):
            place = f"{document.relative_to(cases.ROOT)}:{number}"
            if reason:
                print(f"not run: {place}: {reason}")
                continue
            with self.subTest(place):
                if kind == "cpp":
                    self.compile(folder, info, body, output, place, env)
                else:
                    self.console(folder, body, place, env)

    def compile(self, folder, info, body, output, place, env):
        quoted = re.search(r"fragment=(\S+)", info)
        if quoted:
            self.assertIn(body, (cases.ROOT / quoted[1]).read_text(), f"{place}: {quoted[1]} says something else")
        name = re.search(r"file=(\S+)", info)
        if name:
            (folder / name[1]).write_text(body)
        compiled_later = name and ("fragment" in info or name[1].endswith(".cu"))  # by a command; plain CUDA is no C++
        if "int main" not in body or compiled_later:
            self.assertTrue(name or "fragment" in info, f"{place}: a cpp block is a program, a file=NAME or marked fragment")
            return
        source = folder / (name[1] if name else "program.cpp")
        source.write_text(body)
        program = folder / source.stem
        run = subprocess.run([cases.options.compiler, "-std=c++20", "-O1", "-ffp-contract=off", *flags(), "-I", cases.ROOT / "include",
                              source, cases.options.build / "libtessera.a", "-lz", "-lboost_context", "-pthread", "-ldl",
                              "-o", program], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, f"{place}: does not compile\n{run.stderr}")
        run = subprocess.run([program], capture_output=True, text=True, cwd=folder, env=env, timeout=60)
        self.assertEqual(run.returncode, 0, f"{place}: the program ended with {run.returncode}\n{run.stderr}")
        if output is not None and not matches(output.splitlines(), run.stdout):
            self.assertEqual(output, run.stdout, place)

    def console(self, folder, body, place, env):
        for command, expected, status in commands(body):
            run = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=folder, env=env,
                                 stdin=subprocess.DEVNULL, timeout=120)
            self.assertEqual(run.returncode, status, f"{place}: $ {command}\n{run.stdout}{run.stderr}")
            if not matches(expected, run.stdout):
                self.assertEqual("\n".join(expected), run.stdout, f"{place}: $ {command}")

    def test_the_check_itself_can_fail(self):
        text = "A\n<!-- not run: slow -->\n```console\n$ a\n```\n\n```console\n$ printf 'x\\ny\\nz\\n'\nx\n...\nz\n$ false  # exit 1\n```\n"
        found = list(blocks(text))
        self.assertEqual([(b[0], b[5]) for b in found], [(3, "slow"), (7, None)])
        self.assertEqual(list(commands(found[1][3])), [("printf 'x\\ny\\nz\\n'", ["x", "...", "z"], 0), ("false", [], 1)])
        self.assertTrue(matches(["x", "...", "z"], "x\ny\nz\n"))
        self.assertTrue(matches(["x ... s", "..."], "x 1.25 s\n"))
        self.assertFalse(matches(["x", "z"], "x\ny\nz\n"))
        self.assertFalse(matches(["x", "..."], "y\n"))
        self.assertFalse(matches([], "y\n"))
        with self.assertRaisesRegex(AssertionError, "2 blocks .* only 1 can be run"):
            list(blocks("A\n```cpp\nint main() {}\n```\n```console\n$ never run\n```\n"))
        with self.assertRaisesRegex(AssertionError, "line 7: give this block fences.*: tessera bench$"):
            list(blocks("A\n```text\n\n    fenced\n```\n\n    tessera bench\n"))


def add_documents():
    """One case for each document."""
    for document in [*(cases.ROOT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")), *sorted((cases.ROOT / "docs").glob("*.md"))]:
        name = "test_" + re.sub(r"\W", "_", str(document.relative_to(cases.ROOT)))
        setattr(Documents, name, lambda self, document=document: self.run_document(document))


class Links(unittest.TestCase):
    def test_every_link_to_a_file_leads_somewhere(self):
        documents = [f for f in cases.ROOT.rglob("*.md") if "build" not in f.relative_to(cases.ROOT).parts[:1]
                     and "out" not in f.relative_to(cases.ROOT).parts[:1]]
        self.assertGreater(len(documents), 4)
        wrong = []
        for document in documents:
            text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target and not target.startswith("mailto:") and not (document.parent / target).exists():
                    wrong.append(f"{document.relative_to(cases.ROOT)}: {target}")
        self.assertEqual(wrong, [])


class Measured(unittest.TestCase):
    def test_the_table_of_file_costs_shows_the_newest_kept_results(self):
        run = subprocess.run([sys.executable, cases.ROOT / "scripts/measure_files.py", "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_table_of_bytes_shows_the_kept_results(self):
        run = subprocess.run([sys.executable, cases.ROOT / "scripts/measure_scale.py", "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_the_page_of_performance_shows_the_kept_results(self):
        run = subprocess.run([sys.executable, cases.ROOT / "bench/report.py", "--check"], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_speeds_stand_on_the_pages_of_measurements_alone(self):
        measured = {"ladder.md", "performance.md"}
        typed = [f"{document.name}: {line}" for document in [cases.ROOT / "README.md", *(cases.ROOT / "docs").glob("*.md")]
                 if document.name not in measured for line in document.read_text(encoding="utf-8").splitlines()
                 if re.search(r"\d\s+[GT]?FLOP/s", line)]
        self.assertEqual(typed, [], "performance.md is generated: link to it")


class Index(unittest.TestCase):
    def test_the_index_names_every_document(self):
        text = (cases.ROOT / "docs/index.md").read_text()
        for document in (cases.ROOT / "docs").glob("*.md"):
            if document.name != "index.md":
                self.assertIn(f"]({document.name})", text)


class Ladder(unittest.TestCase):
    def test_the_table_of_the_ladder_is_what_the_command_lists(self):
        command = cases.options.build / "bin/tessera"
        if not command.exists():
            self.skipTest("the command is not part of this build")
        listed = subprocess.run([command, "compare", "--list"], capture_output=True, text=True).stdout
        rows = [f"| `{name}` | {idea} | {tiles.replace(';', ',')} |"
                for name, idea, tiles in re.findall(r"^  (\w+)\n      (.*)\n      tiles: (.*)$", listed, re.M)]
        self.assertGreater(len(rows), 7, listed)
        table = re.search(r"^\| algorithm \|.*\n\|---.*\n((?:\|.*\n)+)", (cases.ROOT / "docs/kernels.md").read_text(), re.M)[1]
        self.assertEqual("\n".join(rows), table.rstrip("\n"))


add_documents()
if __name__ == "__main__":
    cases.main()
