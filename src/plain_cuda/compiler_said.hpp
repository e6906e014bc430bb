// What the C++ compiler says about a rewritten program, for the program's author: without the
// lambdas, files and types that the rewriting adds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plain_cuda {

struct CompilerError {
  std::string file;  ///< as the compiler names it
  long line = 0, column = 0;
  std::string text;    ///< "'t' was not declared in this scope", with these quotes
  std::string source;  ///< of its line, from the column on; may be empty
};

/// The errors among a compiler's messages, in their order.
std::vector<CompilerError> errors_in(std::string_view said);

/// The messages without those about lambdas that contain kernels, without the path to a file
/// through those in `folder`, and without notes on the headers in `ours`.
std::string for_author(std::string_view said, std::string_view folder, std::string_view ours);

/// A GNU linker's messages, where they are about names that two of the sources define: "k(float*)
/// is defined twice, at b.cu:2 and a.cu:1". The object of source number i is unit<i>.s.o. Empty:
/// they are about something else.
std::string defined_twice(std::string_view said, const std::vector<std::filesystem::path>& sources);

/// A message without the names of our types: "array of float", not
/// "tessera::plain_cuda::RequestedArrayOf<float>".
std::string in_cuda_words(std::string text);

}  // namespace tessera::plain_cuda
