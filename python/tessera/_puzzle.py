"""%tessera_puzzle and %%tessera_puzzle: the course in a notebook. The cell is the learner's file."""
from __future__ import annotations

import os
import pathlib
import shlex
import subprocess
import tempfile
from typing import Any

from . import _command

_CALL = "%tessera_puzzle"


def _run(words: list[str], **env: str) -> str:
    """What the command prints, solved or not."""
    done = subprocess.run([_command.path(), "puzzle", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NO_COLOR": "1", **env})
    if done.returncode > 1 or not done.stdout:
        raise ValueError(f"{_CALL}: {done.stderr.strip().removeprefix('tessera puzzle ')}")
    return done.stdout + "".join(f"{line}\n" for line in done.stderr.splitlines() if ": error" in line)


def load_magics(shell: Any) -> None:
    """Gives the shell of a notebook %tessera_puzzle."""

    def tessera_puzzle(line: str, cell: str | None = None) -> None:
        """%tessera_puzzle p07 [--cuda] prints the page of a puzzle and puts its file into the next cell, which runs as
        %%tessera_puzzle p07 [--cuda] [options of `tessera puzzle run`]."""
        words = shlex.split(line)
        if not words or words[0].startswith("-"):
            raise ValueError(f"{_CALL}: which puzzle? expected a name such as p07 and options: %tessera_puzzle p07 --cuda")
        name, options = words[0], words[1:]
        with tempfile.TemporaryDirectory() as folder:
            if cell is not None:
                file = pathlib.Path(folder) / (name + (".cu" if "--cuda" in options else ".cpp"))
                file.write_text(cell, encoding="utf-8")
                print(_run(["run", name, str(file), *options]), end="")
                return
            page = _run(["start", name, folder, *options], XDG_STATE_HOME=folder)  # not where the learner's progress is
            print(page[:page.rindex("\nEdit ")], end="")
            [file] = pathlib.Path(folder).glob("*.c*")
            shell.set_next_input(f"%{_CALL} {line}\n{file.read_text(encoding='utf-8')}")

    shell.register_magic_function(tessera_puzzle, "line_cell")
