// Text inside SVG and HTML, for pictures of layouts, plots and the checker's pages.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// `text` as content or as a quoted attribute of XML and HTML; control characters become blanks.
inline std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

}  // namespace tessera
