"""Tessera for Spack: `spack repo add packaging/spack`, then `spack dev-build tessera@main` in a checkout."""
from spack.package import *


class Tessera(CMakePackage):
    """Tiled matrix multiplication: a library, and a language for kernels that a checker runs without a GPU."""

    license("Apache-2.0")
    version("main")
    variant("command", default=True, description="The command tessera")
    variant("mpi", default=False, description="Products on ranks of MPI")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("boost+context")
    depends_on("zlib-api")
    depends_on("elfutils")
    depends_on("cli11", when="+command")
    depends_on("fmt", when="+command")
    depends_on("nlohmann-json")
    depends_on("mpi", when="+mpi")

    def cmake_args(self):
        return [self.define_from_variant("TESSERA_BUILD_CLI", "command"), self.define("TESSERA_BUILD_TESTS", False),
                self.define("TESSERA_BUILD_EXAMPLES", False), self.define("TESSERA_PYTHON_MODULE", "OFF")]
