#!/usr/bin/env python3
"""scripts/docs: every page is in the site, links lead somewhere, nothing is loaded from elsewhere, the start is light, search works, the
live page says what the command says."""
import functools
import html
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TESSERA = cases.options.build / "bin/tessera"
LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*?(?:src|href)="([^"]*)"')
START = 300_000  # bytes, before the search is used
LIVE = 500_000  # bytes of the live page's own files
FIRST = 1000  # milliseconds until it can show something
# Asks the page's own script a list of requests.
ASKS = """<!doctype html><meta charset="utf-8"><pre id="said"></pre><script src="engine.js"></script><script src="live.js"></script><script>
const ask = asking(new WebAssembly.Module(engineBytes()));
const answer = (request) => { try { return ask(request); } catch (error) { return {refused: error.message, column: error.column}; } };
const requests = %s, shown = answer(requests[0]), first = performance.now(), all = requests.map(answer);
document.getElementById("said").textContent = JSON.stringify({all, first});
</script>"""


def random_pattern(pick):
    """A request as the live page makes it: layouts, formulas, and mistakes in them."""
    vector, dtype = pick.choice([(1, "f32"), (1, "f32"), (1, "f16"), (2, "f32"), (4, "f32"), (1, "f64"), (2, "f64"), (8, "f16"), (1, "i8"), (16, "i8")])
    out = {"dtype": dtype, "vector": vector, "lanes": pick.choice([32, 32, pick.randint(1, 32)]), "along": 0, "at": "", "pad": 0, "swizzle": ""}
    if pick.random() < 0.4:
        layout = f"row_major({pick.randint(1, 9)},{pick.randint(1, 40)})(lane / 4, lane % 4)"
        out["expression"] = pick.choice([f"{pick.randint(0, 70) * vector} * lane", f"lane * {pick.randint(1, 9)} % {pick.randint(1, 64)} * {vector}",
                                         f"(lane ^ lane >> {pick.randint(0, 4)}) * {vector} + {pick.randint(0, 1)}", f"{layout} * {vector}", f"{layout} - 1",
                                         "lane"] if pick.random() < 0.8
                                        else ["lane / (lane - 7)", "lane + tid", "row_majr(4,4)(lane)"])
        return out
    rows, columns = pick.randint(1, 32), 8 * pick.randint(1, 6)
    out["expression"] = pick.choice([f"row_major({rows},{columns})", f"col_major({rows},{columns})", f"({rows},(8,{columns // 8})):({columns},(1,8))",
                                     f"composition(swizzle(2,2,3),({rows},{columns}):({columns},1))"] if pick.random() < 0.9
                                    else [f"row_major({rows},", f"{rows}:{columns}"])
    out["along"] = pick.randint(0, 1)
    out["at"] = pick.choice(["", "", "", f"{pick.randint(0, rows)},0"])
    bits = pick.randint(0, 3)
    out.update(pick.choice([{}, {"pad": pick.choice([1, vector, vector]) * pick.randint(0, 4)}, {"swizzle": f"{bits},{vector.bit_length() - 1 + pick.randint(0, 1)},{bits + pick.randint(0, 2)}"},
                            {"swizzle": "3,4,3"}]))
    return out


def run(*words, **environment):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=300, env=os.environ | environment, cwd=cases.ROOT)


