// Building messages without a formatting library in public headers: cat(a, b, ...) joins numbers
// and strings.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

#include "tessera/core/config.hpp"

namespace tessera {

/// A value as text: strings as they are, integers in decimal, bool as true/false, floating point
/// with %g.
template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string(std::string_view(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, char>) {
    return std::string(1, value);
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    char buffer[40];
    const int length =
        __builtin_snprintf(buffer, sizeof buffer, "%.9g", static_cast<double>(value));
    return std::string(buffer, static_cast<std::size_t>(length));
  } else {
    return to_string(value);  // found by argument-dependent look-up
  }
}

/// Joins the text of all arguments.
template <class... Args>
std::string cat(const Args&... args) {
  std::string out;
  (out.append(text_of(args)), ...);
  return out;
}

/// For a message: what would move a terminal's cursor or change its colors is escaped; cut after
/// `limit` bytes.
inline std::string printable(std::string_view text, std::size_t limit = 200) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    else out += c;
  }
  return text.size() > limit ? out + "..." : out;
}

/// A count of bytes as "512 bytes" or "1.50 GiB".
inline std::string bytes_text(index_t bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 6; ++unit) value /= 1024;
  char buffer[40];
  const int length = __builtin_snprintf(buffer, sizeof buffer, unit == 0 ? "%.0f %s" : "%.2f %s",
                                        value, units[unit]);
  return {buffer, static_cast<std::size_t>(length)};
}

}  // namespace tessera
