// What Clang's LLVM text for SPIR needs before OpenCL drivers read it.
#pragma once

#include <string>
#include <string_view>

namespace tessera::gpu_code {

/// The name of the function of an entry, from the name of the type of a pointer to its GpuEntry
/// (device/gpu_kernel.hpp): short, because drivers make file names of it.
std::string entry_name(std::string_view pointer_type);

struct EntryText {
  std::string text;
  std::string entries;  ///< the functions' names, each followed by a newline
};
/// Gives every entry its name, and for SPIR what Clang omits: the kernels' metadata, the triple
/// that drivers know, and no `freeze`, which llvm-spirv does not know.
EntryText with_entries(std::string_view llvm_text, bool is_spir);

}  // namespace tessera::gpu_code
