#!/usr/bin/env python3
"""Recipes of package managers and files of containers: the options, packages and versions that they name are those of the project; Conan's is run."""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

PACKAGING = cases.ROOT / "packaging"
VERSION = re.search(r'TESSERA_VERSION "([^"]+)"', (cases.ROOT / "include/tessera/core/config.hpp").read_text())[1]


def text(name):
    return (cases.ROOT / name).read_text()


class Packaging(unittest.TestCase):
    def test_options_are_those_of_cmake(self):
        known = set(re.findall(r"\b(?:option|set)\((TESSERA_\w+)", text("CMakeLists.txt") + text("src/python/CMakeLists.txt")))
        for file in [*PACKAGING.rglob("*.py"), *PACKAGING.rglob("portfile.cmake"), cases.ROOT / "debian/rules"]:
            named = set(re.findall(r"(?:-D|\b)(TESSERA_(?:BUILD_[A-Z]+|PYTHON_MODULE|UNITY_BATCH|INSTALL))\b", file.read_text()))
            self.assertTrue(named, file)
            self.assertEqual(named - known, set(), file)

    def test_recipes_have_what_cmake_requires(self):
        required = {name.lower() for name in re.findall(r"find_package\((\w+) REQUIRED", text("CMakeLists.txt"))} - {"threads", "pkgconfig"}
        self.assertGreaterEqual(len(required), 3)
        for file in [*PACKAGING.rglob("*.py"), PACKAGING / "vcpkg/tessera/vcpkg.json", cases.ROOT / "debian/control"]:
            for name in required:
                self.assertRegex(file.read_text().lower(), name.replace("_", "[-_]"), file)

    def test_versions_are_that_of_the_project(self):
        self.assertEqual(json.loads(text("packaging/vcpkg/tessera/vcpkg.json"))["version"], VERSION)
        self.assertTrue(text("debian/changelog").startswith(f"tessera ({VERSION}-1) "))

    def test_packages_are_those_of_setup(self):
        needed = set(re.search(r"packages=\((build-essential.*?)\)", text("scripts/setup"), re.S)[1].split())
        self.assertEqual(set(text("binder/apt.txt").split()), needed | {"g++-12"})
        control = set(re.split(r"[\s,]+", re.search(r"Build-Depends: (.*?)\n\S", text("debian/control"), re.S)[1]))
        self.assertEqual(needed - {"build-essential"} - control, set())

    def test_containers_run_what_is_there(self):
        for file in ("Containerfile", ".devcontainer/devcontainer.json", "binder/postBuild"):
            for script in re.findall(r"scripts/\w+", text(file)):
                self.assertTrue(os.access(cases.ROOT / script, os.X_OK), f"{file}: {script}")
        self.assertIn("course", {preset["name"] for preset in json.loads(text("CMakePresets.json"))["configurePresets"]})
        self.assertIn("build/course/bin", json.loads(text(".devcontainer/devcontainer.json"))["remoteEnv"]["PATH"])
        for script in ("binder/postBuild", "binder/start"):
            self.assertTrue(os.access(cases.ROOT / script, os.X_OK), script)
            subprocess.run(["bash", "-n", cases.ROOT / script], check=True)

    def test_recipes_are_python(self):
        for file in PACKAGING.rglob("*.py"):
            names = {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef)}
            self.assertEqual(names, {"Tessera"}, file)

    def test_conan_makes_a_package_of_this_build(self):
        conan = os.environ.get("CONAN") or shutil.which("conan")
        if conan is None:
            self.skipTest("Conan's recipe is NOT run: conan is not installed (pip install conan)")
        with tempfile.TemporaryDirectory() as home:
            env = os.environ | {"CONAN_HOME": home, "TESSERA_BUILD": str(cases.options.build)}
            for words in (["profile", "detect"], ["export-pkg", "packaging/conan", "--output-folder", f"{home}/out"]):
                done = subprocess.run([conan, *words], env=env, cwd=cases.ROOT, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            packages = list(pathlib.Path(home).glob("p/**/lib/cmake/Tessera/TesseraConfig.cmake"))
            self.assertEqual(len(packages), 1, done.stderr[-2000:])
            self.assertIn(f"tessera/{VERSION}", done.stderr)


if __name__ == "__main__":
    cases.main()
