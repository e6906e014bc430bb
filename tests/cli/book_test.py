#!/usr/bin/env python3
"""The course as its book: scripts/book runs every text of it, then writes the pages. Here they are read, and looked at in Chromium."""
import html
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser

import browser
import harness
from harness import cases

COURSE = cases.ROOT / "course"
CCACHE = "ccache " if shutil.which("ccache") else ""
# What a reader of the opened page would find: is it wider than the window, is a picture empty, which texts are too small to read?
PROBE = """
document.querySelectorAll('details').forEach(d => d.open = true);
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const empty = [...document.querySelectorAll('svg,img')].filter(s => s.getBoundingClientRect().height < 20).length;
const beyond = [...document.querySelectorAll('p,li,h1,h2,h3,summary,figcaption')].filter(e => e.getBoundingClientRect().right > innerWidth).length;
parent.postMessage([location.pathname.replace(/.*probed-/, ''), wide, empty, beyond], '*');
"""


def build(folder, **env):
    return subprocess.run([cases.ROOT / "scripts/book", folder], capture_output=True, text=True, timeout=harness.PATIENCE,
                          env=harness.environment(TESSERA=harness.COMMAND, CXX=CCACHE + "c++", **env))


class Parts(HTMLParser):
    """What a page refers to, what can be referred to, its headings and pictures."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.pictures, self.folded, self.opened = [], set(), 0, 0, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [value for name, value in attributes.items() if name in ("href", "src")]
        self.ids.add(attributes.get("id"))
        self.pictures += tag == "figure"
        self.folded += tag == "details"


@unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the learners' programs would need it too")
class Book(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="tessera-book-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name, "book")
        cls.built = build(cls.folder)
        cls.puzzles = sorted(folder.name for folder in COURSE.glob("p[0-9]*"))
        cls.pages = {page.name: page.read_text() for page in cls.folder.glob("*.html")}

    def test_every_solution_unfilled_file_and_mistake_is_as_the_course_says(self):
        self.assertEqual(self.built.returncode, 0, self.built.stderr)
        puzzles, texts = map(int, re.search(r"(\d+) puzzles; (\d+) texts as they must be", self.built.stdout).groups())
        self.assertEqual(puzzles, len(self.puzzles))
        self.assertGreaterEqual(puzzles, 20)
        # A claim without changes is about the file at the start, which is counted already.
        mistakes = {name: sum(re.search(r"^[-+]", each, re.M) is not None for each in re.split("^== ", (COURSE / name / "mistakes.txt").read_text(),
                                                                                               flags=re.M)) for name in self.puzzles}
        self.assertEqual(texts, 2 * puzzles + sum(mistakes.values()))
        self.assertGreaterEqual(sum(count for name, count in mistakes.items() if "13" <= name[1:3] <= "17"), 20)

    def test_each_puzzle_has_a_page_with_everything_on_it(self):
        self.assertEqual(set(self.pages), {"index.html", *(name[:3] + ".html" for name in self.puzzles)})
        for name in self.puzzles:
            text = self.pages[name[:3] + ".html"]
            page, source = Parts(text), (COURSE / name / "page.md").read_text()
            with self.subTest(name):
                self.assertGreaterEqual(page.pictures, 1, "a picture carries the idea")
                self.assertEqual(page.pictures, source.count("## Picture"))
                self.assertGreaterEqual(page.folded, source.count("## Hint") + 2, "hints, what it says at first, solution")
                self.assertNotIn("<details open", text)
                shown = [html.unescape(re.sub("<[^>]*>", "", block)) for block in re.findall(r'<div class="code"><pre>(.*?)</pre>', text, re.S)]
                self.assertEqual(shown[1].strip(), self.tessera("puzzle", "solution", name[:3]).strip())
                self.assertRegex(shown[0], "// (FILL ME IN|CHANGE)")
                self.assertIn('<span class="c1 fill">', text)
                for width in re.findall(r'class="drawing" [^>]*min-width:(\d+)px" role="img" aria-label="a product', text):
                    self.assertLessEqual(int(width), 347, "it is seen whole on a phone of 375 pixels")
                self.assertIn(f"Puzzle {int(name[1:3])} complete", text)

    def test_links_lead_to_pages_and_nothing_comes_from_a_network(self):
        for name, text in self.pages.items():
            page = Parts(text)
            for link in page.links:
                with self.subTest(page=name, link=link[:60]):
                    self.assertTrue(link in self.pages or link.startswith("data:image/svg+xml;base64,"))
            self.assertNotIn("<script", text)
            self.assertIn("default-src 'none'", text)
        for before, behind in zip(self.puzzles, self.puzzles[1:]):
            self.assertIn(behind[:3] + ".html", Parts(self.pages[before[:3] + ".html"]).links)
        self.assertEqual({link for link in Parts(self.pages["index.html"]).links}, set(self.pages) - {"index.html"})

    def test_commands_and_code_in_the_texts_are_those_that_run(self):
        """Sources are those that were run. Other code in a text must occur in one of them."""
        ran = 0
        for name in self.puzzles:
            text = (COURSE / name / "page.md").read_text()
            for block in re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S):
                self.assertIn(block.strip(), (COURSE / name / "puzzle.cpp").read_text(), name)
            for command in re.findall(r"`tessera ((?:layout|explain) [^`]*)`", re.sub(r"\s+", " ", text)):
                with self.subTest(page=name, command=command):
                    small = ["-m", "64", "-n", "64", "-k", "64"] if command.startswith("explain") else []
                    self.tessera(*shlex.split(command), *small)
                    ran += 1
        self.assertGreater(ran, 3)

    def tessera(self, *arguments):
        run = subprocess.run([harness.COMMAND, *arguments], capture_output=True, text=True, env=harness.environment())
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_on_a_phone_and_on_a_desk_no_page_is_wider_than_its_window(self):
        browser.needed(self)
        pages = [self.folder / name for name in sorted(self.pages)]
        for width in (375, 1200):
            found = browser.framed(pages, width, PROBE)
            self.assertEqual(sorted(each[0] for each in found), sorted(self.pages))
            self.assertEqual([each for each in found if each[1:] != [0, 0, 0]], [], f"[page, too wide by, empty pictures, texts beyond the edge] at {width}")

    def test_the_browser_has_nothing_to_say_and_light_and_dark_follow_the_reader(self):
        browser.needed(self)
        frames = self.folder / "all.html"
        frames.write_text("".join(f'<iframe src="{name}"></iframe>' for name in self.pages))
        self.addCleanup(frames.unlink)
        _, said = browser.run(frames, 1000, "--dump-dom", "--enable-logging=stderr", "--virtual-time-budget=20000")
        self.assertEqual([line for line in said.splitlines() if "CONSOLE" in line], [])
        grounds = browser.grounds(self.folder / "p09.html", pathlib.Path(self.scratch.name))
        self.assertGreater(min(grounds["light"]), 240, grounds)
        self.assertLess(max(grounds["dark"]), 40, grounds)


@unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the learner's program would need it too")
class Refused(harness.CommandTest):
    def test_a_course_with_a_fault_has_no_book(self):
        self.succeeds("puzzle", "new", "p90_mine", "--course", "own")
        self.assertEqual(build(self.path("book"), TESSERA_COURSE=str(self.path("own"))).returncode, 0)
        self.assertIn("Doubled", self.path("book/p90.html").read_text())
        page = self.path("own/p90_mine/page.md")
        page.write_text(page.read_text().replace("blocks of 8", "blocks of 9"))
        run = build(self.path("none"), TESSERA_COURSE=str(self.path("own")))
        self.assertEqual(run.returncode, 1)
        self.assertIn("p90: the solution: page.md: '## Configuration' lacks '- a (8), out (8); grid 1, blocks of 8 threads.'", run.stderr)
        self.assertFalse(self.path("none").exists())


if __name__ == "__main__":
    harness.main()
