// Arrays of textures, and copies to and from them; cudaMemcpy3D.
#include <algorithm>
#include <cstdint>

#include "copies.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"
#include "textures.hpp"

namespace tessera::plain_cuda {

int parts_of(const cudaChannelFormatDesc& format) {
  return (format.x > 0) + (format.y > 0) + (format.z > 0) + (format.w > 0);
}

std::size_t texel_bytes(const cudaChannelFormatDesc& format) {
  const int parts = parts_of(format), bits = format.x;
  const int all[] = {format.x, format.y, format.z, format.w};
  const bool is_even = std::all_of(all, all + parts, [&](int each) { return each == bits; });
  const bool is_size = bits == 8 || bits == 16 || bits == 32;
  const bool is_kind =
      format.f == cudaChannelFormatKindFloat
          ? bits >= 16
          : format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned;
  if (!is_even || !is_size || !is_kind || parts == 3) return 0;
  return static_cast<std::size_t>(parts * bits / 8);
}

bool is_known(const cudaArray* array, const char* call, const Place& place) {
  if (array != nullptr) {
    const Allocation* const found = DeviceMemory::get().find(number(array->begin));
    if (found != nullptr && !found->freed) return true;
  }
  refuse(cudaErrorInvalidResourceHandle, place,
         cat(call, ": ", array == nullptr ? "no array was created" : "the array was freed"),
         "cudaMallocArray it before, and cudaFreeArray it after its last use");
  return false;
}

Texels texels_of(const cudaArray& array) {
  Texels out;
  out.begin = array.begin;
  out.format = array.format;
  out.is_cube = (array.flags & cudaArrayCubemap) != 0;
  out.is_layered = (array.flags & cudaArrayLayered) != 0;
  const bool has_planes = array.extent.depth > 0 && !out.is_cube && !out.is_layered;
  out.dimensions = has_planes ? 3 : array.extent.height > 0 ? 2 : 1;
  out.extents = {array.extent.width, std::max<std::size_t>(array.extent.height, 1),
                 has_planes ? array.extent.depth : 1};
  out.layers = has_planes ? 1 : std::max<std::size_t>(array.extent.depth, 1);
  out.pitch = array.extent.width * out.bytes();
  return out;
}

namespace {

std::size_t pitch_of(const cudaArray& array) {
  return array.extent.width * texel_bytes(array.format);
}

/// Are these bytes of rows in the array? Else a finding.
cudaError_t require_inside(const char* call, const cudaArray& array, const cudaPos& first,
                           const cudaExtent& extent, const Place& place) {
  const std::size_t rows = std::max<std::size_t>(array.extent.height, 1),
                    planes = std::max<std::size_t>(array.extent.depth, 1);
  if (first.x + extent.width <= pitch_of(array) && first.y + extent.height <= rows &&
      first.z + extent.depth <= planes)
    return cudaSuccess;
  return refuse(
      cudaErrorInvalidValue, place,
      cat(call, ": ", extent.width, " bytes of ", extent.height, " rows of ", extent.depth,
          " planes from (", first.x, ",", first.y, ",", first.z, ") on; the array has ",
          pitch_of(array), " bytes, ", rows, " rows and ", planes, " planes"),
      "offsets and widths of arrays are bytes, those of cudaMemcpy3D elements");
}

Rows rows_of(const cudaArray& array, const cudaPos& first) {
  const std::size_t rows = std::max<std::size_t>(array.extent.height, 1);
  return {array.begin + (first.z * rows + first.y) * pitch_of(array) + first.x, pitch_of(array)};
}

/// One side of a copy: memory with a pitch, or an array from a position on.
struct Side {
  Rows rows = {};
  bool is_array = false;
  const cudaArray* array = nullptr;
  cudaPos first = {};
};
Side side_of(const cudaArray* array, std::size_t x, std::size_t y) {
  return {{}, true, array, {x, y, 0}};
}

cudaError_t copy_2d(const char* call, Side to, Side from, std::size_t width, std::size_t height,
                    cudaMemcpyKind kind, cudaStream_t stream, const Place& place) {
  for (Side* const side : {&to, &from}) {
    if (!side->is_array) continue;
    if (!is_known(side->array, call, place)) return cudaErrorInvalidResourceHandle;
    if (const auto error =
            require_inside(call, *side->array, side->first, {width, height, 1}, place))
      return error;
    side->rows = rows_of(*side->array, side->first);
  }
  return copy_rows(call, to.rows, from.rows, width, height, kind, stream, place);
}

/// A copy of bytes that may begin and end within rows of the array.
template <class Copy>
cudaError_t copy_linear(const char* call, const cudaArray* array, cudaPos at, std::size_t bytes,
                        const Place& place, const Copy& copy) {
  if (!is_known(array, call, place)) return cudaErrorInvalidResourceHandle;
  for (std::size_t done = 0; done < bytes; at = {0, at.y + 1, 0}) {
    const std::size_t row = pitch_of(*array) - std::min(at.x, pitch_of(*array)),
                      width = std::min(std::max<std::size_t>(row, 1), bytes - done);
    if (const auto error = require_inside(call, *array, at, {width, 1, 1}, place)) return error;
    if (const auto error = copy(rows_of(*array, at), done, width)) return error;
    done += width;
  }
  return waited_for(cudaSuccess);
}

}  // namespace
}  // namespace tessera::plain_cuda

