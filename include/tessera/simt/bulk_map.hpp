// The description of a matrix in global memory for bulk copies of tiles (TMA): address, extents,
// strides and the box that one copy moves (a "tensor map": CUDA Driver API,
// cuTensorMapEncodeTiled). Made on the host, for a GPU (cuda/tensor_map.hpp) or for the CPU engine.
// What the hardware would refuse is refused with a message.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/layout/swizzle.hpp"

namespace tessera {

/// How a map's elements are read. tf32: f32, rounded to TF32 on the way, ties to even.
enum class BulkType : std::uint8_t { bytes_1, f16, bf16, f32, tf32, i32 };

/// The arguments of a map, innermost dimension first. Copies fill with zeros what is outside.
struct BulkFields {
  const void* data = nullptr;
  BulkType type = BulkType::bytes_1;
  int element_bytes = 1;
  std::int64_t extent[2] = {};    ///< in elements
  std::int64_t stride_bytes = 0;  ///< bytes from one row to the next
  int box[2] = {};                ///< in elements
  SwizzleMode swizzle = SwizzleMode::none;
  std::int64_t inner_stride = 1;  ///< in elements, within a row: only 1 is possible
};

/// A map as a kernel argument: the driver's 128 bytes, or the same fields for the CPU engine.
struct alignas(128) BulkMap {
  std::uint64_t words[16] = {};
};

/// Why such a map is not possible; empty where it is.
std::string why_no_map(const BulkFields& fields);
/// A map for the CPU engine. Throws Error(argument) where it is not possible.
BulkMap software_map(const BulkFields& fields);
BulkFields fields_of(const BulkMap& software);

}  // namespace tessera
