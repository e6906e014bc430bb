"""llms.txt, what the project is and where its documents are, for programs that read them: made from docs/index.md and README.md.
llms.py [FILE] writes it, by default llms.txt of the project."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def text(suffix=".md", folder="docs/"):
    """With links to `folder`; only pages, with this ending, where it is another one."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    summary = " ".join(readme.split("\n\n")[1].split())
    rows = re.findall(r"^\* \[([\w.-]+)\]\(([\w.-]+)\): (.*)$", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.M)
    rows = [row for row in rows if suffix == ".md" or row[1].endswith(".md")]
    links = [f"- [{name}]({folder}{re.sub('[.]md$', suffix, target)}): {plain(about)}" for name, target, about in rows]
    return f"# Tessera\n\n> {summary}\n\n## Documents\n\n" + "\n".join(links) + "\n\n## Tools for programs\n\n" + TOOLS


def plain(about):
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", about)


TOOLS = """- `tessera mcp`: a server of the Model Context Protocol: check, judge and explain CUDA kernels without a GPU, layouts, plans
- `tessera check FILE --json`, `--format gcc|sarif|github`: findings for programs; the exit code is 0 for a clean kernel, 1 with findings
- `tessera banks EXPRESSION --json`, `tessera layout EXPRESSION --json`, `tessera explain KERNEL --json`
"""

if __name__ == "__main__":
    (pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "llms.txt").write_text(text(), encoding="utf-8")
