// cudaMalloc, cudaMemcpy and their siblings; an invalid request is a finding.
#include <algorithm>
#include <cstring>

#include "check/padding.hpp"
#include "context.hpp"
#include "copies.hpp"
#include "debug_info.hpp"
#include "digest.hpp"
#include "graphs.hpp"
#include "handles.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "streams.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

/// Is it memory of the device, as far as a copy in this direction requires?
bool is_device(const void* at) {
  const Allocation* const found = DeviceMemory::get().find(number(at));
  return DeviceMemory::get().contains(at) &&
         (found == nullptr || found->kind != MemoryKind::pinned);
}

/// The unwritten bytes of the copied ones that are no padding of the source's elements.
struct Missing {
  std::size_t bytes = 0;
  std::uint64_t first = 0;   ///< its address
  std::size_t together = 0;  ///< from there on
};
Missing missing_of(const Allocation& source, std::uint64_t begin, std::uint64_t end) {
  DeviceMemory& memory = DeviceMemory::get();
  const auto is_padding = [&](std::uint64_t at) {
    return source.gaps && check::is_in_gap(*source.gaps, source.element_bytes, at - source.begin);
  };
  Missing out;
  for (std::uint64_t at = begin; at < end; ++at) {
    const std::uint64_t first = at;
    while (at < end && !memory.is_written(at, 1) && !is_padding(at)) ++at;
    if (at == first ||
        (!source.gaps && check::may_be_padding(first - source.begin, at - source.begin)))
      continue;
    if (out.bytes == 0) out.first = first, out.together = at - first;
    out.bytes += at - first;
  }
  return out;
}

}  // namespace

cudaError_t check_side(const char* call, const char* side, const void* at, std::size_t bytes,
                       bool to_be_device, bool to_be_host, const Place& place) {
  DeviceMemory& memory = DeviceMemory::get();
  if (to_be_host && is_device(at)) {
    const Allocation* const found = memory.find(number(at));
    if (found == nullptr || found->kind == MemoryKind::device)
      return refuse(
          cudaErrorInvalidValue, place,
          cat(call, ": the ", side, " is memory of the device, and the direction says host"),
          "exchange the arguments, or the direction");
  }
  if (at == nullptr)
    return refuse(cudaErrorInvalidValue, place, cat(call, ": the ", side, " is a null pointer"),
                  "allocate it, and look at what the allocation returns");
  if (!memory.contains(at)) {
    if (to_be_device && !is_symbol(at))
      return refuse(cudaErrorInvalidValue, place,
                    cat(call, ": the ", side,
                        " is memory of the host, and it should be memory of the device"),
                    "exchange the arguments, or the direction");
    const std::uint64_t end = end_on_host(number(at));
    if (end != 0 && number(at) + bytes > end)
      return refuse(cudaErrorInvalidValue, place,
                    cat(call, ": ", bytes, " bytes, and the ", side,
                        is_symbol(at) ? ", a variable, has " : ", memory of the host, has ",
                        end - number(at), " from there to its end"),
                    "check the size: it is counted in bytes, not in elements");
    return cudaSuccess;
  }
  const Allocation* const found = memory.find(number(at));
  if (found == nullptr) {
    const Allocation* const before = memory.before(number(at));
    return refuse(
        cudaErrorInvalidValue, place,
        cat(call, ": the ", side, " is no memory that was allocated",
            before == nullptr ? std::string()
                              : cat("; it is ", number(at) - before->end(),
                                    " bytes after the end of ", DeviceMemory::name_of(*before))),
        "give it a pointer of cudaMalloc");
  }
  if (found->freed)
    return refuse(cudaErrorInvalidValue, place,
                  cat(call, ": the ", side, ", ", DeviceMemory::name_of(*found),
                      ", was given back at ", place_text(*found->freed)),
                  "free memory when the last copy that uses it has ended");
  if (number(at) + bytes > found->end())
    return refuse(cudaErrorInvalidValue, place,
                  cat(call, ": ", bytes, " bytes at byte ", number(at) - found->begin, " of ",
                      DeviceMemory::name_of(*found), ", which has ", found->bytes),
                  "check the size: it is counted in bytes, not in elements");
  return cudaSuccess;
}

