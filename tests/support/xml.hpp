// Whether a text is well-formed XML, as far as our own SVG and pages use it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace tessera {

/// "" for well-formed XML of the kind this project writes (elements, attributes, text, entities),
/// otherwise what is wrong.
inline std::string xml_fault(const std::string& text) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '<') {
      const std::size_t end = std::min(text.find('<', at), text.size());
      const std::string between = text.substr(at, end - at);
      if (open.empty() && between.find_first_not_of(" \n") != std::string::npos)
        return "text outside the root";
      for (std::size_t i = between.find('&'); i != std::string::npos;
           i = between.find('&', i + 1)) {
        const std::string entity = between.substr(i, between.find(';', i) - i);
        if (entity != "&amp" && entity != "&lt" && entity != "&gt" && entity != "&quot")
          return "stray &: " + entity;
      }
      at = end;
      continue;
    }
    bool quoted = false;
    std::size_t end = at + 1;
    while (end < text.size() && (quoted || text[end] != '>')) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "< inside a tag";
      ++end;
    }
    if (end == text.size()) return "unfinished tag";
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end + 1;
    const bool closes = tag.starts_with("/");
    const std::string name =
        tag.substr(closes ? 1 : 0, tag.find_first_of(" /\n", 1) - (closes ? 1 : 0));
    if (closes) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      if (open.empty() && ++roots > 1) return "two roots";
      open.push_back(name);
    }
  }
  if (!open.empty()) return "open: " + open.back();
  return roots == 1 ? "" : "no root";
}

}  // namespace tessera
