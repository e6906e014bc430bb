// What the program's own debug information (DWARF) says: the place of an instruction, and the
// variables with static storage of the user's files. Private to the run-time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/core/config.hpp"
#include "tessera/plain_cuda/parts/place.h"

namespace tessera::plain_cuda {

/// A variable, or a member of one.
struct Variable {
  std::string name;      ///< as the user wrote it: "As", "s.sum"
  std::string function;  ///< that holds it; empty: none
  bool is_in_kernel = false;
  bool is_shared = false;          ///< thread-local: shared memory
  std::int64_t thread_offset = 0;  ///< of shared ones, from the thread pointer
  std::uint64_t address = 0;       ///< of others
  std::size_t bytes = 0, element_bytes = 1;
  std::vector<index_t> extents;  ///< row major; empty: one element
};

/// The place of the instruction in the user's files; line 0: nobody knows.
Place place_of(std::uintptr_t pc);
/// Read once; in the order of their addresses.
const std::vector<Variable>& variables();
/// Does it lie in a part of the program that nobody may write to?
bool is_read_only(std::uint64_t address);

}  // namespace tessera::plain_cuda
