// What a bulk copy of tiles knows of a matrix in global memory: where it is, how far it goes, and
// which box of it one copy moves (a "tensor map": CUDA Driver API, cuTensorMapEncodeTiled). Made on
// the host, for a GPU (cuda/tensor_map.hpp) or for the CPU engine, and refused with a sentence
// where the hardware would refuse it.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/layout/swizzle.hpp"

namespace tessera {

/// How a map's elements are read. tf32: f32, rounded to TF32 on the way.
enum class BulkType : std::uint8_t { bytes_1, f16, bf16, f32, tf32, i32 };

/// The arguments of a map, innermost dimension first. Copies fill with zeros what is outside.
struct BulkFields {
  const void* data = nullptr;
  BulkType type = BulkType::bytes_1;
  int element_bytes = 1;
  std::int64_t extent[2] = {};    ///< in elements
  std::int64_t stride_bytes = 0;  ///< from one row to the next
  int box[2] = {};                ///< in elements
  SwizzleMode swizzle = SwizzleMode::none;
};

/// A map as kernels take it: the driver's 128 bytes, or those fields for the CPU engine.
struct alignas(128) BulkMap {
  std::uint64_t words[16] = {};
};

/// Why there is no such map; empty where there is one.
std::string why_no_map(const BulkFields& fields);
/// For the CPU engine. Throws Error(argument) where there is no such map.
BulkMap software_map(const BulkFields& fields);
BulkFields fields_of(const BulkMap& software);

}  // namespace tessera
