// Reads of textures: which texels a position is made of, and their weights (CUDA C++ Programming
// Guide, "Texture Fetching"). Each texel that counts is a load.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "context.hpp"
#include "meeting.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/narrow.h"
#include "textures.hpp"

namespace tessera::plain_cuda {

namespace {

/// A texel along one dimension; index -1: the border.
struct Tap {
  std::int64_t index = 0;
  float weight = 1;
};
struct Taps {
  Tap all[2];
  int count = 1;
  const Tap* begin() const { return all; }
  const Tap* end() const { return all + count; }
};

std::int64_t addressed(std::int64_t index, std::int64_t extent, cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap: return (index % extent + extent) % extent;
    case cudaAddressModeMirror: {
      const std::int64_t in_two = (index % (2 * extent) + 2 * extent) % (2 * extent);
      return in_two < extent ? in_two : 2 * extent - 1 - in_two;
    }
    case cudaAddressModeBorder: return index >= 0 && index < extent ? index : -1;
    default: return std::clamp<std::int64_t>(index, 0, extent - 1);
  }
}

Taps taps_of(float position, std::size_t extent, cudaTextureAddressMode mode,
             const cudaTextureDesc& how) {
  constexpr float kFarthest = 1 << 30;
  const bool is_normalized = how.normalizedCoords != 0;
  const bool may_repeat = mode != cudaAddressModeWrap && mode != cudaAddressModeMirror;
  if (!is_normalized && !may_repeat) mode = cudaAddressModeClamp;
  float at = is_normalized ? position * static_cast<float>(extent) : position;
  at = at >= -kFarthest && at <= kFarthest ? at : at > 0 ? kFarthest : at < 0 ? -kFarthest : 0;
  const auto size = static_cast<std::int64_t>(extent);
  if (how.filterMode == cudaFilterModePoint) {
    const auto index = static_cast<std::int64_t>(std::floor(at));
    return {{{addressed(index, size, mode), 1}}, 1};
  }
  // Weights have 8 fractional bits.
  const float from_centre = at - 0.5f, below = std::floor(from_centre);
  const float above = std::nearbyint((from_centre - below) * 256) / 256;
  const auto index = static_cast<std::int64_t>(below);
  return {{{addressed(index, size, mode), 1 - above}, {addressed(index + 1, size, mode), above}},
          2};
}

/// A component as a number: a float, or an integer of 8 or 16 bits as a part of its range.
float number_of(const std::byte* from, const cudaChannelFormatDesc& format) {
  const int bits = format.x;
  std::uint32_t raw = 0;
  std::memcpy(&raw, from, static_cast<std::size_t>(bits / 8));
  if (format.f == cudaChannelFormatKindFloat)
    return bits == 16 ? narrow_value(kHalf, raw) : __builtin_bit_cast(float, raw);
  if (format.f == cudaChannelFormatKindUnsigned)
    return static_cast<float>(raw) / static_cast<float>((1 << bits) - 1);
  const auto value = static_cast<std::int32_t>(raw << (32 - bits)) >> (32 - bits);
  return std::max(static_cast<float>(value) / static_cast<float>((1 << (bits - 1)) - 1), -1.0f);
}

/// Integers as they are in memory, of a colour.
void store_integer(std::byte* to, float colour, int bytes) {
  const auto value = static_cast<std::int64_t>(colour);
  std::memcpy(to, &value, static_cast<std::size_t>(bytes));
}

/// One read: gathers texels and their weighted sum.
class TexelReader {
 public:
  TexelReader(const TextureObject& object, const TexelType& type, void* out, Here here)
      : texels_(object.texels),
        how_(object.how),
        type_(type),
        out_(static_cast<std::byte*>(out)),
        here_(here),
        is_float_(type.kind == cudaChannelFormatKindFloat) {}

