#!/usr/bin/env python3
"""debian/: the packages of this build are made, lintian finds nothing, and they can be installed and removed in a root of their own."""
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

# Of a build for /usr/lib, which has no folder for the architecture; and the packages have not been uploaded to Debian.
OF_THIS_BUILD = "arch-dependent-file-not-in-arch-specific-directory,pkg-config-unavailable-for-cross-compilation,initial-upload-closes-no-bugs"
PACKAGES = ["libtessera0", "libtessera-dev", "tessera", "tessera-blas", "python3-tessera"]
FILES = {"libtessera0": "usr/lib/libtessera_c.so.0", "libtessera-dev": "usr/include/tessera/matmul/matmul.hpp", "tessera": "usr/bin/tessera",
         "tessera-blas": "usr/lib/tessera-blas/libblas.so.3", "python3-tessera": "usr/lib/python3/dist-packages/tessera/__init__.py"}


def run(*command, folder=None, **environment):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, env=os.environ | environment, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


class Debian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for tool in ("dpkg-buildpackage", "dh", "dh_python3", "lintian"):
            if shutil.which(tool) is None:
                raise unittest.SkipTest(f"the packages are NOT built: {tool} is not installed (debhelper, dh-python, dpkg-dev, lintian)")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        source = cls.folder / "tessera-0.1.0"
        source.mkdir()
        for name in run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", folder=cases.ROOT).split("\0"):
            if name and (cases.ROOT / name).is_file():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(cases.ROOT / name, source / name)
        run("dpkg-buildpackage", "--build=binary", "--no-sign", "--no-check-builddeps", folder=source,
            TESSERA_BUILD=str(cases.options.build), DEB_BUILD_OPTIONS="noautodbgsym")
        cls.debs = {deb.name.split("_")[0]: deb for deb in cls.folder.glob("*.deb")}

    def test_all_packages_are_made(self):
        self.assertEqual(sorted(self.debs), sorted(PACKAGES))
        version = re.search(r'TESSERA_VERSION "([^"]+)"', (cases.ROOT / "include/tessera/core/config.hpp").read_text())[1]
        for name, deb in self.debs.items():
            self.assertEqual(run("dpkg-deb", "--field", deb, "Version").strip(), f"{version}-1", name)

    def test_lintian_finds_nothing(self):
        said = run("lintian", "--fail-on", "error,warning", "--allow-root", "--suppress-tags", OF_THIS_BUILD, *self.folder.glob("*.changes"))
        self.assertEqual(said, "")

    def test_installed_and_removed_in_a_root_of_their_own(self):
        root = self.folder / "root"
        (root / "var/lib/dpkg/info").mkdir(parents=True)
        (root / "var/lib/dpkg/updates").mkdir()
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-not-root,script-chrootless,depends,bad-path", f"--log={root}/log"]
        run(*dpkg, "--unpack", self.debs["python3-tessera"])  # Debian's py3compile knows no other root
        run(*dpkg, "--install", *(deb for name, deb in self.debs.items() if name != "python3-tessera"))
        for package, file in FILES.items():
            self.assertTrue((root / file).exists(), f"{package}: {file}")
        self.assertIn("tessera 0.1.0", run(root / "usr/bin/tessera", "--version"))
        python = run("/usr/bin/python3", "-c", "import tessera; print(tessera.__file__)", PYTHONPATH=str(root / "usr/lib/python3/dist-packages"))
        self.assertIn(str(root), python)
        self.assertIn("Puzzle 1 complete", run(root / "usr/bin/tessera", "puzzle", "run", "p01", "--solution", XDG_STATE_HOME=str(self.folder)))
        (self.folder / "twice.cu").write_text("__global__ void twice(const int* a, int* b) { b[threadIdx.x] = 2 * a[threadIdx.x]; }\n")
        self.assertIn("clean: no findings", run(root / "usr/bin/tessera", "check", self.folder / "twice.cu", "--launch", "twice<<<1, 3>>>(a: i32[3], b: i32[3])"))
        run(*dpkg, "--purge", *PACKAGES)
        self.assertEqual([str(file) for file in (root / "usr").rglob("*") if not file.is_dir()], [])

    def test_a_program_is_built_with_what_the_headers_depend_on(self):
        root, wanted = self.folder / "headers", ["libtessera-dev"]
        for package in wanted:  # grows
            depends = run("dpkg-deb", "--field", self.debs[package], "Depends")
            wanted += [name for name in PACKAGES if re.search(rf"(^|[ ,]){name} ", depends) and name not in wanted]
            run("dpkg-deb", "--extract", self.debs[package], root)
        self.assertNotIn("tessera", wanted)
        (self.folder / "user").mkdir()
        (self.folder / "user/CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES CXX)\nfind_package(Tessera REQUIRED COMPONENTS core blas)\n"
            f"add_executable(user {cases.ROOT}/tests/consumer/main.cpp)\ntarget_link_libraries(user PRIVATE tessera::core tessera::blas)\n")
        run("cmake", "-S", self.folder / "user", "-B", self.folder / "user/build", f"-DCMAKE_PREFIX_PATH={root}/usr",
            f"-DCMAKE_CXX_COMPILER={cases.options.compiler}")
        run("cmake", "--build", self.folder / "user/build")
        run(self.folder / "user/build/user")


if __name__ == "__main__":
    cases.main()
