// Device names: see device.hpp.
#include "device.hpp"

#include <cstdlib>

#include "device/device_names.hpp"
#include "device/opencl.hpp"
#include "process/signals.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::shell {

std::string default_device() {
  const char* const named = std::getenv("TESSERA_DEVICE");
  return named == nullptr || *named == '\0' ? "cpu" : named;
}

namespace {

std::string found_device(const std::string& text, std::string_view advice) {
  const Device device = product_device(text);
  if (has_gpu_code(device.kind())) {
    describe(device);
    drivers_may_crash();
  }
  if (device.kind() != DeviceKind::cuda) return to_string(device);
  if (const std::string why = cuda::why_unavailable(); !why.empty())
    throw Error(Category::unavailable, cat("device '", text, "' is not available"), {}, {},
                cat(why, "; ", advice));
  return cat("cuda:", cuda::device(device.number()).number);
}

}  // namespace

void drivers_may_crash() { process::blame_for_crashes(&detail::opencl::called_function); }

std::string named_device(const std::string& text, std::string_view advice) {
  try {
    return found_device(text, advice);
  } catch (const Error& error) {
    const char* const named = std::getenv("TESSERA_DEVICE");
    if (named == nullptr || text != named) throw;
    throw Error(error.category(), cat("TESSERA_DEVICE=", printable(text), ": ", error.problem()),
                error.expected(), error.got(), error.advice());
  }
}

}  // namespace tessera::shell
