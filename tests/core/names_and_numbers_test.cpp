// Edit distances for "did you mean", and the generator that the engine, the data and the tensors
// share.
#include <gtest/gtest.h>

#include "tessera/core/edit_distance.hpp"
#include "tessera/core/random.hpp"

namespace tessera {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "tiled"), 5);
  EXPECT_EQ(edit_distance("tiled", "tiled"), 0);
  EXPECT_EQ(edit_distance("tield", "tiled"), 1);  // a swap of neighbours is one edit
  EXPECT_EQ(edit_distance("compositon", "composition"), 1);
  EXPECT_EQ(edit_distance("Naive", "naive"), 0);  // case does not count
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3);
}

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
