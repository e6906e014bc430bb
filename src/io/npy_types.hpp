// The element types of .npy files: NumPy's names, and descriptions of unsupported types.
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
  bool swapped;  ///< the byte order differs from this machine's
};

/// The type that a header calls `descr`: every NumPy name of a supported number or of bool. Throws
/// Error(file) that describes other types.
NpyElement parse_descr(const std::string& descr, std::optional<DType> untyped,
                       const std::string& path);

/// The name that NumPy writes; ml_dtypes' V2 and V1 for bf16 and f8.
std::string descr_of(DType dtype);

/// "int64" and NumPy's other names of integers.
bool is_integer_name(std::string_view name);

}  // namespace tessera::io
