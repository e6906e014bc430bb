// Views against index arithmetic on a plain buffer, for every matrix of guarded.hpp, whole and
// clipped.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "guarded.hpp"
#include "tessera/tensor/cast.hpp"
#include "tessera/tensor/distribute.hpp"
#include "tessera/tensor/for_each.hpp"
#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/rearrange.hpp"
#include "tessera/tensor/slice.hpp"
#include "tessera/tensor/storage.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"
#include "tessera/tensor/vectorize.hpp"

namespace tessera {
namespace {

using test::Guarded;

// --- slice ---------------------------------------------------------------------------------------

TEST(Slice, RowsColumnsAndRangesAreWhereTheyShouldBe) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    for (index_t i = 0; i < m; ++i) {
      const auto r = row(t, i);
      ASSERT_EQ(r.extent<0>(), n);
      for (index_t j = 0; j < n; ++j) {
        ASSERT_EQ(r(j), memory[i * rs + j * cs]);
        ASSERT_EQ(column(t, j)(i), memory[i * rs + j * cs]);
      }
    }
    for (index_t begin = 0; begin <= m; ++begin) {
      for (index_t end = begin; end <= m; ++end) {
        const auto part = slice(t, between(begin, end), every);
        ASSERT_EQ(part.extent<0>(), end - begin);
        for_each_position(part, [&](auto i, auto j) {
          ASSERT_EQ(part(i, j), memory[(begin + i) * rs + j * cs]);
        });
      }
    }
  });
}

TEST(Slice, OfAClippedTileKeepsTheEdge) {
  Guarded<> memory(77);
  const auto t = tile<4, 4>(tensor<row_major(11, 7)>(memory.data()), 2, 1);  // 3 x 3 exist
  EXPECT_EQ(to_string(slice(t, every, between<1, 4>())), "61 62\n68 69\n75 76\n");
  EXPECT_EQ(to_string(row(t, 2)), "74 75 76\n");
  EXPECT_EQ(row(t, 3).valid<0>(), 0);  // that row does not exist
  EXPECT_EQ((slice(t, between(3, 4), every).valid<0>()), 0);
}

TEST(Slice, DropsTheRankOfFixedModes) {
  Guarded<> memory(2 * 3 * 4);
  const auto t = tensor<row_major(2, 3, 4)>(memory.data());
  const auto matrix = slice(t, every, at<1>(), every);
  static_assert(decltype(matrix)::pattern == Layout(tuple(2, 4), tuple(12, 1)));
  EXPECT_EQ(matrix(1, 3), 12 + 4 + 3);
  const auto line = slice(t, 1, every, 2);
  static_assert(decltype(line)::rank == 1);
  EXPECT_EQ(line(2), 12 + 8 + 2);
}

TEST(Slice, KeepsHierarchicalModes) {
  Guarded<> memory(24);
  constexpr Layout nested{tuple(tuple(2, 2), tuple(2, 3)), tuple(tuple(4, 1), tuple(2, 8))};
  const auto t = tensor<nested>(memory.data());
  const auto part = slice(t, 3, every);
  for (index_t j = 0; j < 6; ++j) EXPECT_EQ(part(j), memory[nested(3, j)]);
}

TEST(Slice, BadRangesAreErrors) {
  Guarded<> memory(12);
  const auto t = tensor<row_major(3, 4)>(memory.data());
  EXPECT_THROW(slice(t, between(-1, 2), every), Error);
  EXPECT_THROW(slice(t, between(2, 1), every), Error);
  EXPECT_THROW(slice(t, every, between(0, 5)), Error);
}

