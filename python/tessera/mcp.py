"""`python -m tessera.mcp`: a server of the Model Context Protocol over stdin and stdout, for programs that write kernels. Its tools check,
explain and judge kernels in plain CUDA on this machine's CPU, without a GPU, and show layouts and routes of products.

Kernels run as programs with the rights of the server. Needs the package `mcp` (pip install 'mcp>=2').
"""
from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Any

try:
    from mcp.server.mcpserver import MCPServer
except ModuleNotFoundError as missing:
    raise SystemExit(f"tessera.mcp: the package {missing.name} is missing: expected mcp 2 or later; run pip install 'mcp>=2'") from None

from . import __version__, _command

server = MCPServer("tessera", version=__version__, instructions=(
    "Tessera judges CUDA kernels without a GPU. Give the whole file of a kernel and its launch, such as "
    "'gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(A: f32[m,k], B: f32[k,n], C: f32[m,n], m, n, k)': outputs are the "
    "arrays that the kernel writes. check finds races, bounds, uninitialised reads and barriers; judge compares results with a "
    "reference over many shapes; explain says what bounds the kernel on a GPU."))
SECONDS = 60  # at most, for a call


def _on_file(command: str, source: str, *words: Any) -> dict[str, Any]:
    """The command's JSON for a kernel in a file of its own; its message where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "kernel.cu"
        file.write_text(source, encoding="utf-8")
        try:
            printed, _, _ = _command.run(command, file, *words, "--quiet", "--json")
        except (ValueError, OSError, NotImplementedError, RuntimeError) as error:
            return {"error": str(error).replace(f"{folder}/", "")}
        out: dict[str, Any] = json.loads(printed.replace(f"{folder}/", ""))
        return out


def _shape(m: int, n: int, k: int) -> list[Any]:
    return ["-m", m, "-n", n, "-k", k]


@server.tool()
def check(source: str, launch: str, m: int = 100, n: int = 100, k: int = 100) -> dict[str, Any]:
    """Runs a CUDA kernel under the checker: findings with file, line, column and cause; counters of its memory requests. `launch` may use
    m, n and k."""
    return _on_file("check", source, "--launch", launch, "--time-limit", SECONDS, *_shape(m, n, k))


@server.tool()
def judge(source: str, launch: str, reference: str = "naive", m: int = 100, n: int = 100, k: int = 100) -> dict[str, Any]:
    """Accepts or rejects a CUDA kernel, with reasons: every element within its error bound over many shapes, no finding of the checker,
    inputs unchanged. `reference`: naive (C = A * B) or the text of a Python file that defines reference(**arrays)."""
    with tempfile.TemporaryDirectory() as folder:
        if reference != "naive":
            path = pathlib.Path(folder) / "reference.py"
            path.write_text(reference, encoding="utf-8")
            reference = str(path)
        return _on_file("judge", source, "--launch", launch, "--reference", reference, "--time-limit", SECONDS, *_shape(m, n, k))


@server.tool()
def explain(source: str, launch: str, m: int = 1024, n: int = 1024, k: int = 1024) -> dict[str, Any]:
    """What bounds a CUDA kernel on a GPU and what to change first, from the counters of some of its blocks."""
    return _on_file("explain", source, "--launch", launch, "--time-limit", SECONDS, *_shape(m, n, k))


@server.tool()
def layout(expression: str) -> str:
    """A layout or an expression of the layout algebra as a table of offsets: 'row_major(4,8)', 'logical_divide((8,8):(8,1),<2:1,4:1>)'."""
    try:
        return _command.run("layout", "--", expression)[0]
    except (ValueError, OSError, NotImplementedError, RuntimeError) as error:
        return str(error)


@server.tool()
def plan(m: int, n: int, k: int, dtype: str = "f32", threads: int = 0) -> dict[str, Any]:
    """How the CPU library multiplies (m,k) by (k,n): route, threads, blocks, packing, memory, and why other routes were not taken."""
    words = ["explain", "--cpu", m, n, k, "--dtype", dtype, "--json", *(["--threads", threads] if threads > 0 else [])]
    try:
        out: dict[str, Any] = json.loads(_command.run(*words)[0])
        return out
    except (ValueError, OSError, NotImplementedError, RuntimeError) as error:
        return {"error": str(error)}


if __name__ == "__main__":
    server.run("stdio")
