#!/usr/bin/env python3
"""Writes pictures of docs/asynchronous.md as the checker's page of a product by `warpgroup` draws them: its stages over time, and the
banks that a store of sums meets. TESSERA names the command.

    scripts/stages.py [FOLDER]
"""
import argparse
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESSERA = os.environ.get("TESSERA", str(ROOT / "build/release/bin/tessera"))
PRODUCT = ["warpgroup", "-m", "128", "-n", "256", "-k", "640", "--dtype", "bf16"]
LABELS = {"stages.svg": "stages in flight", "banks.svg": "lanes of a warp to banks"}
# What the page around them says of their classes, for a light and a dark ground.
STYLE = """<style>
text{fill:#54626f;font:12px system-ui,'DejaVu Sans',Arial,sans-serif}.right{text-anchor:end}
.cells text{font:10px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;fill:#14202b}.cells .axis{fill:#54626f}
.global{fill:#3b78d8}.multiply{fill:#2f9e5b}
@media (prefers-color-scheme:dark){text,.cells .axis{fill:#9aa8b6}.global{fill:#6ea5f5}.multiply{fill:#58c786}}
</style>"""


def pictures():
    """By file name."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "page.html")
        subprocess.run([TESSERA, "check", *PRODUCT, "--html", page, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        text = page.read_text()
    out = {}
    for name, label in LABELS.items():
        head, rest = re.search(rf'<svg class="[^"]*"[^>]*aria-label="{label}[^"]*">.*?</svg>', text, re.S)[0].split("\n", 1)
        out[name] = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ') + "\n" + STYLE + "\n" + rest + "\n"
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=pathlib.Path, default=ROOT / "docs")
    to = parser.parse_args().folder
    for name, picture in pictures().items():
        (to / name).write_text(picture)
