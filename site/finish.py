"""What is left to do for a built site: finish.py SITE replaces what would be loaded from elsewhere; finish.py --versions FOLDER lists the
versions that lie side by side in FOLDER, for the selector, and leads to the newest."""
import json
import pathlib
import re
import sys

WORKER = re.compile(r'<script src="https://unpkg\.com/iframe-worker/shim"></script>')
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>Tessera</title>
<meta http-equiv="refresh" content="0; url={0}/index.html">
<a href="{0}/index.html">Tessera {0}</a>
"""


def finish(site):
    script = (pathlib.Path(__file__).parent / "worker.js").read_text(encoding="utf-8")
    (site / "assets/worker.js").write_text(script, encoding="utf-8")
    for page in site.rglob("*.html"):
        up = "../" * (len(page.relative_to(site).parts) - 1)
        text = page.read_text(encoding="utf-8")
        page.write_text(WORKER.sub(f'<script src="{up}assets/worker.js"></script>', text), encoding="utf-8")
    for page in (site / "book").glob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("<main>\n", '<main>\n<p class="small"><a href="../index.html">Tessera</a></p>\n', 1), encoding="utf-8")
    for unread in [*site.rglob("*.map"), *site.glob("sitemap.xml*"), site / "404.html"]:
        unread.unlink(missing_ok=True)


def list_versions(folder):
    names = sorted((each.parent.name for each in folder.glob("*/index.html")), key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    names.reverse()
    listed = [{"version": name, "title": name, "aliases": ["latest"] if name == names[0] else []} for name in names]
    (folder / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (folder / "index.html").write_text(PAGE.format(names[0]), encoding="utf-8")


if __name__ == "__main__":
    list_versions(pathlib.Path(sys.argv[2])) if sys.argv[1] == "--versions" else finish(pathlib.Path(sys.argv[1]))
