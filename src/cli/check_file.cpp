// Compiles and runs a file for the checker: see check_file.hpp.
#include "check_file.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "temporary_folder.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

namespace fs = std::filesystem;

/// Where the headers and the library are.
struct Installed {
  fs::path include, library;
};

/// The library below a folder: libtessera.a or .so.
fs::path library_in(const fs::path& folder) {
  for (const char* name : {"libtessera.a", "libtessera.so"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

/// Beside this program: an installed prefix, or a build folder, whose cache names the sources.
Installed installed() {
  const fs::path prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  Installed out;
  if (fs::exists(prefix / "include/tessera/check/file.hpp")) {
    out.include = prefix / "include";
    for (const char* folder : {"lib", "lib64"}) {
      if (out.library.empty()) out.library = library_in(prefix / folder);
    }
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(prefix / "lib", none)) {
      if (out.library.empty() && entry.is_directory()) out.library = library_in(entry.path());
    }
  } else {
    const std::string key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    std::ifstream cache(prefix / "CMakeCache.txt");
    for (std::string line; std::getline(cache, line);) {
      if (line.starts_with(key)) out.include = fs::path(line.substr(key.size())) / "include";
    }
    out.library = library_in(prefix);
  }
  if (out.library.empty() || !fs::exists(out.include)) {
    throw Error(Category::unavailable, "check: the headers and the library are not found",
                cat("include/tessera and libtessera below ", prefix.string()), {},
                "install Tessera with its development files");
  }
  return out;
}

/// Runs a program with our streams; what waitpid says. -1: it could not be started.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawnp(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0) return -1;
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  return status;
}

std::string compiler() {
  const char* const name = std::getenv("CXX");
  return name != nullptr && *name != '\0' ? name : "c++";
}

}  // namespace

int check_file(const std::string& path, const std::vector<std::string>& arguments) {
  if (!fs::is_regular_file(path))
    throw Error(Category::file, cat("check: there is no file ", path));
  const Installed at = installed();
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "main.cpp", program = folder.path() / "check";
  std::ofstream(source) << "#include \"" << fs::absolute(path).string() << "\"\n"
                        << "#include \"tessera/check/file.hpp\"\n"
                        << "int main(int argc, char** argv) {\n"
                        << "  return tessera::check::file_main(argc, argv, check_kernel);\n"
                        << "}\n";
  std::vector<std::string> words{compiler(),
                                 "-std=c++20",
                                 "-O1",
                                 "-g",
                                 "-DTESSERA_CHECK=1",
                                 "-ftrivial-auto-var-init=pattern",
                                 "-ffp-contract=off",
                                 "-I" + at.include.string(),
                                 "-o",
                                 program.string(),
                                 source.string(),
                                 at.library.string()};
  if (at.library.extension() == ".a")
    for (const char* each : {"-lboost_context", "-lzip", "-ldl"}) words.emplace_back(each);
  else words.push_back("-Wl,-rpath," + at.library.parent_path().string());
  words.emplace_back("-pthread");
  if (const int status = run_program(words); status != 0) {
    throw Error(Category::unavailable,
                status == -1 ? cat("check: the compiler ", words[0], " cannot be started")
                             : cat("check: ", path, " does not compile"),
                {}, {}, status == -1 ? "name one in CXX" : "see its messages above");
  }
  words = {program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const int status = run_program(words);
  if (status == -1 || !WIFEXITED(status))
    throw Error(
        Category::kernel,
        cat("check: the program of ", path, " crashed",
            status != -1 && WIFSIGNALED(status) ? cat(" by signal ", WTERMSIG(status)) : ""),
        {}, {}, "tell the kernel its memory by tensors: raw pointers are not watched");
  return WEXITSTATUS(status);
}

}  // namespace tessera::cli
