// Amounts and times for people, coordinates for pictures. Private to src/check.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "tessera/core/text.hpp"

namespace tessera::check {

/// Three digits: "0.25", "16.5", "2180".
inline std::string number_text(double value) {
  char buffer[40];
  const int digits = std::abs(value) >= 100 || value == std::floor(value) ? 0
                     : std::abs(value) >= 10                              ? 1
                                                                          : 2;
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

/// With an SI prefix: "67 T", "2.15 G", "512 ".
inline std::string si_text(double value) {
  constexpr std::string_view kPrefixes[] = {" ", " k", " M", " G", " T", " P"};
  std::size_t at = 0;
  for (; std::abs(value) >= 999.5 && at + 1 < std::size(kPrefixes); ++at) value /= 1000;
  return number_text(value) + std::string(kPrefixes[at]);
}

/// A count: "16384", "16.8 M".
inline std::string count_text(std::int64_t value) {
  if (value < 1000000) return std::to_string(value);
  return si_text(static_cast<double>(value));
}

/// "1 error", "2 errors".
inline std::string counted(std::int64_t count, const char* what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

/// From microseconds: "3.2 us", "41 ms".
inline std::string time_text(double us) {
  if (us < 1) return number_text(us * 1000) + " ns";
  if (us < 1000) return number_text(us) + " us";
  return us < 1e6 ? number_text(us / 1000) + " ms" : number_text(us / 1e6) + " s";
}

/// A coordinate of a picture: at most one decimal.
inline std::string px(double value) { return cat(std::round(value * 10) / 10); }

}  // namespace tessera::check
