"""Checks all arguments besides arrays: a value of a wrong type is a TypeError that says what is expected, and what to do."""
from __future__ import annotations

import inspect
import operator
import os
import re
from typing import Any

import numpy

from . import _core

RESULTS = _core.multiplied_dtypes()


def said(value: Any) -> str:
    """A value as messages show it: "'2', a str"."""
    if value is None:
        return "None"
    kind = type(value).__name__
    with_article = f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"
    text = repr(value)
    return with_article if len(text) > 40 or "\n" in text else f"{text}, {with_article}"


def refuse(call: str, name: str, value: Any, expected: str) -> TypeError:
    return TypeError(f"{call}: {name} is {said(value)}: expected {expected}")


def number(name: str, value: Any, call: str = "matmul") -> float:
    """A real number as a float. Refuses one whose gradient would be lost."""
    if isinstance(value, float):
        return value
    if getattr(value, "requires_grad", False):
        raise refuse(call, name, value, "a number; it gets no gradient here: multiply the result by it instead")
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise refuse(call, name, value, "a number, such as 2.0, of the range of a float64")


def whole(name: str, value: Any, call: str = "matmul", least: int | None = None, bits: int = 31) -> int:
    """A whole number of this many bits and a sign."""
    expected = "a whole number" if least is None else f"a whole number of {least} or more"
    try:
        n = operator.index(value)
    except TypeError:
        raise refuse(call, name, value, expected) from None
    if least is not None and n < least:
        raise ValueError(f"{call}: {name} is {n}: expected {least} or more")
    if not -(1 << bits) <= n < 1 << bits:
        raise ValueError(f"{call}: {name} is {n}: expected a number of {bits} bits")
    return n


def threads(value: Any, call: str = "matmul") -> int | None:
    """The number of CPU threads; None: the default."""
    if value is None:
        return None
    try:
        n = operator.index(value)
    except TypeError:
        raise refuse(call, "threads", value, "a whole number of 1 or more, or None") from None
    if not 1 <= n <= 4096:
        raise ValueError(f"{call}: threads is {n}: expected 1 or more, or None" if n < 1 else
                         f"{call}: threads is {n}: expected at most 4096")
    return n


def flag(name: str, value: Any, call: str = "matmul") -> bool:
    """True or False; refuses 'no' and other strings."""
    if value is True or value is False or isinstance(value, numpy.bool_):
        return bool(value)
    raise refuse(call, name, value, "True or False")


def text(name: str, value: Any, expected: str, call: str = "matmul") -> str:
    if isinstance(value, str):
        return value
    raise refuse(call, name, value, expected)


def text_or_none(name: str, value: Any, expected: str, call: str = "matmul") -> str | None:
    return None if value is None else text(name, value, expected, call)


def tiler(modes: Any) -> str:
    """The text of a tiler: text, or a layout for each mode, where a whole number n means n:1."""
    if not isinstance(modes, (tuple, list)):
        return text("the tiler", modes, "text such as '<2:1,4:1>', or a tuple with a layout or a whole number for each mode", "Tiler")

    def mode(given: Any) -> str:
        if isinstance(given, (str, _core.LayoutBase)):
            return str(given)
        return f"{whole('a mode', given, 'Tiler', 0, 63)}:1"
    return f"<{','.join(map(mode, modes))}>"


def path(name: str, value: Any, expected: str, call: str) -> str:
    if isinstance(value, (str, os.PathLike)):
        return os.fsdecode(value)
    raise refuse(call, name, value, expected)


_FORMS = {"Swizzle": inspect.signature(lambda bits, base, shift: None), "Swizzle.__call__": inspect.signature(lambda index: None),
          "Tiler": inspect.signature(lambda modes, /: None),
          "PackedMatrix": inspect.signature(lambda b, *, transpose=False, a_dtype=None: None)}


