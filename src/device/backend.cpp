// The devices with memory of their own that this process has used, and their names in errors.
#include "backend.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::detail {

namespace {

struct Backends {
  std::mutex mutex;
  std::map<std::pair<DeviceKind, int>, std::unique_ptr<Backend>> all;
};

Backends& backends() {
  static auto* const out = new Backends;  // outlives static objects with memory on a device
  return *out;
}

std::unique_ptr<Backend> make_backend(const Device& device) {
  if (device.kind() == DeviceKind::cuda) return make_cuda_backend(device.number());
  if (device.kind() == DeviceKind::hip) return make_hip_backend(device.number());
  return make_opencl_backend(device.number());
}

}  // namespace

void Backend::start(const KernelCall& call) {
  throw Error(Category::unavailable, cat("this program was not built for ", call.device));
}

void Backend::started(const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  if (std::find(kernels_.begin(), kernels_.end(), kernel) == kernels_.end())
    kernels_.push_back(kernel);
}

Error Backend::named(const Device& device, const Error& error) {
  const std::lock_guard lock(mutex_);
  std::string who;
  for (const auto& kernel : kernels_) who += (who.empty() ? "" : ", ") + kernel;
  return Error(error.category(),
               cat(device, who.empty() ? "" : cat(", running ", who), ": ", error.problem()),
               error.expected(), error.got(), error.advice());
}

Backend& backend_of(const Device& device) {
  Backends& known = backends();
  const std::lock_guard lock(known.mutex);
  auto& backend = known.all[{device.kind(), device.number()}];
  if (backend == nullptr) backend = make_backend(device);
  return *backend;
}

void set_backend(const Device& device, std::unique_ptr<Backend> backend) {
  Backends& known = backends();
  const std::lock_guard lock(known.mutex);
  auto& place = known.all[{device.kind(), device.number()}];
  if (place != nullptr) static_cast<void>(place.release());  // its memory may still be in use
  place = std::move(backend);
}

}  // namespace tessera::detail
