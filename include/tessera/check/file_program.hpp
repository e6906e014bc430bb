// The rest of the program that `tessera check FILE.cpp` makes of the file: main(), and an operator
// new that records its blocks, so that the checker knows where the memory of a tensor ends.
// Included by that program only.
#pragma once

#include <new>

#include "tessera/check/heap_blocks.hpp"

namespace tessera::check {

struct Options;
struct ProductProblem;
struct Report;
int file_main(int argc, char** argv, Report (*check_kernel)(const Options&),
              std::pair<std::uint64_t, std::uint64_t> (*heap_block_of)(std::uint64_t address),
              Report (*check_shape)(const Options&, const ProductProblem&));

}  // namespace tessera::check

void* operator new(std::size_t bytes) { return tessera::check::new_block(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return tessera::check::new_block(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* at) noexcept { tessera::check::delete_block(at); }
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
void operator delete(void* at, std::align_val_t) noexcept { operator delete(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { operator delete(at); }

// A file has one of the two, or both; the other is null.
[[gnu::weak]] tessera::check::Report check_kernel(const tessera::check::Options&);
[[gnu::weak]] tessera::check::Report check_kernel(const tessera::check::Options&,
                                                  const tessera::check::ProductProblem&);

int main(int argc, char** argv) {
  return tessera::check::file_main(argc, argv, check_kernel, tessera::check::heap_block_of,
                                   check_kernel);
}
