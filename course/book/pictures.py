"""The pictures of a page: the first line of a `## Picture` section says in backquotes what to draw, the rest is the caption.

    `layout ARGUMENTS`                   what `tessera layout ARGUMENTS --svg` draws
    `roofline ARGUMENTS`                 the roofline of `tessera explain ARGUMENTS --html`
    `access start|solution load|store TENSOR`   the lanes of the worst warp, from the checker's run of that text
    `stages start|solution`              the stages of its pipeline over time, from the checker's run of that text
    `threads`, `product tile=3,3,3`, ... a drawing of drawings.py for the launch of the solution
"""
import base64
import html
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from drawings import DRAWINGS, Launch

TESSERA = os.environ.get("TESSERA", str(pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/tessera"))


def tessera(*arguments, env=None):
    """Its stdout; a run that fails ends the book."""
    run = subprocess.run([TESSERA, *arguments], capture_output=True, text=True, env=env)
    if run.returncode != 0:
        raise SystemExit(f"book: tessera {shlex.join(arguments)} ended with {run.returncode}\n{run.stderr}")
    return run.stdout


def layout(arguments):
    """As an image: the picture has a style of its own, with a light and a dark side."""
    picture = base64.b64encode(tessera("layout", *arguments, "--svg", "-").encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{picture}" alt="{html.escape("tessera layout " + shlex.join(arguments))}"/>'


def roofline(arguments):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        tessera("explain", *arguments, "--html", str(page))
        return re.search(r'<svg class="roofline".*?</svg>', page.read_text(), re.S)[0]


def access(puzzle, arguments):
    """The first access of that kind in the last case that has any."""
    text, verb, tensor = arguments
    found = [picture for case in puzzle.text(text)["answer"]["cases"] for picture in case.get("pictures", [])
             if picture["is_store"] == (verb == "store") and picture["tensor"].split(" at byte ")[0] == tensor]
    if not found:
        raise SystemExit(f"book: {puzzle.id}: no {verb} of {tensor} in its {text}")
    key, meaning = ("conflict", "waits for an earlier pass") if found[0]["memory"] == "shared" else ("wasted", "comes along and is not used")
    cells = "a row is a pass, a column a bank" if found[0]["memory"] == "shared" else "a row is 128 bytes, in sectors of 32"
    keys = f'<span class="key {key}"></span>{meaning}' if f"var(--{key})" in found[0]["svg"] else ""
    return f'<p class="small dim">{html.escape(re.sub(" at byte [0-9]+", "", found[0]["title"]))}. In the cells the lanes; {cells}.{keys}</p>\n' + found[0]["svg"]


def stages(puzzle, text):
    """Of the first case that has any."""
    found = [case["stages"] for case in puzzle.text(text)["answer"]["cases"] if "stages" in case]
    if not found:
        raise SystemExit(f"book: {puzzle.id}: its {text} has no gates")
    keys = '<span class="key global"></span>on its way<span class="key multiply"></span>in use or free'
    return f'<p class="small dim">{keys}</p>\n' + found[0]


def drawing(puzzle, name, arguments):
    named = dict(each.split("=", 1) for each in arguments if re.match(r"\w+=", each))
    plain = [each for each in arguments if not re.match(r"\w+=", each)]
    first = puzzle.text("solution")["answer"]["cases"][0]
    return DRAWINGS[name](Launch(first) if "launch" in first else None, *plain, **named).svg()


def picture(puzzle, section):
    """(markup, caption) of one `## Picture` section."""
    first, _, caption = section.partition("\n")
    name, *arguments = shlex.split(first.strip("`"))
    if name == "layout":
        return layout(arguments), caption
    if name == "roofline":
        return roofline(arguments), caption
    if name == "access":
        return access(puzzle, arguments), caption
    if name == "stages":
        return stages(puzzle, *arguments), caption
    if name in DRAWINGS:
        return drawing(puzzle, name, arguments), caption
    raise SystemExit(f"book: {puzzle.id}: no picture is called {name}: expected layout, roofline, access, stages, {', '.join(DRAWINGS)}")
