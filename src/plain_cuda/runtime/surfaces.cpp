// Reads and writes of surfaces. Outside, the mode decides: clamp, zero, or the end of the kernel.
#include <algorithm>
#include <cstring>

#include "context.hpp"
#include "meeting.hpp"
#include "tessera/core/text.hpp"
#include "textures.hpp"

namespace tessera::plain_cuda {

namespace {

/// Where a surface is accessed; null: nowhere.
std::byte* element_of(const TextureCall& call, cudaSurfaceObject_t surface,
                      const SurfacePosition& at, const TexelType& type, const Place& place) {
  me(call.name, place);
  const TextureObject* const object = object_for(call, surface, true, place);
  if (object == nullptr) return nullptr;
  const Texels& texels = object->texels;
  const auto bytes = static_cast<std::size_t>(type.bytes * type.parts);
  if (bytes != texels.bytes()) {
    refuse_in_kernel(false, place,
                     cat(call.name, " accesses ", name_of(type), ", and the surface has ",
                         name_of(texels.format)),
                     "the type of the channel descriptor");
    return nullptr;
  }
  if (static_cast<std::size_t>(at.x) % bytes != 0) {
    refuse_in_kernel(
        true, place,
        cat(call.name, ": x is byte ", at.x, ", within an element of ", bytes, " bytes"),
        "x counts bytes: multiply by sizeof");
    return nullptr;
  }
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t wanted[4] = {at.x / size, at.y, at.z, at.layer};
  std::size_t found[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const auto extent = static_cast<std::int64_t>(i < 3 ? texels.extents[i] : texels.layers);
    const bool is_inside = wanted[i] >= 0 && wanted[i] < extent;
    if (!is_inside && at.mode == cudaBoundaryModeTrap)
      refuse_in_kernel(
          true, place,
          cat(call.name, " at element (", wanted[0], ",", wanted[1], ",", wanted[2], ")",
              call.is_layered ? cat(" of layer ", at.layer) : std::string(), "; the surface has ",
              texels.extents[0], " x ", texels.extents[1], " x ", texels.extents[2], " elements",
              call.is_layered ? cat(" and ", texels.layers, " layers") : std::string()),
          "guard the access, or give a boundary mode; x counts bytes: multiply by sizeof");
    if (!is_inside && at.mode != cudaBoundaryModeClamp) return nullptr;
    found[i] = static_cast<std::size_t>(std::clamp<std::int64_t>(wanted[i], 0, extent - 1));
  }
  return texels.at(found[0], found[1], found[2], found[3]);
}

}  // namespace

void read_surface(const TextureCall& call, cudaSurfaceObject_t surface, const SurfacePosition& at,
                  const TexelType& type, void* out, const Place& place) {
  const auto bytes = static_cast<std::size_t>(type.bytes * type.parts);
  std::memset(out, 0, bytes);
  if (const std::byte* const from = element_of(call, surface, at, type, place))
    load_told(out, from, bytes, here_of(place));
}

void write_surface(const TextureCall& call, cudaSurfaceObject_t surface, const SurfacePosition& at,
                   const TexelType& type, const void* value, const Place& place) {
  if (std::byte* const to = element_of(call, surface, at, type, place))
    store_told(to, value, static_cast<std::size_t>(type.bytes * type.parts), here_of(place));
}

}  // namespace tessera::plain_cuda
