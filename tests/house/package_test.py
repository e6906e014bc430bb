#!/usr/bin/env python3
"""Tessera as others use it: installed and found by CMake or pkg-config, moved to another place, or as a sub-folder.

The consumer in tests/consumer multiplies two matrices and prints the product.
"""
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
import relink  # noqa: E402

CONSUMER = cases.ROOT / "tests/consumer"
PRODUCT = "19 22\n43 50\n"


def flags():
    """The build's own flags: a library built with a sanitizer needs them in the program too."""
    cache = (cases.options.build / "CMakeCache.txt").read_text()
    return next((line.split("=", 1)[1] for line in cache.splitlines() if line.startswith("CMAKE_CXX_FLAGS:")), "")


def run(*command, env=None):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def configure(source, build, *options):
    return run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={cases.options.compiler}",
               f"-DCMAKE_CXX_FLAGS={flags()}", *options)


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Installs the build into a folder and moves it: what is installed may not remember where it was."""
        cls.scratch = tempfile.TemporaryDirectory()
        first = pathlib.Path(cls.scratch.name) / "first place"
        cls.prefix = pathlib.Path(cls.scratch.name) / "second"
        run("cmake", "--install", cases.options.build, "--prefix", first)
        shutil.move(first, cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_find_package_gives_the_library(self):
        build = pathlib.Path(self.scratch.name) / "found"
        configure(CONSUMER, build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "consumer"), PRODUCT)

    def test_kernels_are_made_for_the_checker_where_they_are_asked_for(self):
        for asked in ("OFF", "ON"):
            build = pathlib.Path(self.scratch.name) / f"kernels {asked}"
            configure(CONSUMER / "kernels", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DFILE={cases.ROOT / 'examples/any_device.cpp'}",
                      f"-DWITH_KERNELS={asked}")
            run("cmake", "--build", build)
            self.assertEqual(run(build / "any_device", "cpu"), "11 22 33 44 on cpu\n")
            done = subprocess.run([build / "any_device", "checked"], capture_output=True, text=True)
            if asked == "ON":
                self.assertEqual(done.stdout, "11 22 33 44 on checked\n", done.stderr)
            else:
                self.assertEqual((done.returncode, done.stderr), (4, "kernel add: this program was not built for checked; in CMake: "
                                 "tessera_add_kernels(TARGET FILE), or compile FILE with -DTESSERA_CHECK=1\n"))
            # Without a compiler: what the build has embedded runs, and nothing else. PoCL itself calls the linker.
            linker = pathlib.Path(self.scratch.name) / "linker"
            linker.mkdir(exist_ok=True)
            if (found := shutil.which("ld")) and not (linker / "ld").exists():
                (linker / "ld").symlink_to(found)
            there = subprocess.run([build / "any_device", "opencl:0"], capture_output=True, text=True,
                                   env={**os.environ, "PATH": str(linker), "XDG_CACHE_HOME": self.scratch.name})
            if "no OpenCL device" in there.stderr:
                continue
            if asked == "ON" and (shutil.which("clang++-14") or shutil.which("clang++")):
                self.assertEqual(there.stdout, "11 22 33 44 on opencl:0\n", there.stderr)
            else:
                self.assertEqual(there.returncode, 4)
                self.assertRegex(there.stderr, r"kernel add: no code for opencl:0: .*any_device.cpp: there is no Clang to compile it: expected TESSERA_CLANG.*; .*tessera_add_kernels")

    def test_find_package_refuses_another_major_version(self):
        source = pathlib.Path(self.scratch.name) / "newer"
        source.mkdir()
        text = (CONSUMER / "CMakeLists.txt").read_text().replace("Tessera 0.1", "Tessera 7.0")
        (source / "CMakeLists.txt").write_text(text)
        with self.assertRaisesRegex(AssertionError, "7.0"):
            configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_find_package_names_a_component_that_is_not_there(self):
        source = pathlib.Path(self.scratch.name) / "component"
        source.mkdir()
        text = (CONSUMER / "CMakeLists.txt").read_text().replace("COMPONENTS core", "COMPONENTS core gpu")
        (source / "CMakeLists.txt").write_text(text)
        with self.assertRaisesRegex(AssertionError, "not in this installation: gpu"):
            configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_a_build_folder_is_named(self):
        said = "is a build folder: install it with cmake --install"  # CMake breaks its lines where they get long
        with self.assertRaisesRegex(AssertionError, said.replace(" ", r"\s+")):
            configure(CONSUMER, pathlib.Path(self.scratch.name) / "from build", f"-DTessera_DIR={cases.options.build}")

    def test_pkg_config_gives_the_library(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        place = next(self.prefix.rglob("tessera.pc")).parent
        env = {"PKG_CONFIG_PATH": str(place)}
        said = run("pkg-config", "--cflags", "--libs", "tessera", env=env)
        self.assertIn("-ffp-contract=off", said)
        self.assertIn("-fstack-clash-protection", said)
        self.assertNotRegex(said, "NDEBUG|TESSERA_CONTRACTS")  # whether accesses are checked is the user's decision
        self.assertIn(str(self.prefix), str(pathlib.Path(next(w[2:] for w in said.split() if w.startswith("-L"))).resolve()))
        program = pathlib.Path(self.scratch.name) / "by_pkg_config"
        run(cases.options.compiler, *flags().split(), CONSUMER / "main.cpp", "-o", program, *said.split())
        self.assertEqual(run(program, env={"LD_LIBRARY_PATH": str(place.parent)}), PRODUCT)

    def test_the_blas_is_found_by_both(self):
        if not (cases.options.build / "libtessera_blas.so").exists():
            self.skipTest("the BLAS is not part of this build")
        source = pathlib.Path(self.scratch.name) / "blas"
        source.mkdir()
        (source / "main.cpp").write_text('#include <cstdio>\n#include <tessera/blas.h>\nint main() { std::puts(tessera_get_config()); }\n')
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\n"
                                               "find_package(Tessera REQUIRED COMPONENTS blas)\nadd_executable(user main.cpp)\n"
                                               "target_link_libraries(user PRIVATE tessera::blas)\n")
        configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", source / "build")
        self.assertIn("Tessera ", run(source / "build/user"))
        place = next(self.prefix.rglob("tessera_blas.pc")).parent
        said = run("pkg-config", "--cflags", "--libs", "tessera_blas", env={"PKG_CONFIG_PATH": str(place)})
        run(cases.options.compiler, *flags().split(), source / "main.cpp", "-o", source / "user", *said.split())
        self.assertIn("Tessera ", run(source / "user", env={"LD_LIBRARY_PATH": str(place.parent)}))

    def test_the_blas_alone_needs_neither_cpp_nor_another_package(self):
        if not (cases.options.build / "libtessera_blas.so").exists():
            self.skipTest("the BLAS is not part of this build")
        without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("Boost", "PkgConfig", "Threads")]
        for language, asked in (("C", ""), ("C", "COMPONENTS blas"), ("C", "OPTIONAL_COMPONENTS blas"), ("CXX", "COMPONENTS blas")):
            with self.subTest(f"{language} {asked}"):
                scratch = tempfile.TemporaryDirectory()
                self.addCleanup(scratch.cleanup)
                source = pathlib.Path(scratch.name)
                main = "main.c" if language == "C" else "main.cpp"
                (source / main).write_text('#include <stdio.h>\n#include <tessera/blas.h>\n'
                                           'int main(void) { puts(tessera_get_config()); return 0; }\n')
                (source / "CMakeLists.txt").write_text(
                    f"cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES {language})\n"
                    f"find_package(Tessera REQUIRED {asked})\nif(TARGET tessera::core)\n  message(FATAL_ERROR unasked)\nendif()\n"
                    f"add_executable(user {main})\ntarget_link_libraries(user PRIVATE tessera::blas)\n")
                configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_FLAGS={flags()}", *without)
                run("cmake", "--build", source / "build")
                self.assertIn("Tessera ", run(source / "build/user"))

    def test_the_c_interface_alone_needs_neither_cpp_nor_another_package(self):
        if not (cases.options.build / "libtessera_c.so").exists():
            self.skipTest("the C interface is not part of this build")
        without = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("Boost", "PkgConfig", "Threads")]
        for language, main in (("C", "main.c"), ("CXX", "main.cpp")):
            with self.subTest(language), tempfile.TemporaryDirectory() as folder:
                source = pathlib.Path(folder)
                (source / main).write_text('#include <stdio.h>\n#include <tessera/tessera.h>\n'
                                           'int main(void) { puts(tessera_version()); return 0; }\n')
                (source / "CMakeLists.txt").write_text(
                    f"cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES {language})\n"
                    "find_package(Tessera REQUIRED COMPONENTS c)\nif(TARGET tessera::core)\n  message(FATAL_ERROR unasked)\nendif()\n"
                    f"add_executable(user {main})\ntarget_link_libraries(user PRIVATE tessera::c)\n")
                configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_FLAGS={flags()}", *without)
                run("cmake", "--build", source / "build")
                self.assertRegex(run(source / "build/user"), r"^\d+[.]\d+[.]\d+$")

    def test_a_project_in_c_that_asks_for_the_core_is_told_what_to_change(self):
        source = pathlib.Path(self.scratch.name) / "core in c"
        source.mkdir()
        (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES C)\n"
                                               "find_package(Tessera REQUIRED COMPONENTS core)\n")
        with self.assertRaisesRegex(AssertionError, r"tessera::core is C\+\+: enable CXX"):
            configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_a_project_in_cpp_that_asks_for_nothing_gets_all(self):
        blas = (cases.options.build / "libtessera_blas.so").exists()
        for asked in ("", "OPTIONAL_COMPONENTS blas", "COMPONENTS core"):
            with self.subTest(asked):
                scratch = tempfile.TemporaryDirectory()
                self.addCleanup(scratch.cleanup)
                source = pathlib.Path(scratch.name)
                (source / "CMakeLists.txt").write_text(
                    f"cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(Tessera REQUIRED {asked})\n"
                    "foreach(part core blas)\n  if(TARGET tessera::${part})\n    message(STATUS \"found ${part}\")\n  endif()\n"
                    "endforeach()\n")
                said = configure(source, source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
                self.assertEqual(re.findall("found (core|blas)$", said, re.M), ["core", "blas"] if blas else ["core"])

    def test_the_installed_switch_finds_the_installed_blas(self):
        if not (cases.options.build / "libtessera_blas.so").exists():
            self.skipTest("the BLAS is not part of this build")
        if "-fsanitize" in flags():
            self.skipTest("NOT tested with a sanitizer: other programs cannot load such a library")
        self.assertIn(f"{self.prefix.resolve()}", run(self.prefix / "bin/tessera-blas", "run", "env"))
        libraries = next(self.prefix.rglob("tessera-blas/libblas.so.3")).parent
        self.assertEqual(os.readlink(libraries / "libblas.so"), "libblas.so.3")

    def test_the_installed_command_runs_from_its_new_place(self):
        command = self.prefix / "bin/tessera"
        if not (cases.options.build / "bin/tessera").exists():
            self.skipTest("the command is not part of this build")
        version = (cases.ROOT / "include/tessera/core/config.hpp").read_text().split('TESSERA_VERSION "')[1].split('"')[0]
        self.assertIn(version, run(command, "--version"))

    def test_the_matchers_judge_a_kernel_of_another_project(self):
        build = pathlib.Path(self.scratch.name) / "matchers"
        configure(CONSUMER / "matchers", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", build)
        self.assertIn("[  PASSED  ] 2 tests", run(build / "judge"))

    def test_the_installed_command_compiles_and_checks_kernels(self):
        command = self.prefix / "bin/tessera"
        if not command.exists():
            self.skipTest("the command is not part of this build")
        folder = pathlib.Path(self.scratch.name) / "my kernels"
        folder.mkdir()
        judge = (CONSUMER / "matchers/judge.cpp").read_text().split("TEST(")[0].replace("#include <gtest/gtest.h>", "")
        (folder / "racy.cpp").write_text(judge.replace("#include <tessera/check/matchers.hpp>", "")
                                         + "check::Report check_kernel(const check::Options&) { return report<false>(); }\n")
        env = {"CXX": f"{cases.options.compiler} {flags()}".strip()}
        done = subprocess.run([command, "check", "racy.cpp", "--json"], cwd=folder, capture_output=True, env={**os.environ, **env})
        self.assertEqual(done.returncode, 1, done.stderr.decode())
        self.assertIn("race", [finding["kind"] for finding in json.loads(done.stdout)["findings"]])
        said = subprocess.run([command, "check", "naive", "--tile", "4x8", "-m", "9"], cwd=folder, capture_output=True,
                              env={**os.environ, **env})
        self.assertEqual(said.returncode, 0, said.stderr.decode())
        self.assertIn("clean: no findings", said.stdout.decode())

    def test_a_program_in_plain_cuda_is_a_test_of_another_project(self):
        if not (self.prefix / "bin/tessera").exists():
            self.skipTest("the command is not part of this build")
        build = pathlib.Path(self.scratch.name) / "cuda check"
        configure(CONSUMER / "cuda_check", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        env = {"CXX": f"{cases.options.compiler} {flags()}".strip()}
        run("ctest", "--test-dir", build, "--output-on-failure", "-E", "too_far", env=env)
        with self.assertRaisesRegex(AssertionError, "out-of-bounds(?s:.*)twice.cu:8"):
            run("ctest", "--test-dir", build, "--output-on-failure", "-R", "too_far", env=env)
        with self.assertRaisesRegex(AssertionError, r"tessera_add_cuda_check\(empty\) has no file: expected a name, then FILE.cu"):
            configure(CONSUMER / "cuda_check", build, "-DWITHOUT_FILE=ON")

    def test_nothing_installed_speaks_of_the_source_folder(self):
        texts = [f for f in self.prefix.rglob("*") if f.suffix in (".cmake", ".pc", ".hpp")]
        self.assertGreater(len(texts), 20)
        self.assertEqual([str(f) for f in texts if str(cases.ROOT) in f.read_text()], [])

    def test_without_the_command_neither_its_pages_nor_its_completions_are_installed(self):
        for others, pages in (("OFF", set()), ("ON", {"tessera-blas"})):
            build = pathlib.Path(self.scratch.name) / f"no_command_blas_{others}"
            configure(cases.ROOT, build, "-DTESSERA_BUILD_CLI=OFF", f"-DTESSERA_BUILD_BLAS={others}", "-DTESSERA_BUILD_TESTS=OFF",
                      "-DTESSERA_BUILD_EXAMPLES=OFF")
            installed = (build / "cmake_install.cmake").read_text()
            self.assertIn("/libtessera.", installed)
            self.assertNotIn("/completions/", installed)
            found = set(re.findall(r"/man/(tessera[a-z-]*)\.1", installed))
            self.assertEqual(found, pages if shutil.which("scdoc") else set())

    def test_as_a_sub_folder_it_is_shared_if_asked_and_changes_nothing_of_its_parent(self):
        build = pathlib.Path(self.scratch.name) / "sub-folder"
        options = (f"-DTESSERA={cases.ROOT}", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        configure(CONSUMER / "subdirectory", build, *options, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
        commands = json.loads((build / "compile_commands.json").read_text())
        own = next(entry["command"] for entry in commands if entry["file"].endswith("main.cpp") and "consumer" in entry["file"])
        for foreign in ("-Wall", "-Werror", "-march", "NDEBUG", "TESSERA_CONTRACTS"):
            self.assertNotIn(foreign, own)
        self.assertEqual([e["file"] for e in commands if "/tests/" in e["file"] and "consumer" not in e["file"]], [])
        self.assertEqual([e["file"] for e in commands if "/src/cli/" in e["file"]], [])
        build = pathlib.Path(self.scratch.name) / "linked"  # as the library was built, whose objects are linked
        run("cmake", "-G", "Ninja", "-S", CONSUMER / "subdirectory", "-B", build, *options, *relink.build_type(cases.options.build))
        compiled = relink.linked(build, cases.options.build, "consumer")
        self.assertLessEqual({file.rsplit("/", 1)[1] for file in compiled}, {"main.cpp", "absent.cpp", "ladder.cpp"})
        self.assertEqual(run(build / "consumer"), PRODUCT)
        self.assertTrue(list(build.rglob("libtessera.so*")))


if __name__ == "__main__":
    cases.main()
