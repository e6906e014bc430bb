// Where this user's measurements and compiled kernels are kept.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace tessera {

/// tessera below XDG_CACHE_HOME or ~/.cache; empty where there is neither.
inline std::filesystem::path cache_folder() {
  const auto absolute = [](const char* variable) -> const char* {
    const char* const value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value : nullptr;
  };
  if (const char* const cache = absolute("XDG_CACHE_HOME"))
    return std::filesystem::path(cache) / "tessera";
  const char* const home = absolute("HOME");
  return home == nullptr ? std::filesystem::path()
                         : std::filesystem::path(home) / ".cache" / "tessera";
}

}  // namespace tessera
