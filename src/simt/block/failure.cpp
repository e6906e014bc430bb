// Ends a block that has failed: the text of its Error, which threads are unwound, and which are
// abandoned because they cannot be. Nothing hangs; a thread that was running continues to its next
// wait.
#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "simt/fault_scope.hpp"
#include "state.hpp"
#include "tessera/simt/array_bounds.hpp"

namespace tessera {

using detail::Cancelled;
using detail::describe;
using detail::Wait;

namespace {

bool same_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && std::strcmp(a, b) == 0);
}

}  // namespace

namespace detail {

namespace {
/// The access for which the running thread is ended; line 0: another reason.
struct OutsideArray {
  Here here;
  const char* array = "";
  std::int64_t index = 0;
};
thread_local OutsideArray outside_array;

std::string outside_array_text() {
  return cat("index ", outside_array.index, " of a local array, which is a ", outside_array.array);
}
}  // namespace

void fail_outside_array(Here here, const char* array, std::int64_t index) {
  outside_array = {here, array, index};
  if (!faults_are_taken())
    std::fprintf(stderr, "%s:%d: %s\n", here.file, here.line, outside_array_text().c_str());
  __builtin_trap();
}

}  // namespace detail

std::string BlockScheduler::State::kernel_and_block() const {
  return cat("kernel ", task.kernel_name, ", block ", to_string(task.block));
}

std::string BlockScheduler::State::thread_text(int thread) const {
  return to_string(position_of(thread, task.block_dim));
}

void BlockScheduler::State::report_to_observer(BlockFault fault, const Error& error) const {
  std::string text = error.problem();
  for (const std::string& prefix :
       {kernel_and_block(), cat(", thread ", thread_text(fault.thread))})
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  text.erase(0, text.find_first_not_of(",: "));
  fault.text = Error(error.category(), text, error.expected(), error.got()).what();
  fault.advice = error.advice();
  task.observer->fails(fault);
}

namespace {
bool is_same_barrier(const Wait& a, const Wait& b) {
  return a.where.line == b.where.line && a.where.column == b.where.column &&
         same_text(a.where.file, b.where.file) && same_text(a.name, b.name);
}
}  // namespace

void BlockScheduler::State::meet_elsewhere(int thread, const Wait& mine) {
  const Wait& theirs = *wait[static_cast<std::size_t>(first_arrived)];
  const bool may_part =
      task.observer == nullptr
          ? task.residents != nullptr && task.residents->barriers_count_warps()
          : parted || is_same_barrier(theirs, mine) ||
                thread >> warp_shift == first_arrived >> warp_shift ||
                task.observer->warps_part(thread, mine.where, first_arrived, theirs.where);
  if (!may_part) return require_same_barrier("block", "barrier", first_arrived, thread, mine);
  const int first = thread >> warp_shift << warp_shift;
  for (int lane = first; lane < first + lanes_of(thread >> warp_shift); ++lane) {
    if (run[static_cast<std::size_t>(lane)] == Run::at_barrier)
      require_same_barrier("block", "barrier", lane, thread, mine);
  }
  parted = parted || !is_same_barrier(theirs, mine);
}

void BlockScheduler::State::require_same_barrier(const char* unit, const char* barrier,
                                                 int first_thread, int thread, const Wait& mine) {
  const Wait& first = *wait[static_cast<std::size_t>(first_thread)];
  if (is_same_barrier(first, mine)) return;
  const BlockFault fault{.kind = BlockFault::Kind::diverged,
                         .unit = unit,
                         .thread = thread,
                         .other = first_thread,
                         .here = mine.where,
                         .other_here = first.where};
  fail(fault, [&] {
    return Error(Category::kernel,
                 cat(kernel_and_block(), ": threads of one ", unit,
                     " reached different barriers: ", "thread ", thread_text(first_thread),
                     " waits at the ", describe(barrier, first), ", thread ", thread_text(thread),
                     " at the ", describe(barrier, mine)),
                 {}, {}, cat("let all threads of the ", unit, " pass the same barriers"));
  });
  cancel();
  throw Cancelled{};
}

