// In which order the CPU engine runs the threads of a block between two barriers. A correct kernel
// gives the same result for all of them; running shuffled orders makes an incorrect one show.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

enum class ThreadOrder : std::uint8_t { forward, backward, shuffled };

constexpr std::string_view name(ThreadOrder order) {
  return order == ThreadOrder::forward    ? "forward"
         : order == ThreadOrder::backward ? "backward"
                                          : "shuffled";
}

/// Throws Error(argument) for anything but forward, backward, shuffled.
inline ThreadOrder parse_order(std::string_view text) {
  for (auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    if (name(order) == text) return order;
  }
  throw Error(Category::argument, cat("unknown thread order '", text, "'"),
              "forward, backward or shuffled");
}

}  // namespace tessera
