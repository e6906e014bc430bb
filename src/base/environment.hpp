// On/off switches in the environment, all read alike.
#pragma once

#include <strings.h>

#include <cstdlib>
#include <initializer_list>

namespace tessera {

/// Is this variable set to anything but the empty string, 0, false, off or no (in any case)?
inline bool is_switched_on(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return false;
  for (const char* off : {"0", "false", "off", "no"})
    if (strcasecmp(text, off) == 0) return false;
  return true;
}

}  // namespace tessera
