"""Tessera's library, its C interface and its BLAS: `conan create packaging/conan`, or `conan export-pkg packaging/conan` with
TESSERA_BUILD=FOLDER for a build that is there."""
import os
import pathlib
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tessera(ConanFile):
    name = "tessera"
    license = "Apache-2.0"
    description = "Tiled matrix multiplication: a library, and a language for kernels that a checker runs without a GPU"
    settings = "os", "arch", "compiler", "build_type"
    options = {"system_libraries": [True, False]}  # Boost.Context, JSON and zlib of the system, or Conan's
    default_options = {"system_libraries": True}

    def set_version(self):
        header = ROOT / "include/tessera/core/config.hpp"
        self.version = re.search(r'TESSERA_VERSION "([^"]+)"', header.read_text())[1] if header.exists() else self.version

    def requirements(self):
        if not self.options.system_libraries:
            self.requires("boost/[>=1.74]")
            self.requires("nlohmann_json/[>=3.9]")
            self.requires("zlib/[>=1.2.11]")

    def layout(self):
        cmake_layout(self, src_folder=str(ROOT))

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # no file into the checkout
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"TESSERA_BUILD_CLI": False, "TESSERA_BUILD_TESTS": False, "TESSERA_BUILD_EXAMPLES": False, "TESSERA_PYTHON_MODULE": "OFF"})
        cmake.build()

    def package(self):
        self.run(f'cmake --install "{os.environ.get("TESSERA_BUILD", self.build_folder)}" --prefix "{self.package_folder}"')

    def package_info(self):
        self.cpp_info.set_property("cmake_find_mode", "none")  # its own lib/cmake/Tessera
        self.cpp_info.builddirs.append("lib/cmake/Tessera")
