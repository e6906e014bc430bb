// Kernels that Clang compiles for OpenCL devices and AMD GPUs: what a launch passes to them, and
// the modules of compiled code that a program carries. An entry takes for each parameter an
// address (0 for a plain value), then 64-bit words: the grid, the kernel object, and for each
// parameter its value, or a tensor's offset and extents. Host and GPU code read the same
// declarations, so both count the same words.
#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "tessera/device/kernel_entry.hpp"

namespace tessera::detail {

/// A parameter of an entry: Elements for a tensor, else the type of the value.
template <class T, int Rank>
struct Elements;

constexpr int words_for(std::size_t bytes) { return static_cast<int>((bytes + 7) / 8); }

/// How a parameter is passed: `rank` extents of a tensor, or, with rank 0, a value of `bytes`.
struct GpuParam {
  int rank, bytes;
  constexpr int words() const {
    return rank > 0 ? 1 + rank : words_for(static_cast<std::size_t>(bytes));
  }
};
template <class T>
inline constexpr GpuParam kGpuParam{0, static_cast<int>(sizeof(T))};
template <class T, int Rank>
inline constexpr GpuParam kGpuParam<Elements<T, Rank>>{Rank, static_cast<int>(sizeof(T))};

inline constexpr int kGridWords = words_for(sizeof(Dim3));

/// The compiled function of a kernel and its kinds of parameters, by the name of this type; its
/// definition is in gpu_entry.hpp.
template <class Words, class Kernel, class... Params>
struct GpuEntry;
template <class Kernel, class... Params>
using GpuEntryOf =
    GpuEntry<std::make_index_sequence<static_cast<std::size_t>(
                 kGridWords + words_for(sizeof(Kernel)) + (0 + ... + kGpuParam<Params>.words()))>,
             Kernel, Params...>;

/// Its properties that a launch needs.
struct GpuKernel {
  const char* entry;  ///< typeid of a pointer to its GpuEntry
  int kernel_bytes;
  std::size_t shared_bytes;
  std::span<const GpuParam> params;
  const char* source;  ///< the file that was compiled, to compile it once more
  const char* header;  ///< one of Tessera's, as it was included
};

/// Code for one kind of device, made from one file.
struct GpuModule {
  /// "spir", "spirv", "gfx90a"
  struct Code {
    std::string_view target;
    std::string_view bytes;
  };
  std::string_view source;        ///< file
  std::string_view entries;       ///< names of its functions, each followed by a newline
  std::span<const Code> targets;  ///< none: it could not be compiled
  std::string_view log;           ///< why
};
/// Registers a module, before main() or before its first kernel starts. It must live as long as the
/// program.
bool add_gpu_module(const GpuModule& module);

}  // namespace tessera::detail