TEST(Slice, PositionsThatDoNotExistAreErrors) {
  const auto refused = [](const auto& t, index_t rows, index_t cols) {
    for (const index_t i : {index_t{-1}, rows, rows + 6, std::numeric_limits<index_t>::max(),
                            std::numeric_limits<index_t>::min()}) {
      EXPECT_THROW(row(t, i), Error) << i;
      EXPECT_THROW(slice(t, i, every), Error) << i;
      EXPECT_THROW(slice(t, i, between(0, 2)), Error) << i;
    }
    for (const index_t j : {index_t{-1}, cols, cols + 6}) {
      EXPECT_THROW(column(t, j), Error) << j;
      EXPECT_THROW(slice(t, every, j), Error) << j;
    }
    for (index_t i = 0; i < rows; ++i) EXPECT_NO_THROW(row(t, i));
    for (index_t j = 0; j < cols; ++j) EXPECT_NO_THROW(column(t, j));
  };
  Guarded<> memory(77);
  refused(tensor<row_major(3, 4)>(memory.data()), 3, 4);
  const auto t = tensor<kAnyMatrix>(memory.data(), 3, 4, 4, 1);
  refused(t, 3, 4);
  refused(tile<4, 4>(tensor<row_major(11, 7)>(memory.data()), 2, 1), 4, 4);  // 3 x 3 exist
  EXPECT_THROW(slice(t, at<3>(), every), Error);
  EXPECT_THROW(slice(t, every, between<2, 5>()), Error);
  EXPECT_THROW(row(tensor<kAnyMatrix>(memory.data(), 0, 4, 4, 1), 0), Error);
  try {
    column(t, 9);
    ADD_FAILURE() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::shape);
    EXPECT_EQ(std::string(error.what()),
              "slice: there is no such position in mode 1: expected 0 to 3, got 9");
  }
}

// --- transpose -----------------------------------------------------------------------------------

TEST(Transpose, ExchangesTheModesAndTheEdge) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    const auto turned = transpose(tile<8, 4>(t, 1, 0));
    ASSERT_EQ(turned.valid<1>(), std::max<index_t>(0, std::min<index_t>(8, m - 8)));
    ASSERT_EQ(turned.valid<0>(), std::min<index_t>(4, n));
    for_each_position(
        turned, [&](auto j, auto i) { ASSERT_EQ(turned(j, i), memory[(8 + i) * rs + j * cs]); });
  });
}

TEST(Transpose, PermutesAnyRank) {
  Guarded<> memory(24);
  const auto t = tensor<row_major(2, 3, 4)>(memory.data());
  const auto p = permute<2, 0, 1>(t);
  static_assert(decltype(p)::pattern == Layout(tuple(4, 2, 3), tuple(1, 12, 4)));
  for_each_position(t, [&](auto i, auto j, auto k) { EXPECT_EQ(p(k, i, j), t(i, j, k)); });
}

// --- distribute ----------------------------------------------------------------------------------

TEST(Distribute, ConformsTo8By4Over2By2ColumnMajorThreads) {
  // Thread 0 sees 0 2 / 8 10 / 16 18 / 24 26.
  Guarded<> memory(32);
  const auto t = tensor<row_major(8, 4)>(memory.data());
  EXPECT_EQ(to_string(distribute<col_major(2, 2)>(t, 0)), " 0  2\n 8 10\n16 18\n24 26\n");
  EXPECT_EQ(to_string(distribute<col_major(2, 2)>(t, 1)), " 4  6\n12 14\n20 22\n28 30\n");
  EXPECT_EQ(to_string(distribute<row_major(2, 2)>(t, 1)), " 1  3\n 9 11\n17 19\n25 27\n");
  static_assert(decltype(distribute<col_major(2, 2)>(t, 0))::pattern ==
                Layout(tuple(4, 2), tuple(8, 2)));
}

template <Layout Threads, class T>
void expect_each_element_once(const T& t, const float* base, index_t elements) {
  std::set<index_t> seen;
  for (index_t p = 0; p < Threads.size(); ++p) {
    const auto mine = distribute<Threads>(t, p);
    for_each_position(mine, [&](auto... at) {
      ASSERT_TRUE(seen.insert(&mine(at...) - base).second) << "two threads own an element";
    });
  }
  ASSERT_EQ(static_cast<index_t>(seen.size()), elements);
}

