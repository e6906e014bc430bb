// The matrix units of a warpgroup on the CPU engine: every kind of instruction, and
// errors.
#include "tessera/ops/warpgroup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "support/unit_product.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::UnitProduct;

/// A copy that begins at a multiple of 16 bytes.
template <class T>
struct Aligned {
  std::vector<T> storage;
  T* data;
  explicit Aligned(const std::vector<T>& values)
      : storage(values.size() + 16), data(storage.data()) {
    while (reinterpret_cast<std::uintptr_t>(data) % 16 != 0) ++data;
    std::copy(values.begin(), values.end(), data);
  }
};

TEST(WarpgroupUnit, EveryInstructionMultiplies) {
  testing::for_each_unit([]<class Acc, class InA, class InB, int N, Major A, Major B>() {
    using Kernel = UnitProduct<Acc, InA, InB, N, A, B>;
    const auto a = testing::unit_numbers<InA>(64 * Kernel::K, 1);
    const auto b = testing::unit_numbers<InB>(N * Kernel::K, 3);
    const Aligned<InA> at(a);
    const Aligned<InB> bt(b);
    const auto operands =
        testing::unit_operands<Kernel, InA, InB, N>(software_map, at.data, bt.data);
    for (const auto order : {ThreadOrder::forward, ThreadOrder::shuffled}) {
      std::vector<Acc> c(64 * N, Acc{-1});
      launch({.grid = {1}, .block = Kernel::block, .order = order, .seed = 3}, Kernel{},
             operands.first, operands.second, c.data());
      EXPECT_EQ(testing::wrong_elements(a, b, c, N, Kernel::K, A, B), 0)
          << N << " columns, " << sizeof(InA) << " bytes";
    }
  });
}

/// (thread, value) -> element: each element of 64 x N belongs to one value of one thread.
TEST(WarpgroupUnit, SumsBelongToOneThreadEach) {
  using Unit = WarpgroupUnit<float, bf16, bf16, 64, 24>;
  std::vector<int> owners(64 * 24);
  for (int thread = 0; thread < kWarpgroupThreads; ++thread)
    for (int v = 0; v < Unit::values; ++v)
      ++owners[static_cast<std::size_t>(Unit::position(thread, v))];
  EXPECT_THAT(owners, ::testing::Each(1));
}

/// Operands that begin `shift` bytes after the place where their swizzle's pattern does.
struct Shifted {
  static constexpr const char* name = "shifted";
  static constexpr Dim3 block{kWarpgroupThreads};
  using Numbers = UnitTile<bf16, row_major(64, 64)>;
  struct Shared {
    alignas(1024) bf16 numbers[3 * 64 * 64];
  };
  int shift;
  TESSERA_KERNEL void operator()(auto t) const {
    auto& s = shared<Shared>(t);
    using Unit = WarpgroupUnit<float, bf16, bf16, 64, 64>;
    typename Unit::Fragment acc;
    const UnitOperand<Numbers, 64> a{s.numbers}, b{s.numbers + 64 * 64 + shift / 2};
    Unit::mma(t, acc, a, b, false);
    wait_mma<0>(t);
  }
};

TEST(WarpgroupUnit, RefusesOperandsThatAreShifted) {
  const auto run = [](int shift) { launch(Dim3{1}, Shifted{shift}); };
  run(0);
  run(1024);
  for (const int shift : {16, 128, 512, 1152})
    EXPECT_THAT(testing::refusal([&] { run(shift); }, Category::kernel),
                ::testing::AllOf(HasSubstr("an operand in its swizzle does not begin where it may"),
                                 HasSubstr("a multiple of 1024 bytes"),
                                 HasSubstr("byte " + std::to_string(8192 + shift))));
}

/// Two warps are no warpgroup.
struct TwoWarps {
  static constexpr Dim3 block{64};
  using Numbers = UnitTile<bf16, row_major(64, 64)>;
  struct Shared {
    Numbers a, b;
  };
  TESSERA_KERNEL void operator()(auto t) const {
    auto& s = shared<Shared>(t);
    using Unit = WarpgroupUnit<float, bf16, bf16, 64, 64>;
    typename Unit::Fragment acc;
    Unit::mma(t, acc, whole(s.a), whole(s.b), false);
  }
};

TEST(WarpgroupUnit, NeedsAWholeWarpgroup) {
  EXPECT_THAT(testing::refusal([] { launch(Dim3{1}, TwoWarps{}); }, Category::kernel),
              HasSubstr("a matrix instruction of a warpgroup that is not whole"));
}

}  // namespace
}  // namespace tessera
