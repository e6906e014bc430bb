// Tracks which copy of which bytes is the newest, and updates the others.
#include "tessera/device/managed_bytes.hpp"

#include <atomic>
#include <cstring>
#include <list>

#include "backend.hpp"
#include "byte_ranges.hpp"
#include "tessera/tensor/host_buffer.hpp"

namespace tessera {

namespace {

std::atomic<index_t> to_device, to_host, bytes_to_device, bytes_to_host;

}  // namespace

MoveCounts move_counts() { return {to_device, to_host, bytes_to_device, bytes_to_host}; }

namespace detail {

namespace {

index_t length(const ByteRange& range) { return range.end - range.begin; }

/// A copy on one device.
struct Copy {
  Device device;
  Backend* backend;
  void* memory;
  ByteRanges newest;
};

}  // namespace

struct ManagedBytes::State {
  index_t bytes;
  ByteRanges zero;  // still zero, whatever the copies contain
  HostBuffer host;  // of all bytes, or not yet allocated
  ByteRanges host_newest;
  std::list<Copy> copies;  // on devices

  ~State() {
    for (const Copy& copy : copies) copy.backend->free(copy.memory);
  }

  std::byte* host_at(index_t at) {
    if (host.bytes() == 0 && bytes > 0) host = HostBuffer(static_cast<std::size_t>(bytes));
    return static_cast<std::byte*>(host.data()) + at;
  }

  Copy& copy_on(const Device& device) {
    for (Copy& copy : copies)
      if (copy.device == device) return copy;
    Backend& backend = backend_of(device);
    copies.push_back({device, &backend, nullptr, {}});
    try {
      copies.back().memory = backend.allocate(bytes);
    } catch (...) {
      copies.pop_back();
      throw;
    }
    return copies.back();
  }

  void bring_to_host(ByteRange range) {
    for (const ByteRange& part : host_newest.missing_of(range)) {
      for (const ByteRange& nothing : zero.within(part)) {
        std::memset(host_at(nothing.begin), 0, static_cast<std::size_t>(length(nothing)));
        host_newest.add(nothing);
      }
      for (Copy& copy : copies) {
        for (const ByteRange& wanted : host_newest.missing_of(part))
          for (const ByteRange& here : copy.newest.within(wanted)) download(copy, here);
      }
    }
  }

  void download(Copy& copy, ByteRange range) {
    copy.backend->waiting(copy.device, [&] {
      copy.backend->download(host_at(range.begin), copy.memory, range.begin, length(range));
    });
    to_host += 1;
    bytes_to_host += length(range);
    host_newest.add(range);
  }

  void bring_to(Copy& copy, ByteRange range) {
    for (const ByteRange& part : copy.newest.missing_of(range)) {
      for (const ByteRange& nothing : zero.within(part)) {
        copy.backend->naming(copy.device, [&] {
          copy.backend->fill_with_zero(copy.memory, nothing.begin, length(nothing));
        });
        copy.newest.add(nothing);
      }
      for (const ByteRange& wanted : copy.newest.missing_of(part)) {
        bring_to_host(wanted);
        copy.backend->naming(copy.device, [&] {
          copy.backend->upload(copy.memory, wanted.begin, host_at(wanted.begin), length(wanted));
        });
        to_device += 1;
        bytes_to_device += length(wanted);
        copy.newest.add(wanted);
      }
    }
  }
};

ManagedBytes::ManagedBytes(index_t bytes) : state_(std::make_unique<State>()) {
  state_->bytes = bytes;
  state_->zero.add({0, bytes});
}
ManagedBytes::~ManagedBytes() = default;

index_t ManagedBytes::bytes() const { return state_->bytes; }

DeviceAddress ManagedBytes::prepare(const Device& device, ByteRange range, bool needed) {
  if (length(range) == 0) return {};
  if (!has_own_memory(device)) {
    if (needed) state_->bring_to_host(range);
    return {state_->host_at(0), range.begin};
  }
  Copy& copy = state_->copy_on(device);
  if (needed) state_->bring_to(copy, range);
  return {copy.memory, range.begin};
}

void ManagedBytes::written(const Device& device, ByteRange range) {
  if (length(range) == 0) return;
  state_->zero.remove(range);
  state_->host_newest.remove(range);
  for (Copy& copy : state_->copies) copy.newest.remove(range);
  (has_own_memory(device) ? state_->copy_on(device).newest : state_->host_newest).add(range);
}

}  // namespace detail

}  // namespace tessera
