// The entry of a kernel for the device "checked", in files compiled with TESSERA_CHECK=1.
#pragma once

#include "tessera/check/check.hpp"
#include "tessera/device/kernel_entry.hpp"

namespace tessera::detail {

/// Throws Error(failed) with the first finding, Error(unavailable) where it could not be checked
/// whole.
void throw_findings(const check::Report& report);

template <class Kernel, class... Views>
void check_or_throw(const KernelCall& call, bool fresh_outputs, const Kernel& kernel,
                    const Views&... views) {
  check::Options options;
  options.fresh_outputs = fresh_outputs;
  throw_findings(check::check(options, LaunchConfig{.grid = call.grid, .block = call.block}, kernel,
                              views...));
}

}  // namespace tessera::detail
