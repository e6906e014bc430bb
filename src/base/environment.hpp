// A switch in the environment, read by everything that has one in the same way.
#pragma once

#include <strings.h>

#include <cstdlib>
#include <initializer_list>

namespace tessera {

/// Is this variable set, to something else than nothing, 0, false, off or no, in either case?
inline bool is_switched_on(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return false;
  for (const char* off : {"0", "false", "off", "no"})
    if (strcasecmp(text, off) == 0) return false;
  return true;
}

}  // namespace tessera
