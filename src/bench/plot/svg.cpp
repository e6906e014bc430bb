// Elements of SVG as text: see svg.hpp.
#include "svg.hpp"

#include <fmt/format.h>

#include "base/markup.hpp"

namespace tessera::bench::plot {

std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string text_at(double x, double y, const std::string& classes, const std::string& content) {
  return fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", px(x), px(y), classes,
                     escaped(content));
}

std::string line_from(double x1, double y1, double x2, double y2, const std::string& classes) {
  return fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n", px(x1),
                     px(y1), px(x2), px(y2), classes);
}

}  // namespace tessera::bench::plot
