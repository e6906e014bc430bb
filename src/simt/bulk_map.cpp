// Which maps are valid: the rules of cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map Object
// Management"), as messages. See simt/bulk_map.hpp.
#include "tessera/simt/bulk_map.hpp"

#include <cstring>
#include <limits>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

static_assert(sizeof(BulkFields) <= sizeof(BulkMap), "a software map fits into a map");

std::string why_no_map(const BulkFields& f) {
  constexpr std::int64_t most_stride = std::int64_t{1} << 40;
  constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max();
  constexpr int most_box = 256, piece = 16;
  if (const auto beyond = reinterpret_cast<std::uintptr_t>(f.data) % piece; beyond != 0)
    return cat("its address is ", beyond, " bytes beyond a multiple of 16");
  for (const std::int64_t extent : f.extent) {
    if (extent == 0) return "it is empty";
    if (extent < 0) return cat("an extent of ", extent, " is negative");
    if (extent > most_extent) return cat("an extent of ", extent, " is more than ", most_extent);
  }
  if (f.inner_stride != 1)
    return cat(
        "along the tile's contiguous mode (K of a K-major tile, M or N of an MN-major one) "
        "its neighbours are ",
        f.inner_stride, " elements apart and not 1");
  if (f.stride_bytes % piece != 0)
    return cat("its rows are ", f.stride_bytes, " bytes apart, which is no multiple of 16");
  if (f.stride_bytes >= most_stride)
    return cat("its rows are ", f.stride_bytes, " bytes apart, at most ", most_stride - piece);
  if (f.stride_bytes < 0)
    return cat("its rows go back by ", -f.stride_bytes, " bytes each, and copies only go forward");
  if (f.stride_bytes < f.extent[0] * f.element_bytes)
    return cat("its rows, of ", f.extent[0] * f.element_bytes, " bytes, are ", f.stride_bytes,
               " bytes apart: they overlap");
  for (const int side : f.box) {
    if (side < 1 || side > most_box)
      return cat("a box has 1 to ", most_box, " elements along each side, this one ", side);
  }
  const int inner = f.box[0] * f.element_bytes;
  if (inner % piece != 0) return cat("a row of the box has ", inner, " bytes, no multiple of 16");
  if (const int width = 16 << static_cast<int>(f.swizzle);
      f.swizzle != SwizzleMode::none && inner > width)
    return cat("a row of the box has ", inner, " bytes, the swizzle's has ", width);
  return {};
}

namespace {
/// What to do about a matrix that has no map.
const char* advice_for(const BulkFields& f) {
  if (f.data == nullptr) return "allocate it before its map is made";
  if (f.extent[0] < 1 || f.extent[1] < 1) return "skip the launch where there is nothing to copy";
  if (f.inner_stride != 1)
    return "take a tile of the other major, an OperandTile by bulk_operand(), or copy the matrix";
  return "copy it to aligned rows, or use a kernel without bulk copies";
}
}  // namespace

BulkMap software_map(const BulkFields& fields) {
  const std::string why = fields.data == nullptr ? "its address is null" : why_no_map(fields);
  if (!why.empty())
    throw Error(Category::argument, cat("bulk copies cannot read this matrix: ", why), {}, {},
                advice_for(fields));
  BulkMap map;
  std::memcpy(map.words, &fields, sizeof fields);
  return map;
}

BulkFields fields_of(const BulkMap& software) {
  BulkFields fields;
  std::memcpy(static_cast<void*>(&fields), software.words, sizeof fields);
  return fields;
}

}  // namespace tessera
