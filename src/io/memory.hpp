// Aligned buffers of zeros; too large a buffer is an error, not a crash.
#pragma once

#include <memory>
#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::io {

/// `bytes` zeros at an address that is a multiple of 64 (of 2 MiB from 2 MiB on, with huge pages
/// advised). Throws Error(resource) that names the purpose `what`.
std::shared_ptr<void> zeroed_buffer(index_t bytes, std::string_view what);

}  // namespace tessera::io
