#!/usr/bin/env python3
"""The components compile with -DCMAKE_UNITY_BUILD=ON, as the wheel and the course are built: many files as one. Only the syntax is checked, as
code takes most of the time and is compiled by others."""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402


def faults(command, folder):
    """What the compiler says of the file that this command compiles."""
    words = shlex.split(command)
    output = words.index("-o")
    done = subprocess.run([*words[:output], "-fsyntax-only", *words[output + 2:]], cwd=folder, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr[:3000]


class Unity(unittest.TestCase):
    def test_every_component_compiles_as_one(self):
        with tempfile.TemporaryDirectory() as folder:
            configured = subprocess.run(["cmake", "-G", "Ninja", "-S", cases.ROOT, "-B", folder, "-DCMAKE_UNITY_BUILD=ON", "-DTESSERA_BUILD_TESTS=OFF",
                                         "-DTESSERA_WERROR=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", f"-DCMAKE_CXX_COMPILER={cases.options.compiler}"],
                                        capture_output=True, text=True)
            self.assertEqual(configured.returncode, 0, configured.stderr)
            commands = [each["command"] for each in json.loads(pathlib.Path(folder, "compile_commands.json").read_text())
                        if "/Unity/unity_" in each["file"] and "/tessera_checked.dir/" not in each["file"]]  # one template, 13 times
            self.assertGreater(len(commands), 15)
            commands = cases.thinned(commands, 15)
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                found = list(filter(None, pool.map(lambda command: faults(command, folder), commands)))
            self.assertEqual(found, [], "\n".join(found))


if __name__ == "__main__":
    cases.main()
