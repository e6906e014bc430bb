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

/// The type that a header calls `descr`: any of NumPy's names for a supported type. Throws
/// Error(file) that describes unsupported elements.
NpyElement parse_descr(const std::string& descr, std::optional<DType> untyped,
                       const std::string& path);

/// The type's NumPy code; V2 and V1, the codes of ml_dtypes, for bf16 and f8.
std::string descr_of(DType dtype);

/// "int64" and NumPy's other integer names.
bool is_integer_name(std::string_view name);

}  // namespace tessera::io
