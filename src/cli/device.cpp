// Device names: see device.hpp.
#include "device.hpp"

#include <algorithm>

#include "build_info.hpp"
#include "suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

std::string named_device(const std::string& text) {
  if (text == "cpu") return text;
  const std::string number = text.starts_with("cuda:") ? text.substr(5) : text == "cuda" ? "0" : "";
  const bool digits = !number.empty() && std::all_of(number.begin(), number.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    throw Error(Category::unavailable, cat("device '", text, "' is not available"), {}, {},
                cuda_built() ? "no such CUDA device answers; 'tessera doctor' tells why"
                             : "this program is built without CUDA; use --device cpu");
  }
  throw Error(Category::argument, cat("unknown device '", text, "'"), "cpu, cuda or cuda:N", {},
              nearest(text, {"cpu", "cuda"}).empty()
                  ? ""
                  : "did you mean '" + nearest(text, {"cpu", "cuda"}) + "'?");
}

}  // namespace tessera::cli
