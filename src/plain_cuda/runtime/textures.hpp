// Arrays, and the objects by which kernels read and write them. Private to the runtime.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "tessera/core/here.hpp"
#include "tessera/plain_cuda/parts/texture_reads.h"
#include "tessera/plain_cuda/parts/textures.h"

/// Row-major; the memory is one of DeviceMemory's allocations. An extent of 0: no such dimension.
struct cudaArray {
  cudaChannelFormatDesc format = {};
  cudaExtent extent = {};  ///< in elements; the depth of a layered array counts its layers
  unsigned flags = 0;
  std::byte* begin = nullptr;
};

namespace tessera::plain_cuda {

int parts_of(const cudaChannelFormatDesc& format);
/// 0: no format of a texture.
std::size_t texel_bytes(const cudaChannelFormatDesc& format);
/// An array that exists; else a finding, and false.
bool is_known(const cudaArray* array, const char* call, const Place& place);

/// The texels of an array or of linear memory.
struct Texels {
  std::byte* begin = nullptr;
  cudaChannelFormatDesc format = {};
  int dimensions = 1;
  bool is_linear = false, is_layered = false, is_cube = false;
  std::array<std::size_t, 3> extents = {1, 1, 1};
  std::size_t layers = 1;
  std::size_t pitch = 0;  ///< bytes from row to row

  std::size_t bytes() const { return texel_bytes(format); }
  std::byte* at(std::size_t x, std::size_t y, std::size_t z, std::size_t layer) const {
    const std::size_t plane = is_layered || is_cube ? layer : z;
    return begin + (plane * extents[1] + y) * pitch + x * bytes();
  }
};
Texels texels_of(const cudaArray& array);

/// A texture, or a surface.
struct TextureObject {
  bool is_surface = false;
  cudaResourceDesc resource = {};
  cudaTextureDesc how = {};
  Texels texels;
  bool is_destroyed = false;
  Here destroyed;
};
/// Null: there is none with this handle.
const TextureObject* find_object(unsigned long long handle);

/// The object, if the call of a kernel can use it: else a finding, and null.
const TextureObject* object_for(const TextureCall& call, unsigned long long handle, bool is_surface,
                                const Place& place);
/// A finding of a kernel; without a checker the kernel ends.
void refuse_in_kernel(bool is_out_of_bounds, const Place& place, std::string problem,
                      std::string hint);
/// "float4", "unsigned char".
std::string name_of(const TexelType& type);
std::string name_of(const cudaChannelFormatDesc& format);

}  // namespace tessera::plain_cuda
