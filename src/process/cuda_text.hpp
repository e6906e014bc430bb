// Is a text written in CUDA C++? The checker takes kernels in Tessera's language, which no compiler
// says to someone who gives it the other.
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
/// The first in the text, comments and literals aside; nothing where there is none.
std::optional<CudaWord> cuda_word(std::string_view text);

/// The same of a text that is CUDA and nothing else: it neither includes a header of Tessera nor
/// names the function that the checker calls.
std::optional<CudaWord> plain_cuda(std::string_view text);

}  // namespace tessera::process