void judge_source(const char* call, const void* from, std::size_t bytes, const Place& place) {
  DeviceMemory& memory = DeviceMemory::get();
  if (!Program::get().is_checked || !memory.contains(from)) return;
  memory.find_unseen(number(from));
  if (memory.unwritten(number(from), bytes) == 0) return;
  const Allocation& source = *memory.find(number(from));
  const Missing missing = missing_of(source, number(from), number(from) + bytes);
  if (missing.bytes == 0) return;
  const std::uint64_t offset = missing.first - source.begin;
  const std::string part =
      check::part_text(offset % source.element_bytes, missing.together, source.element_bytes);
  Program::get().find(
      check::Kind::uninitialized_read, check::Severity::error, place,
      cat(call, " copies ", missing.bytes, " of ", bytes, " bytes of ",
          DeviceMemory::name_of(source), " that nobody has written, the first at ", part,
          part.empty() ? "" : " of ", "element ", offset / source.element_bytes),
      "do the kernels write all of it? a grid that is too small, or a guard with the wrong extent, "
      "leaves a part out");
}

namespace {

/// Marks the written bytes of the source as written in the target.
void copy_written(void* to, const void* from, std::size_t bytes) {
  DeviceMemory& memory = DeviceMemory::get();
  if (!memory.contains(to)) return;
  if (Program::get().is_checked && memory.contains(from)) memory.find_unseen(number(from));
  if (!memory.contains(from) || memory.unwritten(number(from), bytes) == 0)
    return memory.wrote(number(to), bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (memory.is_written(number(from) + i, 1)) memory.wrote(number(to) + i, 1);
  }
}

/// Work of the device on a stream that reads and writes memory; either may be null.
void work(const char* call, cudaStream_t stream, const void* from, const void* to,
          std::size_t bytes, const Place& place) {
  Streams& streams = Streams::get();
  streams.begin(stream, place, call);
  for (const void* each : {from, to}) {
    if (DeviceMemory::get().has(each))
      streams.touch(number(each), bytes, each == from, each == to, false);
  }
  streams.end();
}

cudaError_t copy(const char* call, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream, const Place& place) {
  if (bytes == 0) return cudaSuccess;
  if (const auto error = require_stream(call, stream, place)) return error;
  if (is_captured(
          stream, [=](cudaStream_t on) { copy(call, to, from, bytes, kind, on, place); },
          cudaGraphNodeTypeMemcpy))
    return cudaSuccess;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return refuse(cudaErrorInvalidMemcpyDirection, place,
                  cat(call, ": direction ", static_cast<int>(kind)),
                  "cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, "
                  "cudaMemcpyHostToHost or cudaMemcpyDefault");
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool any = kind == cudaMemcpyDefault;
  if (const auto error =
          check_side(call, "target", to, bytes, to_device, !to_device && !any, place))
    return error;
  if (const auto error =
          check_side(call, "source", from, bytes, from_device, !from_device && !any, place))
    return error;
  if (kind != cudaMemcpyDeviceToDevice) judge_source(call, from, bytes, place);
  std::memmove(to, from, bytes);
  if (is_device(from) && !is_device(to)) digest_copied(from, bytes);
  copy_written(to, from, bytes);
  work(call, stream, from, to, bytes, place);
  return cudaSuccess;
}

cudaError_t fill(const char* call, void* at, int value, std::size_t bytes, cudaStream_t stream,
                 const Place& place) {
  if (bytes == 0) return cudaSuccess;
  if (const auto error = require_stream(call, stream, place)) return error;
  if (is_captured(
          stream, [=](cudaStream_t on) { fill(call, at, value, bytes, on, place); },
          cudaGraphNodeTypeMemset))
    return cudaSuccess;
  if (const auto error = check_side(call, "target", at, bytes, true, false, place)) return error;
  std::memset(at, value, bytes);
  DeviceMemory::get().wrote(number(at), bytes);
  work(call, stream, nullptr, at, bytes, place);
  return cudaSuccess;
}

}  // namespace

