// An array of zeros that takes memory only where it is written: calloc() takes large arrays from
// the system, whose pages are zero until then. For tables as long as all memory of a launch.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tessera::check {

template <class T>
class Zeroed {
  static_assert(std::is_trivially_copyable_v<T>, "elements of a Zeroed are plain numbers");

 public:
  /// `count` zeros, whatever it had before.
  void reset(std::size_t count) {
    memory_.reset(static_cast<T*>(std::calloc(count > 0 ? count : 1, sizeof(T))));
    if (memory_ == nullptr) throw std::bad_alloc();
    count_ = count;
  }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return memory_.get()[i]; }
  const T& operator[](std::size_t i) const { return memory_.get()[i]; }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(memory); }
  };
  std::unique_ptr<T, Free> memory_;
  std::size_t count_ = 0;
};

}  // namespace tessera::check
