#!/usr/bin/env python3
"""The explanations for files that do not compile: the mistakes of compile_mistakes.txt, each compiled and judged.

Here every 8th, of those in plain CUDA every second; TESSERA_ALL_MISTAKES=1 runs all of them, which takes minutes.
"""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import unittest

import harness
from harness import cases

CCACHE = "ccache " if shutil.which("ccache") else ""
STEP = 1 if os.environ.get("TESSERA_ALL_MISTAKES") else 8


def read_mistakes():
    out = []
    for line in pathlib.Path(__file__).with_name("compile_mistakes.txt").read_text().splitlines():
        if line.startswith("== "):
            out.append({"title": line[3:], "-": [], "+": []})
        elif line[:1] in ("-", "+"):
            out[-1][line[0]].append(line[1:])
        elif line and line[0] != "#":
            key, value = line.split(": ", 1)
            out[-1][key] = value
    return out


def form_of(mistake):
    """The words that ask for the puzzle: of "in: cuda" in plain CUDA."""
    return (mistake["puzzle"], "--cuda") if "in" in mistake else (mistake["puzzle"],)


def compiler_is_gcc():
    return "Free Software Foundation" in subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout


@unittest.skipIf(harness.sanitized(), "NOT tested with a sanitizer: the learner's program would need it too")
@unittest.skipUnless(compiler_is_gcc(), "the mistakes are written down as GCC meets them")
class CompileMistakes(harness.CommandTest):
    def answer(self, number, mistake, solutions):
        right, wrong = "\n".join(mistake["-"]), "\n".join(mistake["+"])
        folder = self.path(str(number))
        folder.mkdir()
        source = solutions[form_of(mistake)]
        self.assertIn(right, source, mistake["title"])
        file = folder / f"{mistake['puzzle']}.{'cu' if 'in' in mistake else 'cpp'}"
        file.write_text(source.replace(right, wrong, 1))
        env = {"XDG_STATE_HOME": str(folder), "CXX": CCACHE + "c++"}
        return self.tessera("puzzle", "run", mistake["puzzle"], str(file), "--json", env=env)

    def test_each_has_its_line_and_its_cause(self):
        mistakes = read_mistakes()
        self.assertGreater(len(mistakes), 100)
        chosen = [each for each in mistakes if "in" not in each][::STEP] + [each for each in mistakes if "in" in each][::STEP // 4 or 1]
        solutions = {form: self.tessera("puzzle", "solution", *form).out for form in map(form_of, chosen)}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = list(pool.map(lambda pair: self.answer(*pair, solutions), enumerate(chosen)))
        for mistake, run in zip(chosen, runs):
            with self.subTest(mistake["title"]):
                self.assertEqual(run.code, 1, run.out + run.err)
                first = run.json["errors"][0]
                self.assertEqual((first["line"], first["cause"] or "none"), (int(mistake["line"]), mistake["cause"]), run.out)
                self.assertTrue(first["why"].startswith(mistake.get("why", "")), run.out)
                self.assertTrue(first["advice"].startswith(mistake.get("try", "")), run.out)
                self.assertNotIn("tessera::", first["message"])


if __name__ == "__main__":
    harness.main()