TEST(Distribute, EveryElementBelongsToOneThread) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> memory(size);
    const auto t = tensor<kAnyMatrix>(memory.data(), m, n, rs, cs);
    expect_each_element_once<row_major(2, 4)>(t, memory.data(), m * n);
    expect_each_element_once<col_major(3, 2)>(t, memory.data(), m * n);
    const auto corner = tile<5, 6>(t, 1, 1);
    expect_each_element_once<row_major(2, 3)>(corner, memory.data(),
                                              corner.valid<0>() * corner.valid<1>());
    // Hierarchical threads: mode 0 is split into bits 0 and 3 of the thread number.
    expect_each_element_once<Layout(tuple(tuple(2, 2), 4), tuple(tuple(1, 8), 2))>(
        corner, memory.data(), corner.valid<0>() * corner.valid<1>());
  });
}

TEST(Distribute, AThreadThatDoesNotExistIsAnError) {
  Guarded<> memory(32);
  const auto t = tensor<row_major(8, 4)>(memory.data());
  for (const index_t thread : {-8, -1, 8, 9}) {
    EXPECT_THROW(distribute<row_major(2, 4)>(t, thread), Error) << thread;
    EXPECT_THROW(distribute<row_major(2, 4)>(tile<5, 5>(t, 1, 0), thread), Error) << thread;
  }
  try {
    distribute<row_major(2, 4)>(t, 8);
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::shape);
    EXPECT_EQ(std::string(error.what()),
              "distribute: the thread layout has no such thread: expected 0 to 7, got 8");
  }
}

TEST(Distribute, OfVectorsGivesVectors) {
  Guarded<> memory(8 * 16);
  const auto t = vectorize<1, 4>(tensor<row_major(8, 16)>(memory.data()));  // (8,4)
  const auto mine = distribute<row_major(4, 2)>(t, 5);                      // at (2,1)
  EXPECT_EQ((static_cast<Vec<float, 4>>(mine(1, 1))), (Vec<float, 4>{108, 109, 110, 111}));
}

// --- vectorize -----------------------------------------------------------------------------------

TEST(Vectorize, ConformsToColumnMajor8By8) {
  const auto t = tensor<col_major(8, 8)>(static_cast<float*>(nullptr));
  using Along1 = decltype(vectorize<1, 4>(t));
  static_assert(Along1::pattern == Layout(tuple(8, 2), tuple(1, 32)));
  static_assert(Along1::pointer::element_layout == Layout(tuple(1, 4), tuple(0, 8)));
  using Along0 = decltype(vectorize<4, 1>(t));
  static_assert(Along0::pattern == Layout(tuple(2, 8), tuple(4, 8)));
  static_assert(Along0::pointer::element_layout == Layout(tuple(4, 1), tuple(1, 0)));
  using Both = decltype(vectorize<4, 4>(t));
  static_assert(Both::pattern == Layout(tuple(2, 2), tuple(4, 32)));
  static_assert(Both::pointer::element_layout == Layout(tuple(4, 4), tuple(1, 8)));
}

TEST(Vectorize, ReadsAndWritesTheSameElements) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    if (n % 4 != 0 || m % 2 != 0) return;
    Guarded<> memory(size), untouched(size);
    const auto check = [&](const auto& t) {
      const auto v = vectorize<1, 4>(t);
      for_each_position(v, [&](auto i, auto j) {
        Vec<float, 4> lanes = v(i, j);
        for (index_t l = 0; l < 4; ++l) ASSERT_EQ(lanes[l], untouched[i * rs + (4 * j + l) * cs]);
        v(i, j) = lanes * 2.0f;
      });
      const auto blocks = vectorize<2, 2>(t);
      for_each_position(blocks, [&](auto i, auto j) {
        Vec<float, 4> lanes = blocks(i, j);  // first mode fastest
        ASSERT_EQ(lanes[1], 2 * untouched[(2 * i + 1) * rs + 2 * j * cs]);
        ASSERT_EQ(lanes[2], 2 * untouched[2 * i * rs + (2 * j + 1) * cs]);
        blocks(i, j) = lanes / 2.0f;
      });
    };
    check(tensor<kAnyMatrix>(memory.data(), m, n, rs, cs));
    if (cs == 1) check(tensor<kRowMajorMatrix>(memory.data(), m, n, rs));
    for (index_t i = 0; i < size; ++i) ASSERT_EQ(memory[i], untouched[i]);
    ASSERT_TRUE(memory.guards_hold());
  });
}

