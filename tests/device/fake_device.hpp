// A fake device whose memory is host memory, for what must hold on every device:
// what is moved, and what happens when the device is lost.
#pragma once

#include <cstring>
#include <map>
#include <memory>

#include "device/backend.hpp"
#include "tessera/device/device.hpp"

namespace tessera::testing {

/// What a FakeDevice was asked for.
struct FakeBooks {
  int uploads = 0, downloads = 0, fills = 0, allocated = 0, waits = 0;
  bool is_lost = false, is_full = false;
};

class FakeDevice : public detail::Backend {
 public:
  FakeDevice(const Device& device, std::shared_ptr<FakeBooks> books)
      : device_(device), books_(std::move(books)) {}

  DeviceInfo info() override { return {device_, "fake", 1 << 20, 1024, 1 << 15, true}; }
  void* allocate(index_t bytes) override {
    look();
    if (books_->is_full) throw Error(Category::resource, "no memory for a copy");
    ++books_->allocated;
    auto* const memory = new unsigned char[static_cast<std::size_t>(bytes)];
    std::memset(memory, 0x7b, static_cast<std::size_t>(bytes));  // not initialized
    return memory;
  }
  void free(void* memory) noexcept override {
    --books_->allocated;
    delete[] static_cast<unsigned char*>(memory);
  }
  void upload(void* to, index_t at, const void* from, index_t bytes) override {
    look();
    ++books_->uploads;
    std::memcpy(static_cast<std::byte*>(to) + at, from, static_cast<std::size_t>(bytes));
  }
  void download(void* to, void* from, index_t at, index_t bytes) override {
    look();
    ++books_->downloads;
    std::memcpy(to, static_cast<const std::byte*>(from) + at, static_cast<std::size_t>(bytes));
  }
  void fill_with_zero(void* to, index_t at, index_t bytes) override {
    look();
    ++books_->fills;
    std::memset(static_cast<std::byte*>(to) + at, 0, static_cast<std::size_t>(bytes));
  }
  void wait() override {
    look();
    ++books_->waits;
  }
  const void* queue() override {
    look();
    return nullptr;
  }

 private:
  void look() const {
    if (books_->is_lost) throw Error(Category::unavailable, "the device is lost");
  }
  Device device_;
  std::shared_ptr<FakeBooks> books_;
};

/// Puts one in place of `device`.
inline std::shared_ptr<FakeBooks> fake(const Device& device) {
  auto books = std::make_shared<FakeBooks>();
  detail::set_backend(device, std::make_unique<FakeDevice>(device, books));
  return books;
}

/// Makes a kernel known there: what runs is the build for the CPU, on the device's memory.
template <class Kernel, class... Params>
void add_fake_kernel(DeviceKind kind) {
  detail::add_kernel(kind, typeid(Kernel).name(), typeid(detail::ParamNames<Params...>).name(),
                     &detail::CompiledKernel<detail::kPass, Kernel, Params...>::call);
}

}  // namespace tessera::testing
