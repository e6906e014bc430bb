// The position of a thread of plain CUDA and its barriers: the engine's functions under the names
// of parts/thread.h and parts/atomics.h.
#include "tessera/plain_cuda/parts/thread.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "meeting.hpp"
#include "program.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/atomics.h"
#include "tessera/plain_cuda/parts/launch.h"

extern "C" {
int tessera_warp_size = tessera::kWarpSize;
}

namespace tessera::plain_cuda {

constinit thread_local ThreadContext* current = nullptr;

ThreadContext& me(const char* what, const Place& place) {
  if (current != nullptr) return *current;
  throw Error(Category::kernel,
              cat(place.file, ":", place.line, ": ", what, " is called on the host"),
              "a call in a kernel");
}

namespace {

void follow(const Place& place) {
  if (const Watcher watcher; watcher) watcher->follow(here_of(place));
}

void collect(ThreadContext& mine, Collective& collective, const Place& place) {
  const LetOthersRun others(mine);
  collective.ended_count_as_come = true;
  mine.block.scheduler.collect(mine.linear, collective, here_of(place));
}

/// Masks have 32 bits: in a warp of 64 the upper lanes follow the mask of the lower ones.
std::uint64_t mask_of(const ThreadContext& mine, std::uint64_t mask) {
  return mine.block.warp_size == 64 ? mask | mask << 32 : mask;
}

}  // namespace

uint3 thread_index() noexcept { return current == nullptr ? uint3{} : current->index; }
uint3 block_index() noexcept { return current == nullptr ? uint3{} : current->block.index; }
dim3 block_extents() noexcept { return current == nullptr ? dim3() : current->block.block; }
dim3 grid_extents() noexcept { return current == nullptr ? dim3() : current->block.grid; }
int lane_index() noexcept { return current == nullptr ? 0 : current->lane(); }

void block_barrier(Place place) {
  ThreadContext& mine = me("__syncthreads()", place);
  const LetOthersRun others(mine);
  mine.block.scheduler.barrier(mine.linear, nullptr, here_of(place));
  mine.has_returned = false;
}

int block_count(bool predicate, Place place) {
  ThreadContext& mine = me("__syncthreads_count()", place);
  int& count = mine.block.counts[mine.count_turn];
  mine.count_turn = (mine.count_turn + 1) % 3;
  // of the next call: no thread counts there before all have met
  mine.block.counts[mine.count_turn] = 0;
  count += predicate ? 1 : 0;
  block_barrier(place);
  return count;
}

void named_barrier(int id, int threads, Place place) {
  ThreadContext& mine = me("a named barrier", place);
  unsigned met = 0;
  {
    const LetOthersRun others(mine);
    met = mine.block.scheduler.named_barrier(mine.linear, id, threads, here_of(place));
  }
  follow(place);
  auto* const recorder = tessera::detail::recorder;
  if (recorder == nullptr || !mine.block.has_arrivals) return;
  Watcher()->after_atomic(mine.block.barrier(id, met), here_of(place));
  fence(Fence::block, place);
}

void arrive_at_barrier(int id, int threads, Place place) {
  ThreadContext& mine = me("a named barrier", place);
  mine.block.has_arrivals = true;
  fence(Fence::block, place);
  const LetOthersRun others(mine);
  auto& scheduler = mine.block.scheduler;
  auto* const recorder = tessera::detail::recorder;
  if (recorder != nullptr)
    recorder->before_atomic(mine.block.barrier(id, scheduler.times_met(id)), here_of(place));
  scheduler.arrive(mine.linear, id, threads, here_of(place));
}

void warp_barrier(std::uint64_t mask, Place place) {
  ThreadContext& mine = me("__syncwarp()", place);
  Collective collective{.mask = mask_of(mine, mask)};
  collect(mine, collective, place);
  follow(place);
}

void fence(Fence scope, Place place) {
  settle();
  if (scope == Fence::block) of_block(place);
  if (const Watcher watcher; watcher) watcher->fence(here_of(place));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

std::uint64_t active_mask(Place place) {
  ThreadContext& mine = me("__activemask()", place);
  const LetOthersRun others(mine);
  return mine.block.scheduler.active_mask(mine.linear, here_of(place));
}

std::uint64_t ballot(std::uint64_t mask, bool vote, Place place) {
  ThreadContext& mine = me("a vote of a warp", place);
  Collective collective{.mask = mask_of(mine, mask), .verb = "ballot", .vote = vote};
  collect(mine, collective, place);
  return collective.votes;
}

void shuffle(std::uint64_t mask, void* value, std::size_t bytes, int source, Place place) {
  ThreadContext& mine = me("a shuffle", place);
  Collective collective{.mask = mask_of(mine, mask), .verb = "shuffle", .source = source};
  std::memcpy(collective.value, value, bytes);
  collect(mine, collective, place);
  std::memcpy(value, collective.value, bytes);
  auto* const recorder = tessera::detail::recorder;
  if (collective.has_value || recorder == nullptr) return;
  using tessera::detail::NoValue;
  const auto first = mine.linear - mine.lane();
  const dim3 d = block_extents();
  const bool is_there = source >= 0 && source < mine.block.warp_size &&
                        first + source < static_cast<int>(d.x * d.y * d.z);
  Watcher()->no_value(source,
                      !is_there                                  ? NoValue::not_there
                      : (mask_of(mine, mask) >> source & 1) == 0 ? NoValue::not_in_mask
                                                                 : NoValue::has_ended,
                      here_of(place));
}

void require_width(int width, Place place) {
  if (width > 0 && width <= tessera_warp_size && std::has_single_bit(static_cast<unsigned>(width)))
    return;
  end_kernel(cudaErrorLaunchFailure, cat("a shuffle of width ", width),
             "a width is a power of two, and at most the lanes of a warp", place);
}

int gather(std::uint64_t mask, std::uint64_t bits, std::uint64_t* all, Place place) {
  ThreadContext& mine = me("a reduction of a warp", place);
  int count = 0;
  std::uint64_t came = ballot(mask, true, place);
  for (; came != 0; came &= came - 1) {
    all[count] = bits;
    Collective collective{
        .mask = mask_of(mine, mask), .verb = "reduction", .source = std::countr_zero(came)};
    std::memcpy(collective.value, &bits, sizeof bits);
    collect(mine, collective, place);
    std::memcpy(&all[count++], collective.value, sizeof bits);
  }
  return count;
}

std::uint64_t match(std::uint64_t mask, std::uint64_t bits, Place place) {
  std::uint64_t all[64], out = 0;
  std::uint64_t came = ballot(mask, true, place);
  gather(mask, bits, all, place);
  for (int i = 0; came != 0; came &= came - 1, ++i) {
    if (all[i] == bits) out |= came & -came;
  }
  return out;
}

[[noreturn]] void end_kernel(cudaError_t error, const std::string& problem,
                             const std::string& advice, Place place) {
  settle();
  follow(place);
  Program::get().lose_device(error);
  throw Error(Category::kernel, cat(problem, " at ", place_text(place)), {}, {}, advice);
}

void trap(const char* why, Place place) {
  end_kernel(cudaErrorLaunchFailure, why, "see what leads there", place);
}

void give_way(Place place) {
  if (current == nullptr) return;
  ThreadContext& mine = *current;
  const LetOthersRun others(mine);
  mine.block.scheduler.give_way(mine.linear, {&mine, 0, here_of(place)});
}

void note_return() noexcept {
  if (current != nullptr) current->has_returned = true;
}

std::int64_t clock_ticks() noexcept {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

namespace {

using Guess = std::tuple<std::string, int, int>;
std::mutex guesses_mutex;
std::set<Guess>& guesses() {
  static auto* const all = new std::set<Guess>;  // outlives objects that are destroyed at exit
  return *all;
}

}  // namespace

void test_guess(const void* address) {
  if (current == nullptr) return test_guess_of_host(address);
  if (tessera::detail::recorder == nullptr) return;
  settle();
  for (auto& each : current->loads) {
    if (each.address != address) continue;
    each.address = nullptr;
    const std::lock_guard lock(guesses_mutex);
    const Here& read = here_of_call(each.pc);
    guesses().emplace(read.file, read.line, read.column);
  }
}

bool is_guess(const Here& read) {
  const std::lock_guard lock(guesses_mutex);
  return guesses().contains({read.file, read.line, read.column});
}

void of_block(Place place) {
  if (current == nullptr) return;
  if (const Watcher watcher; watcher)
    watcher->mark(here_of(place), tessera::detail::Trait::of_block);
}

bool begin_update(void* address, std::size_t bytes, Place place, bool uses_value) {
  auto* const recorder = tessera::detail::recorder;
  if (current == nullptr || recorder == nullptr) return true;
  const LetOthersRun others(*current);
  if (uses_value) recorder->mark(here_of(place), tessera::detail::Trait::uses_value);
  const bool is_possible = recorder->update(address, bytes, here_of(place));
  if (is_possible) recorder->before_atomic(address, here_of(place));
  return is_possible;
}

bool begin_poll(const void* address, std::size_t bytes, Place place) {
  if (current == nullptr) return true;
  settle();
  const Watcher watcher;
  return !watcher || watcher->poll(address, bytes, here_of(place));
}

void end_update(const void* address, std::uint64_t bits, bool changed, Place place) {
  if (current == nullptr) return;
  ThreadContext& mine = *current;
  if (const Watcher watcher; watcher) watcher->after_atomic(address, here_of(place));
  if (changed || --mine.patience > 0) return;
  mine.patience = 4;
  const LetOthersRun others(mine);
  mine.block.scheduler.give_way(mine.linear, {address, bits, here_of(place)});
}

}  // namespace tessera::plain_cuda

/// The function that assert() calls, in kernels and on the host.
extern "C" void __assert_fail(const char* expression, const char* file, unsigned line,
                              const char* function) noexcept(false) {
  using tessera::plain_cuda::Place;
  if (tessera::plain_cuda::current != nullptr)
    tessera::plain_cuda::end_kernel(
        cudaErrorAssert, tessera::cat("assertion `", expression, "' failed"),
        "let the condition hold for every thread, or the kernel return before",
        Place{file, static_cast<int>(line), 0});
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}
