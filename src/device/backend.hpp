// Backend: a device with memory of its own. cpu and checked have none: they use the host's memory.
// There is one backend for each device, created at the first use and never destroyed, since memory
// on it may live as long as the process.
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
  /// Throws Error(resource) if memory is short.
  virtual void* allocate(index_t bytes) = 0;
  /// Also works for a device that is lost.
  virtual void free(void* memory) noexcept = 0;
  /// Copies in the order of the device's queue. The host's bytes may be reused afterwards.
  virtual void upload(void* to, index_t at, const void* from, index_t bytes) = 0;
  /// Waits until the copy is complete.
  virtual void download(void* to, void* from, index_t at, index_t bytes) = 0;
  virtual void fill_with_zero(void* to, index_t at, index_t bytes) = 0;
  /// Waits for the queue.
  virtual void wait() = 0;
  /// The value of KernelCall::queue for entries of this device.
  virtual const void* queue() { return nullptr; }
  /// Starts a kernel whose code Clang has made. Throws Error(unavailable) if there is none; the
  /// caller adds the kernel's name.
  virtual void start(const KernelCall& call);
  /// Waits, and returns how long the last kernel took, where the device reports it, else 0.
  virtual double seconds_of_last() { return 0; }

  /// Kernels that were started and not yet waited for. Errors name them.
  void started(const std::string& kernel);
  /// Calls a function, and adds the names of the kernels to its errors.
  template <class Action>
  void naming(const Device& device, Action action) {
    try {
      action();
    } catch (const Error& error) {
      throw named(device, error);
    }
  }
  /// The same for one that waits for the kernels.
  template <class Action>
  void waiting(const Device& device, Action action) {
    naming(device, action);
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
/// The backend of a device with memory of its own. Throws Error(unavailable), with the reason, if
/// there is no such device.
Backend& backend_of(const Device& device);
/// Replaces the backend of `device`: for tests.
void set_backend(const Device& device, std::unique_ptr<Backend> backend);

/// Throws Error(unavailable) if there is no such device.
std::unique_ptr<Backend> make_cuda_backend(int number);
std::unique_ptr<Backend> make_opencl_backend(int number);
std::unique_ptr<Backend> make_hip_backend(int number);
/// The devices of this machine; none where there is no driver.
std::vector<DeviceInfo> opencl_devices();
std::vector<DeviceInfo> hip_devices();

}  // namespace tessera::detail
