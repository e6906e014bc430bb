// Finds headers and library, compiles, links: see compile.hpp.
#include "compile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/environment.hpp"
#include "compiler_messages.hpp"
#include "cuda_text.hpp"
#include "process/checked_flags.hpp"
#include "program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::process {

namespace {

namespace fs = std::filesystem;

/// The library in a folder: libtessera.a or .so.
fs::path library_in(const fs::path& folder) {
  for (const char* name : {"libtessera.a", "libtessera.so"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  return {};
}

using Words = std::vector<std::string>;

/// The folder above that of this program: an installed prefix, a Python package or a build.
fs::path prefix_of_command() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

/// The command zig of PyPI's ziglang, installed beside the Python package that this program is part
/// of; empty: there is none, or the package does not carry the headers of the C++ library.
fs::path zig() {
  const fs::path package = prefix_of_command(), out = package.parent_path() / "ziglang/zig";
  return fs::exists(package / "libstdc++") && access(out.c_str(), X_OK) == 0 ? out : fs::path();
}

/// CXX, c++, or, where a machine has neither, zig, with the C++ library that ours is compiled for:
/// zig's own has another binary interface.
Words compiler() {
  const char* const name = std::getenv("CXX");
  if (name != nullptr && access(name, X_OK) == 0) return {name};  // quote a path with blanks
  if (Words words = split_words(name != nullptr ? name : ""); !words.empty()) return words;
  const fs::path other = find_program("c++").empty() ? zig() : fs::path();
  if (other.empty()) return {"c++"};
  const std::string headers = (prefix_of_command() / "libstdc++").string();
  return {other.string(), "c++",          "-fno-sanitize=undefined", "-nostdinc++",
          "-nostdlib++",  "-I" + headers, "-I" + headers + "/target"};
}

/// The files of these libraries that this program runs with.
Words loaded_libraries(std::initializer_list<std::string_view> names) {
  Words out;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find('/');
    if (path == std::string::npos) continue;
    const std::string file = line.substr(path);
    const auto is_it = [&](std::string_view each) {
      return fs::path(file).filename().string().starts_with(each);
    };
    if (std::any_of(names.begin(), names.end(), is_it) &&
        std::find(out.begin(), out.end(), file) == out.end())
      out.push_back(file);
  }
  return out;
}

std::string text_of(const fs::path& file) {
  std::ifstream text(file);
  return {std::istreambuf_iterator<char>(text), {}};
}

[[noreturn]] void refuse(const std::string& what, const std::string& source = {}) {
  const auto cuda = cuda_word(source);
  throw Error(Category::unavailable, cat(what, " does not compile"), {}, {},
              cat("see the compiler's messages above",
                  cuda ? cat("; ", cuda->word, " in line ", cuda->line,
                             " is CUDA: docs/kernels.md lists the equivalents in Tessera")
                       : ""));
}

constexpr const char* kMain = "#include \"tessera/check/file_program.hpp\"\n";

/// The linker's message; the most common error becomes one sentence.
[[noreturn]] void refuse_to_link(const std::string& what, const std::string& said) {
  if (said.find("multiple definition of `main'") != std::string::npos)
    throw Error(Category::unavailable, cat(what, " defines main()"),
                "check_kernel alone; tessera supplies main()", {}, "remove main()");
  std::fputs(said.c_str(), stderr);
  refuse(what);
}

}  // namespace

Installed installed() {
  const fs::path prefix = prefix_of_command();
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
    throw Error(Category::unavailable, "cannot find the headers and the library",
                cat("include/tessera and libtessera below ", prefix.string()), {},
                "install Tessera with its development files");
  }
  return out;
}

std::vector<std::string> compiled_header(const Installed& at, const std::string& header) {
  const fs::path folder = at.library.parent_path() / "compiled_headers";
  std::error_code none;
  const auto made = fs::last_write_time(folder / (header + ".gch"), none);
  if (none) return {};
  for (const auto& each : fs::recursive_directory_iterator(at.include / "tessera"))
    if (each.is_regular_file() && each.last_write_time() > made) return {};
  return {"-I" + folder.string()};
}

