"""The package is typed: the stub of the compiled module has its names, with the same arguments."""
import ast
import inspect
import os
import pathlib
import shutil
import subprocess

import pytest

import tessera
from tessera import _core, _matmul

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python/tessera"
STUB = ast.parse((pathlib.Path(tessera.__file__).parent / "_core.pyi").read_text())


def names(scope):
    return {node.name for node in scope.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))} | {
        node.target.id for node in scope.body if isinstance(node, ast.AnnAssign)}


def test_the_stub_has_what_the_module_has():
    assert names(STUB) - {"_Text"} <= set(dir(_core))
    assert {"matmul", "multiply", "plan", "PackedMatrix", "Plan", "Operand", "Swizzle", "Tiler"} <= names(STUB)
    for node in STUB.body:
        if isinstance(node, ast.ClassDef):
            own = {name for name in vars(getattr(_core, node.name)) if not name.startswith("__")}
            assert own == {name for name in names(node) if not name.startswith("__")}, node.name


def test_matmul_and_plan_have_one_signature():
    compiled = list(inspect.signature(tessera.matmul).parameters)
    assert compiled == list(inspect.signature(_matmul.matmul).parameters) == list(inspect.signature(tessera.plan).parameters)
    stubs = [node for node in STUB.body if getattr(node, "name", "") == "matmul"]
    assert len(stubs) == 3 and all(compiled == [each.arg for each in stub.args.posonlyargs + stub.args.kwonlyargs] for stub in stubs)


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(tessera.__file__).parent / "py.typed").exists()


def mypy(*words):
    program = shutil.which("mypy")
    if program is None:
        pytest.skip("the types are NOT checked: install the Debian package mypy")
    done = subprocess.run([program, "--ignore-missing-imports", "--no-error-summary", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "MYPYPATH": str(PACKAGE.parent)})
    return done.stdout + done.stderr


def test_the_package_agrees_with_its_types(tmp_path):
    assert mypy("--cache-dir", tmp_path, "--strict-equality", "--warn-unreachable", PACKAGE) == ""


def test_a_users_types_are_known(tmp_path):
    """Correct code is silent, and every wrong line is reported: `import tessera` is not Any."""
    program = tmp_path / "program.py"
    program.write_text("""import numpy
import tessera
plan: tessera.Plan = tessera.plan([], [])
threads: int = plan.threads
layout: tessera.Layout = tessera.row_major(4, 8)
index: int = layout(1, 2)
text: str = tessera.PackedMatrix([]).dtype
clean: bool = tessera.check("tiled", 64, 64, 64).is_clean
threads = plan.algorithm
tessera.matmul([], [], alpha="two")
tessera.matmul([], [], alfa=2)
tessera.check("tiled", "64")
array = numpy.ones((2, 2), numpy.float32)
product: numpy.ndarray = tessera.matmul(array, array, threads=1)
packed: numpy.ndarray = tessera.matmul(array, tessera.PackedMatrix(array), out=array)
tessera.matmul(array, array).shpae
tessera.matmul([], [], out=array).shpae
tessera.matmul([], []).whatever
tiler = tessera.Tiler((2, layout))
""")
    said = mypy("--cache-dir", tmp_path / "cache", program)
    assert [line.split(":")[1] for line in said.splitlines() if "error" in line] == ["9", "10", "11", "12", "16", "17"], said
