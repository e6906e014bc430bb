#!/usr/bin/env python3
"""tessera completion, and the man pages: both know every option of the program."""
import os
import pathlib
import re
import select
import shutil
import subprocess
import time

import harness

COMMANDS = ["multiply", "compare", "bench", "check", "explain", "puzzle", "layout", "banks", "mcp", "doctor", "config", "completion", "help"]


def options_of(text):
    """Every option in a help text."""
    return {name for line in text.splitlines() if line.startswith("  -")
            for name in re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", re.split(r" {2,}", line.strip())[0])}


class Bash(harness.CommandTest):
    def complete(self, *words):
        """What bash offers for the last word."""
        self.path("script").write_text(self.succeeds("completion", "bash").out)
        quoted = " ".join(f"'{word}'" for word in words)
        line = (f"compopt() {{ :; }}; source ./script; COMP_WORDS=(tessera {quoted}); COMP_CWORD={len(words)}; _tessera; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, capture_output=True, check=True)
        self.assertEqual(done.stderr, b"")
        return set(done.stdout.decode().split())

    def test_script_parses(self):
        self.path("script").write_text(self.succeeds("completion", "bash").out)
        subprocess.run(["bash", "-n", "script"], cwd=self.folder, check=True)
        if shutil.which("shellcheck"):
            done = subprocess.run(["shellcheck", "-s", "bash", "-S", "warning", "script"], cwd=self.folder, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_commands_options_and_values(self):
        self.assertLessEqual(set(COMMANDS), self.complete(""))
        self.assertEqual(self.complete("mul"), {"multiply"})
        self.assertEqual(self.complete("compare", "--ord"), {"--order"})
        self.assertEqual(self.complete("compare", "--order", ""), {"forward", "backward", "shuffled", "late"})
        self.assertEqual(self.complete("compare", "--order", "=", "sh"), {"shuffled"})
        self.assertEqual(self.complete("multiply", "--dtype", "b"), {"bf16"})
        self.assertLessEqual(set(harness.algorithms()) | {"auto"}, self.complete("multiply", "--algorithm", ""))
        self.assertEqual(self.complete("compare", "--algorithms", "naive,coa"), {"naive,coalescing"})
        self.assertEqual(self.complete("compare", "--algorithms", "bla"), set())
        self.assertEqual(self.complete("bench", "--algorithms", "naive,bla"), {"naive,blas"})
        self.assertEqual(self.complete("layout", "ev"), {"eval"})
        self.assertIn("exit-codes", self.complete("help", ""))
        self.assertLessEqual({"p01", "p16", "p26"}, self.complete("puzzle", "run", "p"))
        self.assertEqual(self.complete("puzzle", "hint", "p26"), {"p26"})
        self.assertEqual(self.complete("puzzle", "run", "p16", "--id"), {"--idiomatic-tiled"})
        self.assertNotIn("--tiled", self.complete("puzzle", "hint", "--"))
        self.path("tiles.cpp").write_text("")
        self.assertLessEqual({"tiled", "tiles.cpp"}, self.complete("check", "til"))
        self.path("matrix.npy").write_bytes(b"")
        self.assertEqual(self.complete("multiply", "matr"), {"matrix.npy"})
        self.assertEqual(self.complete("multiply", "x.npy", "-o", "matr"), {"matrix.npy"})
        self.assertEqual(self.complete("multiply", "--transpose-a", "matr"), {"matrix.npy"})  # a flag takes no value


class Zsh(harness.CommandTest):
    """A real zsh on its own terminal, with the script where the documents put it: in a folder of $fpath."""

    def setUp(self):
        super().setUp()
        self.script = self.succeeds("completion", "zsh").out
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed: its completion is NOT tested")
        os.mkdir(self.path("functions"))
        self.path("functions/_tessera").write_text(self.script)

    def start(self, set_up):
        # Ctrl-X Ctrl-B writes down what the line has become: no guessing in what the terminal shows.
        self.path(".zshrc").write_text(
            f"PS1='READY> '\n{set_up}\nnote() {{ print -rn -- \"$BUFFER\" >! $HOME/buffer.new; mv $HOME/buffer.new $HOME/buffer }}\n"
            "zle -N note\nbindkey '^X^B' note\n")
        master, slave = harness.terminal(self)
        self.addCleanup(os.close, master)
        self.shell = subprocess.Popen(["zsh", "-d", "-i"], stdin=slave, stdout=slave, stderr=slave, cwd=self.folder, start_new_session=True,
                                      env=harness.environment(HOME=str(self.folder), ZDOTDIR=str(self.folder), TERM="xterm",
                                                              PATH=f"{harness.cases.options.build / 'bin'}:{os.environ['PATH']}"))
        os.close(slave)
        self.addCleanup(self.shell.wait)
        self.addCleanup(self.shell.kill)
        self.master, self.shown = master, ""
        self.until(lambda: "READY> " in self.shown)

    def until(self, done):
        end = time.monotonic() + 30
        while not done():
            self.assertLess(time.monotonic(), end, f"zsh does not answer; it showed: {self.shown[-2000:]!r}")
            if select.select([self.master], [], [], 0.05)[0]:
                self.shown += os.read(self.master, 65536).decode(errors="replace")

    def complete(self, typed):
        """What the line is after `typed` and one TAB."""
        answer = self.path("buffer")
        answer.unlink(missing_ok=True)
        os.write(self.master, ("\x15" + typed + "\t\x18\x02").encode())
        self.until(answer.exists)
        return answer.read_text()

    AUTOLOADED = "fpath=($HOME/functions $fpath)\nautoload -Uz compinit\ncompinit -u -d $HOME/dump"

    def test_the_first_tab_of_a_shell_completes(self):
        self.start(self.AUTOLOADED)
        self.assertEqual(self.complete("tessera mul"), "tessera multiply ")

    def test_a_sourced_script_completes(self):
        self.start("autoload -Uz compinit\ncompinit -u -d $HOME/dump\nsource <(tessera completion zsh)")
        self.assertEqual(self.complete("tessera comple"), "tessera completion ")

    def test_commands_options_and_values(self):
        self.path("matrix.npy").write_bytes(b"")
        self.start(self.AUTOLOADED)
        for typed, completed in {
                "tessera compare --ord": "tessera compare --order=",
                "tessera compare --order sh": "tessera compare --order shuffled ",
                "tessera compare --order=ba": "tessera compare --order=backward ",
                "tessera compare --algorithms naive,coa": "tessera compare --algorithms naive,coalescing",
                "tessera multiply --transpose-a": "tessera multiply --transpose-a ",  # a flag: no value follows
                "tessera multiply --transpose-a mat": "tessera multiply --transpose-a matrix.npy ",
                "tessera multiply -q mat": "tessera multiply -q matrix.npy ",
                "tessera multiply x.npy y.npy -o mat": "tessera multiply x.npy y.npy -o matrix.npy ",
                "tessera -q mult": "tessera -q multiply ",
                "tessera --color always lay": "tessera --color always layout ",
                "tessera puzzle run p2": "tessera puzzle run p2",  # p20 to p29
                "tessera puzzle hint p26": "tessera puzzle hint p26 ",
                "tessera puzzle run p16 --idio": "tessera puzzle run p16 --idiomatic-tiled ",
                "tessera layout ev": "tessera layout eval ",
                "tessera layout 4:1 --ti": "tessera layout 4:1 --tile=",
                "tessera layout eval --js": "tessera layout eval --json ",
                "tessera help exit": "tessera help exit-codes "}.items():
            with self.subTest(typed):
                self.assertEqual(self.complete(typed).rstrip(" ,"), completed.rstrip())  # , waits for the next name


class Fish(harness.CommandTest):
    def test_fish_completes(self):
        self.path("tessera.fish").write_text(self.succeeds("completion", "fish").out)
        if not shutil.which("fish"):
            self.skipTest("fish is not installed: its completion is NOT tested")

        def complete(words):
            done = subprocess.run(["fish", "-N", "-c", f"source ./tessera.fish; complete -C '{words}'"], cwd=self.folder,
                                  env=harness.environment(HOME=str(self.folder)), capture_output=True)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            return {line.split("\t")[0] for line in done.stdout.decode().splitlines()}

        self.assertIn("multiply", complete("tessera mul"))
        self.assertEqual(complete("tessera compare --order "), {"forward", "backward", "shuffled", "late"})
        self.assertIn("--transpose-a", complete("tessera multiply --tr"))
        self.assertIn("p16", complete("tessera puzzle run p1"))
        self.assertIn("--idiomatic-tiled", complete("tessera puzzle run p16 --id"))
        self.path("matrix.npy").write_bytes(b"")
        self.assertEqual(complete("tessera multiply --json matr"), {"matrix.npy"})


class ManPages(harness.CommandTest):
    FOLDER = harness.cases.ROOT / "docs" / "man"

    def text(self, name):
        return pathlib.Path(self.FOLDER / f"{name}.1.scd").read_text().replace("\\_", "_").replace("\\*", "*")

    def test_every_option_is_in_its_page_and_in_every_completion(self):
        scripts = {shell: self.succeeds("completion", shell).out for shell in ("bash", "zsh", "fish")}
        for command in [None, *COMMANDS, "layout eval", "config show"]:
            with self.subTest(command or "tessera"):
                words = command.split() if command else []
                options = options_of(self.succeeds(*words, "--help").out)
                self.assertIn("--help", options)
                page = self.text("tessera-" + words[0] if words else "tessera")
                for option in options:
                    self.assertRegex(page, rf"\*{option}\*", f"{option} is missing in the man page")
                    self.assertIn(option, scripts["bash"])
                    self.assertIn(option, scripts["zsh"])
                    self.assertIn(("-l " if option.startswith("--") else "-s ") + option.lstrip("-"), scripts["fish"])

    def test_no_page_knows_an_option_that_is_gone(self):
        for command in [None, *COMMANDS]:
            options = options_of(self.succeeds(*([command] if command else []), "--help").out)
            for below in {"layout": "eval", "config": "show", "puzzle": "run"}.get(command, "").split():
                options |= options_of(self.succeeds(command, below, "--help").out)
            page = self.text(f"tessera-{command}" if command else "tessera").split("# OPTIONS")[1].split("# EXIT STATUS")[0]
            for option in re.findall(r"^\*(--?[a-z][a-z-]*)\*|, \*(--?[a-z][a-z-]*)\*", page, flags=re.M):
                self.assertIn(option[0] or option[1], options | {"--threads"}, command)

    def test_every_page_has_its_exit_status(self):
        for page in self.FOLDER.glob("*.scd"):
            text = page.read_text()
            self.assertIn("# EXIT STATUS", text, page.name)
            # tessera-blas is a script that reads no files and catches no signal.
            files_and_signals = [] if page.stem == "tessera-blas.1" else ["*3*", "*130*"]
            for code in ["*0*", "*1*", "*2*", "*4*", *files_and_signals]:
                self.assertIn(f"\n{code}\n", text, page.name)

    def test_pages_build(self):
        if not shutil.which("scdoc"):
            self.skipTest("scdoc is not installed: the man pages are NOT built")
        for page in self.FOLDER.glob("*.scd"):
            done = subprocess.run(["scdoc"], stdin=page.open(), capture_output=True)
            self.assertEqual(done.returncode, 0, f"{page.name}: {done.stderr.decode()}")


if __name__ == "__main__":
    harness.main()
