#!/usr/bin/env python3
"""Writes docs/stages.svg: the stages of `warpgroup` over time, as the checker's page of a product draws them. TESSERA names the command.

    scripts/stages.py [FILE]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESSERA = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
PRODUCT = ["warpgroup", "-m", "128", "-n", "256", "-k", "640", "--dtype", "bf16"]
# What the page around it says of its classes, for a light and a dark ground.
STYLE = """<style>
text{fill:#54626f;font:12px system-ui,'DejaVu Sans',Arial,sans-serif}.right{text-anchor:end}
.global{fill:#3b78d8}.multiply{fill:#2f9e5b}
@media (prefers-color-scheme:dark){text{fill:#9aa8b6}.global{fill:#6ea5f5}.multiply{fill:#58c786}}
</style>"""


def picture():
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        subprocess.run([TESSERA, "check", *PRODUCT, "--html", page, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        found = re.search(r'<svg class="timeline"[^>]*aria-label="stages in flight">.*?</svg>', page.read_text(), re.S)[0]
    head, rest = found.split("\n", 1)
    return head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ') + "\n" + STYLE + "\n" + rest + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/stages.svg").write_text(picture())
