// The kernels that a preprocessed text declares, as its author wrote them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::plain_cuda {

struct KernelSignature {
  std::string name;
  std::string template_parameters;      ///< "<class T, int B>"; empty: no template
  std::vector<std::string> parameters;  ///< "const float* x"
  std::size_t required = 0;             ///< parameters without a default

  /// "template <class T> void scale(T* x, T f)", without the words before its name.
  std::string text() const;
};

/// Those of the program's own files, in their order, each once.
std::vector<KernelSignature> kernels_in(std::string_view preprocessed);

}  // namespace tessera::plain_cuda
