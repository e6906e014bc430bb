// Kernels whose local arrays are larger than a thread's stack, and what the engine must say about
// them. Included by test files that are compiled in different ways; everything is private to each.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/sanitizers.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/storage.hpp"

namespace tessera {
namespace {

/// Thread `who` keeps Bytes in a local array, which it fills from its low end.
template <int Bytes>
struct LocalArray {
  static constexpr const char* name = "local_array";
  void operator()(auto t, int who, int* out) const {
    volatile int mine = t.thread;
    t.barrier();
    if (t.thread == who) {
      volatile char array[Bytes];
      for (int i = 0; i < Bytes; i += 64) array[i] = static_cast<char>(i);
      mine = mine + array[64] - 64;
    }
    t.barrier();
    out[t.thread] = mine;
  }
};

/// Only two places of the array are ever touched.
template <int Bytes>
struct SparseArray {
  void operator()(auto t, int who, int* out) const {
    volatile int mine = t.thread;
    t.barrier();
    if (t.thread == who) {
      volatile char array[Bytes];
      volatile int middle = Bytes / 2;  // an index that no compiler knows: the array stays whole
      array[0] = 1;
      array[middle] = 2;
      mine = mine + array[middle] - 2;
    }
    t.barrier();
    out[t.thread] = mine;
  }
};

/// The ordinary mistake: a tile meant for registers that fits in none.
struct RegisterTile {
  static constexpr const char* name = "register_tile";
  void operator()(auto t, float* out) const {
    Tile<float, 128, 160> acc;  // (128,160), 80 KiB
    for (int i = 0; i < 128; ++i) {
      for (int j = 0; j < 160; ++j) acc(i, j) = static_cast<float>(t.thread + i + j);
    }
    t.barrier();
    float sum = 0;
    for (int i = 0; i < 128; ++i) {
      for (int j = 0; j < 160; ++j) sum += acc(i, j);
    }
    out[t.thread] = sum;
  }
};
struct DeclaredRegisterTile : RegisterTile {
  static constexpr std::size_t stack_bytes = 256 * 1024;
};

template <class Kernel, class... Args>
std::string overflow_of(const Kernel& kernel, const LaunchConfig& config, Args... args) {
  try {
    launch(config, kernel, args...);
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), Category::kernel);
    return error.what();
  }
  return "no error";
}

/// Frames of 70 KB to 3 MB end in the message, in the first and in other threads, and on every
/// core; the next launch is as good as new.
inline void expect_messages_for_large_frames() {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  if (testing::kSanitized) GTEST_SKIP() << "NOT tested: a sanitizer catches stack overflows itself";
  const auto overflowed = AllOf(HasSubstr("the thread's stack of"), HasSubstr("overflowed"));
  std::vector<int> out(64);
  for (const int who : {0, 40, 63}) {
    const LaunchConfig config{.block = {64}};
    EXPECT_THAT(overflow_of(LocalArray<70000>{}, config, who, out.data()), overflowed);
    EXPECT_THAT(overflow_of(LocalArray<80000>{}, config, who, out.data()), overflowed);
    EXPECT_THAT(overflow_of(LocalArray<300000>{}, config, who, out.data()), overflowed);
    EXPECT_THAT(overflow_of(LocalArray<3000000>{}, config, who, out.data()), overflowed);
    EXPECT_THAT(overflow_of(SparseArray<135000>{}, config, who, out.data()), overflowed);
    EXPECT_THAT(overflow_of(SparseArray<300000>{}, config, who, out.data()), overflowed);
    EXPECT_EQ(overflow_of(LocalArray<8000>{}, config, who, out.data()), "no error");
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i);
  }
  EXPECT_THAT(
      overflow_of(LocalArray<300000>{}, {.grid = {64}, .block = {64}, .threads = 4}, 7, out.data()),
      overflowed);
  std::vector<float> sums(64);
  EXPECT_THAT(overflow_of(RegisterTile{}, {.block = {64}}, sums.data()),
              AllOf(overflowed, HasSubstr("register_tile"), HasSubstr("KiB deep"),
                    HasSubstr("'static constexpr std::size_t stack_bytes = 256 * 1024;'")));
}

}  // namespace
}  // namespace tessera
