#!/usr/bin/env python3
"""What docs/ci.md promises: the action's own step annotates a pull request, the hook's entry checks what it is given, and the problem
matcher of the page reads what --format gcc prints. In a git repository that begins empty."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

try:
    import yaml
except ImportError:
    yaml = None

PAGE = cases.ROOT / "docs/ci.md"
COMMAND = cases.options.build / "bin/tessera"
RACY = re.search(r"```cpp file=scale\.cpp\n(.*?)```", PAGE.read_text(), re.S)[1]
CLEAN = RACY.replace("    C(0,", "    t.barrier();\n    C(0,")
HEADER = "struct Scale {" + RACY.split("struct Scale {")[1].split("check::Report")[0]
PARTS = RACY.replace(HEADER, '#include "scale.cuh"\n\n'), "#pragma once\n" + HEADER


class Repository(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tessera-ci-")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)
        self.folder = self.scratch / "repository"
        self.git("init", "--quiet", "--initial-branch=main", str(self.folder), cwd=self.scratch)
        compiler = ("ccache " if shutil.which("ccache") else "") + cases.options.compiler
        self.env = {**{name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GIT_"))},
                    "PATH": f"{COMMAND.parent}:{os.environ['PATH']}", "CXX": compiler, "HOME": str(self.scratch)}

    def git(self, *words, cwd=None):
        done = subprocess.run(["git", "-c", "user.name=me", "-c", "user.email=me@example.com", *words], cwd=cwd or self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def commit(self, message, **files):
        for name, text in files.items():
            file = self.folder / name.replace("__", "/").replace("_", ".")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)

    def pull_request(self, **files):
        """A merge of the base branch and a change, as GitHub checks it out."""
        self.git("checkout", "--quiet", "-b", "change")
        self.commit("Change", **files)
        self.git("checkout", "--quiet", "main")
        self.commit("Base", other_txt="a change of the base branch\n")
        self.git("merge", "--quiet", "--no-ff", "--message", "Merge", "change")

    def runs(self, words, code, cwd=None, **env):
        done = subprocess.run([str(word) for word in words], cwd=cwd or self.folder, capture_output=True, text=True, env={**self.env, **env})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def action(self, code, event="pull_request", **inputs):
        """Runs the last step of action.yml as GitHub does."""
        if yaml is None:
            self.skipTest("action.yml is NOT tested: install python3-yaml")
        action = yaml.safe_load((cases.ROOT / "action.yml").read_text())
        values = {name: each["default"] for name, each in action["inputs"].items()} | {"tessera": str(COMMAND)} | inputs
        context = {f"inputs.{name}": value for name, value in values.items()} | {"github.action_repository": "owner/tessera",
                                                                                 "github.action_ref": "v1"}
        [step] = [each for each in action["runs"]["steps"] if each["id"] == "check"]
        env = {name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: context[match[1]], value) for name, value in step["env"].items()}
        script = self.scratch / "step.sh"
        script.write_text(step["run"])
        summary = self.scratch / "summary.md"
        out = self.runs(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], code, GITHUB_ACTIONS="true", GITHUB_EVENT_NAME=event,
                        GITHUB_WORKSPACE=str(self.folder), GITHUB_ACTION_PATH=str(cases.ROOT), GITHUB_SERVER_URL="https://github.com",
                        GITHUB_STEP_SUMMARY=str(summary), **env)
        return out, summary.read_text() if summary.exists() else ""

    def test_the_action_annotates_what_a_pull_request_changes(self):
        self.commit("First", kernels__old_cpp=RACY.replace("Scale", "Old"), README_md="empty\n")
        self.pull_request(kernels__new_cpp=RACY)
        out, summary = self.action(1, sarif="logs")
        annotations = [line for line in out.splitlines() if line.startswith("::")]
        self.assertEqual(len(annotations), 1, out)
        self.assertRegex(annotations[0], r"^::error file=kernels/new\.cpp,line=14,col=\d+,title=scale%3A race in shared memory::thread ")
        self.assertNotIn("old.cpp", out)
        self.assertIn("| `kernels/new.cpp` | findings |", summary)
        log = json.loads((self.folder / "logs/kernels_new.cpp.sarif").read_text())
        self.assertEqual(log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"],
                         "https://github.com/owner/tessera/blob/v1/docs/checker.md#what-it-finds")

    def test_the_action_checks_all_on_other_events_and_named_files_where_asked(self):
        self.commit("First", a_cpp=RACY, b_cpp=CLEAN)
        out, _ = self.action(1, event="push")
        self.assertIn("2 checked: a.cpp findings, b.cpp clean", out)
        out, _ = self.action(0, event="push", files="b.cpp", options="--time-limit 50")
        self.assertIn("b.cpp: tessera check --time-limit 50\n", out)
        self.assertIn("1 checked: b.cpp clean", out)

    def test_a_pull_request_without_kernels_is_good(self):
        self.commit("First", a_cpp=RACY)
        self.pull_request(README_md="text\n")
        out, _ = self.action(0)
        self.assertEqual(out, "no kernels to check\n")

    def test_kernels_that_git_does_not_know_are_named(self):
        self.commit("First", README_md="text\n")
        command = [cases.ROOT / "scripts/tessera-check-kernels", "--all"]
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True)
        self.assertIn("git knows no file that ends with .cu", done.stdout)
        (self.folder / "new.cu").write_text("int main() {}\n")
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "no kernels to check: git does not know new.cu; git add them\n"))

    def test_a_checkout_without_the_base_is_told_what_to_do(self):
        self.commit("First", a_cpp=CLEAN)
        done = subprocess.run([cases.ROOT / "scripts/tessera-check-kernels", "--changed-since", "HEAD^1"], cwd=self.folder, env=self.env,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no commit HEAD^1: fetch it; on GitHub, give actions/checkout `fetch-depth: 2`", done.stderr)

    def test_the_action_is_complete(self):
        if yaml is None:
            self.skipTest("action.yml is NOT tested: install python3-yaml")
        action = yaml.safe_load((cases.ROOT / "action.yml").read_text())
        used = set(re.findall(r"inputs\.(\w+)", json.dumps(action["runs"])))
        self.assertEqual(used, set(action["inputs"]))
        for step in action["runs"]["steps"]:
            self.assertTrue("uses" in step or step["shell"] == "bash", step)
            self.assertNotIn("${{", step.get("run", ""), "an input in the text of a script could be a command")
            self.assertEqual(subprocess.run(["bash", "-n", "-c", step.get("run", "")]).returncode, 0)
        files = [cases.ROOT / "CMakeLists.txt", *(cases.ROOT / "cmake").glob("*.cmake"), *(cases.ROOT / "src").rglob("CMakeLists.txt")]
        text = "".join(each.read_text() for each in files)
        for option in re.findall(r"-D(TESSERA_\w+)=", (cases.ROOT / "action.yml").read_text()):
            self.assertIn(option, text)

    def test_a_header_stands_for_the_kernels_that_include_it(self):
        kernel, header = PARTS
        self.commit("First", kernels__scale_cpp=kernel, kernels__scale_cuh=header.replace("    C(0,", "    t.barrier();\n    C(0,"),
                    kernels__other_cpp=CLEAN)
        self.pull_request(kernels__scale_cuh=header)
        out, _ = self.action(1)
        self.assertRegex(out, r"::error file=kernels/scale\.cuh,line=\d+,")
        self.assertNotIn("other.cpp", out)

    def test_a_header_is_found_in_any_folder(self):
        self.commit("First", kernels__one_cu="#include <one.cuh>\nint main() {}\n", inc__one_cuh='#include "two.h"\n', lib__two_h="//\n",
                    kernels__other_cu='#include "another.cuh"\nint main() {}\n')
        self.pull_request(lib__two_h="// changed\n")
        out, _ = self.action(4)
        self.assertIn("kernels/one.cu", out)
        self.assertNotIn("other.cu", out)

    def test_a_part_stands_for_the_kernels_that_are_compiled_with_it(self):
        self.commit("First", main_cu="// tessera check: part.cu --time-limit 20\nint main() {}\n", part_cu="__global__ void f() {}\n",
                    whole_cu='#include "part.cu"\nint main() {}\n', other_cu="// tessera check: off, part.cu\nint main() {}\n")
        self.pull_request(part_cu="__global__ void g() {}\n")
        out, _ = self.action(4)
        self.assertIn("main.cu: tessera check part.cu --time-limit 20\n", out)
        self.assertIn("whole.cu: tessera check\n", out)
        self.assertIn("3 checked: ", out)

    def test_the_hook_checks_the_files_that_it_is_given(self):
        if yaml is None:
            self.skipTest(".pre-commit-hooks.yaml is NOT tested: install python3-yaml")
        [hook] = yaml.safe_load((cases.ROOT / ".pre-commit-hooks.yaml").read_text())
        self.assertEqual(hook["language"], "script")
        self.commit("First", a_cpp=RACY, b_cpp=CLEAN, c_cpp="int unrelated;\n")
        for name, is_wanted in (("a.cpp", True), ("a.cu", True), ("a.cuh", True), ("a.py", False), ("cu", False)):
            self.assertEqual(re.search(hook["files"], name) is not None, is_wanted, name)
        entry = [cases.ROOT / hook["entry"].split()[0], *hook["entry"].split()[1:]]
        out = self.runs([*entry, "b.cpp", "c.cpp"], 0)
        self.assertIn("1 checked: b.cpp clean", out)
        self.assertRegex(self.runs([*entry, "a.cpp", "b.cpp"], 1), r"(?m)^a\.cpp:14:\d+: error: ")

    def test_a_file_says_how_it_is_checked(self):
        self.commit("First", a_cpp="// tessera check: --device a100\n// tessera check: --order backward --time-limit 20\n" + CLEAN,
                    b_cpp="// tessera check: off, needs two GPUs\n" + RACY, c_cu="__global__ void f() {}\n")
        out = self.runs(["tessera-check-kernels", "--all", "--sarif", "logs"], 0)
        ids = {json.loads(log.read_text())["runs"][0]["automationDetails"]["id"] for log in (self.folder / "logs").iterdir()}
        self.assertEqual(ids, {"tessera check/a.cpp/", "tessera check/a.cpp/1/"})  # GitHub takes one log for each
        self.assertIn("a.cpp: tessera check --device a100\n", out)
        self.assertIn("a.cpp: tessera check --order backward --time-limit 20\n", out)
        self.assertIn("b.cpp: not checked: switched off: needs two GPUs\n", out)
        self.assertIn("c.cu: not checked: has no main()", out)

    def test_what_cannot_be_checked_fails(self):
        self.commit("First", a_cpp=CLEAN.replace("Tile<", "Tyle<"))
        out, _ = self.action(4, event="push")
        self.assertIn("::error file=a.cpp,line=1,title=not checked::", out)
        self.commit("Quotes", b_cpp="// tessera check: --cxxflags '-O3\n" + CLEAN)
        for words in ([], ["--all", "a.cpp"], ["--all", "--tessera", "no-such-command"], ["a.cpp", "no_such_file.cu"], ["b.cpp"]):
            self.runs(["tessera-check-kernels", *words], 2)

    def test_the_problem_matcher_reads_every_line_of_a_finding(self):
        task = json.loads(re.search(r"```json\n(.*?)```", PAGE.read_text(), re.S)[1])["tasks"][0]
        pattern = task["problemMatcher"]["pattern"]
        self.commit("First", a_cpp=RACY)
        words = shlex.split(task["command"].replace("${relativeFile}", "a.cpp"))
        lines = self.runs(words, 1).splitlines()
        found = [re.search(pattern["regexp"], line) for line in lines]
        self.assertEqual([match is not None for match in found], [True, True, True, False], lines)
        read = [tuple(match[pattern[part]] for part in ("file", "line", "severity", "code")) for match in found if match]
        self.assertEqual(read, [("a.cpp", "14", "error", "race"), ("a.cpp", "15", "note", "race"), ("a.cpp", "14", "note", "race")])
        self.assertIsNotNone(re.search(pattern["regexp"], "a.cpp:1: warning: without a column [unseen-write]"))


if __name__ == "__main__":
    cases.main()
