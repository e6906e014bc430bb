#!/usr/bin/env python3
"""Includes point towards core, never away: reads every include line of include/ and src/ and names the one that offends.

The order is the one of docs/architecture.md. A component may include itself and what KNOWS says. Every file of src knows base. Components that
must not know one another (kernels, cpu, check) do not meet below matmul.
"""
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cases  # noqa: E402

KNOWS = {
    "base": set(),
    "core": set(),
    "layout": {"core"},
    "tensor": {"core", "layout"},
    "io": {"core", "layout", "tensor"},
    "simt": {"core", "layout", "tensor"},
    "ops": {"core", "layout", "tensor", "simt"},
    "kernels": {"core", "layout", "tensor", "simt", "ops"},
    "cpu": {"core", "layout", "tensor"},
    "cuda": {"core", "layout", "tensor", "simt", "ops", "kernels"},
    "check": {"core", "layout", "tensor", "simt", "ops"},
    "gpu_code": {"core"},
    "device": {"core", "layout", "tensor", "simt", "cuda", "check", "gpu_code"},
    "matmul": {"core", "layout", "tensor", "simt", "ops", "kernels", "cpu", "cuda", "check", "device"},
    "mpi": set(),
    "scale": {"core", "io", "cpu", "matmul", "mpi"},
    "scalapack": {"core", "matmul", "io", "mpi", "scale"},
    "blas": {"core", "cpu"},
    "c_api": {"core", "layout", "device", "matmul", "tessera.h"},
    "python": {"core", "layout", "cpu", "cuda", "check", "device", "matmul"},
    "puzzle": {"core", "layout", "tensor", "simt", "ops", "cuda", "check", "device", "io"},
    "process": {"core", "io"},
    "plain_cuda": {"core", "io", "tensor", "simt", "check", "process"},
    "shell": {"core", "layout", "cuda", "io", "device", "matmul", "process"},
    "bench": {"core", "tensor", "layout", "cpu", "cuda", "device", "matmul", "io", "process", "shell"},
    "course": {"core", "cuda", "check", "device", "puzzle", "io", "process", "shell"},
    "product": {"core", "cuda", "device", "matmul", "io", "scale", "process", "shell"},
    "inspect": {"core", "layout", "tensor", "simt", "kernels", "check", "matmul", "io", "plain_cuda", "process", "shell"},
    "cli": {"core", "layout", "tensor", "simt", "ops", "kernels", "cpu", "cuda", "check", "device", "matmul", "io", "puzzle", "scale", "process", "shell",
            "product", "inspect", "bench", "course", "plain_cuda"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def component_of(path):
    """The component of a file below include/tessera or src, by its first folder; None for others."""
    parts = path.parts
    if parts[:2] == ("include", "tessera"):
        return parts[2] if len(parts) > 3 else "public"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def offences(root):
    """One sentence for each include line that points the wrong way."""
    found = []
    files = [f for top in ("include", "src") for f in (root / top).rglob("*") if f.suffix in (".hpp", ".cpp", ".cuh", ".cu")]
    for file in sorted(files):
        where = file.relative_to(root)
        component = component_of(where)
        public = where.parts[0] == "include"
        if component == "public":
            continue  # a header that gathers others
        if component not in KNOWS:
            found.append(f"{where}: the folder '{component}' is not in the order of the layers")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            said = f"{where}:{number}: {line.strip()}: "
            if name.startswith("tessera/"):
                other = name.split("/")[1]
                if not (root / "include" / name).is_file():
                    found.append(said + "there is no such header")
                elif other != component and other not in KNOWS[component]:
                    found.append(said + f"{component} may include {', '.join(sorted(KNOWS[component])) or 'nothing of the project'}, not {other}")
            elif quote == '"':
                if public:
                    found.append(said + "a public header includes others as \"tessera/...\"")
                elif "/" in name and (root / "src" / name).is_file():
                    other = name.split("/")[0]
                    if other not in {component, "base"} and other not in KNOWS[component]:
                        found.append(said + f"{component} may include {', '.join(sorted(KNOWS[component])) or 'nothing of the project'}, not {other}")
                elif not (file.parent / name).resolve().is_relative_to((root / "src" / component).resolve()):
                    found.append(said + f"private headers of another component than {component}")
            elif public and re.match(r"(fmt/|nlohmann/|iostream$|CLI/|boost/|zip\.h)", name):
                found.append(said + "public headers do without this one: it makes everyone's build slow")
    return found


class Includes(unittest.TestCase):
    def test_every_include_points_towards_core(self):
        found = offences(cases.ROOT)
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_the_tree_is_read_at_all(self):
        self.assertGreater(len(list((cases.ROOT / "include/tessera").rglob("*.hpp"))), 20)

    def test_planted_violations_are_named_with_their_line(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)

            def plant(name, text):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)

            plant("include/tessera/core/config.hpp", "#pragma once\n")
            plant("include/tessera/kernels/naive.hpp", '#include "tessera/core/config.hpp"\n')
            plant("src/kernels/fine.cpp", '#include "own.hpp"\n#include <string>\n')
            self.assertEqual(offences(root), [])
            plant("include/tessera/layout/layout.hpp", '#pragma once\n\n  #  include "tessera/kernels/naive.hpp"\n')
            plant("include/tessera/check/a.hpp", "#include <tessera/kernels/naive.hpp>\n")
            plant("include/tessera/tensor/a.hpp", "#include <iostream>\n")
            plant("src/io/a.cpp", '#include "../kernels/own.hpp"\n#include "tessera/core/missing.hpp"\n')
            plant("src/unheard/a.cpp", "")
            plant("src/cli/commands.hpp", "")
            plant("src/shell/table.hpp", "")
            plant("src/bench/a.cpp", '#include "shell/table.hpp"\n#include "cli/commands.hpp"\n')
            text = "\n".join(offences(root))
            for wanted in ("include/tessera/layout/layout.hpp:3: ", "layout may include core, not kernels",
                           "check/a.hpp:1: ", "not kernels", "tensor/a.hpp:1: ", "src/io/a.cpp:1: ",
                           "private headers of another component", "src/io/a.cpp:2: ", "no such header", "'unheard'",
                           "src/bench/a.cpp:2: ", "shell, tensor, not cli"):
                self.assertIn(wanted, text)
            self.assertEqual(len(text.splitlines()), 7)


if __name__ == "__main__":
    cases.main()
