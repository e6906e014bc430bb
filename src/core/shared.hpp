// A value that threads read and write without a lock. Private to src/core.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// T consists of std::int64_t, each read and written atomically. During a store a reader may see a
/// mixture of old and new numbers; two concurrent stores may leave a mixture of both.
template <class T>
class Shared {
 public:
  Shared() { store(T{}); }
  T load() const {
    Numbers out;
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = numbers_[i].load(std::memory_order_relaxed);
    return std::bit_cast<T>(out);
  }
  void store(const T& value) {  // the cache line stays shared where nothing changes
    const auto numbers = std::bit_cast<Numbers>(value);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers_[i].load(std::memory_order_relaxed) != numbers[i])
        numbers_[i].store(numbers[i], std::memory_order_relaxed);
    }
  }

 private:
  using Numbers = std::array<std::int64_t, sizeof(T) / sizeof(std::int64_t)>;
  std::array<std::atomic<std::int64_t>, Numbers().size()> numbers_;
};

}  // namespace tessera
