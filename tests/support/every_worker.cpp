// Linked into the tests of products: products use workers at any cost, so that on a
// small or busy machine too the threads meet that the tests are about.
#include "tessera/core/team.hpp"

namespace {
[[maybe_unused]] const bool asked = (tessera::always_use_workers(), true);
}  // namespace
