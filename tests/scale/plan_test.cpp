// The plan of large products: boxes, schedules and bounds, without any data.
#include "scale/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "scale/bounds.hpp"
#include "scale/boxes.hpp"
#include "tessera/core/error.hpp"

namespace tessera::scale {
namespace {

constexpr index_t kPlenty = index_t{1} << 50;

ScalePlan plan_of(const Shape& shape, int ranks, index_t memory = kPlenty) {
  Request request;
  request.shape = shape, request.ranks = ranks, request.memory = memory;
  return make_scale_plan(request);
}

double data_bytes(const Shape& s) {
  const double m = static_cast<double>(s.M), n = static_cast<double>(s.N),
               k = static_cast<double>(s.K);
  return 4 * (m * k + k * n + m * n);
}

Schedule schedule_of(const Shape& shape, index_t memory, Chains chains = Chains::may_be_cut) {
  ScheduleRequest request;
  request.shape = shape, request.memory = memory, request.chains = chains;
  return plan_schedule(request);
}

double volume(const Box& b) {
  return static_cast<double>(b.m()) * static_cast<double>(b.n()) * static_cast<double>(b.k());
}

bool meet(const Box& a, const Box& b) {
  return std::max(a.m0, b.m0) < std::min(a.m1, b.m1) &&
         std::max(a.n0, b.n0) < std::min(a.n1, b.n1) && std::max(a.k0, b.k0) < std::min(a.k1, b.k1);
}

RC_GTEST_PROP(ScaleBoxes, CoverTheCuboidAndDoNotOverlap, ()) {
  const Shape shape{*rc::gen::inRange<index_t>(1, 60), *rc::gen::inRange<index_t>(1, 60),
                    *rc::gen::inRange<index_t>(1, 60)};
  const int ranks = *rc::gen::inRange(1, 40);
  const auto boxes = cut_into_boxes(shape, ranks);
  RC_ASSERT(static_cast<int>(boxes.size()) == ranks);
  double all = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    all += volume(boxes[i]);
    for (std::size_t j = 0; j < i; ++j) RC_ASSERT(!meet(boxes[i], boxes[j]));
  }
  RC_ASSERT(all == volume({0, shape.M, 0, shape.N, 0, shape.K}));
}

TEST(ScaleBoxes, AreOfEqualVolume) {
  for (const Shape& shape : {Shape{8192, 8192, 8192}, {65536, 4096, 512}, {3001, 7013, 5003}}) {
    for (const int ranks : {2, 3, 5, 7, 8, 13, 64, 100}) {
      for (const Box& box : cut_into_boxes(shape, ranks)) {
        const double equal = volume({0, shape.M, 0, shape.N, 0, shape.K}) / ranks;
        EXPECT_NEAR(volume(box) / equal, 1, 0.02) << ranks << " ranks";
      }
    }
  }
}

TEST(ScaleBoxes, CutKAtMultiplesOfAUnit) {
  for (const Shape& shape : {Shape{100, 90, 1000}, {1, 1, 640}, {3, 2, 64}, {7, 7, 65}}) {
    for (const index_t unit : {64, 1000}) {
      for (int ranks = 1; ranks <= 20; ++ranks) {
        double all = 0;
        for (const Box& box : cut_into_boxes(shape, ranks, unit)) {
          all += volume(box);
          EXPECT_EQ(box.k0 % unit, 0);
          if (box.k1 != shape.K) {
            EXPECT_EQ(box.k1 % unit, 0);
          }
        }
        EXPECT_EQ(all, volume({0, shape.M, 0, shape.N, 0, shape.K}));
      }
    }
  }
}

// What a rank receives and sends, counted element by element: all but one of an element's users
// receive it, and all but the first of those who sum an element of C.
TEST(ScalePlan, CountsWhatEachElementsUsersReceive) {
  const Shape shape{12, 9, 10};
  for (const int ranks : {1, 2, 3, 5, 7, 8, 11}) {
    const ScalePlan plan = plan_of(shape, ranks);
    double elements = 0;
    const auto add = [&](index_t rows, index_t cols, const auto& uses) {
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < cols; ++j)
          elements += static_cast<double>(
              std::count_if(plan.ranks.begin(), plan.ranks.end(),
                            [&](const RankPart& x) { return uses(x.box, i, j); }) -
              1);
      }
    };
    const auto in = [](index_t at, index_t begin, index_t end) { return begin <= at && at < end; };
    add(shape.M, shape.K,
        [&](const Box& x, index_t i, index_t j) { return in(i, x.m0, x.m1) && in(j, x.k0, x.k1); });
    add(shape.K, shape.N,
        [&](const Box& x, index_t i, index_t j) { return in(i, x.k0, x.k1) && in(j, x.n0, x.n1); });
    add(shape.M, shape.N,
        [&](const Box& x, index_t i, index_t j) { return in(i, x.m0, x.m1) && in(j, x.n0, x.n1); });
    double sent = 0, received = 0;
    for (const RankPart& part : plan.ranks) sent += part.sent, received += part.received;
    EXPECT_EQ(received, 4 * elements) << ranks;
    EXPECT_EQ(sent, received) << ranks;
    EXPECT_EQ(plan.sent, received) << ranks;
  }
}

