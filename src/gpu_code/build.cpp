// See build.hpp.
#include "build.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/environment.hpp"
#include "entry_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::gpu_code {

namespace {

namespace fs = std::filesystem;

/// A folder that is removed with its content.
class Folder {
 public:
  Folder() {
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "tessera-gpu-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(Category::unavailable, "no folder for temporary files", {}, name);
    path_ = name;
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::string content(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}
void write(const std::string& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!out.flush()) throw Error(Category::unavailable, cat(file, ": cannot be written"));
}

/// Runs a program; its output goes to a file. Its exit code, -1 where it did not start or crashed.
int run(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void run_or_throw(const std::vector<std::string>& words, const std::string& source,
                  const Folder& folder) {
  const std::string log = folder.file("log");
  if (run(words, log) == 0) return;
  std::string text = content(log);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw Error(Category::unavailable, cat(source, ": ", words[0], " could not compile it"), {}, {},
              text.empty() ? cat(words[0], " did not run") : text);
}

bool is_spir(const Compilation& compilation) { return compilation.target == "spir"; }

std::vector<std::string> clang_words(const Compilation& c) {
  std::vector<std::string> out = {
      c.clang, "-x", "hip", "-std=c++20",
      is_spir(c) ? "--offload=spirv64" : "--offload-arch=" + c.target,
      // The GPU's code alone, without the headers and libraries of AMD's toolkit.
      "--cuda-device-only", "-nogpuinc", "-nogpulib", "-DNDEBUG", "-O2",
      "-D__host__=__attribute__((host))", "-D__device__=__attribute__((device))",
      "-D__global__=__attribute__((global))", "-D__shared__=__attribute__((shared))",
      // Every multiply-add is written out. A kernel is one function: barriers divide it.
      "-ffp-contract=off", "-fno-math-errno", "-mllvm", "-inline-threshold=100000", "-w",
      "-fno-caret-diagnostics", "-include", "tessera/device/gpu_prefix.hpp"};
  if (is_spir(c)) out.emplace_back("-fno-unroll-loops");  // the driver knows its device
  out.insert(out.end(), c.flags.begin(), c.flags.end());
  return out;
}

std::vector<std::string> joined(std::vector<std::string> words,
                                const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Compilation with_clang(Compilation c) {
  if (c.clang.empty()) c.clang = find_clang();
  if (c.clang.empty())
    throw Error(Category::unavailable, cat(c.source, ": there is no Clang to compile it"),
                "TESSERA_CLANG, or clang++-14 or clang++ in PATH", {},
                "install clang-14, or compile it with the program: tessera_add_kernels in CMake");
  return c;
}

}  // namespace

std::string find_clang() {
  if (const char* named = std::getenv("TESSERA_CLANG"); named != nullptr && *named != '\0')
    return named;
  const std::string tested = find_program("clang++-14");
  return tested.empty() ? find_program("clang++") : tested;
}

std::string preprocessed(const Compilation& compilation) {
  const Compilation c = with_clang(compilation);
  const Folder folder;
  const std::string out = folder.file("source.ii");
  run_or_throw(joined(clang_words(c), {"-E", "-o", out, c.source}), c.source, folder);
  return content(out);
}

Compiled compile(const Compilation& compilation) {
  const Compilation c = with_clang(compilation);
  const Folder folder;
  const std::string text = folder.file("module.ll"), code = folder.file("module.bc"),
                    spirv = folder.file("module.spv");
  run_or_throw(joined(clang_words(c), {"-S", "-emit-llvm", "-o", text, c.source}), c.source,
               folder);
  EntryText made = with_entries(content(text), is_spir(c));
  write(text, made.text);
  std::vector<std::string> words = {c.clang, "-x", "ir", "-w"};
  if (is_spir(c)) words = joined(words, {"--target=spir64", "-c", "-emit-llvm"});
  else
    words = joined(words, {"--target=amdgcn-amd-amdhsa", "-mcpu=" + c.target, "-nogpulib", "-O2"});
  run_or_throw(joined(words, {"-o", code, text}), c.source, folder);
  Compiled out{content(code), {}, std::move(made.entries)};
  if (is_spir(c) && !c.spirv.empty()) {
    run_or_throw({c.spirv, "--spirv-max-version=1.1", code, "-o", spirv}, c.source, folder);
    out.spirv = content(spirv);
  }
  return out;
}

}  // namespace tessera::gpu_code
