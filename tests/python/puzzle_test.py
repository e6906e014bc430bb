"""%tessera_puzzle: a puzzle of the course in the cells of a notebook."""
import pytest

import tessera


class FakeShell:
    def __init__(self):
        self.magics, self.next = {}, None

    def register_magic_function(self, function, kind):
        self.magics[kind, function.__name__] = function

    def set_next_input(self, text):
        self.next = text


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shell = FakeShell()
    tessera.load_ipython_extension(shell)
    return shell


def test_a_puzzle_goes_into_a_cell_which_runs_it(shell, capsys):
    puzzle = shell.magics["line_cell", "tessera_puzzle"]
    puzzle("p04")
    assert capsys.readouterr().out.startswith("Puzzle 4: ")
    head, text = shell.next.split("\n", 1)
    assert head == "%%tessera_puzzle p04" and "FILL ME IN" in text
    puzzle("p04", text.replace("// FILL ME IN", "if (i < SIZE) out(i) = a(i) + 10;  // FILL ME IN"))
    assert "Puzzle 4 complete" in capsys.readouterr().out


def test_what_it_cannot_do_is_said(shell):
    for line, message in (("", "which puzzle"), ("--cuda", "which puzzle"), ("p99", "there is no puzzle 'p99'")):
        with pytest.raises(ValueError, match=message):
            shell.magics["line_cell", "tessera_puzzle"](line)
