#!/usr/bin/env python3
"""Fresh machines: what .devcontainer/ runs, in a root that debootstrap makes, as far as the first puzzle; the Containerfile, by buildah or
podman. Both take minutes and a network."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

BUILDER = next(filter(None, map(shutil.which, ("buildah", "podman"))), None)


def run(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def sources(folder):
    """A copy of the checkout without what git ignores."""
    for name in run("git", "-C", cases.ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (cases.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(cases.ROOT / name, folder / name)


class Container(unittest.TestCase):
    def setUp(self):
        if cases.options.build.name != "release":
            self.skipTest("a fresh machine is the same for every build: with that of release")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_a_bare_debian_comes_to_the_first_puzzle(self):
        if shutil.which("debootstrap") is None or os.geteuid() != 0:
            self.skipTest("a fresh machine is NOT tried: that needs debootstrap, and root")
        root = self.folder / "root"
        run("debootstrap", "--variant=minbase", "bookworm", root, os.environ.get("TESSERA_DEBIAN", "http://deb.debian.org/debian"))
        for name in ("etc/apt/apt.conf.d", "etc/apt/sources.list", "etc/apt/sources.list.d", "etc/resolv.conf"):  # where packages come from
            there = pathlib.Path("/", name)
            if there.is_dir():
                shutil.copytree(there, root / name, dirs_exist_ok=True)
            elif there.exists():
                shutil.copy(there, root / name)
        sources(root / "tessera")
        command = json.loads((cases.ROOT / ".devcontainer/devcontainer.json").read_text())["postCreateCommand"]
        # With /proc, as any machine has it; it goes with the mount namespace.
        said = run("unshare", "--mount", "sh", "-c", 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"', root,
                   "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "bash", "-c",
                   f"cd /tessera && {command} && cd puzzles && ../build/course/bin/tessera puzzle run p01 --solution")
        self.assertIn("Puzzle 1 complete", said)

    def test_the_containerfile_is_built(self):
        if BUILDER is None:
            self.skipTest("the Containerfile is NOT built: neither buildah nor podman is installed")
        sources(self.folder / "tessera")
        run(BUILDER, "build", "--isolation=chroot", "--tag", "tessera-test", self.folder / "tessera")
        self.addCleanup(run, BUILDER, "rmi", "tessera-test")


if __name__ == "__main__":
    cases.main()
