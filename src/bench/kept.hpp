// `tessera bench --from` and `--compare`: shows kept results in any form, of the named contestants.
// Nothing is measured; an option that would be ignored is refused.
#pragma once

#include "options.hpp"

namespace tessera::bench {

/// Both return the exit code.
int show_kept(const shell::Context& context, const BenchRequest& request);
int show_comparison(const shell::Context& context, const BenchRequest& request);

}  // namespace tessera::bench
