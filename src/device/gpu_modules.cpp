// See gpu_modules.hpp.
#include "gpu_modules.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "base/cache_folder.hpp"
#include "gpu_code/build.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {

namespace fs = std::filesystem;

struct Modules {
  std::mutex mutex;
  std::vector<const GpuModule*> all;
};
Modules& modules() {
  static auto* const out = new Modules;
  return *out;
}

/// A module that was compiled here.
struct OwnModule {
  std::string source, code, entries, name_of_target;
  GpuModule::Code target[1];
  GpuModule module;
};

bool has_entry(const GpuModule& module, const std::string& entry) {
  return cat("\n", module.entries).find(cat("\n", entry, "\n")) != std::string::npos;
}

/// Two hashes of what the compiler reads, as a file's name.
std::string key_of(std::string_view text) {
  std::uint64_t a = 0xcbf29ce484222325u, b = text.size();
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b + static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15u;
    b ^= b >> 29;
  }
  std::ostringstream out;
  out << std::hex << a << b;
  return out.str();
}

constexpr std::string_view kCacheMark = "tessera-gpu-2";

/// What an earlier process compiled; empty where the file is missing, or is not what was written.
gpu_code::Compiled read_cache(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  std::ifstream in(file, std::ios::binary);
  std::string mark, sum;
  std::size_t entries = 0;
  if (!(in >> mark >> sum >> entries) || mark != kCacheMark || in.get() != '\n') return {};
  std::ostringstream rest;
  rest << in.rdbuf();
  const std::string text = std::move(rest).str();
  if (entries > text.size() || key_of(text) != sum) return {};
  return {.code = text.substr(entries), .spirv = {}, .entries = text.substr(0, entries)};
}

/// Failures are not reported: the next process compiles again.
void write_cache(const fs::path& file, const gpu_code::Compiled& made) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const fs::path part = cat(file.string(), ".", getpid());
  {
    std::ofstream out(part, std::ios::binary);
    const std::string text = made.entries + made.code;
    out << kCacheMark << ' ' << key_of(text) << ' ' << made.entries.size() << '\n' << text;
    if (!out.flush()) error = std::make_error_code(std::errc::io_error);
  }
  if (!error) fs::rename(part, file, error);
  if (error) fs::remove(part, error);
}

/// The folder before "tessera/device/run.hpp".
std::string include_folder(std::string_view header) {
  const auto at = header.rfind("tessera/");
  return at == 0 || at == header.npos ? "." : std::string(header.substr(0, at));
}

/// The target to compile for.
std::string wanted_target(const KernelCall& call, const std::string& target) {
  if (target != kAmdTargets) return target;
  const char* const named = std::getenv("TESSERA_AMD_TARGET");
  if (named != nullptr && is_amd_target(named)) return named;
  throw Error(Category::unavailable, cat(call.gpu->source, ": it was not built for AMD GPUs"), {},
              {},
              "name the GPU in TESSERA_AMD_TARGET, or in -DTESSERA_AMD_TARGETS of CMake: gfx90a");
}

/// Compiles the file that calls run().
gpu_code::Compiled compile_now(const KernelCall& call, const std::string& target) {
  gpu_code::Compilation c{.source = call.gpu->source, .target = target};
  if (access(call.gpu->source, R_OK) != 0)
    throw Error(Category::unavailable, cat(c.source, ": the source of this program is not there"),
                {}, {}, "build its kernels with it: tessera_add_kernels(TARGET FILE) in CMake");
  c.clang = gpu_code::find_clang();
  c.flags = {"-I" + include_folder(call.gpu->header)};
  const char* const named = std::getenv("TESSERA_GPU_FLAGS");
  const std::string more = named == nullptr ? "" : named;
  std::istringstream words(more);
  for (std::string word; words >> word;) c.flags.push_back(word);
  const fs::path folder = cache_folder().empty() ? fs::path() : cache_folder() / "gpu";
  fs::path file;
  if (!folder.empty()) {
    file = folder / key_of(cat(c.clang, "\n", target, "\n", more, "\n", gpu_code::preprocessed(c)));
    gpu_code::Compiled kept = read_cache(file);
    if (!kept.code.empty()) return kept;
  }
  gpu_code::Compiled made = gpu_code::compile(c);
  if (!file.empty()) write_cache(file, made);
  return made;
}

}  // namespace

bool add_gpu_module(const GpuModule& module) {
  Modules& known = modules();
  const std::lock_guard lock(known.mutex);
  for (const GpuModule* each : known.all)
    if (each == &module) return true;
  known.all.push_back(&module);
  return true;
}

GpuArguments arguments_of(const KernelCall& call) {
  GpuArguments out;
  const auto add = [&](const void* value, int bytes) {
    const std::size_t at = out.words.size();
    out.words.resize(at + static_cast<std::size_t>(words_for(static_cast<std::size_t>(bytes))));
    std::memcpy(out.words.data() + at, value, static_cast<std::size_t>(bytes));
  };
  add(&call.grid, sizeof call.grid);
  add(call.kernel, call.gpu->kernel_bytes);
  for (std::size_t i = 0; i < call.gpu->params.size(); ++i) {
    const GpuParam& param = call.gpu->params[i];
    if (param.rank == 0) {
      out.addresses.push_back({nullptr, false});
      add(call.arguments[i], param.bytes);
      continue;
    }
    const auto& tensor = *static_cast<const TensorArgument*>(call.arguments[i]);
    out.addresses.push_back({tensor.address.base, true});
    add(&tensor.address.offset, sizeof(index_t));
    add(tensor.extents, param.rank * static_cast<int>(sizeof(index_t)));
  }
  return out;
}

std::string_view code_for(const GpuModule& module, std::string_view target) {
  for (const auto& each : module.targets)
    if (each.target == target || (target == kAmdTargets && is_amd_target(each.target)))
      return each.bytes;
  return {};
}

const GpuModule& gpu_module_of(const KernelCall& call, const std::string& entry,
                               const std::string& target) {
  Modules& known = modules();
  const std::lock_guard lock(known.mutex);
  for (const GpuModule* each : known.all)
    if (has_entry(*each, entry) && !code_for(*each, target).empty()) return *each;
  const auto refuse = [&](const std::string& why, const std::string& advice,
                          const std::string& expected = {}) {
    throw Error(Category::unavailable, cat("no code for ", call.device, ": ", why), expected, {},
                advice);
  };
  for (const GpuModule* each : known.all)
    if (each->source == call.gpu->source && !each->log.empty()) refuse(std::string(each->log), {});
  static std::deque<OwnModule> own;
  try {
    const std::string wanted = wanted_target(call, target);
    gpu_code::Compiled made = compile_now(call, wanted);
    OwnModule& kept = own.emplace_back();
    kept.source = call.gpu->source;
    kept.code = std::move(made.code);
    kept.entries = std::move(made.entries);
    kept.name_of_target = wanted;
    kept.target[0] = {kept.name_of_target, kept.code};
    kept.module = {kept.source, kept.entries, kept.target, {}};
    known.all.push_back(&kept.module);
  } catch (const Error& error) {
    refuse(error.problem(), error.advice(), error.expected());
  }
  if (!has_entry(own.back().module, entry))
    refuse(
        cat(call.gpu->source, " was compiled, but does not have it"),
        "a kernel's block is fixed, and its type has a unique name outside of unnamed namespaces");
  return own.back().module;
}

}  // namespace tessera::detail
