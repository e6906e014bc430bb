// The entries of the ladder: a kernel in ladder.inc is known to algorithms(), the command and the
// tests.
#include "ladder.hpp"

namespace tessera::detail {

namespace {

template <class Tiles>
constexpr bool (*kProducts)(DType, DType) = Tiles::typed > 0 ? has_native_product : is_f32_product;

}  // namespace

std::span<const LadderEntry> ladder() {
  static const LadderEntry entries[] = {
#define TESSERA_LADDER(name, Kernel, Tiles, types, rule, idea)                          \
  {{#name, idea, Tiles::tiles, true, kProducts<Tiles>, Tiles::typed, Arithmetic::chain, \
    own_tiles<Tiles, double>()},                                                        \
   run_##name,                                                                          \
   #Kernel,                                                                             \
   rule},
#define TESSERA_LADDER_HOST(name) entry_of_##name(),
#define TESSERA_LADDER_UNITS(name, ...) TESSERA_LADDER_HOST(name)
#define TESSERA_LADDER_BULK(name, ...) TESSERA_LADDER_HOST(name)
#include "ladder.inc"
  };
  return entries;
}

}  // namespace tessera::detail
