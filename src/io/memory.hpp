// Aligned buffers of zeros; a request that does not fit throws instead of ending the process.
#pragma once

#include <memory>
#include <string_view>

#include "tessera/core/config.hpp"

namespace tessera::io {

/// Allocates `bytes` zeros at a multiple of 64 bytes (from 2 MiB on, at a multiple of 2 MiB with
/// huge pages advised). Throws Error(resource) that names their purpose, `what`.
std::shared_ptr<void> zeroed_buffer(index_t bytes, std::string_view what);

}  // namespace tessera::io
