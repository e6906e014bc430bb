// Device names: see device.hpp.
#include "device.hpp"

#include <charconv>
#include <cstdlib>

#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/device/devices.hpp"

namespace tessera::cli {

std::string default_device() {
  const char* const named = std::getenv("TESSERA_DEVICE");
  return named == nullptr || *named == '\0' ? "cpu" : named;
}

std::string named_device(const std::string& text, std::string_view advice) {
  if (text == "cpu") return text;
  if (text.starts_with("opencl") || text.starts_with("hip")) {
    const Device device = Device::parse(text);
    describe(device);
    return to_string(device);
  }
  const std::string digits = text.starts_with("cuda:") ? text.substr(5) : text == "cuda" ? "0" : "";
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number < 0)
    throw Error(
        Category::argument, cat("unknown device '", text, "'"),
        "cpu, cuda, cuda:N, opencl:N or hip:N", {},
        shell::nearest(text, {"cpu", "cuda", "opencl", "hip"}).empty()
            ? ""
            : "did you mean '" + shell::nearest(text, {"cpu", "cuda", "opencl", "hip"}) + "'?");
  if (const std::string why = cuda::why_unavailable(); !why.empty())
    throw Error(Category::unavailable, cat("device '", text, "' is not available"), {}, {},
                cat(why, "; ", advice));
  return cat("cuda:", cuda::device(number).number);
}

}  // namespace tessera::cli
