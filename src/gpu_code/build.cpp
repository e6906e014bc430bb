// See build.hpp.
#include "build.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/environment.hpp"
#include "entry_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::gpu_code {

namespace {

/// A file in memory for the input or output of a program; it disappears with this process.
class Stream {
 public:
  explicit Stream(std::string_view content = {})
      : descriptor_(memfd_create("tessera", MFD_CLOEXEC)) {
    if (descriptor_ < 0) refuse();
    while (!content.empty()) {
      const ssize_t written = write(descriptor_, content.data(), content.size());
      if (written < 0) {
        close(descriptor_);
        refuse();
      }
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    lseek(descriptor_, 0, SEEK_SET);
  }
  ~Stream() { close(descriptor_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  int descriptor() const { return descriptor_; }
  std::string content() const {
    struct stat about {};
    if (fstat(descriptor_, &about) != 0) refuse();
    std::string out(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t at = 0;
    while (at < out.size()) {
      const ssize_t got =
          pread(descriptor_, out.data() + at, out.size() - at, static_cast<off_t>(at));
      if (got <= 0) refuse();
      at += static_cast<std::size_t>(got);
    }
    return out;
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error(Category::resource, "no memory for a compiler's files");
  }
  int descriptor_;
};

/// Runs a program. Its exit code, -1 where it did not start or crashed.
int run(const std::vector<std::string>& words, const Stream& in, const Stream& out,
        const Stream& log) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), 1);
  posix_spawn_file_actions_adddup2(&actions, log.descriptor(), 2);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// What a program makes of `input`.
std::string output_of(const std::vector<std::string>& words, const std::string& source,
                      std::string_view input = {}) {
  const Stream in(input), out, log;
  const int code = run(words, in, out, log);
  std::string made = out.content();
  if (code == 0 && !made.empty()) return made;
  std::string text = log.content();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty()) text = cat(words[0], code < 0 ? " did not run" : " made nothing");
  throw Error(Category::unavailable, cat(source, ": ", words[0], " could not compile it"), {}, {},
              text);
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
  return output_of(joined(clang_words(c), {"-E", "-o", "-", c.source}), c.source);
}

Compiled compile(const Compilation& compilation) {
  const Compilation c = with_clang(compilation);
  EntryText made = with_entries(
      output_of(joined(clang_words(c), {"-S", "-emit-llvm", "-o", "-", c.source}), c.source),
      is_spir(c));
  std::vector<std::string> words = {c.clang, "-x", "ir", "-w"};
  if (is_spir(c)) words = joined(words, {"--target=spir64", "-c", "-emit-llvm"});
  else
    words = joined(words, {"--target=amdgcn-amd-amdhsa", "-mcpu=" + c.target, "-nogpulib", "-O2"});
  Compiled out{
      output_of(joined(words, {"-o", "-", "-"}), c.source, made.text), {}, std::move(made.entries)};
  if (is_spir(c) && !c.spirv.empty())
    out.spirv = output_of({c.spirv, "--spirv-max-version=1.1", "-", "-o", "-"}, c.source, out.code);
  return out;
}

}  // namespace tessera::gpu_code
