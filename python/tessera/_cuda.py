"""check_cuda: kernels in plain CUDA under the checker, on arrays of NumPy; and the cell magic that does it in a notebook."""
from __future__ import annotations

import argparse
import inspect
import operator
import os
import pathlib
import re
import shlex
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy

from . import _arguments, _arrays, _core, _report

_CALL = "check_cuda"
# A text, a member or what a namespace has, or a name, with the label of an argument before it.
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|(?:::|\.|->)\s*\w+|(?P<label>(?<=[(,])\s*\w+\s*:(?!:)\s*)?(?P<name>\b[A-Za-z_]\w*)')


class CudaCheck(_report.Check):
    """The findings and counters of a program in plain CUDA, and the results of its kernel."""

    def __init__(self, words: list[str], launch: str | None, folder: pathlib.Path, given: dict[str, numpy.ndarray[Any, Any]]):
        def known(text: str) -> str:  # without the folder, which the user has not named
            return text.replace(f"{folder}{os.sep}", "")
        try:
            super().__init__(words)
        except (ValueError, OSError, NotImplementedError, RuntimeError) as error:
            raise type(error)(known(str(error))) from None
        self._words = ["check", known(words[1]), *([] if launch is None else [f"--launch='{launch}'"])]
        self._text, self._html, self._json, self._printed = map(known, (self._text, self._html, self._json, self._printed))
        self._arrays: dict[str, numpy.ndarray[Any, Any]] = {}
        for file in sorted((folder / "results").glob("*.npy")):
            found, like = numpy.load(file), given.get(file.stem)
            self._arrays[file.stem] = found if like is None else found.view(like.dtype).reshape(like.shape)

    @property
    def arrays(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The kernel's output arrays, by name, after the launch; the caller's own arrays are unchanged."""
        return self._arrays

    @property
    def printed(self) -> str:
        """The output of compiler, program and kernels."""
        return self._printed


def _number(name: str, value: Any) -> str:
    """A literal of C++."""
    if isinstance(value, (bool, numpy.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (float, numpy.floating)):
        x = float(value)
        if numpy.isfinite(x):
            return f"({x!r})" if x < 0 else repr(x)
        return '__builtin_nan("")' if numpy.isnan(x) else f"({'-' if x < 0 else ''}__builtin_inf())"
    try:
        n = operator.index(value)
    except TypeError:
        raise _arguments.refuse(_CALL, name, value, "an array of NumPy or a number") from None
    if not -(1 << 63) < n < 1 << 64:
        raise ValueError(f"{_CALL}: {name} is {n}: expected a number of 64 bits")
    literal = f"{n}{'' if -(1 << 31) < n < 1 << 31 else 'LL' if n < 1 << 63 else 'ULL'}"
    return f"({literal})" if n < 0 else literal


def _in_numpy(name: str, value: Any) -> numpy.ndarray[Any, Any]:
    _arrays.check_plain(value, name, _CALL)
    if isinstance(value, numpy.ndarray) or not hasattr(value, "__dlpack__"):
        return numpy.asarray(value)
    return _arrays.in_numpy(value, name, _CALL)


class _Launch:
    """The words of a launch, with what its names stand for. What is before <<< is the kernel's own."""

    def __init__(self, words: Any, values: Mapping[str, Any], folder: pathlib.Path):
        head, begin, self._tail = _arguments.text("launch", words, "text such as 'kernel<<<grid, block>>>(A, n)'", _CALL).partition("<<<")
        self._values, self._folder = values, folder
        self.arrays: dict[str, numpy.ndarray[Any, Any]] = {}
        self.named: set[str] = set()
        self.words = head + begin + _NAME.sub(self._put, self._tail)

    def _put(self, found: re.Match[str]) -> str:
        name, before, after = found["name"], self._tail[:found.start()].rstrip(), self._tail[found.end():].lstrip()
        if name in ("m", "n", "k") and name not in self._values:
            raise ValueError(f"{_CALL}: the launch names {name}, which arrays does not have")
        if name not in self._values:
            return found[0]
        self.named.add(name)
        value, label = self._values[name], found["label"] or ""
        if isinstance(value, (bool, int, float, numpy.generic)):
            return label + _number(name, value)
        if not hasattr(value, "__array__") and not hasattr(value, "__dlpack__"):
            if after.startswith("("):
                return found[0]
            raise _arguments.refuse(_CALL, name, value, "an array of NumPy or a number")
        if not label and not before.endswith(("(", ",")) or not after.startswith((",", ")")) or ">>>" in after:
            raise ValueError(f"{_CALL}: the launch computes with the array {name}: expected arrays as whole arguments")
        return name if name in self.arrays else self._array(name, _in_numpy(name, value))

    def _array(self, name: str, array: numpy.ndarray[Any, Any]) -> str:
        try:
            dtype = _core.dtype_name(array.dtype.name)
        except TypeError:
            raise TypeError(f"{_CALL}: {name} has elements of {array.dtype}: expected numbers that CUDA has, of at most 64 bits") from None
        self.arrays[name] = array = array.astype(array.dtype.newbyteorder("="), copy=False)
        file = self._folder / f"{name}.npy"
        numpy.save(file, numpy.ascontiguousarray(array))
        return f'{name}: {dtype}[{", ".join(map(str, array.shape or (1,)))}] = "{file}"'


def _is_text(source: Any) -> bool:
    return isinstance(source, str) and ("\n" in source or "__global__" in source)


def check_cuda(source: str | os.PathLike[str], launch: str | None = None, arrays: Mapping[str, Any] | None = None, *,
               args: str | None = None, order: str | None = None, seed: int | None = None, blocks: int | None = None,
               time_limit: int | None = None, device: str | None = None, threads: int | None = None, warp: int | None = None,
               counters_only: bool = False, coverage: bool = False, suppress: str | os.PathLike[str] | None = None,
               cxxflags: str | None = None) -> CudaCheck:
    """Runs a kernel in plain CUDA under the checker: `source` is its text or a file, `launch` 'kernel<<<grid, block>>>(A, B, n)'
    with names that stand for the arrays of NumPy and the numbers of `arrays`. Without a launch main() runs. The other arguments
    are the options of `tessera check`; docs/plain_cuda.md explains them."""
    given = {} if arrays is None else arrays
    if not isinstance(given, Mapping):
        raise _arguments.refuse(_CALL, "arrays", arrays, "a dict such as {'A': a, 'n': 3}")
    return _run(source, launch, given, dict(
        args=args, order=order, seed=seed, blocks=blocks, time_limit=time_limit, device=device, threads=threads, warp=warp,
        counters_only=counters_only, coverage=coverage, suppress=suppress, cxxflags=cxxflags), is_all_named=True)


def _run(source: Any, launch: Any, values: Mapping[str, Any], options: dict[str, Any], is_all_named: bool) -> CudaCheck:
    with tempfile.TemporaryDirectory() as name:
        folder, place = pathlib.Path(name), source
        if _is_text(source):
            place = folder / "kernel.cu"
            place.write_text(source, encoding="utf-8")
            options = {**options, "cxxflags": f"-I. {options['cxxflags'] or ''}"}  # as the file would find headers
        elif not os.path.exists(file := _arguments.path("the kernel", source, "the text of a kernel, or a file", _CALL)):
            raise FileNotFoundError(f"{_CALL}: there is no file {file or repr(file)}: expected the text of a kernel, or a file")
        words = _report.words("check", place, options, _CALL)
        asked = None if launch is None else _Launch(launch, values, folder)
        unused = sorted(map(str, set(values) - asked.named if asked else values))
        if unused and is_all_named and (asked is None or re.search(r"<<<.*>>>\s*\(", launch, re.S)):
            raise ValueError(f"{_CALL}: arrays has {', '.join(unused)}, which no launch names")
        if asked:
            words += [f"--launch={asked.words}", f"--results={folder / 'results'}"]
        return CudaCheck(words, launch, folder, asked.arrays if asked else {})


class _Words(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        advice = "; a launch follows --launch, in quotes" if "<<<" in message or ">>>" in message else ""
        raise ValueError(f"%%tessera_check: {message}{advice}")


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise ValueError(f"%%tessera_check: {error}: {line}") from None


def load_magics(shell: Any) -> None:
    """Gives the shell of a notebook %%tessera_check."""
    words = _Words(add_help=False, allow_abbrev=False)
    words.add_argument("--launch")
    for name in list(inspect.signature(check_cuda).parameters)[3:]:
        option = "--" + name.replace("_", "-")
        kind = _report.kind_of(name)
        if kind is bool:
            words.add_argument(option, action="store_true")
        else:
            words.add_argument(option, type=kind)

    def tessera_check(line: str, cell: str) -> CudaCheck:
        """%%tessera_check --launch 'kernel<<<grid, block>>>(A, n)' [options of tessera.check_cuda]: the cell's kernel on the
        notebook's arrays and numbers. Without --launch the cell's main() runs."""
        try:
            options = vars(words.parse_args(_split(line)))
            report = _run(f"{cell}\n", options.pop("launch"), shell.user_ns, options, is_all_named=False)
        except (ValueError, TypeError, OSError, NotImplementedError, RuntimeError) as error:
            if not hasattr(shell, "show_usage_error"):
                raise
            from IPython.core.error import UsageError  # shown without a traceback
            raise UsageError(str(error)) from None
        print(report.printed, end="")
        return report

    shell.register_magic_function(tessera_check, "cell")
