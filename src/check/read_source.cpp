// The sources that a report mentions, as files: for pages and for the names of shared tiles.
#include <fstream>
#include <sstream>

#include "tessera/check/html_report.hpp"

namespace tessera::check {

std::optional<std::string> read_source(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return {};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

}  // namespace tessera::check
