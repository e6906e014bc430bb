// How often each element of a region was touched, in all blocks of one recorder. Private to
// src/check.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tessera/check/check.hpp"
#include "zeroed.hpp"

namespace tessera::check {

/// The bytes that one bit of a buffer's Touches stands for: an element. In plain CUDA kernels may
/// write the members of an object one by one.
inline std::size_t touch_bytes(const detail::Launch& launch, const detail::Buffer& buffer) {
  if (!launch.is_cuda) return buffer.element_bytes;
  if (buffer.gaps && !buffer.gaps->empty()) return 1;
  return std::min<std::size_t>(4, std::size_t{1} << std::countr_zero(buffer.element_bytes));
}

class Touches {
 public:
  static constexpr std::uint8_t kRead = 1, kWritten = 2, kWrittenAgain = 4,
                                kUpdated = 8;  ///< atomically, any number of times

  void reset(std::size_t elements) {
    bits_.reset(elements);
    is_used_.reset(elements / kPage + 1);
  }
  /// By the distance from the region's first byte; 0 where there is no such element.
  std::uint8_t at(std::size_t element) const {
    return element < bits_.size() ? bits_[element] : std::uint8_t{0};
  }
  void add(std::size_t element, std::uint8_t how) {
    std::uint8_t& bits = bits_[element];
    const bool is_again = how == kWritten && (bits & kWritten) != 0;
    bits = static_cast<std::uint8_t>(bits | (is_again ? kWrittenAgain : how));
    is_used_[element / kPage] = true;
  }
  /// Calls body(first, count, bits) for each run of elements that were touched alike.
  template <class Body>
  void for_each_run(const Body& body) const {
    for (std::size_t page = 0; page < is_used_.size(); ++page) {
      if (!is_used_[page]) continue;
      std::size_t first = page * kPage;
      while (page < is_used_.size() && is_used_[page]) ++page;
      const std::size_t end = std::min(page * kPage, bits_.size());
      while (first < end) {
        std::size_t last = first + 1;
        while (last < end && bits_[last] == bits_[first]) ++last;
        if (bits_[first] != 0) body(first, last - first, bits_[first]);
        first = last;
      }
    }
  }

 private:
  static constexpr std::size_t kPage = 4096;
  Zeroed<std::uint8_t> bits_;
  Zeroed<bool> is_used_;  ///< by page: has any element of it been touched?
};

}  // namespace tessera::check