void BlockScheduler::State::fail_with_current(int thread, const char* where) {
  const auto who = [&] { return cat(kernel_and_block(), ", thread ", thread_text(thread), where); };
  const BlockFault fault{.kind = BlockFault::Kind::threw, .thread = thread};
  try {
    throw;
  } catch (const Cancelled&) {
    return;
  } catch (const Error& error) {
    fail(fault, [&] {
      return Error(error.category(), cat(who(), ": ", error.problem()), error.expected(),
                   error.got(), error.advice());
    });
  } catch (const std::bad_alloc&) {
    fail(fault, [&] { return Error(Category::kernel, cat(who(), " threw: no memory is left")); });
  } catch (const std::exception& error) {
    fail(fault, [&] { return Error(Category::kernel, cat(who(), " threw: ", error.what())); });
  } catch (...) {
    fail(fault, [&] {
      return Error(Category::kernel, cat(who(), " threw something that is no std::exception"));
    });
  }
  cancel();
}

void BlockScheduler::State::cancel() {
  cancelled = true;
  for (auto& state : run) {
    if (state == Run::unstarted) {
      state = Run::finished;
      ++finished;
    } else if (detail::is_waiting(state)) {
      state = Run::ready;
    }
  }
  arrived = active_waiting = 0;
}

void BlockScheduler::State::terminated() {
  const int thread = current->thread;
  if (std::current_exception() != nullptr) {
    fail_with_current(thread, ", in a noexcept function or a destructor");
  } else if (!cancelled) {
    fail({.kind = BlockFault::Kind::threw, .thread = thread}, [&] {
      return Error(Category::kernel,
                   cat(kernel_and_block(), ", thread ", thread_text(thread),
                       ": std::terminate was called, as when an exception leaves a noexcept "
                       "function or a destructor"));
    });
    cancel();
  }
  abandon_thread(thread);
}

void BlockScheduler::State::wait_after_failure(int thread) {
  if (exceptions->uncaught == 0) abandon_thread(thread);
}

std::string BlockScheduler::State::crash_text() const {
  if (detail::outside_array.here.line > 0) return detail::outside_array_text();
  switch (crash_signal) {
    case SIGFPE: return "an arithmetic fault, such as an integer divided by zero (SIGFPE)";
    case SIGILL: return "an illegal instruction (SIGILL)";
    case SIGABRT: return "abort(), as a failed assertion calls it (SIGABRT)";
    default: break;
  }
  char address[32];
  std::snprintf(address, sizeof address, "0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(fault_address)));
  return cat("an access to address ", address, ", where the process has no memory for it (",
             crash_signal == SIGBUS ? "SIGBUS)" : "SIGSEGV)");
}

Error BlockScheduler::State::fault_error(int thread) const {
  const std::string who = cat(kernel_and_block(), ", thread ", thread_text(thread));
  if (taken_by == Fault::interrupted)
    return Error(Category::kernel, cat(who, ": stopped at the time limit"));
  if (taken_by == Fault::crash)
    return Error(Category::kernel, cat(who, " crashed: ", crash_text()));
  const auto depth = static_cast<std::size_t>(
      std::max<std::ptrdiff_t>(current->stack_low + current->stack_bytes - fault_address, 0));
  const std::size_t enough = std::bit_ceil(depth + task.stack_bytes);
  return Error(Category::kernel,
               cat(who, ": the thread's stack of ", current->stack_bytes / 1024,
                   " KiB overflowed, with an access ", depth / 1024, " KiB deep"),
               {}, {},
               cat("use shared memory, a smaller local array and no deep recursion",
                   enough <= kMaxStackBytes
                       ? cat(", or declare 'static constexpr std::size_t stack_bytes = ",
                             enough / 1024, " * 1024;' in the kernel")
                       : ""));
}

void BlockScheduler::State::taken_off() {
  const int thread = current->thread;
  fail({.kind = taken_by == Fault::interrupted ? BlockFault::Kind::stopped
                : taken_by == Fault::crash     ? BlockFault::Kind::crashed
                                               : BlockFault::Kind::overflowed,
        .thread = thread,
        .here = detail::outside_array.here,
        .address = reinterpret_cast<std::uintptr_t>(fault_address)},
       [&] { return fault_error(thread); });
  detail::outside_array = {};
  abandoned = true;
  leave(*current, main);
}

}  // namespace tessera
