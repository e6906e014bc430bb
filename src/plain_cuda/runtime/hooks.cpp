// The functions that the compiler calls before each access of the program's own files
// (-fsanitize=thread), which pass it to the checker's recorder. Reads and writes are hooked before
// they happen, so the value of a write is taken at the next event of the OS thread.
#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "context.hpp"
#include "debug_info.hpp"
#include "heap.hpp"
#include "kernel_memory.hpp"
#include "meeting.hpp"
#include "memory.hpp"
#include "program.hpp"
#include "streams.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"

/// Not null: the program was built to run unchecked, with lanes in step.
extern "C" [[gnu::weak]] const char tessera_keeps_step;

namespace tessera::plain_cuda {

constinit thread_local PendingAccess pending_access;

namespace {

struct KnownCall {
  const void* pc = nullptr;
  Here here;
};
constinit thread_local std::array<KnownCall, 1024> known_calls{};

/// Two calls of a loop may share an entry of the table: reading debug information is slow.
[[gnu::noinline]] const Here& look_up(KnownCall& at, const void* pc) {
  static thread_local std::unordered_map<const void*, Here> all;
  const auto [found, is_new] = all.try_emplace(pc);
  if (is_new) found->second = here_of(place_of(reinterpret_cast<std::uintptr_t>(pc) - 1));
  at = {pc, found->second};
  return at.here;
}

/// here_of_call() in this file, without a call.
inline const Here& find_call(const void* pc) {
  KnownCall& at = known_calls[reinterpret_cast<std::uintptr_t>(pc) % known_calls.size()];
  return at.pc == pc ? at.here : look_up(at, pc);
}

/// Is the access possible although it is outside of the kernel's memory? Otherwise it would fault.
bool is_harmless(const void* address, std::size_t bytes) {
  return (DeviceMemory::get().is_backed(address) || DeviceHeap::get().contains(address)) &&
         reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

[[gnu::noinline]] void require_harmless(const void* address, std::size_t bytes) {
  if (!is_harmless(address, bytes)) throw Abandon{};
}

/// The latest reads of this OS thread of the host that raced, in turn.
struct HostRead {
  std::uint64_t address = 0;
  Place place;
};
thread_local std::array<HostRead, 4> host_reads;
thread_local std::size_t host_read_turn = 0;

/// The host and unfinished work of the device access the same memory.
void touch_of_both(const Allocation& shared, std::uint64_t address, std::size_t bytes, bool writes,
                   const void* pc) {
  const Streams::Work* const work = Streams::get().meets_host(address, bytes, writes);
  if (work == nullptr) return;
  const Here here = here_of_call(pc);
  const Place place{here.file, here.line, here.column};
  if (!writes) host_reads[host_read_turn++ % host_reads.size()] = {address, place};
  Program::get().find(
      check::Kind::race, check::Severity::error, place,
      cat("the host ", writes ? "writes" : "reads", " element ",
          (address - shared.begin) / shared.element_bytes, " of ", DeviceMemory::name_of(shared),
          ", and ", work->what,
          ", which touches it too, may still be running: nothing has waited for it"),
      "wait before: cudaDeviceSynchronize, cudaStreamSynchronize or cudaEventSynchronize",
      work->place);
}

void touch_of_host(const void* address, std::size_t bytes, bool writes, bool is_volatile,
                   const void* pc) {
  if (!DeviceMemory::get().has(address) || !Program::get().is_checked) return;
  const auto number = reinterpret_cast<std::uint64_t>(address);
  const Allocation* const found = DeviceMemory::get().find(number);
  if (found != nullptr && found->kind != MemoryKind::device && !found->freed) {
    if (!is_volatile) touch_of_both(*found, number, bytes, writes, pc);
    return;
  }
  const Here here = here_of_call(pc);
  const Place place{here.file, here.line, here.column};
  const std::string what =
      found == nullptr ? std::string("memory of the device") : DeviceMemory::name_of(*found);
  Program::get().find(check::Kind::host_memory, check::Severity::error, place,
                      cat("the host ", writes ? "writes to " : "reads ", what,
                          ", which only kernels and copies may touch"),
                      "copy it by cudaMemcpy, or allocate it by cudaMallocManaged");
}

/// Is it the kernel's memory? Then a write there can be recorded afterwards.
bool exists(std::uintptr_t address, std::size_t bytes) {
  static thread_local std::array<KernelMemory, 4> met;
  static thread_local std::size_t next = 0;
  static thread_local const void* of_launch = nullptr;
  if (of_launch != tessera::detail::recorder) met = {}, of_launch = tessera::detail::recorder;
  for (const KernelMemory& each : met) {
    if (address - each.begin < each.bytes && address + bytes <= each.begin + each.bytes)
      return true;
  }
  const KernelMemory found = memory_at(address);
  if (found.bytes == 0 || address + bytes > found.begin + found.bytes) return false;
  met[next++ % met.size()] = found;
  return true;
}

/// Written bytes are recorded, whether the block is watched or not.
void note_unwatched_write(std::uintptr_t address, std::size_t bytes) {
  static thread_local KernelMemory whole;  // all of it was written
  if (address - whole.begin < whole.bytes) return;
  DeviceMemory& memory = DeviceMemory::get();
  const Allocation* const found = memory.find(address);
  if (found == nullptr || found->freed) return;
  if (found->all_written) whole = {found->begin, found->bytes};
  else memory.wrote(address, bytes);
}

template <std::size_t kBytes>
std::uint64_t value_at(const void* address) {
  std::array<std::byte, kBytes> value;
  std::memcpy(value.data(), address, kBytes);
  return tessera::detail::bits_of(value);
}

bool is_guard(std::uintptr_t address) {
  const auto offset = static_cast<std::int64_t>(
      address - reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer()));
  const auto& all = guards();
  return std::find(all.begin(), all.end(), offset) != all.end();
}

/// In a hook: the functions that call it are inlined there.
[[gnu::always_inline]] inline Step step_of(const ThreadContext& mine, const void* address,
                                           std::size_t bytes, bool writes, const void* pc) {
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  return {frame - mine.stack_low, pc, writes ? nullptr : address, bytes};
}

/// Before its access a lane lets the other lanes of its warp come to theirs.
void keep_step(ThreadContext& mine, const Step& step) {
  BlockContext& block = mine.block;
  const auto size = static_cast<std::size_t>(block.warp_size);
  const std::size_t threads = std::size_t{block.block.x} * block.block.y * block.block.z;
  if (block.steps.empty()) block.steps.resize((threads + size - 1) / size);
  block.steps[static_cast<std::size_t>(mine.linear) / size].keep(mine, step);
}

template <std::size_t kBytes, bool kWrites>
[[gnu::always_inline]] inline void touch(const void* address, const void* pc) {
  ThreadContext* const mine = current;
  if (mine == nullptr) return touch_of_host(address, kBytes, kWrites, false, pc);
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (number - mine->stack_low < mine->stack_bytes) return;
  auto* const recorder = tessera::detail::recorder;
  if (recorder == nullptr) {  // this block is not watched
    if (&tessera_keeps_step != nullptr)
      return keep_step(*mine, step_of(*mine, address, kBytes, kWrites, pc));
    if (kWrites) note_unwatched_write(number, kBytes);
    return;
  }
  settle();
  if constexpr (kBytes == 1) {
    if (recorder->is_shared(address) && is_guard(number)) return;
  }
  const Here& here = find_call(pc);
  if constexpr (kWrites) {
    // A debugger stops before the access.
    if (!Program::get().options.stop_at && exists(number, kBytes)) [[likely]] {
      pending_access = {address, kBytes, here, false};
      return;
    }
  }
  if constexpr (!kWrites) mine->loads[mine->load_turn++ % mine->loads.size()] = {address, pc};
  current = nullptr;  // as in a Watcher
  const bool done = kWrites ? recorder->store(address, kBytes, number, here)
                            : recorder->load(address, kBytes, 0, here);
  current = mine;
  if (!done) require_harmless(address, kBytes);
}

/// A volatile access is a relaxed atomic (PTX ISA, "Memory Consistency Model", volatile
/// operations).
template <std::size_t kBytes, bool kWrites>
[[gnu::always_inline]] inline void touch_volatile(const void* address, const void* pc) {
  ThreadContext* const mine = current;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  if (mine == nullptr) return touch_of_host(address, kBytes, kWrites, true, pc);
  if (number - mine->stack_low < mine->stack_bytes) return touch<kBytes, kWrites>(address, pc);
  // the value is read before other threads run, which may store what this one waits for
  constexpr unsigned kPatience = 256;
  auto* const recorder = tessera::detail::recorder;
  settle();
  const Here here = here_of_call(pc);
  if (recorder == nullptr) {
    if (&tessera_keeps_step != nullptr)
      keep_step(*mine, step_of(*mine, address, kBytes, kWrites, pc));
    else if (kWrites) note_unwatched_write(number, kBytes);
  } else {
    bool done = false;
    {
      const Watcher watcher;
      watcher->mark(here, tessera::detail::Trait::is_volatile);
      done =
          kWrites ? watcher->update(address, kBytes, here) : watcher->poll(address, kBytes, here);
      if (done && kWrites) watcher->before_atomic(address, here);
    }
    if (!done) {
      if (!is_harmless(address, kBytes)) throw Abandon{};
      return;
    }
  }
  if (kWrites) return;
  if (++mine->volatile_reads % kPatience == 0) {
    const LetOthersRun others(*mine);
    mine->block.scheduler.give_way(mine->linear, {address, value_at<kBytes>(address), here});
  }
  if (recorder != nullptr) pending_access = {address, kBytes, here, true};
}

}  // namespace

const Here& here_of_call(const void* pc) { return find_call(pc); }

void test_guess_of_host(const void* address) {
  for (HostRead& each : host_reads) {
    if (each.address == reinterpret_cast<std::uint64_t>(address))
      Program::get().take_back(check::Kind::race, each.place);
  }
}

void tell_pending_access() {
  if (&tessera_keeps_step != nullptr) {
    pending_access = {};
    return bring_back_newer_values();
  }
  const PendingAccess write = std::exchange(pending_access, {});
  const Watcher watcher;
  if (!watcher) return;
  if (write.is_read) return watcher->after_atomic(write.address, write.here);
  const std::uint64_t bits = write.bytes == 1   ? value_at<1>(write.address)
                             : write.bytes == 2 ? value_at<2>(write.address)
                             : write.bytes == 4 ? value_at<4>(write.address)
                             : write.bytes == 8 ? value_at<8>(write.address)
                                                : value_at<16>(write.address);
  watcher->store(write.address, write.bytes, bits, write.here);
}

namespace {

/// A range, as in copies of large objects: in the pieces that a GPU would move. The compiler also
/// reports a number at an odd address of a variable as a range; a GPU moves that in one piece.
template <bool kWrites>
[[gnu::always_inline]] inline void touch_range(const void* address, std::size_t bytes,
                                               const void* pc) {
  if (ThreadContext* const mine = current;
      &tessera_keeps_step != nullptr && mine != nullptr &&
      reinterpret_cast<std::uintptr_t>(address) - mine->stack_low >= mine->stack_bytes)
    return keep_step(*mine, step_of(*mine, address, bytes, kWrites, pc));
  const auto* at = static_cast<const std::byte*>(address);
  if (const auto begin = reinterpret_cast<std::uintptr_t>(address);
      bytes > 0 && begin % bytes != 0 && cuts_a_number(begin)) {
    if (bytes == 2) return touch<2, kWrites>(at, pc);
    if (bytes == 4) return touch<4, kWrites>(at, pc);
    if (bytes == 8) return touch<8, kWrites>(at, pc);
    if (bytes == 16) return touch<16, kWrites>(at, pc);
  }
  while (bytes > 0) {
    const auto odd = reinterpret_cast<std::uintptr_t>(at);
    if (bytes >= 16 && odd % 16 == 0) touch<16, kWrites>(at, pc), at += 16, bytes -= 16;
    else if (bytes >= 8 && odd % 8 == 0) touch<8, kWrites>(at, pc), at += 8, bytes -= 8;
    else if (bytes >= 4 && odd % 4 == 0) touch<4, kWrites>(at, pc), at += 4, bytes -= 4;
    else if (bytes >= 2 && odd % 2 == 0) touch<2, kWrites>(at, pc), at += 2, bytes -= 2;
    else touch<1, kWrites>(at, pc), at += 1, bytes -= 1;
  }
}

}  // namespace

}  // namespace tessera::plain_cuda

