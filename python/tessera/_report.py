"""check and explain: what the command says of a kernel, as objects."""
from __future__ import annotations

import html
import json
import pathlib
import tempfile
from typing import Any

from . import _command


class Report:
    """What `tessera check` or `tessera explain` says: print() shows it as the command does, a notebook its page."""

    def __init__(self, words: list[str]):
        self._words = words
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            self._text, self._status = _command.run(*words, "--html", page)
            self._html = page.read_text(encoding="utf-8")
        self._dict: dict[str, Any] | None = None

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<tessera {' '.join(self._words)}>"

    def to_dict(self) -> dict[str, Any]:
        """What the command prints with --json. The kernel runs once more for it; reports do not differ between runs."""
        if self._dict is None:
            self._dict = json.loads(_command.run(*self._words, "--json")[0])
        return json.loads(json.dumps(self._dict))

    def html(self) -> str:
        """The page of its own: source, pictures, roofline."""
        return self._html

    def _repr_html_(self) -> str:
        """The page in a frame, so that its style stays inside."""
        return f'<iframe srcdoc="{html.escape(self._html)}" style="width: 100%; height: 40em; border: 0"></iframe>'


class Check(Report):
    """The findings and counters of a kernel."""

    def __repr__(self) -> str:
        return f"<tessera {' '.join(self._words)}: {str(self).splitlines()[-1]}>"

    @property
    def is_clean(self) -> bool:
        """No errors and no warnings?"""
        return self._status == 0

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Each with its kind, severity, place and threads; docs/checker.md has the members."""
        return self.to_dict()["findings"]

    @property
    def counters(self) -> dict[str, int]:
        """How often what happened, in warps."""
        return self.to_dict()["counters"]["total"]


def _words(command: str, kernel: str, m: int | None, n: int | None, k: int | None, options: dict[str, Any]) -> list[str]:
    if str(kernel).startswith("-"):
        raise ValueError(f"{command}: the kernel is {str(kernel)!r}: expected a name or a file; options are arguments of their own")
    words = [command, str(kernel)]
    for name, value in {"-m": m, "-n": n, "-k": k}.items():
        if value is not None:
            words += [name, str(value)]
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words[-1] += f"={value}"
    return words


def check(kernel: str, m: int | None = None, n: int | None = None, k: int | None = None, *, dtype: str | None = None,
          tile: str | None = None, order: str | None = None, seed: int | None = None, beta: float | None = None,
          blocks: int | None = None, time_limit: int | None = None, device: str | None = None, registers: int | None = None,
          threads: int | None = None, counters_only: bool = False, forget_tiles: bool = False, suppress: str | None = None,
          cxxflags: str | None = None) -> Check:
    """Runs a kernel of the ladder, or of a file of your own, thread by thread, and says what is wrong with it and what it costs
    on a GPU. The arguments are the options of `tessera check`, which docs/checker.md explains."""
    return Check(_words("check", kernel, m, n, k, dict(
        dtype=dtype, tile=tile, order=order, seed=seed, beta=beta, blocks=blocks, time_limit=time_limit, device=device,
        registers=registers, threads=threads, counters_only=counters_only, forget_tiles=forget_tiles, suppress=suppress,
        cxxflags=cxxflags)))


def explain(kernel: str, m: int | None = None, n: int | None = None, k: int | None = None, *, against: str | None = None,
            dtype: str | None = None, tile: str | None = None, order: str | None = None, seed: int | None = None,
            beta: float | None = None, blocks: int | None = None, time_limit: int | None = None, device: str | None = None,
            registers: int | None = None, threads: int | None = None) -> Report:
    """What bounds a kernel of the ladder on a GPU, and what to change; with `against` two kernels side by side. The arguments
    are the options of `tessera explain`, which docs/explain.md explains."""
    return Report(_words("explain", kernel, m, n, k, dict(
        against=against, dtype=dtype, tile=tile, order=order, seed=seed, beta=beta, blocks=blocks, time_limit=time_limit,
        device=device, registers=registers, threads=threads)))
