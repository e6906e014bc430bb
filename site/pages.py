"""Writes what the site is built from: docs/*.md with links to files outside docs/ as pages of source/, the start from README.md and the
navigation, the puzzles of the course, the C++ reference from the headers, the Python reference as instructions for mkdocstrings, and
MkDocs' own files. scripts/docs calls it: pages.py FOLDER [BOOK]; BOOK is the folder of the course's book."""
import os
import pathlib
import posixpath
import re
import shutil
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpp_reference  # noqa: E402
import llms  # noqa: E402

LINK = re.compile(r"\]\(((?:\.\./)[^)#\s]*|[\w/-]+\.ipynb|man/[^)#\s]*)(#[^)\s]*)?\)")
NAMED = re.compile(r"\[([\w-]+\.md)\](?=\(\1[)#])")  # a link that shows the name of its file
FENCE = re.compile(r"^(```\w+) [^\n]*$", re.M)  # after the language of a block: words for the tests
PYTHON = """# Python

::: tessera

::: tessera.layout

## Other modules

[tessera.torch](../torch.md) and [tessera.jax](../jax.md) have pages of their own.
"""
HIGHLIGHT = {".hpp": "cpp", ".h": "c", ".cpp": "cpp", ".cu": "cuda", ".py": "python", ".json": "json"}
OF_C = "C and BLAS"  # the headers that are in no folder
LARGEST = 64 * 1024  # of a file that is shown whole


def outside(target):
    """The path below the project's root that a page of docs/ links to, or None."""
    path = posixpath.normpath(posixpath.join("docs", target))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def source_page(path):
    """A file of the project, or the names in a folder, as a page."""
    real = ROOT / path
    if real.is_dir():
        names = sorted(each.name + "/" * each.is_dir() for each in real.iterdir() if not each.name.startswith("."))
        return f"# {path}\n\n" + "\n".join(f"* `{name}`" for name in names) + "\n"
    text = real.read_text(encoding="utf-8")
    if real.suffix == ".md":  # its links lead to files that are no pages
        return FENCE.sub(r"\1", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    cut = "" if len(text) <= LARGEST else f"\n\nThe first {LARGEST // 1024} KiB of {len(text) // 1024}.\n"
    fence = "`" * 6
    return f"# {path}\n\n{fence}{HIGHLIGHT.get(real.suffix, 'text')}\n{text[:LARGEST]}\n{fence}\n{cut}"


def source_name(path):
    return f"source/{path.removesuffix('.md')}.md"


def components():
    """Component -> [(path below include/, text)] of the public headers."""
    out = {}
    include = ROOT / "include"
    for header in sorted(include.rglob("*.h*")):
        path = header.relative_to(include)
        component = path.parts[1] if len(path.parts) > 2 else OF_C
        out.setdefault(component, []).append((str(path), header.read_text(encoding="utf-8")))
    return out


def title(file):
    return (ROOT / "docs" / file).read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")


def start(config):
    """What the project is and for whom, from README.md, and all pages of the navigation."""
    parts = [" ".join(part.split()) for part in (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](").split("\n\n")]
    whom = re.split(r"(?<=\.) (?=For )", next(part for part in parts if part.startswith("For people who ")))
    out = f"# Tessera\n\n{parts[1]}\n\n" + '<div class="grid cards" markdown>\n\n' + "\n".join(f"- {each}\n" for each in whom)
    out += '\n</div>\n\n<div markdown style="columns: 15rem">\n\n'
    for section in config["nav"][1:]:
        (name, pages), = section.items()
        links = "".join(f"- [{text}]({page})\n" for each in pages for text, page in each.items())
        out += f'<div markdown style="break-inside: avoid; display: flow-root">\n\n**{name}**\n\n{links}\n</div>\n'
    out += "</div>\n"
    return "---\nhide: [navigation, toc]\n---\n" + out


def puzzles(has_book):
    """The idea of every puzzle, for the search, with a link to its page of the book."""
    book = " [The book](book/index.html) has a page for each puzzle, with pictures, hints and the solution." if has_book else ""
    out = f"# The puzzles\n\n[The course](course.md) says how to begin.{book}\n"
    for folder in sorted(pathlib.Path(os.environ.get("TESSERA_COURSE", ROOT / "course")).glob("p[0-9]*")):
        name, _, text = (folder / "page.md").read_text(encoding="utf-8").removeprefix("# ").partition("\n")
        puzzle = folder.name[:3]
        page = f"; [its page of the book](book/{puzzle}.html)" if has_book else ""
        out += f"\n## {int(puzzle[1:])}. {name}\n{text.split('## Picture')[0]}\n`tessera puzzle start {puzzle}`{page}\n"
    return out


def file_of(component):
    return component.lower().replace(" ", "_")


def head(search):
    """Front matter: the weight of a page in the search."""
    return f"---\nsearch:\n  {search}\n---\n"


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def main():
    project = pathlib.Path(sys.argv[1])
    shutil.rmtree(project, ignore_errors=True)
    folder = project / "docs"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "site/doctests.py", project)
    book = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if book:
        shutil.copytree(book, folder / "book")
    every = components()
    config = (ROOT / "site/mkdocs.yml").read_text(encoding="utf-8")
    cpp = [f"          - {name}: reference/cpp/{page}.md\n" for name, page in [("Overview", "index"), *((name, file_of(name)) for name in every)]]
    write(project, "mkdocs.yml", config.replace("      - C++ and C: reference/cpp/index.md\n", "      - C++ and C:\n" + "".join(cpp)))
    shutil.copytree(ROOT / "python", project / "python")
    stub = project / "python/tessera/_core.pyi"  # of functions with overloads, the last, which takes anything
    stub.with_suffix(".py").write_text(re.sub(r"^( *)@overload\n", "", stub.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
    stub.unlink()
    wanted = set()

    def there(match):
        path = outside(match[1])
        if path is None:
            return match[0]
        wanted.add(path)
        return f"]({source_name(path)}{match[2] or ''})"

    for file in sorted((ROOT / "docs").iterdir()):
        if file.suffix == ".md":
            text = LINK.sub(there, file.read_text(encoding="utf-8"))
            write(folder, file.name, FENCE.sub(r"\1", NAMED.sub(lambda match: f"[{title(match[1])}]", text)))
        elif file.suffix in (".png", ".svg"):
            shutil.copy(file, folder)
    write(folder, "index.md", start(yaml.safe_load(config)))
    write(folder, "puzzles.md", puzzles(book))
    write(folder, "llms.txt", llms.text(".html", ""))
    write(folder, "live.md", (ROOT / "site/live/page.md").read_text(encoding="utf-8"))
    for file in ("live.css", "live.js"):
        write(folder, f"live/{file}", (ROOT / "site/live" / file).read_text(encoding="utf-8"))
    for path in sorted(wanted):
        write(folder, source_name(path), head("exclude: true") + source_page(path))
    write(folder, "reference/python.md", head("boost: 0.2") + PYTHON)
    for name, headers in every.items():
        write(folder, f"reference/cpp/{file_of(name)}.md", head("boost: 0.2") + cpp_reference.page(name, headers))
    index = "\n".join(f"* [{name}]({file_of(name)}.md): {len(headers)} header{'s' * (len(headers) > 1)}" for name, headers in every.items())
    write(folder, "reference/cpp/index.md", f"# C++ and C\n\nOf each header its purpose and every documented declaration.\n\n{index}\n")


if __name__ == "__main__":
    main()
