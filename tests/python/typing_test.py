"""The package is typed: the stub of the compiled module names what is there, with the same arguments."""
import ast
import inspect
import pathlib

import tessera
from tessera import _core, _matmul

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
    stub = next(node for node in STUB.body if getattr(node, "name", "") == "matmul")
    assert compiled == [argument.arg for argument in stub.args.posonlyargs + stub.args.kwonlyargs]


def test_the_package_says_that_it_is_typed():
    assert (pathlib.Path(tessera.__file__).parent / "py.typed").exists()
