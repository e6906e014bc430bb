"""check and explain: the command's reports on a kernel, as objects."""
from __future__ import annotations

import html
import json
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

from . import _arguments, _command, _core

_KERNEL_DTYPES = tuple(name for name in _arguments.RESULTS if name in _core.result_dtypes(name))


class Report:
    """The report of `tessera check` or `tessera explain`: print() shows it as the command does, a notebook shows its page."""

    def __init__(self, words: list[str]):
        self._words = words
        with tempfile.TemporaryDirectory() as folder:
            text, page = pathlib.Path(folder) / "text", pathlib.Path(folder) / "page.html"
            self._json, self._status, self._printed = _command.run(*words, "--quiet", "--json", "--text", text, "--html", page)
            self._text, self._html = text.read_text(encoding="utf-8"), page.read_text(encoding="utf-8")

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<tessera {' '.join(self._words)}>"

    def to_dict(self) -> dict[str, Any]:
        """The command's output with --json, from the same run as the text and the page."""
        out: dict[str, Any] = json.loads(self._json)
        return out

    def html(self) -> str:
        """The complete HTML page: source, pictures, roofline."""
        return self._html

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style stays inside."""
        return f'<iframe srcdoc="{html.escape(self._html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Check(Report):
    """The findings and counters of a kernel."""

    def __repr__(self) -> str:
        return f"<tessera {' '.join(self._words)}: {self.verdict}>"

    @property
    def is_clean(self) -> bool:
        """No errors and no warnings, and everything requested was checked?"""
        return self._status == 0

    @property
    def is_complete(self) -> bool:
        """Was everything checked that was requested? Not where the time limit ended the run: then findings and counters are those until
        then."""
        return self._status == 0 or (self._status == 1 and self.incomplete is None)

    @property
    def incomplete(self) -> str | None:
        """Why the check is incomplete, and what to do; None if it is complete."""
        if self._status == _command.INCOMPLETE:
            return self.verdict.removeprefix("could not check: ")
        summary = self.to_dict()["summary"]
        return summary["incomplete"] or ("stopped at the time limit" if summary["timed_out"] else None)

    @property
    def verdict(self) -> str:
        """The last line of the report."""
        return str(self).splitlines()[-1]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Each with its kind, severity, source position and threads; docs/checker.md lists the members."""
        return self.to_dict()["findings"]

    @property
    def counters(self) -> dict[str, int]:
        """Numbers of events, counted for each warp; docs/report.md lists them."""
        return self.to_dict()["counters"]["total"]


def _text(name: str, value: Any, call: str) -> str:
    return _arguments.text(name, value, "text, as the command takes it", call)


def _beta(name: str, value: Any, call: str) -> str:
    return repr(_arguments.number(name, value, call))


def _path(name: str, value: Any, call: str) -> str:
    return _arguments.path(name, value, "the name of a file", call)


def _dtype(_: str, value: Any, call: str) -> str:
    return _arguments.dtype_name(value, call, _KERNEL_DTYPES)


def _tile(_: str, value: Any, call: str) -> Any:
    return _arguments.tile(value, call)


def _seed(name: str, value: Any, call: str) -> int:
    return _arguments.whole(name, value, call, bits=63)


_OPTIONS: dict[str, Callable[[str, Any, str], Any]] = {
    "dtype": _dtype, "tile": _tile, "order": _text, "device": _text, "against": _text, "cxxflags": _text, "suppress": _path,
    "beta": _beta, "args": _text, "seed": _seed, "blocks": _arguments.whole, "time_limit": _arguments.whole, "registers": _arguments.whole,
    "threads": _arguments.whole, "warp": _arguments.whole, "counters_only": _arguments.flag, "forget_tiles": _arguments.flag,
    "coverage": _arguments.flag}


def kind_of(option: str) -> type:
    """What a word on a line is read as."""
    check = _OPTIONS[option]
    return bool if check is _arguments.flag else int if check in (_seed, _arguments.whole) else str


def words(command: str, kernel: Any, options: dict[str, Any], call: str) -> list[str]:
    """The command's names for the options."""
    name = _arguments.path("the kernel", kernel, "a name such as 'tiled', or a file", call)
    if name.startswith("-"):
        raise ValueError(f"{call}: the kernel is {name!r}: expected a name or a file; give options as arguments")
    words = [command, name]
    for option, value in options.items():
        if value is None:
            continue
        given = _OPTIONS[option](option, value, call)
        word = "--" + option.replace("_", "-")
        words += [] if given is False else [word] if given is True else [f"{word}={given}"]
    return words


def _words(command: str, kernel: Any, m: Any, n: Any, k: Any, options: dict[str, Any]) -> list[str]:
    extents = []
    for extent, value in {"m": m, "n": n, "k": k}.items():
        if value is not None:
            extents += [f"-{extent}", str(_arguments.whole(extent, value, command))]
    return words(command, kernel, options, command) + extents


def check(kernel: str | os.PathLike[str], m: int | None = None, n: int | None = None, k: int | None = None, *, dtype: Any = None,
          tile: str | None = None, order: str | None = None, seed: int | None = None, beta: float | None = None,
          blocks: int | None = None, time_limit: int | None = None, device: str | None = None, registers: int | None = None,
          threads: int | None = None, counters_only: bool = False, forget_tiles: bool = False,
          coverage: bool = False, suppress: str | os.PathLike[str] | None = None, cxxflags: str | None = None) -> Check:
    """Runs a kernel of the ladder, or of a file of your own, thread by thread, and says what is wrong with it and what it costs
    on a GPU. The arguments are the options of `tessera check`, which docs/checker.md explains. A run that its time limit ends
    gives the report until then: see is_complete."""
    return Check(_words("check", kernel, m, n, k, dict(
        dtype=dtype, tile=tile, order=order, seed=seed, beta=beta, blocks=blocks, time_limit=time_limit, device=device,
        registers=registers, threads=threads, counters_only=counters_only, forget_tiles=forget_tiles, coverage=coverage,
        suppress=suppress, cxxflags=cxxflags)))


def explain(kernel: str, m: int | None = None, n: int | None = None, k: int | None = None, *, against: str | None = None,
            dtype: Any = None, tile: str | None = None, order: str | None = None, seed: int | None = None,
            beta: float | None = None, blocks: int | None = None, time_limit: int | None = None, device: str | None = None,
            registers: int | None = None, threads: int | None = None) -> Report:
    """What bounds a kernel of the ladder on a GPU, and what to change; with `against` two kernels side by side. The arguments
    are the options of `tessera explain`, which docs/explain.md explains."""
    return Report(_words("explain", kernel, m, n, k, dict(
        against=against, dtype=dtype, tile=tile, order=order, seed=seed, beta=beta, blocks=blocks, time_limit=time_limit,
        device=device, registers=registers, threads=threads)))
