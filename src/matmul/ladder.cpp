#include "ladder.hpp"

namespace tessera::detail {

std::span<const LadderEntry> ladder() {
  static const LadderEntry entries[] = {kNaive,         kCoalescing,  kTiled,
                                        kTiledRegister, kBlockTiled,  kBlockTiledVectorized,
                                        kTensorCore,    kSingleBlock, kTiledIdiomatic,
                                        kSarekNaive,    kSarekTiled,  kPacked};
  return entries;
}

}  // namespace tessera::detail
