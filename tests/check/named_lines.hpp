// The lines of a source that end with "// at" and a name, for tests of findings.
#pragma once

#include <fstream>
#include <map>
#include <string>

namespace tessera::broken {

inline std::map<std::string, int> named_lines(const std::string& source) {
  std::ifstream file(source);
  std::map<std::string, int> out;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (const auto at = line.find("// at "); at != std::string::npos)
      out[line.substr(at + 6)] = number;
  }
  return out;
}

}  // namespace tessera::broken