ProgramEnd run_compiler(Words words, const std::string& stderr_file, const std::string& folder,
                        double seconds) {
  const Words first = compiler();
  words.insert(words.begin(), first.begin(), first.end());
  ProgramRun run{
      .words = words, .stderr_file = stderr_file, .stdout_file = stderr_file, .folder = folder};
  run.environment = {"LC_ALL=C.UTF-8", "LANGUAGE="};  // English, because its messages are parsed
  run.seconds = seconds;
  const ProgramEnd end = run_program(run);
  if (!end.started || end.exit_code == 127)
    throw Error(
        Category::unavailable, cat("the compiler ", first.front(), " cannot be started"),
        "GCC 12 or newer; for kernels in Tessera's language Clang 14 as well", {},
        "install one, or name it in the environment variable CXX; beside the Python package "
        "'pip install ziglang' is enough");
  return end;
}

bool run_linker(const Words& words, const std::string& stderr_file, const std::string& folder) {
  for (const char* linker : {"lld", "gold"}) {
    if (find_program(cat("ld.", linker)).empty()) continue;
    Words with{cat("-fuse-ld=", linker)};
    with.insert(with.end(), words.begin(), words.end());
    if (run_compiler(with, stderr_file, folder).good()) return true;
    break;
  }
  return run_compiler(words, stderr_file, folder).good();
}

std::vector<std::string> link_words(const Installed& at) {
  Words out{at.library.string()};
  if (at.library.extension() == ".a")
    for (const char* each : {"-lboost_context", "-lz", "-ldl"}) out.emplace_back(each);
  else out.push_back("-Wl,-rpath," + at.library.parent_path().string());
  out.emplace_back("-pthread");
  if (const Words words = compiler(); words.size() > 1 && words[0] == zig())
    for (auto& each : loaded_libraries({"libstdc++.so", "libgcc_s.so"}))
      out.push_back(std::move(each));
  return out;
}

std::vector<std::string> split_words(std::string_view text) {
  Words out;
  bool in_word = false;
  char quote = 0;
  for (const char c : text) {
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    if (c == quote) quote = 0;
    else if (quote == 0 && (c == '"' || c == '\'')) quote = c;
    else out.back() += c;
  }
  return out;
}

void require_file(const fs::path& source, const std::string& what) {
  if (fs::is_directory(source))
    throw Error(Category::file, cat(what, " is a folder"), {}, {}, "name a file in it");
  if (!fs::is_regular_file(source)) throw Error(Category::file, cat("there is no file ", what));
}

fs::path compile(const Compilation& compilation, const fs::path& folder) {
  const Installed at = installed();
  const fs::path object = folder / "kernel.o", main = folder / "main.cpp",
                 program = folder / "check", said = folder / "said";
  const Words flags = split_words(compilation.flags);
  Words words(std::begin(kCheckedFileFlags), std::end(kCheckedFileFlags));
  words.emplace_back(compilation.for_debugger ? "-O0" : "-O1");
  for (auto& each : compiled_header(at, "tessera/check/file.hpp")) words.push_back(std::move(each));
  words.push_back("-I" + at.include.string());
  words.insert(words.end(), flags.begin(), flags.end());
  const std::string source = fs::absolute(compilation.source).string();
  for (const auto& each : {std::string("-x"), std::string("c++"), std::string("-c"), source,
                           std::string("-o"), object.string()})
    words.push_back(each);
  const bool compiles = run_compiler(words, said.string()).good();
  std::fputs(readable_messages(text_of(said), source).c_str(), stderr);
  if (!compiles) refuse(compilation.what, text_of(source));

  std::ofstream(main) << kMain;
  words = {"-std=c++20",    "-I" + at.include.string(), main.string(), object.string(), "-o",
           program.string()};
  for (auto& each : link_words(at)) words.push_back(std::move(each));
  words.insert(words.end(), flags.begin(), flags.end());
  if (!run_linker(words, said.string())) refuse_to_link(compilation.what, text_of(said));
  return program;
}

}  // namespace tessera::process
