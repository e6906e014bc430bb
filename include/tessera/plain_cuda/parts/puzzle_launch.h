// The main() of an answer of the course in plain CUDA (src/course/cuda_answer.cpp generates it): it
// launches one kernel, whose parameters are pointers to float and then whole numbers, as the
// arguments say.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "requested_launch.h"

namespace tessera::plain_cuda {

/// NAME ROWS COLS START; ROWS is 0 for a vector.
inline RequestedArrayOf<float> puzzle_array(char** words) {
  const long long rows = std::atoll(words[1]), cols = std::atoll(words[2]);
  if (rows == 0) return {words[0], "f32", {cols}, words[3], false};
  return {words[0], "f32", {rows, cols}, words[3], false};
}

inline dim3 puzzle_extents(char** words) {
  const auto extent = [&](int i) { return static_cast<unsigned>(std::atoi(words[i])); };
  return dim3(extent(0), extent(1), extent(2));
}

/// Its parameters: arrays, then whole numbers.
template <class... T>
inline constexpr int kPuzzleArrays = (0 + ... + (std::is_pointer_v<T> ? 1 : 0));

template <class T>
T puzzle_argument(RequestedArrayOf<float>* arrays, char** numbers, int index, int count) {
  if constexpr (std::is_pointer_v<T>) return static_cast<T>(arrays[index]);
  else return static_cast<T>(std::atoi(numbers[index - count]));
}

template <class... T, std::size_t... I, std::size_t... A>
void launch_puzzle_with(void (*kernel)(T...), char** words, std::index_sequence<I...>,
                        std::index_sequence<A...>) {
  constexpr int count = kPuzzleArrays<T...>;
  RequestedArrayOf<float> arrays[] = {puzzle_array(words + 6 + 4 * A)...};
  char** const numbers = words + 6 + 4 * count;
  kernel<<<puzzle_extents(words), puzzle_extents(words + 3)>>>(
      puzzle_argument<T>(arrays, numbers, static_cast<int>(I), count)...);
  end_requested_launch();
}

/// `words`: three extents of the grid, three of the block, four words for each of the arrays, then
/// the numbers. Returns the exit code of the program.
template <class... T>
int launch_puzzle(void (*kernel)(T...), int count, char** words) {
  constexpr int arrays = kPuzzleArrays<T...>, numbers = static_cast<int>(sizeof...(T)) - arrays;
  static_assert(arrays > 0, "a kernel of a puzzle has its arrays as parameters");
  if (count != 6 + 4 * arrays + numbers) {
    std::fputs(
        "the kernel has other parameters than the puzzle gives it: leave them as they were\n",
        stderr);
    return 1;
  }
  launch_puzzle_with(kernel, words, std::index_sequence_for<T...>{},
                     std::make_index_sequence<arrays>{});
  return 0;
}

}  // namespace tessera::plain_cuda
