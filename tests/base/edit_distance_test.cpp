// Edit distances for "did you mean".
#include "base/edit_distance.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tessera