using namespace tessera::plain_cuda;
using tessera::cat;

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags, Place place) {
  const std::size_t bytes = format != nullptr ? texel_bytes(*format) : 0;
  if (bytes == 0)
    return refuse(cudaErrorInvalidChannelDescriptor, place,
                  "an array whose elements have no format",
                  "1, 2 or 4 components of 8, 16 or 32 bits: cudaCreateChannelDesc<float>()");
  const auto has = [&](unsigned flag) { return (flags & flag) != 0; };
  const bool is_cube =
      !has(cudaArrayCubemap) || (extent.width == extent.height && extent.depth % 6 == 0 &&
                                 extent.depth > 0 && (extent.depth == 6 || has(cudaArrayLayered)));
  const bool has_rows = extent.depth == 0 || extent.height > 0 || has(cudaArrayLayered);
  if (array == nullptr || extent.width == 0 || !has_rows || !is_cube ||
      (has(cudaArrayLayered) && extent.depth == 0))
    return refuse(cudaErrorInvalidValue, place,
                  cat("an array of ", extent.width, " x ", extent.height, " x ", extent.depth,
                      " elements with flags ", flags),
                  "a width of at least 1; height and depth 0 if there is no such dimension; the "
                  "depth counts layers or the 6 faces of cubes");
  const std::size_t rows =
      std::max<std::size_t>(extent.height, 1) * std::max<std::size_t>(extent.depth, 1);
  void* begin = nullptr;
  if (const auto error = allocate(&begin, extent.width * rows * bytes, {bytes}, kDevice, place))
    return error;
  DeviceMemory::get().find(number(begin))->row_elements = rows > 1 ? extent.width : 0;
  *array = new cudaArray{*format, extent, flags, static_cast<std::byte*>(begin)};
  return cudaSuccess;
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned flags, Place place) {
  return cudaMalloc3DArray(array, format, {width, height, 0}, flags, place);
}
cudaError_t cudaFreeArray(cudaArray_t array, Place place) {
  if (array == nullptr) return cudaSuccess;  // it stays, as a texture may still refer to it
  return give_back("cudaFreeArray", array->begin, false, place);
}
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array, Place place) {
  if (!is_known(array, "cudaArrayGetInfo", place)) return cudaErrorInvalidResourceHandle;
  if (format != nullptr) *format = array->format;
  if (extent != nullptr) *extent = array->extent;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array,
                               Place place) {
  if (const auto error = require_target(format, "cudaGetChannelDesc", place)) return error;
  return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array), place);
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream, Place place) {
  return copy_2d("cudaMemcpy2DToArray", side_of(to, x, y), {{from, pitch}}, width, height, kind,
                 stream, place);
}
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind, Place place) {
  return waited_for(
      cudaMemcpy2DToArrayAsync(to, x, y, from, pitch, width, height, kind, nullptr, place));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                                       Place place) {
  return copy_2d("cudaMemcpy2DFromArray", {{to, pitch}}, side_of(from, x, y), width, height, kind,
                 stream, place);
}
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind, Place place) {
  return waited_for(
      cudaMemcpy2DFromArrayAsync(to, pitch, from, x, y, width, height, kind, nullptr, place));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                     Place place) {
  return waited_for(copy_2d("cudaMemcpy2DArrayToArray", side_of(to, to_x, to_y),
                            side_of(from, from_x, from_y), width, height, kind, nullptr, place));
}
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind, Place place) {
  return copy_linear("cudaMemcpyToArray", to, {x, y, 0}, bytes, place,
                     [&](const Rows& row, std::size_t done, std::size_t width) {
                       const Rows other{static_cast<const char*>(from) + done, width};
                       return copy_rows("cudaMemcpyToArray", row, other, width, 1, kind, nullptr,
                                        place);
                     });
}
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind, Place place) {
  return copy_linear("cudaMemcpyFromArray", from, {x, y, 0}, bytes, place,
                     [&](const Rows& row, std::size_t done, std::size_t width) {
                       const Rows other{static_cast<char*>(to) + done, width};
                       return copy_rows("cudaMemcpyFromArray", other, row, width, 1, kind, nullptr,
                                        place);
                     });
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* how, cudaStream_t stream, Place place) {
  constexpr const char* kCall = "cudaMemcpy3D";
  // With an array, the extent counts its elements, and so do positions in arrays.
  std::size_t texel = 0;
  for (const cudaArray* array : {how->srcArray, how->dstArray}) {
    if (array == nullptr) continue;
    if (!is_known(array, kCall, place)) return cudaErrorInvalidResourceHandle;
    texel = texel_bytes(array->format);
  }
  cudaExtent extent = how->extent;
  if (texel > 0) extent.width *= texel;
  const auto rows_from = [&](const cudaArray* array, const cudaPitchedPtr& at, cudaPos first,
                             std::size_t plane) {
    first.z += plane;
    if (array == nullptr)
      return Rows{static_cast<char*>(at.ptr) + (first.z * at.ysize + first.y) * at.pitch + first.x,
                  at.pitch};
    first.x *= texel_bytes(array->format);
    return rows_of(*array, first);
  };
  for (const auto& [array, first] :
       {std::pair{how->srcArray, how->srcPos}, std::pair{how->dstArray, how->dstPos}}) {
    if (array == nullptr) continue;
    const cudaPos in_bytes{first.x * texel_bytes(array->format), first.y, first.z};
    if (const auto error = require_inside(kCall, *array, in_bytes, extent, place)) return error;
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    const auto error = copy_rows(kCall, rows_from(how->dstArray, how->dstPtr, how->dstPos, z),
                                 rows_from(how->srcArray, how->srcPtr, how->srcPos, z),
                                 extent.width, extent.height, how->kind, stream, place);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* how, Place place) {
  return waited_for(cudaMemcpy3DAsync(how, nullptr, place));
}
