// Elements that are exchanged by std::swap and std::exchange: told as reads and writes, with the
// values that references would have.
#include "tessera/check/swap.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tessera/check/check.hpp"
#include "tessera/check/format.hpp"
#include "tessera/simt/shared.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {
namespace {

template <class Kernel>
check::Report check_row(const Kernel& kernel, std::vector<float>& c) {
  const auto count = static_cast<index_t>(c.size());
  return check::check({.threads = 1}, Dim3{1}, kernel,
                      tensor<kRowMajorMatrix>(c.data(), 1, count, count));
}

struct Row {
  static constexpr const char* name = "row";
  static constexpr Dim3 block{64};
  struct Shared {
    Tile<float, 1, 64> a;
  };
};

struct SwappedElements : Row {
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.a(0, i) = 1;
    C(0, i) = 2;
    float mine = 3;
    std::swap(s.a(0, i), C(0, i));  // 2 and 1
    std::swap(s.a(0, i), mine);     // 3; mine is 2
    swap(mine, s.a(0, i));          // 2; mine is 3
    const float old = std::exchange(s.a(0, i), 4);
    C(0, i) = C(0, i) + 10 * mine + 100 * old + 1000 * s.a(0, i);
  }
};

TEST(Swap, OfElementsIsOneReadAndOneWriteOfEach) {
  std::vector<float> c(64);
  const check::Report report = check_row(SwappedElements{}, c);
  EXPECT_TRUE(report.summary.clean) << check::to_text(report, check::device_model("h200"));
  EXPECT_EQ(c[0], 4231);
  EXPECT_EQ(report.total.shared_store_requests, 2 * 5);  // by 2 warps
}

struct SwappedByAll : Row {
  void operator()(auto t, auto C) const {
    auto& s = shared<Shared>(t);
    const int i = t.thread;
    s.a(0, i) = 1;
    t.barrier();
    std::swap(s.a(0, i), s.a(0, 63 - i));
    t.barrier();
    C(0, i) = s.a(0, i);
  }
};

TEST(Swap, OfWhatOtherThreadsSwapIsARace) {
  std::vector<float> c(64);
  const check::Report report = check_row(SwappedByAll{}, c);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings.front().kind, check::Kind::race);
}

}  // namespace
}  // namespace tessera
