// `tessera bench --from` and `--compare`: results that were kept, in any form, of those contestants
// that are named. Nothing is measured; what would be ignored is refused.
#pragma once

#include "options.hpp"

namespace tessera::bench {

/// Both return the exit code.
int show_kept(const shell::Context& context, const BenchRequest& request);
int show_comparison(const shell::Context& context, const BenchRequest& request);

}  // namespace tessera::bench
