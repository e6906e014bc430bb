"""The pages of the book, from what `tessera puzzle test --json` says of each puzzle. Each page is one file, without scripts."""
import difflib
import html
import pathlib
import re

import markdown
import pygments
from pygments.formatters import HtmlFormatter
from pygments.lexers import CppLexer

from pictures import picture

FOLDER = pathlib.Path(__file__).resolve().parent
MARKED = re.compile('<span class="c1">(?=// (?:FILL ME IN|CHANGE))')


class Puzzle:
    """One puzzle of the document, with its texts by name."""

    def __init__(self, document):
        self.document = document
        for key in ("id", "number", "title", "variants", "idea", "pictures", "configuration", "hints", "explanation"):
            setattr(self, key, document[key])
        self.page = self.id + ".html"

    def text(self, name):
        """What came of "solution", "start" or a mistake."""
        what = {"solution": "the solution", "start": "the file at the start"}.get(name, name)
        return next(each for each in self.document["texts"] if each["what"] == what)

    def mistakes(self):
        return [each for each in self.document["texts"] if "change" in each]


def style():
    light, dark = (HtmlFormatter(style=name).get_style_defs(".code") for name in ("xcode", "github-dark"))
    return (FOLDER / "book.css").read_text() + light + "\n@media (prefers-color-scheme:dark){" + dark + "}\n"


def frame(title, body):
    return ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:"/>\n'
            f"<title>{html.escape(title)}</title>\n<style>\n{style()}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n")


def prose(text):
    """A product stays in one line: A · B."""
    return markdown.markdown(text.replace(" · ", "\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}"), extensions=["tables"])


def code(text):
    colours = pygments.highlight(text, CppLexer(), HtmlFormatter(cssclass="code"))
    marked = MARKED.sub('<span class="c1 fill">', colours)
    return f'<div class="scroll code">{marked}</div>\n'


def terminal(text):
    return f'<pre class="scroll terminal">{html.escape(text)}</pre>\n'


def folded(title, body, kind=""):
    return f'<details class="{kind}">\n<summary>{title}</summary>\n{body}</details>\n'


def pictures(puzzle):
    out = ""
    for section in puzzle.pictures:
        drawn, caption = picture(puzzle, section)
        out += f'<figure>\n<div class="scroll">{drawn}</div>\n<figcaption>{prose(caption)}</figcaption>\n</figure>\n'
    return out


def commands(puzzle):
    flags = [" --" + each for each in puzzle.variants] or [""]
    return terminal(f"tessera puzzle start {puzzle.id}\n" + "".join(f"tessera puzzle run {puzzle.id}{flag}\n" for flag in flags))


def mistake(puzzle, text):
    change, cause = text["change"], text["answer"]["cause"]
    tags = {"-": "del", "+": "ins", " ": "span"}
    lines = "".join(f"<{tags[line[0]]}>{html.escape(line)}</{tags[line[0]]}>" for line in difflib.ndiff(change["removed"], change["added"]) if line[0] in tags)
    said = f"<p><b>{html.escape(cause['title'])}</b>"
    said += f": {html.escape(cause['sentence'])}." if cause["sentence"] else "."
    said += f"<br/>Try: {html.escape(cause['try'])}."
    return f"<h3>{html.escape(text['what'])}</h3>\n<pre class=\"scroll diff\">{lines}</pre>\n{said}</p>\n"


def solution(puzzle):
    body = code(puzzle.document["solution"]) + terminal(puzzle.text("solution")["text"]) + prose(puzzle.explanation)
    out = folded("Solution", body, "solution")
    if "cuda" in puzzle.document:
        note = prose("In plain CUDA: " + puzzle.document["cuda_note"]) if "cuda_note" in puzzle.document else ""
        out += folded("The same in plain CUDA", code(puzzle.document["cuda"]) + note, "solution")
    if puzzle.mistakes():
        told = "".join(mistake(puzzle, each) for each in puzzle.mistakes())
        out += folded(f"Mistakes that others make here, and what is said to them: {len(puzzle.mistakes())}", told, "solution")
    return out


def links(course, at):
    before, behind = (course[at - 1] if at > 0 else None), (course[at + 1] if at + 1 < len(course) else None)
    left = f'<a href="{before.page}">← {before.number}. {html.escape(before.title)}</a>' if before else "<span></span>"
    right = f'<a href="{behind.page}">{behind.number}. {html.escape(behind.title)} →</a>' if behind else "<span></span>"
    return f'<nav>{left}<a href="index.html">All puzzles</a>{right}</nav>\n'


def puzzle_page(course, at):
    puzzle = course[at]
    hints = "".join(folded(f"Hint {i + 1}", prose(each)) for i, each in enumerate(puzzle.hints))
    body = (links(course, at) + f'<header><p class="dim">Puzzle {puzzle.number}</p>\n<h1>{html.escape(puzzle.title)}</h1></header>\n'
            + prose(puzzle.idea) + pictures(puzzle)
            + "<h2>Configuration</h2>\n" + prose(puzzle.configuration)
            + "<h2>Code to complete</h2>\n" + commands(puzzle) + code(puzzle.document["start"])
            + folded("What it says before anything is filled in", terminal(puzzle.text("start")["text"]))
            + "<h2>Hints</h2>\n" + hints + "<h2>Solution</h2>\n" + solution(puzzle) + links(course, at))
    return frame(f"Puzzle {puzzle.number}: {puzzle.title}", body)


def index_page(course):
    rows = "".join(f'<li value="{each.number}"><a href="{each.page}">{html.escape(each.title)}</a></li>\n' for each in course)
    return frame("Tessera: GPU puzzles without a GPU",
                 prose((FOLDER / "index.md").read_text()) + f"<h2>The puzzles</h2>\n<ol class=\"puzzles\">\n{rows}</ol>\n")


def write_book(document, folder):
    """All pages; returns how many puzzles they show."""
    course = [Puzzle(each) for each in document["puzzles"]]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(index_page(course))
    for at, puzzle in enumerate(course):
        (folder / puzzle.page).write_text(puzzle_page(course, at))
    return len(course)
