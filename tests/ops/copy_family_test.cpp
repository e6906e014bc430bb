// The copy family: one thread, a block with a named thread layout, warps, vectors, masks, fills,
// casts, accumulation, for whole and clipped tiles on either side.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "tensor/guarded.hpp"
#include "tessera/ops/copy.hpp"
#include "tessera/ops/copy_thread.hpp"
#include "tessera/ops/copy_with.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/compare.hpp"
#include "tessera/tensor/generate.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/print.hpp"
#include "tessera/tensor/swizzled.hpp"
#include "tessera/tensor/tile.hpp"
#include "tessera/tensor/transpose.hpp"

namespace tessera {
namespace {

using test::Guarded;

TEST(CopyThread, FillsPastTheSourceAndSkipsPastTheDestination) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> from(size), to(size), before(size);
    const auto source = tensor<kAnyMatrix>(from.data(), m, n, rs, cs);
    const auto target = tensor<kAnyMatrix>(to.data(), m, n, rs, cs);
    Tile<double, 4, 8> stage{};
    fill(stage.view(), 99);
    copy(tile<4, 8>(source, 1, 0), stage, filled_with(-1));
    for_each_position(stage.view(), [&](auto i, auto j) {
      const bool exists = 4 + i < m && j < n;
      ASSERT_EQ(stage(i, j), exists ? before[(4 + i) * rs + j * cs] : -1.0f);
    });
    stage.view() += 1000;
    copy(stage, tile<4, 8>(target, 1, 0));
    std::set<index_t> written;
    for_each_position(tile<4, 8>(target, 1, 0), [&](auto i, auto j) {
      const index_t x = (4 + i) * rs + j * cs;
      written.insert(x);
      ASSERT_EQ(to[x], before[x] + 1000);
    });
    for (index_t x = 0; x < size; ++x) {
      if (written.count(x) == 0) {
        ASSERT_EQ(to[x], before[x]);
      }
    }
    ASSERT_TRUE(to.guards_hold());
  });
}

TEST(CopyThread, AnyRankAndConversion) {
  HostTensor<float, 3> a(2, 3, 4);
  arange(a.view(), 0.5);
  HostTensor<std::int8_t, 3> b(2, 3, 4);
  copy(a, b);
  EXPECT_EQ(b(1, 2, 3), 23);  // truncated
  HostTensor<f16, 3> c(2, 3, 4);
  copy(b, c);
  EXPECT_EQ(static_cast<float>(c(1, 2, 3)), 23.0f);
}

TEST(CopyThread, Accumulates) {
  Tile<float, 2, 3> a{}, sum{};
  arange(a.view());
  fill(sum.view(), 10);
  copy(a, sum, accumulating());
  copy(a, sum, combined_by([](float old, float x) { return old * x; }));
  EXPECT_EQ(to_string(sum.view()), " 0 11 24\n39 56 75\n");
}

TEST(CopyThread, AccumulatingLeavesWhatTheSourceDoesNotHave) {
  Guarded<> memory(6);
  Tile<float, 2, 4> sum{};
  fill(sum.view(), 1);
  copy(tile<2, 4>(tensor<row_major(2, 3)>(memory.data()), 0, 0), sum,
       combined_by([](float old, float x) { return old * x; }));
  EXPECT_EQ(to_string(sum.view()), "0 1 2 1\n3 4 5 1\n");
}

TEST(CopyThread, Masks) {
  Tile<float, 3, 3> a{}, b{};
  arange(a.view(), 1);
  fill(b.view(), -5);
  copy(a, b, writing_where([](auto i, auto j) { return i != j; }));
  EXPECT_EQ(to_string(b.view()), "-5  2  3\n 4 -5  6\n 7  8 -5\n");
  Tile<std::uint8_t, 1, 3> mask{};
  mask(0, 1) = 1;  // broadcasts over the rows
  copy(a, b, reading_where(mask.view()), filled_with(0.5));
  EXPECT_EQ(to_string(b.view()), "0.5 2 0.5\n0.5 5 0.5\n0.5 8 0.5\n");
  copy(a, b, reading_where(mask.view()), writing_where([](auto i, auto) { return i == 0; }));
  EXPECT_EQ(to_string(b.view()), "  0 2   0\n0.5 5 0.5\n0.5 8 0.5\n");
}

TEST(CopyThread, DifferentRunTimeExtentsAreAnError) {
  HostTensor<float> a(3, 4), b(4, 3);
  EXPECT_THROW(copy(a, b), Error);
}

// --- by the threads of a block -------------------------------------------------------------------

