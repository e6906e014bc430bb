#!/usr/bin/env python3
"""scripts/docs: every page is in the site, links lead somewhere, nothing is loaded from elsewhere, the start is light, search works."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"')
START = 300_000  # bytes, before the search is used


def run(*words, **environment):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, env=os.environ | environment, cwd=cases.ROOT)


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (cases.ROOT / "build/docs/mkdocs").is_dir():
            raise unittest.SkipTest("the site is NOT built: build/docs has no MkDocs; scripts/setup puts it there")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.built = run("scripts/docs", cls.folder.name, TESSERA="/nonexistent")
        assert cls.built.returncode == 0, cls.built.stderr
        cls.site = next(pathlib.Path(cls.folder.name).glob("*/index.html")).parent
        cls.pages = {page.relative_to(cls.site).as_posix(): page.read_text(encoding="utf-8") for page in cls.site.rglob("*.html")}

    def test_has_every_document_and_header(self):
        nav = (cases.ROOT / "site/mkdocs.yml").read_text()
        for page in (cases.ROOT / "docs").glob("*.md"):
            self.assertIn(f"{page.stem}.html", self.pages)
            self.assertIn(f": {page.name}\n", nav, "site/mkdocs.yml does not lead to it")
        reference = "".join(text for name, text in self.pages.items() if name.startswith("reference/cpp/"))
        for header in (cases.ROOT / "include").rglob("*.hpp"):
            self.assertTrue(f">{header.relative_to(cases.ROOT / 'include')}<" in reference, header)
        for name in ("gemm", "make_plan", "copy_bulk", "PackedMatrix"):
            self.assertTrue(re.search(rf'<h[34] id="[^"]*">{name}<', reference), name)
        for name in ("matmul", "check_cuda", "top_k"):
            self.assertTrue(f'id="tessera.{name}"' in self.pages["reference/python.html"], name)

    def test_links_lead_somewhere_in_the_site(self):
        for name, text in self.pages.items():
            for target in re.findall(r'(?:href|src)="([^"#?]+)', text):
                if not re.match(r"(?:https?|mailto|data):", target):
                    self.assertTrue((self.site / name).parent.joinpath(target).exists(), f"{name}: {target}")

    def test_loads_nothing_from_elsewhere(self):
        for name, text in self.pages.items():
            self.assertEqual([each for each in LOADED.findall(text) if re.match(r"(?:https?:)?//", each)], [], name)

    def test_starts_with_little(self):
        start = self.pages["index.html"]
        files = {each for each in LOADED.findall(start) if not each.endswith(".html")}
        size = len(start.encode()) + sum((self.site / each).stat().st_size for each in files)
        self.assertLessEqual(size, START, files)

    def test_another_version_stays(self):
        shutil.copytree(self.site, self.site.parent / "0.0.1", dirs_exist_ok=True)
        again = run("/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else "python3", "site/finish.py", "--versions", self.site.parent)
        self.assertEqual(again.returncode, 0, again.stderr)
        versions = (self.site.parent / "versions.json").read_text()
        self.assertLess(versions.index(self.site.name), versions.index("0.0.1"))
        self.assertIn(f"url={self.site.name}/index.html", (self.site.parent / "index.html").read_text())

    def test_search_works_without_a_server(self):
        if BROWSER is None:
            self.skipTest("the site is NOT looked at in a browser: scripts/setup browser installs chromium")
        for words, page in (("check kernel CI", "Kernel checks in your CI in five minutes"), ("replace OpenBLAS NumPy", "The BLAS: Tessera's products in existing programs"), ("swizzle", "Layouts")):
            with tempfile.TemporaryDirectory() as profile:
                dom = run(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=30000",
                          "--dump-dom", f"{(self.site / 'index.html').as_uri()}?q={words.replace(' ', '%20')}").stdout
            self.assertTrue(re.search(r"\d+ matching documents", dom), words)
            results = dom[dom.index("md-search-result__list"):dom.index("md-container")]
            self.assertIn(page, re.findall(r"<h1>(.*?)</h1>", re.sub(r"</?mark>", "", results)))

    def test_says_what_is_missing(self):
        self.assertEqual(run("scripts/docs", "--fast").returncode, 2)
        self.assertIn("without the course's book", self.built.stderr)


if __name__ == "__main__":
    cases.main()