TEST(ScalePlan, SendsLittleMoreThanTheBound) {
  const Shape cube{8192, 8192, 8192};
  EXPECT_LE(plan_of(cube, 8).ratio_to_bound(), 1.01);
  for (const int ranks : {7, 11, 13}) {
    EXPECT_LE(plan_of(cube, ranks).ratio_to_bound(), 1.06) << ranks;
    EXPECT_LE(plan_of(cube, ranks).worst_ratio(), 1.15) << ranks;
  }
  for (int ranks = 7; ranks <= 100; ++ranks) {
    EXPECT_LE(plan_of(cube, ranks).ratio_to_bound(), 1.06) << ranks;
    EXPECT_LE(plan_of(cube, ranks).worst_ratio(), 1.27) << ranks;
  }
  EXPECT_LE(plan_of(cube, 6).ratio_to_bound(), 1.10);
  for (const int ranks : {2, 3, 4, 5}) EXPECT_LE(plan_of(cube, ranks).ratio_to_bound(), 1.29);
  for (const int ranks : {4, 8})
    EXPECT_LE(plan_of({512, 512, 65536}, ranks).ratio_to_bound(), 1.01);
}

TEST(ScalePlan, NeverSendsLessThanTheBound) {
  for (const Shape& shape :
       {Shape{8192, 8192, 8192}, {65536, 65536, 512}, {512, 512, 65536}, {100, 90000, 70}}) {
    for (int ranks = 1; ranks <= 70; ++ranks)
      EXPECT_GE(plan_of(shape, ranks).ratio_to_bound(), 1 - 1e-6) << ranks;
  }
}

// The volume of the best grid: no grid sends less than the boxes.
TEST(ScalePlan, SendsNoMoreThanTheBestGrid) {
  for (const Shape& s : {Shape{8192, 8192, 8192}, {65536, 65536, 512}, {512, 512, 65536}}) {
    const double m = static_cast<double>(s.M), n = static_cast<double>(s.N),
                 k = static_cast<double>(s.K);
    for (int ranks = 2; ranks <= 32; ++ranks) {
      double best = 1e300;
      for (int pm = 1; pm <= ranks; ++pm) {
        for (int pn = 1; pm * pn <= ranks; ++pn) {
          if (ranks % (pm * pn) != 0) continue;
          const double pk = ranks / (pm * pn);
          best = std::min(best, m * k * (pn - 1) + k * n * (pm - 1) + m * n * (pk - 1));
        }
      }
      EXPECT_LE(plan_of(s, ranks).sent, 4 * best * 1.05) << ranks << " ranks";
    }
  }
}

TEST(ScalePlan, IsMadeForThousandsOfRanks) {
  const ScalePlan plan = plan_of({100000, 100000, 100000}, 4096);
  EXPECT_EQ(plan.ranks.size(), 4096u);
  EXPECT_LE(plan.ratio_to_bound(), 1.01);
}

TEST(ScalePlan, NamesTheMemoryThatWouldDo) {
  try {
    plan_of({1000, 1000, 1000}, 1, 1000);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::resource);
    EXPECT_NE(error.expected().find("at least"), std::string::npos) << error.what();
  }
}

TEST(ScalePlan, RefusesWhatIsOutOfRange) {
  EXPECT_THROW(plan_of({1, 1, 1}, 0), Error);
  EXPECT_THROW(plan_of({-1, 1, 1}, 1), Error);
  EXPECT_THROW(plan_of({1, 1, 1}, 1, 0), Error);
}

TEST(ScalePlan, TakesEmptyProducts) {
  for (const Shape& shape : {Shape{0, 0, 0}, {0, 5, 3}, {5, 0, 3}, {5, 3, 0}}) {
    for (const int ranks : {1, 3}) EXPECT_GE(plan_of(shape, ranks).memory, 0);
  }
}

