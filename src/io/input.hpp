// The bytes of an input: a regular file is mapped, a pipe or stdin is read into memory. It knows no
// formats. It reports folders, devices, empty files and missing permissions, because it opens the
// file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::io {

struct Input {
  std::string path;  ///< for messages: "stdin" for "-"
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<void> owner;

  std::string_view text() const { return {reinterpret_cast<const char*>(data), size}; }
};

/// Opens the file at `path` with a descriptor above stderr's; the caller closes it. Throws
/// Error(file) with the reason if that fails.
int open_for_reading(const std::string& path);

/// Throws Error(file) with the reason if the file cannot be read. An empty file is refused.
Input open_input(const std::string& path);

}  // namespace tessera::io