  void add(std::int64_t x, std::int64_t y, std::int64_t z, std::size_t layer, float weight) {
    if (weight == 0) return;
    const bool is_border = x < 0 || y < 0 || z < 0;
    std::byte raw[16] = {};
    if (!is_border)
      load_told(raw,
                texels_.at(static_cast<std::size_t>(x), static_cast<std::size_t>(y),
                           static_cast<std::size_t>(z), layer),
                texels_.bytes(), here_);
    const int step = texels_.format.x / 8;
    for (int i = 0; i < type_.parts; ++i) {
      const float colour = how_.borderColor[i];
      if (is_float_)
        sums_[i] += weight * (is_border ? colour : number_of(raw + i * step, texels_.format));
      else if (is_border) store_integer(out_ + i * step, colour, step);
      else std::memcpy(out_ + i * step, raw + i * step, static_cast<std::size_t>(step));
    }
  }
  void finish() const {
    if (is_float_) std::memcpy(out_, sums_, sizeof(float) * static_cast<std::size_t>(type_.parts));
  }

 private:
  const Texels& texels_;
  const cudaTextureDesc& how_;
  const TexelType& type_;
  std::byte* const out_;
  const Here here_;
  const bool is_float_;
  float sums_[4] = {};
};

/// Does the kernel read the type that the texture gives?
bool is_given(const TextureObject& object, const TexelType& type) {
  const cudaChannelFormatDesc& format = object.texels.format;
  if (type.parts > parts_of(format)) return false;
  const bool gives_float =
      format.f == cudaChannelFormatKindFloat || object.how.readMode == cudaReadModeNormalizedFloat;
  const bool is_float = type.kind == cudaChannelFormatKindFloat;
  return is_float == gives_float && (is_float ? type.bytes == 4 : 8 * type.bytes == format.x);
}

/// The face of a cube in a direction, and the position in it, which becomes that of two dimensions.
std::size_t face_of(float (&at)[3]) {
  const float x = at[0], y = at[1], z = at[2];
  const float size[] = {std::fabs(x), std::fabs(y), std::fabs(z)};
  const auto major = static_cast<std::size_t>(std::max_element(size, size + 3) - size);
  const bool is_back = at[major] < 0;
  const float across = major == 0 ? (is_back ? z : -z) : major == 1 ? x : is_back ? -x : x;
  const float down = major == 1 ? (is_back ? -z : z) : -y;
  at[0] = (across / size[major] + 1) / 2;
  at[1] = (down / size[major] + 1) / 2;
  at[2] = 0;
  return 2 * major + (is_back ? 1 : 0);
}

}  // namespace

void read_texture(const TextureCall& call, cudaTextureObject_t texture, const TexturePosition& at,
                  const TexelType& type, void* out, const Place& place) {
  me(call.name, place);
  std::memset(out, 0, static_cast<std::size_t>(type.bytes * type.parts));
  const TextureObject* const object = object_for(call, texture, false, place);
  if (object == nullptr) return;
  if (!is_given(*object, type))
    return refuse_in_kernel(
        false, place,
        cat(call.name, " reads ", name_of(type), ", and the texture has ",
            name_of(object->texels.format),
            object->how.readMode == cudaReadModeNormalizedFloat ? ", read as floats" : ""),
        "the type of the channel descriptor; float for cudaReadModeNormalizedFloat");
  const Texels& texels = object->texels;
  TexelReader reader(*object, type, out, here_of(place));
  if (call.is_fetch) {  // outside, the result is zero
    if (at.element >= 0 && static_cast<std::size_t>(at.element) < texels.extents[0])
      reader.add(at.element, 0, 0, 0, 1);
    return reader.finish();
  }
  float position[3] = {at.at[0], at.at[1], at.at[2]};
  std::size_t layer = call.is_cube ? face_of(position) : 0;
  const std::size_t planes = call.is_cube ? 6 : 1;
  if (call.is_layered)
    layer += planes * static_cast<std::size_t>(std::clamp<std::int64_t>(
                          at.layer, 0, static_cast<std::int64_t>(texels.layers / planes) - 1));
  Taps taps[3];
  for (int i = 0; i < texels.dimensions; ++i)
    taps[i] =
        taps_of(position[i], texels.extents[static_cast<std::size_t>(i)],
                call.is_cube ? cudaAddressModeClamp : object->how.addressMode[i], object->how);
  for (const Tap& z : taps[2]) {
    for (const Tap& y : taps[1]) {
      for (const Tap& x : taps[0])
        reader.add(x.index, y.index, z.index, layer, x.weight * y.weight * z.weight);
    }
  }
  reader.finish();
}

}  // namespace tessera::plain_cuda