def browsed(address):
    """The page as it is after its scripts have run."""
    with tempfile.TemporaryDirectory() as profile:
        return run(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--virtual-time-budget=30000", "--dump-dom", address).stdout


class Recorder(http.server.SimpleHTTPRequestHandler):
    """Notes the files that a browser asks for."""
    asked = []

    def send_head(self):
        self.asked.append(self.path.split("?")[0])
        return super().send_head()

    def log_message(self, *words):
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (cases.ROOT / "build/docs/mkdocs").is_dir():
            raise unittest.SkipTest("the site is NOT built: build/docs has no MkDocs; scripts/setup puts it there")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.course = tempfile.TemporaryDirectory()  # of one puzzle, for a short book
        cls.addClassCleanup(cls.course.cleanup)
        cls.has_book = not any(each in TESSERA.read_bytes() for each in (b"__asan_init", b"__tsan_init"))  # its programs would need them
        run(TESSERA, "puzzle", "new", "p90_mine", "--course", cls.course.name)
        cls.built = run("scripts/docs", cls.folder.name, TESSERA=str(TESSERA) if cls.has_book else "/nonexistent", TESSERA_COURSE=cls.course.name)
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
        self.assertEqual(re.findall(r"<p>[^<]*\\[&<*_].{,40}", reference), [], "a comment is shown with the marks of Markdown")
        for name in ("gemm", "make_plan", "copy_bulk", "PackedMatrix"):
            self.assertTrue(re.search(rf'<h[34] id="[^"]*">{name}<', reference), name)
        for name in ("tessera_packed_matmul", "tessera_layout_offset", "cblas_dgemm_batch_strided"):
            self.assertTrue(f"{name}</span>" in reference, name)
        for name in ("matmul", "check_cuda", "top_k"):
            self.assertTrue(f'id="tessera.{name}"' in self.pages["reference/python.html"], name)

    def test_links_lead_somewhere_in_the_site(self):
        for name, text in self.pages.items():
            for target in re.findall(r'(?:href|src)="([^"#?]+)', text):
                if not re.match(r"(?:https?|mailto|data):", target):
                    self.assertTrue((self.site / name).parent.joinpath(target).exists(), f"{name}: {target}")

    def test_the_start_leads_to_every_page_of_the_navigation(self):
        start = self.pages["index.html"].split("<article", 1)[1]
        for page in re.findall(r": ([\w/-]+)\.md$", (cases.ROOT / "site/mkdocs.yml").read_text(), re.M):
            self.assertTrue(page == "index" or f'href="{page}.html"' in start, page)
        self.assertIn("race checker", start)
        for page in (cases.ROOT / "docs").glob("*.md"):
            self.assertEqual([name for name, text in self.pages.items() if f">{page.name}</a>" in text], [], "a link shows the name of a file")

    def test_the_book_is_in_it(self):
        if not self.has_book:
            self.assertIn("without the course's book", self.built.stderr)
            return
        self.assertIn('href="book/p90.html"', self.pages["puzzles.html"])
        self.assertIn('href="book/index.html"', self.pages["puzzles.html"])
        self.assertIn("Doubled", self.pages["book/p90.html"])
        self.assertIn('href="../index.html"', self.pages["book/p90.html"])

    def test_loads_nothing_from_elsewhere(self):
        for name, text in self.pages.items():
            self.assertEqual([each for each in LOADED.findall(text) if re.match(r"(?:https?:)?//", each)], [], name)

    def test_starts_with_little(self):
        if BROWSER is None:
            self.skipTest("the site is NOT looked at in a browser: scripts/setup browser installs chromium")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Recorder, directory=self.site.parent))
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{self.site.name}/index.html"
        browsed(address)
        asked, Recorder.asked[:] = set(Recorder.asked), []
        self.assertGreater(len(asked), 4, asked)
        self.assertLessEqual(sum(file.stat().st_size for each in asked if (file := self.site.parent / each[1:]).exists()), START, asked)
        browsed(address + "?q=swizzle")  # which needs the index, larger than the start
        self.assertIn(f"/{self.site.name}/search/search_index.json", Recorder.asked)

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
        for words, page in (("how do I check my kernel in CI", "Kernel checks in your CI in five minutes"), ("how do I replace OpenBLAS in NumPy", "Replace OpenBLAS in NumPy and other programs"), ("what is a swizzle", "Layouts")):
            dom = browsed(f"{(self.site / 'index.html').as_uri()}?q={words.replace(' ', '%20')}")
            self.assertTrue(re.search(r"\d+ matching documents", dom), words)
            results = dom[dom.index("md-search-result__list"):dom.index("md-container")]
            self.assertIn(page, re.findall(r"<h1>(.*?)</h1>", re.sub(r"</?mark>", "", results))[:5])

    def test_the_live_page_says_what_the_command_says(self):
        if "has no engine" in self.built.stderr:
            self.skipTest("the live page is NOT tested: Debian's clang-14, lld-14, wasi-libc, libc++-14-dev-wasm32 and libclang-rt-14-dev-wasm32 are not all there")
        self.assertLessEqual(sum(file.stat().st_size for file in (self.site / "live").iterdir()), LIVE)
        if BROWSER is None:
            self.skipTest("the live page is NOT looked at in a browser: scripts/setup browser installs chromium")
        pick = random.Random(51)
        requests = [random_pattern(pick) for _ in range(300)]
        page = self.site / "live/asks.html"
        page.write_text(ASKS % json.dumps(requests), encoding="utf-8")
        self.addCleanup(page.unlink)
        said = json.loads(html.unescape(re.search(r'<pre id="said">(.*?)</pre>', browsed(page.as_uri()), re.S)[1]))
        self.assertLessEqual(said["first"], FIRST)
        refused = 0
        for request, answer in zip(requests, said["all"]):
            with self.subTest(request):
                words = [f"--{name}={value}" for name, value in request.items() if name != "expression" and value != ""]
                done = run(TESSERA, "banks", request["expression"], "--json", *words)
                if done.returncode != 0:
                    self.assertEqual(done.returncode, 2, done.stderr)
                    refused += 1
                    message = answer["refused"].removeprefix("layout: ")
                    self.assertIn(message, done.stderr)
                    if answer["column"] >= 0:
                        self.assertEqual(done.stderr.splitlines()[2], " " * answer["column"] + "^")
                    continue
                wanted = json.loads(done.stdout)
                for cost in ("shared_load", "shared_store"):
                    wanted[cost]["merged"] = wanted[cost].pop("basis") == "merging"
                for name in ("pattern", "lane_bytes", "elements", "global", "shared_load", "shared_store"):
                    self.assertEqual(answer[name], wanted[name], name)
                self.assertEqual(answer["banks"].count("</text>") > 0, True)
                if "lane" not in request["expression"]:
                    drawn = json.loads(run(TESSERA, "layout", wanted["pattern"], "--json").stdout)
                    self.assertEqual(answer["indices"], drawn["indices"])
        self.assertTrue(30 < refused < 150, refused)

    def test_the_live_page_shows_a_picture(self):
        if "has no engine" in self.built.stderr or BROWSER is None:
            self.skipTest("the live page is NOT looked at: no compiler for WebAssembly, or no browser")
        dom = browsed(f"{(self.site / 'live.html').as_uri()}#expression=row_major(32,32)&pad=1")
        self.assertIn("(32,32):(33,1): 32 lanes, 4 bytes each\nShared memory, load: 1 wavefront, no bank conflict", dom)
        self.assertIn("lanes of a warp to banks in 1 wavefronts", dom)
        self.assertRegex(dom, r'<pre id="mistake" hidden')
        dom = browsed(f"{(self.site / 'live.html').as_uri()}#expression=row_major(32,")
        self.assertRegex(dom, r'<pre id="mistake">a layout, number or function is missing here\nrow_major\(32,\n {13}\^</pre>')

    def test_programs_find_every_document(self):
        sys.path.insert(0, str(cases.ROOT / "site"))
        import llms
        self.assertEqual((cases.ROOT / "llms.txt").read_text(), llms.text(), "site/llms.py writes it")
        listed = re.findall(r"\]\(([^)]*)\)", (self.site / "llms.txt").read_text())
        self.assertEqual(set(listed) | {"index.html"}, {f"{page.stem}.html" for page in (cases.ROOT / "docs").glob("*.md")})

    def test_says_what_is_missing(self):
        self.assertEqual(run("scripts/docs", "--fast").returncode, 2)


if __name__ == "__main__":
    cases.main()