cudaError_t waited_for(cudaError_t copied) {
  Streams::get().wait_for(nullptr);
  return copied != cudaSuccess ? copied : Program::get().device_error();
}

cudaError_t give_back(const char* call, void* at, bool is_host, const Place& place) {
  if (at == nullptr) return cudaSuccess;
  DeviceMemory& memory = DeviceMemory::get();
  Allocation* const found = memory.find(number(at));
  if (found == nullptr || found->begin != number(at))
    return refuse(
        cudaErrorInvalidValue, place,
        cat(call, ": ",
            found != nullptr ? cat("a pointer into the middle of ", DeviceMemory::name_of(*found))
            : memory.contains(at) ? std::string("a pointer that no allocation begins with")
                                  : std::string("memory of the host")),
        found != nullptr || memory.contains(at) ? "free the pointer that the allocation returned"
                                                : "free() or delete[] it");
  if (found->is_registered)
    return refuse(cudaErrorInvalidValue, place,
                  cat(call, ": memory of the host, which cudaHostRegister was given"),
                  "cudaHostUnregister it, then free() or delete[] it");
  if (found->freed)
    return refuse(cudaErrorInvalidValue, place,
                  cat(call, ": ", DeviceMemory::name_of(*found), " was given back already, at ",
                      place_text(*found->freed)),
                  "free it once");
  if (is_host != (found->kind == MemoryKind::pinned))
    return refuse(cudaErrorInvalidValue, place,
                  cat(call, ": ", DeviceMemory::name_of(*found), " is memory of ",
                      is_host ? "the device" : "cudaMallocHost"),
                  is_host ? "cudaFree it" : "cudaFreeHost it");
  digest_freed(at, found->bytes);
  memory.free(*found, here_of(place));
  return cudaSuccess;
}

