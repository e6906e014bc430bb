// Device names: see device.hpp.
#include "device.hpp"

#include <charconv>

#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::cli {

std::string named_device(const std::string& text) {
  if (text == "cpu") return text;
  const std::string digits = text.starts_with("cuda:") ? text.substr(5) : text == "cuda" ? "0" : "";
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size() || number < 0)
    throw Error(Category::argument, cat("unknown device '", text, "'"), "cpu, cuda or cuda:N", {},
                shell::nearest(text, {"cpu", "cuda"}).empty()
                    ? ""
                    : "did you mean '" + shell::nearest(text, {"cpu", "cuda"}) + "'?");
  if (const std::string why = cuda::why_unavailable(); !why.empty())
    throw Error(Category::unavailable, cat("device '", text, "' is not available"), {}, {},
                cat(why, "; use --device cpu, or see 'tessera doctor'"));
  return cat("cuda:", cuda::device(number).number);
}

}  // namespace tessera::cli
