"""docs/python.md shows what happens."""
import doctest
import pathlib


DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


def test_the_examples_of_the_document():
    result = doctest.testfile(str(DOCUMENT), module_relative=False)
    assert result.attempted > 20 and result.failed == 0


def test_the_docstrings():
    from tessera import layout
    import tessera
    assert doctest.testmod(layout).failed == 0 and doctest.testmod(tessera).failed == 0