cudaError_t copy_rows(const char* call, const Rows& to, const Rows& from, std::size_t width,
                      std::size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                      const Place& place) {
  if (width > to.pitch || width > from.pitch)
    return refuse(
        cudaErrorInvalidPitchValue, place,
        cat(call, ": rows of ", width, " bytes with pitches of ", to.pitch, " and ", from.pitch),
        "a pitch is at least the width, both in bytes");
  for (std::size_t row = 0; row < height; ++row) {
    const auto error =
        copy(call, const_cast<char*>(static_cast<const char*>(to.begin)) + row * to.pitch,
             static_cast<const char*>(from.begin) + row * from.pitch, width, kind, stream, place);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

cudaError_t allocate(void** at, std::size_t bytes, const Element& element, int kind, Place place) {
  if (at == nullptr)
    return refuse(cudaErrorInvalidValue, place, "an allocation whose pointer goes to null",
                  "give it the address of a pointer");
  if (bytes == 0) {
    *at = nullptr;
    return cudaSuccess;
  }
  DeviceMemory& memory = DeviceMemory::get();
  Program& program = Program::get();
  *at = memory.allocate(bytes, element.bytes, static_cast<MemoryKind>(kind), here_of(place));
  if (*at != nullptr) {
    auto& gaps = memory.find(number(*at))->gaps;
    // Bytes may be anything: a program's own allocator divides them.
    if (element.tag == nullptr && element.bytes > 1) gaps.emplace();
    else if (element.tag != nullptr && program.is_checked) gaps = gaps_of_pointee(element.tag);
    return cudaSuccess;
  }
  // A warning: programs may probe how much there is. A use of the null pointer is an error.
  if (program.is_checked)
    program.find(check::Kind::runtime_misuse, check::Severity::warning, place,
                 cat("an allocation of ", bytes, " bytes fails (",
                     cudaGetErrorName(cudaErrorMemoryAllocation), "): ", memory.used_bytes(),
                     " of ", memory.total_bytes(), " bytes of the device are taken"),
                 "allocate less or free some before, and look at what the call returns");
  return program.fail(cudaErrorMemoryAllocation);
}

}  // namespace tessera::plain_cuda

using namespace tessera::plain_cuda;
using tessera::cat;

cudaError_t cudaMallocPitch(void** at, std::size_t* pitch, std::size_t width, std::size_t height,
                            Place place) {
  if (const auto error = require_target(pitch, "cudaMallocPitch", place)) return error;
  *pitch = (width + 511) / 512 * 512;
  return allocate(at, *pitch * height, {}, kDevice, place);
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* at, cudaExtent extent, Place place) {
  if (const auto error = require_target(at, "cudaMalloc3D", place)) return error;
  *at = {nullptr, (extent.width + 511) / 512 * 512, extent.width, extent.height};
  return allocate(&at->ptr, at->pitch * extent.height * extent.depth, {}, kDevice, place);
}
cudaError_t cudaFree(void* at, Place place) {
  Streams::get().wait_for_all();
  return give_back("cudaFree", at, false, place);
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t stream, Place place) {
  if (const auto error = require_stream("cudaFreeAsync", stream, place)) return error;
  const Allocation* const found = DeviceMemory::get().find(number(at));
  if (found != nullptr && !found->freed)
    work("cudaFreeAsync", stream, nullptr, at, found->bytes, place);
  return give_back("cudaFreeAsync", at, false, place);
}
cudaError_t cudaFreeHost(void* at, Place place) {
  Streams::get().wait_for_all();
  return give_back("cudaFreeHost", at, true, place);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                       Place place) {
  return waited_for(copy("cudaMemcpy", to, from, bytes, kind, nullptr, place));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream, Place place) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, stream, place);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes, Place place) {
  return copy("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDeviceToDevice, nullptr, place);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind, Place place) {
  return waited_for(
      cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr, place));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream, Place place) {
  return copy_rows("cudaMemcpy2D", {to, to_pitch}, {from, from_pitch}, width, height, kind, stream,
                   place);
}
cudaError_t cudaMemset(void* at, int value, std::size_t bytes, Place place) {
  const auto error = fill("cudaMemset", at, value, bytes, nullptr, place);
  const Allocation* const filled = DeviceMemory::get().find(number(at));
  if (filled != nullptr && filled->kind != MemoryKind::device) Streams::get().wait_for(nullptr);
  return error;
}
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream,
                            Place place) {
  return fill("cudaMemsetAsync", at, value, bytes, stream, place);
}
cudaError_t cudaMemset2D(void* at, std::size_t pitch, int value, std::size_t width,
                         std::size_t height, Place place) {
  return cudaMemset2DAsync(at, pitch, value, width, height, nullptr, place);
}
cudaError_t cudaMemset2DAsync(void* at, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream, Place place) {
  for (std::size_t row = 0; row < height; ++row) {
    const auto error =
        fill("cudaMemset2D", static_cast<char*>(at) + row * pitch, value, width, stream, place);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr at, int value, cudaExtent extent, Place place) {
  return cudaMemset3DAsync(at, value, extent, nullptr, place);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr at, int value, cudaExtent extent, cudaStream_t stream,
                              Place place) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    char* const slice = static_cast<char*>(at.ptr) + z * at.pitch * at.ysize;
    const auto error =
        cudaMemset2DAsync(slice, at.pitch, value, extent.width, extent.height, stream, place);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void*, std::size_t, int, cudaStream_t, Place) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, std::size_t, cudaMemoryAdvise, int, Place) {
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total, Place place) {
  if (const auto error = require_target(free, "cudaMemGetInfo", place)) return error;
  if (const auto error = require_target(total, "cudaMemGetInfo", place)) return error;
  const DeviceMemory& memory = DeviceMemory::get();
  *total = memory.total_bytes();
  *free = *total - memory.used_bytes();
  return cudaSuccess;
}
