// A project that tests its own kernel with the checker's matchers.
#include <gtest/gtest.h>

#include <tessera/check/check.hpp>
#include <tessera/check/matchers.hpp>
#include <tessera/tensor/host_tensor.hpp>

namespace check = tessera::check;

template <bool kWaits>
struct Reverse {
  static constexpr tessera::Dim3 block{64};
  struct Shared {
    tessera::Tile<float, 1, 64> a;
  };
  void operator()(auto t, auto A, auto C) const {
    auto& s = tessera::shared<Shared>(t);
    s.a(0, t.thread) = A(0, t.thread);
    if constexpr (kWaits) t.barrier();
    C(0, t.thread) = s.a(0, 63 - t.thread);
  }
};

template <bool kWaits>
check::Report report() {
  const tessera::HostTensor<float> A(1, 64);
  tessera::HostTensor<float> C(1, 64);
  return check::check({}, tessera::Dim3{1}, Reverse<kWaits>{}, A.view(), C.view());
}

TEST(Reverse, IsCleanAndCheap) {
  EXPECT_THAT(report<true>(), check::IsClean());
  EXPECT_THAT(report<true>(), check::HasNoRaces());
  EXPECT_THAT(report<true>(), check::HasNoBankConflicts());
  EXPECT_THAT(report<true>(), check::HasSectorsPerRequest(4));
}

TEST(Reverse, RacesWithoutItsBarrier) {
  EXPECT_THAT(report<false>(), testing::Not(check::HasNoRaces()));
}
