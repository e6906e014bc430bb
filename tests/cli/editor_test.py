#!/usr/bin/env python3
""".vscode/tasks.json: its problem matchers read what the command prints. tests/house/ci_test.py has the lines of `tessera check`."""
import json
import re
import shlex

import harness

TASKS = {task["label"]: task for task in json.loads((harness.cases.ROOT / ".vscode/tasks.json").read_text())["tasks"]}


def problems(matchers, lines):
    """(line, message) of each problem, as VS Code reads them: the patterns of a matcher match lines that follow one another."""
    found = []
    for matcher in matchers:
        patterns = matcher["pattern"] if isinstance(matcher["pattern"], list) else [matcher["pattern"]]
        for at in range(len(lines)):
            matches = [re.search(pattern["regexp"], line) for pattern, line in zip(patterns, lines[at:])]
            if len(matches) < len(patterns) or not all(matches):
                continue
            parts = {part: match[group] for pattern, match in zip(patterns, matches) for part, group in pattern.items() if part != "regexp"}
            found.append((parts["file"], int(parts["line"]), parts["message"]))
    return found


class Editor(harness.CommandTest):
    def answer(self, *changes, file="p08.cpp"):
        """What a puzzle's task lists for a file with these changes."""
        self.succeeds("puzzle", "start", "p08", *["--cuda"] * file.endswith(".cu"), env={"HOME": str(self.folder)})
        text = self.path(file).read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        self.path(file).write_text(text)
        words = shlex.split(TASKS["tessera puzzle"]["command"].replace("${fileBasenameNoExtension}", "p08").replace("${file}", file))
        run = self.tessera(*words[1:], env={"HOME": str(self.folder)})
        line = 1 + text[:text.index(changes[0][1])].count("\n")
        return line, problems(TASKS["tessera puzzle"]["problemMatcher"], (run.out + run.err).splitlines())

    def test_a_puzzle_that_does_not_compile_is_listed(self):
        line, found = self.answer(("const int i = t.thread;", "const int i = t.thred;"))
        self.assertEqual([each[:2] for each in found], [("p08.cpp", line)])
        self.assertIn("thred", found[0][2])

    def test_a_finding_of_a_puzzle_is_listed(self):
        line, found = self.answer(("      // FILL ME IN (2 lines)", "      if (i < half) s.sums(0, i) = s.sums(0, i) + s.sums(0, i + half);  //"))
        self.assertEqual([each[:2] for each in found], [("p08.cpp", line)])
        self.assertIn("nothing orders the two", found[0][2])

    def test_so_are_those_of_a_puzzle_in_plain_cuda(self):
        line, found = self.answer(("    // FILL ME IN (2 lines)", "    sums[i] += ;  //"), file="p08.cu")
        self.assertIn(("p08.cu", line), [each[:2] for each in found])
        self.succeeds("puzzle", "reset", "p08", "--cuda", env={"HOME": str(self.folder)})
        self.path("p08.cu").unlink()
        line, found = self.answer(("    // FILL ME IN (2 lines)", "    if (i < half) sums[i] += sums[i + half];  //"), file="p08.cu")
        self.assertEqual([each[:2] for each in found], [("p08.cu", line)])
        self.assertIn("nothing orders the two", found[0][2])

    def test_the_task_of_the_document_is_this_one(self):
        text = (harness.cases.ROOT / "docs/ci.md").read_text()
        self.assertEqual(json.loads(re.search(r"```json\n(.*?)```", text, re.S)[1])["tasks"], [TASKS["tessera check"]])


if __name__ == "__main__":
    harness.main()