TEST(Vectorize, MisalignedRowsAreFineOnTheCpu) {
  Guarded<> memory(41);
  const auto t = tensor<kRowMajorMatrix>(memory.data() + 1, 4, 8, 9);
  const auto v = vectorize<1, 4>(t);
  EXPECT_EQ((static_cast<Vec<float, 4>>(v(3, 1))), (Vec<float, 4>{32, 33, 34, 35}));
  EXPECT_FALSE((can_vectorize<1, 4>(t)));  // a GPU would fault
}

TEST(Vectorize, AsksForWholeVectors) {
  HostTensor<float> m(6, 10);
  const auto t = m.view();
  EXPECT_FALSE((can_vectorize<1, 4>(t)));
  EXPECT_THROW((vectorize<1, 4>(t)), Error);
  EXPECT_TRUE((can_vectorize<1, 2>(t)));
  EXPECT_FALSE((can_vectorize<1, 4>(tile<4, 4>(t, 0, 2))));  // 2 columns exist
  EXPECT_THROW((vectorize<1, 4>(tile<4, 4>(t, 0, 2))), Error);
  const auto below = vectorize<1, 4>(tile<4, 8>(t, 1, 0));  // 2 rows exist
  EXPECT_EQ(below.valid<0>(), 2);
  EXPECT_EQ(below.valid<1>(), 2);
}

TEST(Vectorize, AlignmentIsSeen) {
  HostTensor<float> m(4, 12);  // rows of 48 bytes
  EXPECT_TRUE((can_vectorize<1, 4>(m.view())));
  EXPECT_FALSE((can_vectorize<1, 4>(slice(m.view(), every, between(1, 9)))));
  EXPECT_TRUE((can_vectorize<1, 4>(slice(m.view(), every, between(4, 12)))));
  HostTensor<float> odd(4, 9);  // the first row is aligned, the second is not
  EXPECT_FALSE((can_vectorize<1, 4>(slice(odd.view(), every, between(0, 8)))));
  EXPECT_TRUE((can_vectorize<1, 4>(slice(odd.view(), between(0, 1), between(0, 8)))));
  HostTensor<f16> h(4, 12);  // rows of 24 bytes
  EXPECT_TRUE((can_vectorize<1, 4>(h.view())));
}

TEST(Vec, ComputesLaneByLane) {
  using V = Vec<float, 4>;
  const V a{1, 2, 3, 4}, b{10, 20, 30, 40};
  EXPECT_EQ(a + b, (V{11, 22, 33, 44}));
  EXPECT_EQ(b - a, (V{9, 18, 27, 36}));
  EXPECT_EQ(a * 2.0f, (V{2, 4, 6, 8}));
  EXPECT_EQ(1.0f / V::filled(4), (V{0.25, 0.25, 0.25, 0.25}));
  EXPECT_EQ(fma(2.0f, a, b), (V{12, 24, 36, 48}));
  EXPECT_EQ(sum(a), 10);
  EXPECT_EQ(-a, (V{-1, -2, -3, -4}));
  EXPECT_FALSE(a == b);
  const auto bytes = convert_lanes<std::int8_t>(Vec<float, 2>{300, -1.5f});
  EXPECT_EQ(bytes, (Vec<std::int8_t, 2>{127, -1}));
}

TEST(Vec, IsAlignedForOneWideAccess) {
  EXPECT_EQ(alignof(Vec<float, 4>), 16u);
  EXPECT_EQ(alignof(Vec<float, 2>), 8u);
  EXPECT_EQ(alignof(Vec<double, 4>), 16u);
  EXPECT_EQ(alignof(Vec<f16, 8>), 16u);
  EXPECT_EQ(alignof(Vec<float, 3>), 4u);
}

}  // namespace
}  // namespace tessera
