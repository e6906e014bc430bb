// Maps for the bulk copies of a GPU, made by the driver, whose function is looked up through the
// runtime: nothing links libcuda. See cuda/tensor_map.hpp.
#include "tessera/cuda/tensor_map.hpp"

#include <cuda.h>

#include <cstring>

#include "errors.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cuda {

namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode find_encode() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                              12000, cudaEnableDefault, &result);
  if (status != cudaSuccess) detail::forget_own_error();
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess || found == nullptr)
    throw Error(Category::unavailable, "this driver makes no maps for bulk copies", {}, {},
                "use a driver of CUDA 12 or later");
  return reinterpret_cast<Encode>(found);
}

CUtensorMapDataType type_of(BulkType type) {
  switch (type) {
    case BulkType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case BulkType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case BulkType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case BulkType::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case BulkType::i32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

}  // namespace

BulkMap tensor_map(const BulkFields& f) {
  (void)software_map(f);  // refuses what the driver would refuse, with a sentence
  static const Encode encode = find_encode();
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(f.extent[0]),
                                static_cast<cuuint64_t>(f.extent[1])};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(f.stride_bytes)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(f.box[0]), static_cast<cuuint32_t>(f.box[1])};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap map;
  static_assert(sizeof map == sizeof(BulkMap));
  const CUresult result =
      encode(&map, type_of(f.type), 2, const_cast<void*>(f.data), extents, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(f.swizzle),
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS)
    throw Error(Category::argument, "the driver makes no map for bulk copies of this matrix", {},
                cat("error ", static_cast<int>(result), " for (", f.extent[1], ",", f.extent[0],
                    "), rows ", f.stride_bytes, " bytes apart"));
  BulkMap out;
  std::memcpy(out.words, &map, sizeof map);
  return out;
}

}  // namespace tessera::cuda
