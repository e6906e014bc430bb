// The lanes of a warp in step: see steps.hpp.
#include "steps.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

#include "meeting.hpp"

namespace tessera::plain_cuda {

namespace {

/// The compiler copies a struct by one statement, of which the hooks are called before its loads
/// and stores: other lanes may already have stored where this one loads from. It then finds the
/// earlier values there, and the newer ones return at its next event.
struct Shown {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  std::array<std::byte, 64> earlier, newer;
};
constinit thread_local Shown shown{};

/// Calls `of_lane` for each lane of a mask.
template <class F>
void for_each_lane(std::uint64_t mask, F of_lane) {
  for (; mask != 0; mask &= mask - 1) of_lane(static_cast<std::size_t>(std::countr_zero(mask)));
}

}  // namespace

void bring_back_newer_values() {
  for (std::size_t i = 0; i < shown.bytes; ++i) {  // where the lane itself has not stored
    if (shown.at[i] == shown.earlier[i]) shown.at[i] = shown.newer[i];
  }
  shown.bytes = 0;
}

void WarpSteps::keep(ThreadContext& mine, const Step& step) {
  const LetOthersRun others(mine);
  const auto lane = static_cast<std::size_t>(mine.lane());
  const std::uint64_t bit = std::uint64_t{1} << lane;
  const Step& before = at_[lane];
  const bool copies = step.read != nullptr && before.read == nullptr &&
                      before.bytes == step.bytes && step.bytes <= kMostBytes;
  copying_ = copies ? copying_ | bit : copying_ & ~bit;
  at_[lane] = step;
  waiting_ |= bit;
  do {
    if (!mine.block.scheduler.yield(before_next(mine))) break;  // the block has failed
    if (released_ == 0) release();
  } while ((released_ & bit) == 0);
  waiting_ &= ~bit;
  released_ &= ~bit;
  if (copies) show(lane);
}

/// Those whose turn it is run first: a lane that polls could give way to this one forever.
int WarpSteps::before_next(const ThreadContext& mine) const {
  if (released_ == 0) return mine.linear;
  const dim3& block = mine.block.block;
  const int first = mine.linear - mine.lane(),
            threads = static_cast<int>(block.x * block.y * block.z);
  const int lanes = std::min(mine.block.warp_size, threads - first);
  return first + (std::countr_zero(released_) + lanes - 1) % lanes;
}

/// All lanes that can run wait here, each before its next access.
void WarpSteps::release() {
  constexpr unsigned kPatience = 4096;  // a lane may poll for what one that it passes over stores
  const auto order = [&](std::size_t lane) { return std::tie(at_[lane].frame, at_[lane].pc); };
  auto first = static_cast<std::size_t>(std::countr_zero(waiting_));
  for_each_lane(waiting_, [&](std::size_t lane) {
    if (order(lane) < order(first)) first = lane;
  });
  for_each_lane(waiting_, [&](std::size_t lane) {
    if (order(lane) != order(first) && ++passed_over_[lane] < kPatience) return;
    passed_over_[lane] = 0;
    released_ |= std::uint64_t{1} << lane;
  });
  for_each_lane(released_ & copying_, [&](std::size_t lane) {
    std::memcpy(values_[lane].data(), at_[lane].read, at_[lane].bytes);
  });
}

void WarpSteps::show(std::size_t lane) const {
  const Step& step = at_[lane];
  if (std::memcmp(step.read, values_[lane].data(), step.bytes) == 0) return;
  shown.at = static_cast<std::byte*>(const_cast<void*>(step.read));
  shown.bytes = step.bytes;
  shown.earlier = values_[lane];
  std::memcpy(shown.newer.data(), step.read, step.bytes);
  std::memcpy(shown.at, shown.earlier.data(), step.bytes);
  pending_access = {step.read, step.bytes, {}, true};
}

}  // namespace tessera::plain_cuda
