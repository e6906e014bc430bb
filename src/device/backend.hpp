// Backend: a device with memory of its own, as this room uses it. cpu and checked have none: their
// memory is the host's. One for each device, made when it is first used and never destroyed, since
// memory on it may live as long as the process.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tessera/core/error.hpp"
#include "tessera/device/kernel_entry.hpp"

namespace tessera::detail {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceInfo info() = 0;
  /// Throws Error(resource) where there is no memory.
  virtual void* allocate(index_t bytes) = 0;
  /// Also of a device that is lost.
  virtual void free(void* memory) noexcept = 0;
  /// In the order of the device's queue. The host's bytes are free for other use afterwards.
  virtual void upload(void* to, index_t at, const void* from, index_t bytes) = 0;
  /// Waits until the bytes are there.
  virtual void download(void* to, void* from, index_t at, index_t bytes) = 0;
  virtual void fill_with_zero(void* to, index_t at, index_t bytes) = 0;
  /// Waits for the queue.
  virtual void wait() = 0;
  /// What entries for this device find in KernelCall::queue.
  virtual const void* queue() = 0;

  /// Kernels that were started and not yet waited for. An error is told with their names.
  void started(const std::string& kernel);
  /// Calls what waits, and names the kernels in the errors that come of it.
  template <class Action>
  void waiting(const Device& device, Action action) {
    try {
      action();
    } catch (const Error& error) {
      throw named(device, error);
    }
    const std::lock_guard lock(mutex_);
    kernels_.clear();
  }

 private:
  Error named(const Device& device, const Error& error);

  std::mutex mutex_;
  std::vector<std::string> kernels_;
};

/// Has the device memory of its own?
inline bool has_own_memory(const Device& device) {
  return device.kind() != DeviceKind::cpu && device.kind() != DeviceKind::checked;
}
/// Of a device with memory of its own. Throws Error(unavailable), with the reason, where it is not
/// there.
Backend& backend_of(const Device& device);
/// From now on `device` is this one: for tests.
void set_backend(const Device& device, std::unique_ptr<Backend> backend);

/// Throws Error(unavailable) where it is not there.
std::unique_ptr<Backend> make_cuda_backend(int number);

}  // namespace tessera::detail
