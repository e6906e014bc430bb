// Is a text written in CUDA C++? Here the checker expects a kernel in Tessera's language, and the
// errors of a C++ compiler would not say so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::process {

/// A word that only CUDA has, and its line.
struct CudaWord {
  std::string word;
  int line;
};
/// The first in the text, outside comments and literals; nothing if there is none.
std::optional<CudaWord> cuda_word(std::string_view text);

/// The same for a text that is CUDA alone: it neither includes a header of Tessera nor names the
/// function that the checker calls.
std::optional<CudaWord> plain_cuda(std::string_view text);

}  // namespace tessera::process
