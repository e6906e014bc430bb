// The speed of this core, as estimates of work take it: measured, bounded, and never lower than it
// was.
#include "speed.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera::cpu {
namespace {

TEST(Speed, IsMeasuredAndDoesNotFall) {
  int before = vectors_in_16_ns();
  for (int call = 0; call < 50; ++call) {
    const int now = vectors_in_16_ns();
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_GE(before, 16);
  EXPECT_LE(before, 256);  // 4 multiply-adds in a cycle of 4 GHz
}

TEST(Speed, MayBeAskedByManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      for (int call = 0; call < 20; ++call) EXPECT_GE(vectors_in_16_ns(), 16);
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace tessera::cpu