/// Every thread of `Threads` in turn, and some beyond it.
template <Layout Threads, int Width = 1, class Src, class Dst, class... Options>
void copy_by_all(const Src& src, const Dst& dst, const Options&... options) {
  for (index_t p = 0; p < Threads.size() + 3; ++p)
    copy_with<Threads, Width>(ThreadNumber{p}, src, dst, options...);
}

TEST(CopyWith, AgreesWithOneThreadForEveryLayoutAndWidth) {
  test::for_each_matrix([](index_t m, index_t n, index_t rs, index_t cs, index_t size) {
    Guarded<> from(size);
    const auto check = [&](const auto& source) {
      for (const index_t i : {0, 1}) {
        const auto src = tile<8, 8>(source, i, 0);
        Tile<float, 8, 8> want{}, got{};
        copy(src, want, filled_with(-1));
        fill(got.view(), 99);
        copy_by_all<row_major(2, 4)>(src, got.view(), filled_with(-1));
        ASSERT_EQ(first_difference(got.view(), want.view()), "");
        fill(got.view(), 99);
        copy_by_all<col_major(4, 8), 4>(src, got.view(), filled_with(-1));
        ASSERT_EQ(first_difference(got.view(), want.view()), "");
        fill(got.view(), 99);
        copy_by_all<row_major(3, 1), 2>(src, got.view(), filled_with(-1));
        ASSERT_EQ(first_difference(got.view(), want.view()), "");
        // And back, into a matrix that must not be written outside the tile.
        Guarded<> to(size);
        want.view() += 500;
        copy_by_all<row_major(2, 2), 4>(
            want.view(), tile<8, 8>(tensor<kAnyMatrix>(to.data(), m, n, rs, cs), i, 0));
        index_t written = 0;
        for (index_t x = 0; x < size; ++x) written += to[x] != static_cast<float>(x);
        ASSERT_EQ(written, src.template valid<0>() * src.template valid<1>());
        ASSERT_TRUE(to.guards_hold());
      }
    };
    check(tensor<kAnyMatrix>(from.data(), m, n, rs, cs));
    if (cs == 1) check(tensor<kRowMajorMatrix>(from.data(), m, n, rs));
  });
}

TEST(CopyWith, EachThreadCopiesItsShare) {
  Tile<float, 4, 8> a{}, b{};
  arange(a.view(), 1);
  copy_with<row_major(2, 4)>(ThreadNumber{5}, a.view(), b.view());  // at (1,1)
  for_each_position(b.view(), [&](auto i, auto j) {
    EXPECT_EQ(b(i, j), i % 2 == 1 && j % 4 == 1 ? a(i, j) : 0.0f);
  });
  copy_with<row_major(2, 4)>(ThreadNumber{8}, a.view(), b.view());  // no such thread
  EXPECT_EQ(b(0, 0), 0);
}

TEST(CopyWith, MasksSeeTheCoordinatesOfTheTile) {
  Tile<float, 4, 4> a{}, b{};
  arange(a.view());
  copy_by_all<row_major(2, 2), 4>(
      a.view(), b.view(), reading_where([](auto i, auto j) { return i >= j; }), filled_with(-1));
  EXPECT_EQ(to_string(b.view()), " 0 -1 -1 -1\n 4  5 -1 -1\n 8  9 10 -1\n12 13 14 15\n");
}

TEST(CopyWith, ConvertsVectorsAndAccumulates) {
  Tile<float, 2, 8> a{};
  Tile<f16, 2, 8> b{};
  arange(a.view());
  fill(b.view(), 1);
  copy_by_all<row_major(2, 2), 4>(a.view(), b.view(), accumulating());
  EXPECT_EQ(to_string(b.view()), "1  2  3  4  5  6  7  8\n9 10 11 12 13 14 15 16\n");
}

TEST(CopyWith, SwizzledDestination) {
  Tile<float, 8, 8> a{}, stage{}, back{};
  arange(a.view());
  const auto s = swizzled<Swizzle(1, 2, 2)>(stage.view());
  copy_by_all<row_major(2, 2), 4>(a.view(), s);
  EXPECT_EQ(stage.view().data()[20], a(2, 0));  // 16 moved by 4
  copy_by_all<row_major(4, 8)>(s, back.view());
  EXPECT_TRUE(equal(a.view(), back.view()));
}

