// `--launch 'kernel<<<dim3(4, 4), 256>>>(A: f32[m,k], C: f32[m,n], scale: 2.0f)'`: a program that
// launches one kernel of a file whose main(), if it has one, is left alone. Grid, block, extents
// and values are expressions of C++; m, n and k are the requested shape.
//
//   A: f32[m,k]           an array of the device: random numbers for a pointer to const, nothing
//                         for any other pointer; the names of types are those of tessera::DType
//   A: f32[m,k] = zeros   filled so: random, zeros, ones, count (0, 1, 2, ...), nothing
//   A: f32[2,3] = "a.npy" holds what the file does
//   A                     the array given before under this name, once more
//   scale: 2.0f           a value
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plain_cuda {

/// The text of the program. Throws Error(argument) with the column if `words` is invalid.
std::string launch_source(std::string_view words, const std::filesystem::path& file);
/// Which of m, n and k occur in grid, block, extents and values: "mn". Throws as above.
std::string extents_used(std::string_view words);

/// The kernel and the arguments of a launch; columns are from 1.
struct LaunchParts {
  struct Argument {
    std::string label;  ///< "A"; empty: none
    std::string text;   ///< "const f32[m,k] = zeros"
    bool is_array = false;
    long first_column = 0, last_column = 0;
  };
  std::string kernel;   ///< "mine::scale<float>"
  std::string name;     ///< "scale"
  long kernel_end = 0;  ///< its last column
  std::vector<Argument> arguments;
};
/// Throws as above.
LaunchParts launch_parts(std::string_view words);

/// The name in --launch of what such a pointer points to ("f32" for "const float*"); empty if it
/// has none.
std::string element_type(std::string_view pointer);

}  // namespace tessera::plain_cuda