#define TESSERA_PC __builtin_return_address(0)
// With names of our own: the compiler assumes that functions with the original names never throw.
#define TESSERA_HOOK(name, bytes, writes, function)                     \
  void tessera_##name##bytes(void* at) __asm__("__tsan_" #name #bytes); \
  void tessera_##name##bytes(void* at) {                                \
    tessera::plain_cuda::function<bytes, writes>(at, TESSERA_PC);       \
  }
#define TESSERA_HOOKS(bytes)                                          \
  TESSERA_HOOK(read, bytes, false, touch)                             \
  TESSERA_HOOK(write, bytes, true, touch)                             \
  TESSERA_HOOK(unaligned_read, bytes, false, touch)                   \
  TESSERA_HOOK(unaligned_write, bytes, true, touch)                   \
  TESSERA_HOOK(volatile_read, bytes, false, touch_volatile)           \
  TESSERA_HOOK(volatile_write, bytes, true, touch_volatile)           \
  TESSERA_HOOK(unaligned_volatile_read, bytes, false, touch_volatile) \
  TESSERA_HOOK(unaligned_volatile_write, bytes, true, touch_volatile)

extern "C" {
TESSERA_HOOKS(1)
TESSERA_HOOKS(2)
TESSERA_HOOKS(4)
TESSERA_HOOKS(8)
TESSERA_HOOKS(16)
void tessera_read_range(void* at, unsigned long bytes) __asm__("__tsan_read_range");
void tessera_read_range(void* at, unsigned long bytes) {
  tessera::plain_cuda::touch_range<false>(at, bytes, TESSERA_PC);
}
void tessera_write_range(void* at, unsigned long bytes) __asm__("__tsan_write_range");
void tessera_write_range(void* at, unsigned long bytes) {
  tessera::plain_cuda::touch_range<true>(at, bytes, TESSERA_PC);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}

// memcpy and its siblings in the program's own files (parts/memory_functions.h).
void* tessera_cuda_memcpy(void* to, const void* from, std::size_t bytes) {
  tessera::plain_cuda::touch_range<false>(from, bytes, TESSERA_PC);
  tessera::plain_cuda::touch_range<true>(to, bytes, TESSERA_PC);
  return std::memcpy(to, from, bytes);
}
void* tessera_cuda_memmove(void* to, const void* from, std::size_t bytes) {
  tessera::plain_cuda::touch_range<false>(from, bytes, TESSERA_PC);
  tessera::plain_cuda::touch_range<true>(to, bytes, TESSERA_PC);
  return std::memmove(to, from, bytes);
}
void* tessera_cuda_memset(void* at, int value, std::size_t bytes) {
  tessera::plain_cuda::touch_range<true>(at, bytes, TESSERA_PC);
  return std::memset(at, value, bytes);
}
}
