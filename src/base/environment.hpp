// On/off switches in the environment, all read alike; programs on the PATH.
#pragma once

#include <strings.h>
#include <unistd.h>

#include <cstdlib>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

namespace tessera {

/// Is this variable set to anything but the empty string, 0, false, off or no (in any case)?
inline bool is_switched_on(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return false;
  for (const char* off : {"0", "false", "off", "no"})
    if (strcasecmp(text, off) == 0) return false;
  return true;
}

/// The file of a program on the PATH, or in one of these folders; empty if there is none.
inline std::string find_program(const std::string& name, std::vector<std::string> more = {}) {
  const char* const path = std::getenv("PATH");
  std::istringstream all(path == nullptr ? "" : path);
  std::vector<std::string> folders;
  for (std::string each; std::getline(all, each, ':');) folders.push_back(each);
  folders.insert(folders.end(), more.begin(), more.end());
  for (const auto& folder : folders)
    if (const std::string file = folder + "/" + name;
        !folder.empty() && access(file.c_str(), X_OK) == 0)
      return file;
  return {};
}

}  // namespace tessera
