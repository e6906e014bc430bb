// Objects of textures and surfaces: what may be one, and which handle leads to which.
#include "textures.hpp"

#include <deque>
#include <mutex>
#include <shared_mutex>

#include "context.hpp"
#include "meeting.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr std::size_t kTextureAlignment = 512, kPitchAlignment = 32;  // of cudaDeviceProp

struct Objects {
  std::shared_mutex mutex;
  std::deque<TextureObject> all;  ///< a handle is a number in it, from 1
};
Objects& objects() {
  static auto* const all = new Objects;  // used until the very end
  return *all;
}

unsigned long long add(TextureObject object) {
  const std::unique_lock lock(objects().mutex);
  objects().all.push_back(std::move(object));
  return objects().all.size();
}

/// Texels of linear memory, which must be in one allocation. Else a finding, and false.
bool read_linear(const cudaResourceDesc& resource, const char* call, Texels& out,
                 const Place& place) {
  const bool has_rows = resource.resType == cudaResourceTypePitch2D;
  const auto& line = resource.res.linear;
  const auto& rows = resource.res.pitch2D;
  out.format = has_rows ? rows.desc : line.desc;
  out.begin = static_cast<std::byte*>(has_rows ? rows.devPtr : line.devPtr);
  out.is_linear = !has_rows;
  out.dimensions = has_rows ? 2 : 1;
  const std::size_t texel = out.bytes();
  const auto fail = [&](cudaError_t error, std::string problem, const char* hint) {
    refuse(error, place, cat(call, ": ", problem), hint);
    return false;
  };
  if (texel == 0)
    return fail(cudaErrorInvalidChannelDescriptor, "the elements have no format",
                "1, 2 or 4 components of 8, 16 or 32 bits: cudaCreateChannelDesc<float>()");
  const std::size_t bytes = has_rows ? rows.height * rows.pitchInBytes : line.sizeInBytes;
  out.extents = {has_rows ? rows.width : bytes / texel, has_rows ? rows.height : 1, 1};
  out.pitch = has_rows ? rows.pitchInBytes : bytes;
  const Allocation* const memory = DeviceMemory::get().find(number(out.begin));
  if (memory == nullptr || memory->freed)
    return fail(cudaErrorInvalidValue, "the memory is none of the device's",
                "give it a pointer of cudaMalloc");
  const std::size_t last =
      has_rows ? (rows.height - 1) * rows.pitchInBytes + rows.width * texel : bytes;
  if (has_rows && (rows.height == 0 || rows.width * texel > rows.pitchInBytes))
    return fail(cudaErrorInvalidPitchValue,
                cat(rows.height, " rows of ", rows.width, " elements with a pitch of ",
                    rows.pitchInBytes, " bytes"),
                "a pitch in bytes that has the width");
  if (number(out.begin) + last > memory->end())
    return fail(cudaErrorInvalidValue,
                cat(last, " bytes from byte ", number(out.begin) - memory->begin, " of ",
                    DeviceMemory::name_of(*memory), " on, which has ", memory->bytes),
                "sizeInBytes and pitchInBytes are bytes, width and height elements");
  if (number(out.begin) % kTextureAlignment != 0 || (has_rows && out.pitch % kPitchAlignment != 0))
    return fail(cudaErrorMisalignedAddress,
                cat("the memory begins at byte ", number(out.begin) - memory->begin, " of ",
                    DeviceMemory::name_of(*memory), ", with a pitch of ", out.pitch, " bytes"),
                "textureAlignment and texturePitchAlignment of cudaDeviceProp: 512 and 32 bytes");
  return true;
}

bool read_resource(const cudaResourceDesc& resource, const char* call, Texels& out,
                   const Place& place) {
  switch (resource.resType) {
    case cudaResourceTypeArray:
      if (!is_known(resource.res.array.array, call, place)) return false;
      out = texels_of(*resource.res.array.array);
      return true;
    case cudaResourceTypeLinear:
    case cudaResourceTypePitch2D: return read_linear(resource, call, out, place);
    default:
      refuse(cudaErrorNotSupported, place, cat(call, ": textures with mipmaps are not offered"),
             "make it from an array");
      return false;
  }
}

/// The modes of reading that the hardware does not have.
cudaError_t require_readable(const Texels& texels, const cudaTextureDesc& how, const char* call,
                             const Place& place) {
  const bool is_float = texels.format.f == cudaChannelFormatKindFloat,
             is_normalized = how.readMode == cudaReadModeNormalizedFloat;
  if (how.sRGB != 0)
    return refuse(cudaErrorNotSupported, place, cat(call, ": sRGB is not offered"),
                  "convert the colours in the kernel");
  if (is_normalized && !is_float && texels.format.x == 32)
    return refuse(cudaErrorInvalidNormSetting, place,
                  cat(call, ": integers of 32 bits are not read as normalized floats"),
                  "cudaReadModeElementType, or components of 8 or 16 bits");
  if (how.filterMode == cudaFilterModeLinear && !is_float && !is_normalized)
    return refuse(cudaErrorInvalidFilterSetting, place, cat(call, ": linear filtering of integers"),
                  "cudaFilterModePoint, or cudaReadModeNormalizedFloat");
  return cudaSuccess;
}

cudaError_t destroy(const char* call, unsigned long long handle, bool is_surface,
                    const Place& place) {
  const TextureObject* const found = find_object(handle);
  if (found == nullptr || found->is_surface != is_surface || found->is_destroyed)
    return refuse(cudaErrorInvalidResourceHandle, place,
                  cat(call, ": ",
                      found != nullptr && found->is_destroyed
                          ? cat("it was destroyed already, at ", place_text(found->destroyed))
                          : std::string("no such object was created")),
                  "destroy each object once");
  const std::unique_lock lock(objects().mutex);
  TextureObject& object = objects().all[handle - 1];
  object.is_destroyed = true;
  object.destroyed = here_of(place);
  return cudaSuccess;
}

