// Stack overflows by large local arrays, compiled with full optimisation and the options that the
// library gives its users.
#include "simt/large_frames.hpp"

namespace tessera {
namespace {

TEST(LargeFrames, EndInAMessage) { expect_messages_for_large_frames(); }

TEST(LargeFrames, AKernelMayDeclareTheStackItNeeds) {
  std::vector<float> sums(64);
  EXPECT_EQ(overflow_of(DeclaredRegisterTile{}, {.block = {64}}, sums.data()), "no error");
  for (int thread = 0; thread < 64; ++thread) {
    float expected = 0;
    for (int i = 0; i < 128; ++i) {
      for (int j = 0; j < 160; ++j) expected += static_cast<float>(thread + i + j);
    }
    EXPECT_EQ(sums[static_cast<std::size_t>(thread)], expected);
  }
}

}  // namespace
}  // namespace tessera
