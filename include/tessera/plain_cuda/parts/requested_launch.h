// The arguments of `tessera check FILE.cu --launch 'kernel<<<grid, block>>>(A: f32[m,k], n: n)'`:
// what src/plain_cuda/launch_source.hpp makes of these words uses them. Implemented in
// src/plain_cuda/runtime/requested_launch.cpp.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "../vector_types.h"

namespace tessera::plain_cuda {

/// 'm', 'n' or 'k' of the requested shape.
int asked_extent(char which);

/// An array of the device that lives until the program ends.
class RequestedArray {
 public:
  /// `type`: a name of tessera::DType; `start`: a word of launch_source.hpp, or null; `is_const`:
  /// an input, though the kernel may not say so.
  RequestedArray(const char* name, const char* type, std::initializer_list<long long> extents,
                 const char* start, bool is_const);
  RequestedArray(const RequestedArray&) = delete;
  RequestedArray& operator=(const RequestedArray&) = delete;

 protected:
  std::size_t elements() const;
  void set(std::size_t element, const void* value);
  /// Filled as its start says: else an input with random numbers, an output with nothing.
  void* begin(bool is_input);

 private:
  int index_;
  bool is_const_;
};

/// char, bool and long have the numbers of other types.
template <class U, class T>
concept SameNumbers = std::is_integral_v<U> && std::is_integral_v<T> && sizeof(U) == sizeof(T) &&
                      (std::is_signed_v<U> == std::is_signed_v<T> ||
                       std::is_same_v<std::remove_cv_t<U>, char>);

template <class T>
class RequestedArrayOf : RequestedArray {
 public:
  using RequestedArray::RequestedArray;
  /// Element i has the value value_of(i).
  template <class F>
  RequestedArrayOf(const char* name, const char* type, std::initializer_list<long long> extents,
                   const char* start, bool is_const, F value_of)
      : RequestedArray(name, type, extents, start, is_const) {
    for (std::size_t i = 0; i < elements(); ++i) {
      const auto x = value_of(static_cast<long long>(i));
      T value;
      if constexpr (std::is_arithmetic_v<T>) value = static_cast<T>(x);
      else value = T(static_cast<float>(x));
      set(i, &value);
    }
  }

  /// To the elements, to vectors of them, or to void.
  template <class U>
  requires(std::is_void_v<U> || std::is_same_v<std::remove_cv_t<U>, T> || SameNumbers<U, T> ||
           std::is_same_v<std::remove_cvref_t<decltype(std::declval<U&>().x)>, T>)
  operator U*() {
    return static_cast<U*>(begin(std::is_const_v<U>));
  }
};

/// A grid or a block without threads, as an extent of 0 makes it: there is nothing to launch.
inline bool is_empty_launch(dim3 grid, dim3 block, ...) {
  return grid.x * grid.y * grid.z * block.x * block.y * block.z == 0;
}

/// Is there launch number `round`? `tessera judge` requests several, each with other numbers.
bool begin_requested_launch(int round);
/// The launch is over: were the inputs left alone, the outputs written?
void end_requested_launch();

}  // namespace tessera::plain_cuda