struct Staged {
  static constexpr Dim3 block{32, 2};
  struct Shared {
    Tile<float, 8, 16> tile, other;
  };
  void operator()(auto t, auto in, auto out) const {
    auto& stage = shared<Shared>(t);
    const auto source = tile<8, 16>(in, t.block.y, t.block.x);
    t.superstep("load", [&] {
      copy_async_with<row_major(8, 4), 4>(t, source, stage.tile.view());
      commit(t);
      wait<0>(t);
    });
    t.superstep("turn", [&] {
      // Warp 1 alone copies the tile.
      if (t.warp == 1)
        copy_with<row_major(4, 8)>(lane_of(t), stage.tile.view(), stage.other.view());
    });
    copy_with<col_major(8, 8)>(t, transpose(stage.other.view()),
                               transpose(tile<8, 16>(out, t.block.y, t.block.x)));
  }
};

TEST(CopyWith, WorksInKernelsInAnyThreadOrder) {
  HostTensor<float> in(19, 35);
  fill_random(in.view(), 5);
  for (const auto order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::shuffled}) {
    HostTensor<float> out(19, 35);
    launch(LaunchConfig{.grid = {3, 3}, .block = Staged::block, .order = order, .seed = 3},
           Staged{}, in.view(), out.view());
    EXPECT_EQ(first_difference(out.view(), in.view()), "");
  }
}

// --- asynchronous
// ----------------------------------------------------------------------------------

/// A thread whose asynchronous copies arrive when they are waited for, as late as they may.
class LateThread {
 public:
  int thread = 0;
  std::size_t widest = 0;

  template <int Bytes>
  void copy_async_bytes(void* to, const void* from, bool inside) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(to) % Bytes, 0u);
    if (inside) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(from) % Bytes, 0u);
    }
    widest = std::max<std::size_t>(widest, Bytes);
    open_.push_back([=] {
      if (inside) std::memcpy(to, from, Bytes);
      else std::memset(to, 0, Bytes);
    });
  }
  void commit_async(Here = {}) { groups_.push_back(std::exchange(open_, {})); }
  template <int Pending>
  void wait_async(Here = {}) {
    while (groups_.size() > Pending) {
      for (const auto& each : groups_.front()) each();
      groups_.erase(groups_.begin());
    }
  }

 private:
  using Group = std::vector<std::function<void()>>;
  Group open_;
  std::vector<Group> groups_;
};

TEST(CopyAsync, ArrivesWithItsGroup) {
  HostTensor<float> in(20, 16);
  fill_random(in.view(), 4);
  Tile<float, 8, 16> first{}, second{};
  fill(first.view(), 99);
  fill(second.view(), 99);
  LateThread t;
  for (t.thread = 0; t.thread < 8; ++t.thread)
    copy_async_with<row_major(2, 2), 4>(t, tile<8, 16>(in.view(), 0, 0), first.view());
  commit(t);
  for (t.thread = 0; t.thread < 8; ++t.thread)
    copy_async_with<row_major(2, 2), 4>(t, tile<8, 16>(in.view(), 2, 0), second.view());
  commit(t);
  EXPECT_EQ(t.widest, 16u);
  EXPECT_EQ(first(0, 0), 99);
  wait<1>(t);
  EXPECT_EQ(first_difference(first.view(), tile<8, 16>(in.view(), 0, 0)), "");
  EXPECT_EQ(second(0, 0), 99);
  wait<0>(t);
  Tile<float, 8, 16> want{};
  copy(tile<8, 16>(in.view(), 2, 0), want);  // 4 rows exist, the others are zero
  EXPECT_EQ(first_difference(second.view(), want.view()), "");
}

TEST(CopyAsync, NarrowAndStridedElementsArriveToo) {
  HostTensor<float> in(8, 9);  // rows of 36 bytes: no vector is aligned
  fill_random(in.view(), 4);
  Tile<float, 8, 8> stage{};
  Tile<f16, 8, 8> halves{};
  LateThread t;
  for (t.thread = 0; t.thread < 4; ++t.thread) {
    copy_async_with<row_major(2, 2), 4>(t, tile<8, 8>(in.view(), 0, 1), stage.view());
    copy_async_with<row_major(2, 2), 4>(t, tile<8, 8>(in.view(), 0, 1), halves.view());
  }
  commit(t);
  wait<0>(t);
  EXPECT_EQ(t.widest, 4u);
  Tile<float, 8, 8> want{};
  copy(tile<8, 8>(in.view(), 0, 1), want);
  EXPECT_EQ(first_difference(stage.view(), want.view()), "");
  EXPECT_EQ(static_cast<float>(halves(3, 0)), static_cast<float>(f16(in(3, 8))));
  EXPECT_EQ(static_cast<float>(halves(3, 1)), 0.0f);
}

}  // namespace
}  // namespace tessera
