#!/usr/bin/env python3
"""The checker's pages in headless Chromium: nothing is wider than the window, light and dark differ, links lead somewhere."""
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import harness

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
# Run inside a copy of the page: what a reader would measure with the developer's tools.
PROBE = """<script>
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const lost = [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.getAttribute('href').slice(1)));
const empty = [...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().height < 20);
const cut = [...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1);
const style = getComputedStyle(document.body);
document.title = [wide, lost.length, empty.length, cut.length, style.backgroundColor, style.color].join('|');
</script>"""


def first_pixel(png):
    """(r, g, b) of the top left pixel: the ground of the page."""
    data, at = b"", 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            depth, colour = png[at + 16], png[at + 17]
            assert depth == 8 and colour in (2, 6), (depth, colour)
        if kind == b"IDAT":
            data += png[at + 8:at + 8 + size]
        at += 12 + size
    return tuple(zlib.decompress(data)[1:4])


class Page(harness.CommandTest):
    def setUp(self):
        super().setUp()
        if BROWSER is None:
            self.skipTest("pages are NOT looked at in a browser: scripts/setup browser installs chromium")

    def browser(self, file, width, *options):
        command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   f"--user-data-dir={self.path('profile')}", f"--window-size={width},900", *options, self.path(file).as_uri()]
        return subprocess.run(command, capture_output=True, timeout=harness.PATIENCE, cwd=self.folder, check=True).stdout.decode()

    def probe(self, file, width):
        page = self.path(file).read_text()
        page, removed = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        self.assertEqual(removed, 1)
        self.path("probed.html").write_text(page.replace("</body>", PROBE + "</body>"))
        dom = self.browser("probed.html", width, "--dump-dom")
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

    def test_light_and_dark_follow_the_reader(self):
        self.succeeds("explain", "naive", "-m", "64", "-n", "64", "-k", "32", "--html", "page.html")
        grounds = {}
        for scheme, value in (("light", 1), ("dark", 0)):
            self.browser("page.html", 800, f"--blink-settings=preferredColorScheme={value}", f"--screenshot={self.path(scheme)}.png")
            grounds[scheme] = first_pixel(pathlib.Path(f"{self.path(scheme)}.png").read_bytes())
        self.assertGreater(min(grounds["light"]), 240, grounds)
        self.assertLess(max(grounds["dark"]), 40, grounds)


if __name__ == "__main__":
    harness.main()
