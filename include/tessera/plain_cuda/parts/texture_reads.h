// What kernels do with textures and surfaces: tex1Dfetch, tex2D, surf2Dwrite and their siblings.
// Implemented in src/plain_cuda/runtime: texture_reads.cpp, surfaces.cpp.
#pragma once

#include "place.h"
#include "textures.h"

namespace tessera::plain_cuda {

struct TextureCall {
  const char* name;
  int dimensions;
  bool is_layered = false, is_fetch = false, is_cube = false;
};
struct TexturePosition {
  float at[3] = {};
  int layer = 0;
  int element = 0;  ///< of a fetch
};
/// Writes `type` to `out`.
void read_texture(const TextureCall& call, cudaTextureObject_t texture, const TexturePosition& at,
                  const TexelType& type, void* out, const Place& place);

struct SurfacePosition {
  int x = 0;  ///< in bytes
  int y = 0, z = 0, layer = 0;
  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap;
};
void read_surface(const TextureCall& call, cudaSurfaceObject_t surface, const SurfacePosition& at,
                  const TexelType& type, void* out, const Place& place);
void write_surface(const TextureCall& call, cudaSurfaceObject_t surface, const SurfacePosition& at,
                   const TexelType& type, const void* value, const Place& place);

}  // namespace tessera::plain_cuda

/// name<T>(texture, position) and name(&value, texture, position).
#define TESSERA_TEXTURE(name, call, position, ...)                                             \
  template <class T>                                                                           \
  TESSERA_UNSEEN inline T name(cudaTextureObject_t texture, __VA_ARGS__, TESSERA_PLACE) {      \
    T out;                                                                                     \
    tessera::plain_cuda::read_texture(call, texture, position,                                 \
                                      tessera::plain_cuda::Texel<T>::type, &out, place);       \
    return out;                                                                                \
  }                                                                                            \
  template <class T>                                                                           \
  TESSERA_AT_CALL void name(T* out, cudaTextureObject_t texture, __VA_ARGS__, TESSERA_PLACE) { \
    T value;                                                                                   \
    tessera::plain_cuda::read_texture(call, texture, position,                                 \
                                      tessera::plain_cuda::Texel<T>::type, &value, place);     \
    *out = value;                                                                              \
  }
#define TESSERA_CALL(...) (tessera::plain_cuda::TextureCall{__VA_ARGS__})
#define TESSERA_AT(...) (tessera::plain_cuda::TexturePosition{__VA_ARGS__})
TESSERA_TEXTURE(tex1Dfetch, TESSERA_CALL("tex1Dfetch", 1, false, true), TESSERA_AT({}, 0, x), int x)
TESSERA_TEXTURE(tex1D, TESSERA_CALL("tex1D", 1), TESSERA_AT({x}), float x)
TESSERA_TEXTURE(tex2D, TESSERA_CALL("tex2D", 2), TESSERA_AT({x, y}), float x, float y)
TESSERA_TEXTURE(tex3D, TESSERA_CALL("tex3D", 3), TESSERA_AT({x, y, z}), float x, float y, float z)
TESSERA_TEXTURE(tex1DLayered, TESSERA_CALL("tex1DLayered", 1, true), TESSERA_AT({x}, layer),
                float x, int layer)
TESSERA_TEXTURE(tex2DLayered, TESSERA_CALL("tex2DLayered", 2, true), TESSERA_AT({x, y}, layer),
                float x, float y, int layer)
TESSERA_TEXTURE(texCubemap, TESSERA_CALL("texCubemap", 2, false, false, true),
                TESSERA_AT({x, y, z}), float x, float y, float z)
TESSERA_TEXTURE(texCubemapLayered, TESSERA_CALL("texCubemapLayered", 2, true, false, true),
                TESSERA_AT({x, y, z}, layer), float x, float y, float z, int layer)
#undef TESSERA_TEXTURE
#undef TESSERA_AT

/// read<T>(surface, position), read(&value, surface, position), write(value, surface, position).
#define TESSERA_SURFACE(read, write, call, position, ...)                                         \
  template <class T>                                                                              \
  TESSERA_UNSEEN inline T read(cudaSurfaceObject_t surface, __VA_ARGS__,                          \
                               cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,               \
                               TESSERA_PLACE) {                                                   \
    T out;                                                                                        \
    tessera::plain_cuda::read_surface(call(#read), surface, position,                             \
                                      tessera::plain_cuda::Texel<T>::type, &out, place);          \
    return out;                                                                                   \
  }                                                                                               \
  template <class T>                                                                              \
  TESSERA_AT_CALL void read(T* out, cudaSurfaceObject_t surface, __VA_ARGS__,                     \
                            cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, TESSERA_PLACE) { \
    T value;                                                                                      \
    tessera::plain_cuda::read_surface(call(#read), surface, position,                             \
                                      tessera::plain_cuda::Texel<T>::type, &value, place);        \
    *out = value;                                                                                 \
  }                                                                                               \
  template <class T>                                                                              \
  TESSERA_UNSEEN inline void write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,             \
                                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,           \
                                   TESSERA_PLACE) {                                               \
    tessera::plain_cuda::write_surface(call(#write), surface, position,                           \
                                       tessera::plain_cuda::Texel<T>::type, &value, place);       \
  }
#define TESSERA_AT(...) (tessera::plain_cuda::SurfacePosition{__VA_ARGS__, mode})
#define TESSERA_CALL1(name) TESSERA_CALL(name, 1)
#define TESSERA_CALL2(name) TESSERA_CALL(name, 2)
#define TESSERA_CALL3(name) TESSERA_CALL(name, 3)
#define TESSERA_CALL1L(name) TESSERA_CALL(name, 1, true)
#define TESSERA_CALL2L(name) TESSERA_CALL(name, 2, true)
TESSERA_SURFACE(surf1Dread, surf1Dwrite, TESSERA_CALL1, TESSERA_AT(x, 0, 0, 0), int x)
TESSERA_SURFACE(surf2Dread, surf2Dwrite, TESSERA_CALL2, TESSERA_AT(x, y, 0, 0), int x, int y)
TESSERA_SURFACE(surf3Dread, surf3Dwrite, TESSERA_CALL3, TESSERA_AT(x, y, z, 0), int x, int y, int z)
TESSERA_SURFACE(surf1DLayeredread, surf1DLayeredwrite, TESSERA_CALL1L, TESSERA_AT(x, 0, 0, layer),
                int x, int layer)
TESSERA_SURFACE(surf2DLayeredread, surf2DLayeredwrite, TESSERA_CALL2L, TESSERA_AT(x, y, 0, layer),
                int x, int y, int layer)
#undef TESSERA_SURFACE
#undef TESSERA_CALL1
#undef TESSERA_CALL2
#undef TESSERA_CALL3
#undef TESSERA_CALL1L
#undef TESSERA_CALL2L
#undef TESSERA_CALL
#undef TESSERA_AT
