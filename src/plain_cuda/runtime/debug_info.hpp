// Queries of the program's own debug information (DWARF 4 and 5 of GCC and Clang): the source
// position of an instruction, and the static variables of the user's files. Private to the
// runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/core/config.hpp"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

using Gaps = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  ///< check::detail::Gaps

struct Shape {
  std::size_t bytes = 0, element_bytes = 1;
  bool is_scalar = false;  ///< is an element a number or a pointer?
  /// Of an element; none: bytes, which may hold anything.
  std::optional<Gaps> gaps;
  std::string element;           ///< its type: "float"
  std::vector<index_t> extents;  ///< row major; empty: one element
};

/// A member of a class, or of a class in it.
struct Member : Shape {
  std::string name;        ///< including the variable's: "s.sum"
  std::size_t offset = 0;  ///< in the variable
};

struct Variable : Shape {
  std::string name;                ///< as the user wrote it: "As"
  std::string function;            ///< the enclosing function, as __func__; empty: none
  std::string instance;            ///< of shared ones: "n::matmul<16>(float*)"; empty: none
  bool is_in_kernel = false;       ///< in a closure in that function
  bool is_shared = false;          ///< thread-local: shared memory
  std::int64_t thread_offset = 0;  ///< of shared ones, from the thread pointer
  std::uint64_t address = 0;       ///< of others
  /// of a class; copies of the whole object cross their boundaries
  std::vector<Member> members;
};

/// The position of the instruction in the user's files: that of the call, if a header's function
/// was inlined. Line 0: unknown.
Place place_of(std::uintptr_t pc);
/// Read once; in the order of their addresses.
const std::vector<Variable>& variables();
/// The gaps of the type that the variable with this address points to: see element_tag in
/// parts/runtime_api.h. None: it is not in the debug information.
std::optional<Gaps> gaps_of_pointee(const void* variable);
/// The compiler's own byte that says whether a variable in shared memory was constructed: offsets
/// from the thread pointer. CUDA has no such byte.
const std::vector<std::int64_t>& guards();
/// All objects in thread-local storage: their offsets from the thread pointer, and their sizes.
const std::vector<std::pair<std::int64_t, std::size_t>>& thread_objects();
/// Is this the code in which run_kernel() runs the body of that instance of a kernel?
bool runs(std::uintptr_t code, const std::string& instance);
/// The part of the process's files that has an address.
enum class Section { none, read_only, of_program, of_library };
Section section_of(std::uint64_t address);

}  // namespace tessera::plain_cuda
