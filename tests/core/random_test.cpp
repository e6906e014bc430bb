// The generator that the engine, the data and the tensors share.
#include "tessera/core/random.hpp"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Random, IsSplitMix64) {
  // The first numbers from seed 0 and 1234567, as in the authors' reference program.
  EXPECT_EQ(random_bits(0, 0), 0xe220a8397b1dcdafu);
  EXPECT_EQ(random_bits(0, 1), 0x6e789e6aa1b965f4u);
  EXPECT_EQ(random_bits(1234567, 0), 6457827717110365317u);
  EXPECT_EQ(random_bits(1234567, 4), 16408922859458223821u);
  for (std::uint64_t n = 0; n < 1000; ++n) {
    EXPECT_GE(random_unit(7, n), 0);
    EXPECT_LT(random_unit(7, n), 1);
  }
}

}  // namespace
}  // namespace tessera
