// The bytes of an input: a regular file is mapped, a pipe or stdin is read into memory. Knows
// nothing of formats. The first look at a file happens here, so the messages for folders, devices,
// empty files and missing permissions are here too.
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

/// A descriptor of the file at `path`, above that of stderr; the caller closes it. Throws
/// Error(file) that says why it cannot be opened.
int open_for_reading(const std::string& path);

/// Throws Error(file) that says why the file cannot be read. An empty file is refused.
Input open_input(const std::string& path);

}  // namespace tessera::io
