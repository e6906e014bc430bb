// The few SVG elements of a plot, as text. All coordinates are pixels of a document kWidth wide;
// y grows downwards.
#pragma once

#include <string>

namespace tessera::bench::plot {

constexpr double kWidth = 900;
constexpr double kLeft = 74, kRight = 190;  // around the field of lines
constexpr double kBottom = 58;              // below the field
constexpr double kCharacter = 6.6;          // of ordinary text, about

/// At most one digit after the point.
std::string px(double value);
std::string text_at(double x, double y, const std::string& classes, const std::string& content);
std::string line_from(double x1, double y1, double x2, double y2, const std::string& classes);

}  // namespace tessera::bench::plot
