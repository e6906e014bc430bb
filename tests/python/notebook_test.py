"""docs/notebook.ipynb runs from top to bottom, and each cell shows what its metadata promise: a kind of output, or a text in it."""
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat", reason="the notebook needs the Debian packages python3-nbclient and python3-ipykernel")
nbclient = pytest.importorskip("nbclient", reason="the notebook needs the Debian packages python3-nbclient and python3-ipykernel")
pytest.importorskip("ipykernel", reason="the notebook needs the Debian packages python3-nbclient and python3-ipykernel")

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "docs/notebook.ipynb"
KINDS = {"image/svg+xml": "<svg ", "text/html": "<iframe srcdoc="}


def shown(cell):
    """What a cell printed, and its results by kind."""
    text = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    data = {}
    for output in cell.outputs:
        data.update(output.get("data", {}))
    return text + data.get("text/plain", ""), data


def promises(cell):
    return cell.metadata.get("tessera", {}).get("shows", [])


def test_no_output_is_kept():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    assert all(not cell.outputs and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")


def test_every_cell_shows_what_it_promises(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert sum(bool(promises(cell)) for cell in code) >= 10
    for cell in code:
        text, data = shown(cell)
        for promise in promises(cell):
            if promise in KINDS:
                assert data.get(promise, "").lstrip().startswith(("<?xml", KINDS[promise])), cell.source
            else:
                assert promise in text, f"{cell.source}\nshowed\n{text}"
        assert not any(output.get("name") == "stderr" for output in cell.outputs), cell.source
