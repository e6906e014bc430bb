// The list of the ladder, in its order: algorithms(), the command and the tests know a kernel
// because it stands here.
#include "ladder.hpp"

namespace tessera::detail {

std::span<const LadderEntry> ladder() {
  static const LadderEntry entries[] = {kNaive,         kCoalescing,     kTiled,
                                        kTiledRegister, kBlockTiled,     kBlockTiledVectorized,
                                        kTensorCore,    kPipelined,      kSingleBlock,
                                        kTiledByHand,   kTiledIdiomatic, kSarekNaive,
                                        kSarekTiled,    kWarpgroup,      kThin,
                                        kBulkTiled,     kPacked,         kSplitK};
  return entries;
}

}  // namespace tessera::detail
