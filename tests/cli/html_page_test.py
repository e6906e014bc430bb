#!/usr/bin/env python3
"""The checker's pages in headless Chromium: nothing is wider than the window, light and dark differ, links lead somewhere."""
import re

import browser
import harness

# Run inside a copy of the page: what a reader would measure with the developer's tools.
PROBE = """
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const lost = [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.getAttribute('href').slice(1)));
const empty = [...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height < 20);
const cut = [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1);
const style = getComputedStyle(document.body);
document.title = [wide, lost.length, empty.length, cut.length, style.backgroundColor, style.color].join('|');
"""

# What a reader sees of the source without moving anything sideways: its lines and the numbers that belong to them.
SOURCE = """
const box = document.documentElement.clientWidth;
const cells = [...document.querySelectorAll('.source td.code, .source td[data-label]')].filter(c => c.textContent.trim());
const outside = cells.filter(c => { const r = c.getBoundingClientRect(); return r.width === 0 || r.left < 0 || r.right > box + 1; });
const narrow = cells.filter(c => c.className === 'code' && c.getBoundingClientRect().width < box / 2);
parent.postMessage([document.documentElement.scrollWidth - box, cells.length, outside.length, narrow.length], '*');
"""


class Page(harness.CommandTest):
    def setUp(self):
        super().setUp()
        browser.needed(self)

    def probe(self, file, width):
        dom, _ = browser.run(browser.with_script(self.path(file), PROBE), width, "--dump-dom")
        wide, lost, empty, cut, ground, ink = re.search(r"<title>(.*?)</title>", dom)[1].split("|")
        return int(wide), int(lost), int(empty), int(cut), ground, ink

    def test_pages_fit_every_window_and_their_links_lead_somewhere(self):
        small = ["-m", "128", "-n", "128", "-k", "64"]
        self.succeeds("explain", "naive", *small, "--html", "one.html")
        self.succeeds("explain", "tiled", "--against", "block_tiled", *small, "--html", "two.html")
        for file in ("one.html", "two.html"):
            for width in (500, 900, 1300, 1600, 1900):
                with self.subTest(file=file, width=width):
                    wide, lost, empty, cut, ground, ink = self.probe(file, width)
                    self.assertLessEqual(wide, 0, "the page is wider than the window")
                    self.assertEqual((lost, empty), (0, 0))
                    if width >= 1300:
                        self.assertEqual(cut, 0, "a picture or a source does not fit its box")
                    self.assertNotEqual(ground, ink)

    def test_at_the_width_of_a_phone_the_source_is_in_sight(self):
        small = ["-m", "128", "-n", "128", "-k", "64"]
        self.succeeds("explain", "naive", *small, "--html", "one.html")
        self.succeeds("explain", "tiled", "--against", "block_tiled", *small, "--html", "two.html")
        for width in (375, 690):
            for wide, cells, outside, narrow in browser.framed([self.path("one.html"), self.path("two.html")], width, SOURCE):
                self.assertLessEqual(wide, 0)
                self.assertGreater(cells, 30)
                self.assertEqual((outside, narrow), (0, 0), width)

    def test_light_and_dark_follow_the_reader(self):
        self.succeeds("explain", "naive", "-m", "64", "-n", "64", "-k", "32", "--html", "page.html")
        grounds = browser.grounds(self.path("page.html"), self.folder)
        self.assertGreater(min(grounds["light"]), 240, grounds)
        self.assertLess(max(grounds["dark"]), 40, grounds)


if __name__ == "__main__":
    harness.main()
