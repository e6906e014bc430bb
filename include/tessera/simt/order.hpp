// In which order the CPU engine runs the threads of a block between two barriers. A correct kernel
// gives the same result for all of them; shuffled orders expose an incorrect one. In the order
// `late` the threads run forward, and asynchronous operations (simt/gate.hpp) are executed as late
// as is legal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera {

enum class ThreadOrder : std::uint8_t { forward, backward, shuffled, late };
inline constexpr std::array<std::string_view, 4> kThreadOrderNames = {"forward", "backward",
                                                                      "shuffled", "late"};

constexpr std::string_view name(ThreadOrder order) {
  return kThreadOrderNames[static_cast<std::size_t>(order)];
}
/// Does this order depend on the seed?
constexpr bool is_seeded(ThreadOrder order) {
  return order == ThreadOrder::shuffled || order == ThreadOrder::late;
}

/// Throws Error(argument) for anything but forward, backward, shuffled, late.
inline ThreadOrder parse_order(std::string_view text) {
  for (std::size_t i = 0; i < kThreadOrderNames.size(); ++i) {
    if (kThreadOrderNames[i] == text) return static_cast<ThreadOrder>(i);
  }
  throw Error(Category::argument, cat("unknown thread order '", text, "'"),
              "forward, backward, shuffled or late");
}

}  // namespace tessera
