"""Pages in headless Chromium, for the tests that look at them; they are skipped, loudly, where there is no browser."""
import html
import json
import re
import shutil
import struct
import subprocess
import tempfile
import zlib

import harness

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')


def needed(test):
    if BROWSER is None:
        test.skipTest("pages are NOT looked at in a browser: scripts/setup browser installs chromium")


def run(page, width, *options):
    """(stdout, stderr) of a headless run on one page, in a window of that width: at least 500, the narrowest there is."""
    with tempfile.TemporaryDirectory(prefix="tessera-browser-", ignore_cleanup_errors=True) as profile:
        command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                   f"--window-size={width},900", *options, page.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=harness.PATIENCE, check=True, cwd=profile)
    return done.stdout.decode(), done.stderr.decode(errors="replace")


def with_script(page, script):
    """A copy of the page beside it with a script at its end; without the policy that forbids scripts."""
    text, removed = POLICY.subn("", page.read_text())
    assert removed == 1, f"{page}: no Content-Security-Policy"
    copy = page.with_name("probed-" + page.name)
    copy.write_text(text.replace("</body>", f"<script>{script}</script></body>"))
    return copy


def framed(pages, width, script):
    """What `script` posts to its parent from each page, in frames of that width: narrower than any window can be."""
    copies = [with_script(page, script) for page in pages]
    frame = pages[0].with_name("frames.html")
    frame.write_text("<title>[]</title><script>const got=[];addEventListener('message',e=>{got.push(e.data);document.title=JSON.stringify(got)})"
                     "</script>" + "".join(f'<iframe src="{copy.name}" width="{width}" height="900"></iframe>' for copy in copies))
    dom, _ = run(frame, 1000, "--dump-dom", "--virtual-time-budget=20000")
    for each in (frame, *copies):
        each.unlink()
    return json.loads(html.unescape(re.search(r"<title>(.*?)</title>", dom)[1]))


def grounds(page, folder):
    """The colour of the page's first pixel where the reader prefers light and dark."""
    found = {}
    for scheme, value in (("light", 1), ("dark", 0)):
        picture = folder / f"{scheme}.png"
        run(page, 800, f"--blink-settings=preferredColorScheme={value}", f"--screenshot={picture}")
        found[scheme] = first_pixel(picture.read_bytes())
    return found


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