/// What the program gave for the object.
template <class T>
cudaError_t described(T* out, T TextureObject::*which, unsigned long long handle,
                      const Place& place) {
  const TextureObject* const found = find_object(handle);
  if (found == nullptr || found->is_destroyed || out == nullptr)
    return refuse(cudaErrorInvalidValue, place, "no such texture or surface exists",
                  "create it before");
  *out = found->*which;
  return cudaSuccess;
}

}  // namespace

const TextureObject* find_object(unsigned long long handle) {
  const std::shared_lock lock(objects().mutex);
  const auto& all = objects().all;
  return handle >= 1 && handle <= all.size() ? &all[handle - 1] : nullptr;
}

void refuse_in_kernel(bool is_out_of_bounds, const Place& place, std::string problem,
                      std::string hint) {
  settle();
  Program& program = Program::get();
  if (!program.is_checked) end_kernel(cudaErrorLaunchFailure, problem, hint, place);
  const uint3& at = current->index;
  program.find(is_out_of_bounds ? check::Kind::out_of_bounds : check::Kind::runtime_misuse,
               check::Severity::error, place,
               cat("thread (", at.x, ",", at.y, ",", at.z, "): ", problem), std::move(hint));
}

const TextureObject* object_for(const TextureCall& call, unsigned long long handle, bool is_surface,
                                const Place& place) {
  const char* const what = is_surface ? "surface" : "texture";
  const TextureObject* const found = find_object(handle);
  const auto fail = [&](std::string problem, const char* hint) -> const TextureObject* {
    refuse_in_kernel(false, place, cat(call.name, ": ", problem), hint);
    return nullptr;
  };
  if (found == nullptr || found->is_surface != is_surface)
    return fail(cat("no ", what, " has this handle, ", handle),
                "create the object, and look at what the call returns");
  if (found->is_destroyed)
    return fail(cat("the ", what, " was destroyed at ", place_text(found->destroyed)),
                "destroy it after the last kernel that uses it");
  const Texels& texels = found->texels;
  if (texels.is_linear != call.is_fetch)
    return fail(call.is_fetch ? "the texture is no linear memory" : "the texture is linear memory",
                call.is_fetch ? "tex1D or tex2D for arrays and memory with a pitch"
                              : "tex1Dfetch for linear memory");
  if (texels.dimensions != call.dimensions || texels.is_layered != call.is_layered ||
      (!is_surface && texels.is_cube != call.is_cube))
    return fail(cat("the ", what, " has ", texels.dimensions, " dimensions",
                    texels.is_layered ? " and layers" : "", texels.is_cube ? ", as cubes" : ""),
                "the function of these dimensions: tex2D, tex3D, tex2DLayered, ...");
  return found;
}

std::string name_of(const TexelType& type) {
  const char* const kind = type.kind == cudaChannelFormatKindFloat    ? "floats"
                           : type.kind == cudaChannelFormatKindSigned ? "signed integers"
                                                                      : "unsigned integers";
  return cat(type.parts, " ", kind, " of ", 8 * type.bytes, " bits");
}
std::string name_of(const cudaChannelFormatDesc& format) {
  return name_of(TexelType{format.f, format.x / 8, parts_of(format)});
}

}  // namespace tessera::plain_cuda

using namespace tessera::plain_cuda;

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view,
                                    Place place) {
  constexpr const char* kCall = "cudaCreateTextureObject";
  if (texture == nullptr || resource == nullptr || how == nullptr || view != nullptr)
    return refuse(view != nullptr ? cudaErrorNotSupported : cudaErrorInvalidValue, place,
                  tessera::cat(kCall, view != nullptr ? ": views of resources are not offered"
                                                      : ": a null pointer"),
                  "a pointer for the result, a resource, a description, and no view");
  TextureObject object{.resource = *resource, .how = *how};
  if (!read_resource(*resource, kCall, object.texels, place)) return cudaPeekAtLastError();
  if (const auto error = require_readable(object.texels, *how, kCall, place)) return error;
  *texture = add(std::move(object));
  return cudaSuccess;
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture, Place place) {
  return destroy("cudaDestroyTextureObject", texture, false, place);
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t texture, Place place) {
  return described(resource, &TextureObject::resource, texture, place);
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* how, cudaTextureObject_t texture,
                                            Place place) {
  return described(how, &TextureObject::how, texture, place);
}
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource,
                                    Place place) {
  constexpr const char* kCall = "cudaCreateSurfaceObject";
  if (surface == nullptr || resource == nullptr || resource->resType != cudaResourceTypeArray)
    return refuse(cudaErrorInvalidValue, place, tessera::cat(kCall, ": it needs an array"),
                  "resType = cudaResourceTypeArray, and an array of cudaArraySurfaceLoadStore");
  TextureObject object{.is_surface = true, .resource = *resource};
  if (!read_resource(*resource, kCall, object.texels, place)) return cudaPeekAtLastError();
  if ((resource->res.array.array->flags & cudaArraySurfaceLoadStore) == 0)
    return refuse(cudaErrorInvalidValue, place,
                  tessera::cat(kCall, ": the array was made without cudaArraySurfaceLoadStore"),
                  "give cudaMallocArray that flag");
  *surface = add(std::move(object));
  return cudaSuccess;
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface, Place place) {
  return destroy("cudaDestroySurfaceObject", surface, true, place);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t surface, Place place) {
  return described(resource, &TextureObject::resource, surface, place);
}