constexpr Shape kShapes[] = {{65536, 65536, 65536},    {8192, 8192, 8192},
                             {1000000, 1000000, 768},  {40000, 20000, 60000},
                             {20000, 20000, 10000000}, {65536, 16384, 65536},
                             {10000, 200000, 5000},    {3000, 100000, 100000},
                             {50021, 30011, 70001},    {1000000, 64, 100000}};

TEST(Schedule, StaysWithinTheMemoryAndNearTheBound) {
  for (const Shape& shape : kShapes) {
    for (const int part : {4, 8, 16, 32, 64}) {
      const auto memory = static_cast<index_t>(data_bytes(shape) / part);
      const Schedule s = schedule_of(shape, memory);
      EXPECT_LE(s.memory, memory);
      const double ratio = s.moved() / s.bound;
      EXPECT_GE(ratio, 1);
      // A few blocks cannot meet the bound, which knows no whole ones.
      EXPECT_LE(ratio, part >= 32 || part == 4 ? 1.35 : 1.7) << shape.M << " 1/" << part;
    }
  }
}

TEST(Schedule, TilesOnAGridOfFourByFourAreNearTheBound) {
  int seen = 0;
  for (const Shape& shape : kShapes) {
    for (const int part : {64, 100, 200, 300, 500}) {
      const Schedule s = schedule_of(shape, static_cast<index_t>(data_bytes(shape) / part));
      if (s.resident != Resident::sums || s.blocks_down() < 4 || s.blocks_across() < 4) continue;
      ++seen;
      EXPECT_LE(s.moved() / s.bound, 1.35) << shape.M << " 1/" << part;
    }
  }
  EXPECT_GE(seen, 10);
}

TEST(Schedule, KeepsWholeChainsWhereItMust) {
  const Schedule s = schedule_of({8192, 8192, 8192}, 10000000, Chains::whole);
  EXPECT_EQ(s.slices(), 1);
  EXPECT_GT(schedule_of({8192, 8192, 8192}, 10000000).slices(), 1);
}

TEST(Schedule, CutsKWhereATileUnitMayBeCut) {
  for (const Shape& shape : kShapes) {
    const Schedule s = schedule_of(shape, static_cast<index_t>(data_bytes(shape) / 300));
    if (s.slices() > 1) {
      EXPECT_EQ(s.depth % 64, 0);
    }
  }
}

// The words of the facts' table: 65536^3 in 1 GiB.
TEST(ScaleBounds, AreTheFormulasOfThePapers) {
  const double words = words_moved_bound(0x1p48, 0x1p28);
  EXPECT_DOUBLE_EQ(words, 0x1p35 - 0x1p29);
  // A cube on 8 ranks: 3 (n^3 / 8)^(2/3) less 3 n^2 / 8.
  EXPECT_NEAR(words_received_bound({64, 64, 64}, 8), 3 * 32 * 32 - 3 * 64 * 64 / 8.0, 1e-9);
  // K longest: C alone moves.
  EXPECT_NEAR(words_received_bound({512, 512, 65536}, 4), 512 * 512 * 0.75, 1e-9);
}

TEST(ScalePicture, HasABoxForEachRank) {
  const std::string svg = picture(plan_of({1000, 800, 600}, 7));
  std::size_t faces = 0;
  for (std::size_t at = svg.find("<polygon"); at != svg.npos; at = svg.find("<polygon", at + 1))
    ++faces;
  EXPECT_EQ(faces, 21u);
  EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
}

TEST(Forecast, CountsWhatDoesNotOverlap) {
  Request request;
  request.shape = {24000, 24000, 256}, request.memory = index_t{512} << 20;
  request.speeds.flops = 300e9, request.speeds.disk = 2e9, request.speeds.writing = 1e9;
  const ScalePlan panel = make_scale_plan(request);
  EXPECT_EQ(panel.schedule.blocks_across(), 1);  // whole rows
  EXPECT_GE(panel.time.total, panel.time.disk);
  EXPECT_LT(panel.time.total, panel.time.disk + panel.time.arithmetic / 2);
  request.speeds.memory = 1e9;
  const double more = make_scale_plan(request).time.total - panel.time.total;
  EXPECT_NEAR(more, static_cast<double>(panel.memory) / 1e9, 1e-9);
  request.shape = {8192, 8192, 8192}, request.memory = index_t{64} << 20, request.speeds.memory = 0;
  const ScalePlan tiles = make_scale_plan(request);
  EXPECT_GE(tiles.time.total, tiles.time.arithmetic + tiles.written / 1e9);
}

}  // namespace
}  // namespace tessera::scale
