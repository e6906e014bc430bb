// A copy that the threads of a group share, in the largest pieces that its alignment allows.
#pragma once

#include "async.h"

namespace tessera::plain_cuda {

/// One piece; asynchronous where it leads to shared memory from elsewhere.
void copy_piece(void* to, const void* from, std::size_t bytes, Place place);

inline void copy_pieces(void* to, const void* from, std::size_t bytes, std::size_t rank,
                        std::size_t size, Place place) {
  const std::size_t odd =
      reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes;
  std::size_t piece = 16;
  while (odd % piece != 0) piece /= 2;
  for (std::size_t at = rank * piece; at < bytes; at += size * piece)
    copy_piece(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece, place);
}

}  // namespace tessera::plain_cuda

namespace cuda {
/// A number of bytes that is known to be a multiple of Alignment.
template <std::size_t Alignment>
struct aligned_size_t {
  static constexpr std::size_t align = Alignment;
  std::size_t value;
  explicit constexpr aligned_size_t(std::size_t bytes) : value(bytes) {}
  constexpr operator std::size_t() const { return value; }
};
}  // namespace cuda
