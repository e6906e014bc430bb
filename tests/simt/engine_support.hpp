// What the tests of the CPU engine share: the orders of a block's threads, and the message of a
// kernel that fails.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tessera/core/error.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::test {

inline constexpr ThreadOrder kOrders[] = {ThreadOrder::forward, ThreadOrder::backward,
                                          ThreadOrder::shuffled, ThreadOrder::late};

/// The message of the Error that `action` must throw, and its category.
template <class Action>
std::string error_of(Action action, Category category = Category::kernel) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), category) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

/// Every warp verb once: out[i] is 496 + 1024 * (number of the warp) where all of them are right.
struct WarpSum {
  void operator()(auto t, int* out) const {
    int value = t.thread;
    for (int step = 16; step > 0; step /= 2) value += t.shuffle_xor(value, step);
    const unsigned odd = t.ballot(t.lane % 2 == 1);
    const int from_first = t.shuffle(value, 0);
    const int next = t.shuffle_down(static_cast<int>(t.lane), 1);
    const bool good =
        odd == 0xaaaaaaaau && from_first == value && next == (t.lane == 31 ? 31 : t.lane + 1) &&
        t.any(t.lane == 7) && !t.all(t.lane == 7) &&
        t.shuffle_up(static_cast<int>(t.lane), 2) == (t.lane < 2 ? t.lane : t.lane - 2);
    out[t.thread] = good ? value : -1;
  }
};

}  // namespace tessera::test
