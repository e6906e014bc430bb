// Arrays, textures and surfaces: how programs describe, make, fill and destroy them. Kernels read
// them by parts/texture_reads.h. Implemented in src/plain_cuda/runtime: arrays.cpp, textures.cpp.
#pragma once

#include "runtime_api.h"

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned,
  cudaChannelFormatKindUnsigned,
  cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  ///< bits of each component
  cudaChannelFormatKind f;
};
enum {
  cudaArrayDefault = 0,
  cudaArrayLayered = 1,
  cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4,
  cudaArrayTextureGather = 8
};

enum cudaTextureAddressMode {
  cudaAddressModeWrap,
  cudaAddressModeClamp,
  cudaAddressModeMirror,
  cudaAddressModeBorder
};
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

enum cudaResourceType {
  cudaResourceTypeArray,
  cudaResourceTypeMipmappedArray,
  cudaResourceTypeLinear,
  cudaResourceTypePitch2D
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
    int reserved[32];
  } res;
};
struct cudaResourceViewDesc;
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };

namespace tessera::plain_cuda {

/// What a kernel reads from a texture or a surface, or writes: components of one type.
struct TexelType {
  cudaChannelFormatKind kind;
  int bytes, parts;  ///< bytes of a component
};
template <class Part>
constexpr TexelType texel_type(int parts) {
  return {std::is_floating_point_v<Part> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Part>       ? cudaChannelFormatKindSigned
                                         : cudaChannelFormatKindUnsigned,
          sizeof(Part), parts};
}
template <class T>
struct Texel {
  static constexpr TexelType type = texel_type<T>(1);
};
#define TESSERA_TEXEL(name, T)                          \
  template <>                                           \
  struct Texel<name##1> {                               \
    static constexpr TexelType type = texel_type<T>(1); \
  };                                                    \
  template <>                                           \
  struct Texel<name##2> {                               \
    static constexpr TexelType type = texel_type<T>(2); \
  };                                                    \
  template <>                                           \
  struct Texel<name##3> {                               \
    static constexpr TexelType type = texel_type<T>(3); \
  };                                                    \
  template <>                                           \
  struct Texel<name##4> {                               \
    static constexpr TexelType type = texel_type<T>(4); \
  };
TESSERA_TEXEL(char, signed char)
TESSERA_TEXEL(uchar, unsigned char)
TESSERA_TEXEL(short, short)
TESSERA_TEXEL(ushort, unsigned short)
TESSERA_TEXEL(int, int)
TESSERA_TEXEL(uint, unsigned)
TESSERA_TEXEL(longlong, long long)
TESSERA_TEXEL(ulonglong, unsigned long long)
TESSERA_TEXEL(float, float)
#undef TESSERA_TEXEL

}  // namespace tessera::plain_cuda

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
template <class T>
inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  constexpr tessera::plain_cuda::TexelType type = tessera::plain_cuda::Texel<T>::type;
  const auto bits = [&](int part) { return part < type.parts ? 8 * type.bytes : 0; };
  return {bits(0), bits(1), bits(2), bits(3), type.kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
  return {16, 0, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
  return {16, 16, 0, 0, cudaChannelFormatKindFloat};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
  return {16, 16, 16, 16, cudaChannelFormatKindFloat};
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height = 0, unsigned flags = 0,
                            TESSERA_PLACE);
/// The extent counts elements.
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned flags = 0, TESSERA_PLACE);
cudaError_t cudaFreeArray(cudaArray_t array, TESSERA_PLACE);
cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* format, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array, TESSERA_PLACE);
cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* format, cudaArray_const_t array,
                               TESSERA_PLACE);

// Offsets and widths are bytes.
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                std::size_t pitch, std::size_t width, std::size_t height,
                                cudaMemcpyKind kind, TESSERA_PLACE);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                     std::size_t pitch, std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr,
                                     TESSERA_PLACE);
cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from,
                                  std::size_t x, std::size_t y, std::size_t width,
                                  std::size_t height, cudaMemcpyKind kind, TESSERA_PLACE);
cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from,
                                       std::size_t x, std::size_t y, std::size_t width,
                                       std::size_t height, cudaMemcpyKind kind,
                                       cudaStream_t stream = nullptr, TESSERA_PLACE);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x, std::size_t to_y,
                                     cudaArray_const_t from, std::size_t from_x, std::size_t from_y,
                                     std::size_t width, std::size_t height,
                                     cudaMemcpyKind kind = cudaMemcpyDeviceToDevice, TESSERA_PLACE);
/// Row after row, from the element at (x, y) on.
cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                              std::size_t bytes, cudaMemcpyKind kind, TESSERA_PLACE);
cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                std::size_t bytes, cudaMemcpyKind kind, TESSERA_PLACE);

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view,
                                    TESSERA_PLACE);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture, TESSERA_PLACE);
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture, TESSERA_PLACE);
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture,
                                            TESSERA_PLACE);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource,
                                    TESSERA_PLACE);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface, TESSERA_PLACE);
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface, TESSERA_PLACE);
