// Aligned buffers of zeros that refuse politely.
#pragma once

#include <memory>
#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::io {

/// `bytes` zeros at an address that is a multiple of 64 (of 2 MiB from 2 MiB on, with huge pages
/// advised). Throws Error(resource) that says `what` it was for.
std::shared_ptr<void> zeroed_buffer(index_t bytes, std::string_view what);

}  // namespace tessera::io