def bound(call: str, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a compiled class in the order of its signature; TypeError where there are more or fewer, or others."""
    try:
        found = _FORMS[call].bind(*given, **named)
    except TypeError as error:
        raise TypeError(f"{call}: {error}: expected {call}{_FORMS[call]}") from None
    found.apply_defaults()
    return tuple(found.arguments.values())


def check_attention(q: tuple[int, ...], k: tuple[int, ...], v: tuple[int, ...], mask: tuple[int, ...] | None,
                    broadcast: Any) -> None:
    """ValueError where the shapes (..., L, D), (..., S, D) and (..., S, E) of an attention, or its mask's, do not fit. `broadcast`: the
    framework's broadcast_shapes."""
    if k[-1] != q[-1]:
        raise ValueError(f"attention: k has shape {k}: expected (..., S, {q[-1]}) for q of shape {q}")
    if v[-2] != k[-2]:
        raise ValueError(f"attention: v has shape {v}: expected (..., {k[-2]}, E) for k of shape {k}")
    try:
        scores = (*broadcast(q[:-2], k[:-2], v[:-2]), q[-2], k[-2])
    except (ValueError, RuntimeError):
        raise ValueError(f"attention: the batches do not broadcast: q has shape {q}, k {k}, v {v}") from None
    try:
        fits = mask is None or broadcast(mask, scores)[-2:] == scores[-2:]
    except (ValueError, RuntimeError):
        fits = False
    if not fits:
        raise ValueError(f"attention: mask has shape {mask}: expected one that broadcasts to {scores}, (..., L, S)")


def algorithm(value: Any, call: str = "matmul") -> str:
    return text("algorithm", value, "'auto' or a name that tessera.algorithms() lists", call)


def arithmetic(value: Any, call: str = "matmul") -> str:
    return text("arithmetic", value, "'chain' or 'lanes'", call)


def activation(value: Any, call: str = "matmul") -> str | None:
    return text_or_none("activation", value, "None, 'relu', 'gelu' or 'silu'", call)


def tile(value: Any, call: str = "matmul") -> str | None:
    return text_or_none("tile", value, "text such as '32x32x64' or '128x128x8/8x8', or None", call)


def dtype_name(value: Any, call: str = "matmul", allowed: tuple[str, ...] = RESULTS) -> str:
    """'float32' of 'f32', 'f4', numpy.float32, numpy.dtype('float32'), jax.numpy.float32, torch.float32; 'bfloat16' of ml_dtypes'."""
    if isinstance(value, str) and value == "f8":
        raise TypeError(f"{call}: dtype is 'f8', which is float64 in NumPy and a number of 8 bits in Tessera: write float64, "
                        "float8_e4m3fn or float8_e5m2")
    name = _name_of(value)
    if name is None or name not in allowed:
        raise refuse(call, "dtype", value, f"{', '.join(allowed[:-1])} or {allowed[-1]}, as text or as a type of NumPy, ml_dtypes, "
                                           "JAX or PyTorch")
    return name


def _name_of(value: Any) -> str | None:
    if type(value).__module__ == "torch":
        return str(value).rpartition(".")[2]
    if value is None or isinstance(value, (tuple, list, dict)):
        return None
    if isinstance(value, str):
        try:
            return _core.dtype_name(value.strip())
        except TypeError:
            pass
    try:
        known = numpy.dtype(value)
    except (TypeError, ValueError):
        return None
    return known.name if known.isnative else None


def device_name(value: Any, call: str = "matmul") -> str:
    """'cpu', 'cuda:N', 'opencl:N' or 'hip:N' of text, as the command reads it, or of a device of JAX, PyTorch or CuPy."""
    root = type(value).__module__.partition(".")[0]
    if root == "torch":
        value = value.type if value.type == "cpu" else str(value)
    elif root in ("jax", "jaxlib") and hasattr(value, "platform"):
        kind = {"gpu": "cuda"}.get(value.platform, value.platform)
        value = kind if kind == "cpu" else f"{kind}:{value.local_hardware_id or 0}"
    elif root == "cupy":
        value = f"cuda:{value.id}"
    if not isinstance(value, str):
        raise refuse(call, "device", value, f"{_core.device_names()}, or a device of JAX, PyTorch or CuPy")
    try:
        return _core.product_device(value)
    except ValueError as unknown:
        raise ValueError(f"{call}: {unknown}") from None
