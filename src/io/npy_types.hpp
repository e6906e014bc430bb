// The element types of .npy files: what NumPy calls them, and what those that are no type here are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/core/dtype.hpp"

namespace tessera::io {

/// For messages: "f8 f4 f2, i1 ..., b1 (and V2 as f16 or bf16, V1 as f8e4m3 or f8e5m2)".
std::string readable_descr();

struct NpyElement {
  DType dtype;
  bool swapped;  ///< in the other byte order than this machine's
};

/// The type that a header calls `descr`: all that NumPy takes for a number of ours or for bool.
/// Throws Error(file) that says what other elements are.
NpyElement parse_descr(const std::string& descr, std::optional<DType> untyped,
                       const std::string& path);

/// As NumPy writes it; ml_dtypes' V2 and V1 for bf16 and f8.
std::string descr_of(DType dtype);

/// "int64" and NumPy's other names of integers.
bool is_integer_name(std::string_view name);

}  // namespace tessera::io
