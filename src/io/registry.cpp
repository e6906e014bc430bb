// The fixed tables that signal handlers read, and the handler that reports a bus error in a mapped
// file that another process truncated. A handler may run at any time, so an entry is filled before
// it is published and cleared after it is withdrawn.
#include "registry.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "tessera/io/atomic_file.hpp"

namespace tessera {
namespace io {
namespace {

constexpr std::size_t kPathBytes = 1024;

struct Slot {
  std::atomic<bool> taken{false};  ///< a thread is filling, using or clearing the entry
  std::atomic<bool> ready{false};  ///< a handler may read it
  pid_t process = 0;               ///< a forked child must not remove its parent's files
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  MappedFor use = MappedFor::reading;
  char path[kPathBytes];
};

Slot temporaries[64];
Slot mappings[128];

template <std::size_t N>
int take(Slot (&slots)[N], const std::string& path) {
  for (std::size_t i = 0; i < N; ++i) {
    bool free = false;
    if (!slots[i].taken.compare_exchange_strong(free, true)) continue;
    slots[i].process = getpid();
    const std::size_t length = std::min(path.size(), kPathBytes - 1);
    std::memcpy(slots[i].path, path.data(), length);
    slots[i].path[length] = '\0';
    return static_cast<int>(i);
  }
  return -1;
}

void release(Slot& slot) {
  slot.ready.store(false);
  slot.taken.store(false);
}

const Slot* mapping_at(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (const Slot& slot : mappings) {
    if (slot.ready.load() && at >= slot.begin && at - slot.begin < slot.size) return &slot;
  }
  return nullptr;
}

}  // namespace

RegisteredTemporary::RegisteredTemporary(const std::string& path) {
  // A truncated path would name another file.
  if (path.size() >= kPathBytes) return;
  slot_ = take(temporaries, path);
  if (slot_ >= 0) temporaries[slot_].ready.store(true);
}

RegisteredTemporary::~RegisteredTemporary() {
  if (slot_ >= 0) release(temporaries[slot_]);
}

RegisteredMapping::RegisteredMapping(const void* begin, std::size_t size, const std::string& path,
                                     MappedFor use) {
  slot_ = take(mappings, path);
  if (slot_ < 0) return;
  mappings[slot_].begin = reinterpret_cast<std::uintptr_t>(begin);
  mappings[slot_].size = size;
  mappings[slot_].use = use;
  mappings[slot_].ready.store(true);
}

RegisteredMapping::~RegisteredMapping() {
  if (slot_ >= 0) release(mappings[slot_]);
}

namespace {

char message_prefix[128];
struct sigaction previous_action;

void say(const char* text) noexcept {
  const auto ignored = ::write(STDERR_FILENO, text, std::strlen(text));
  static_cast<void>(ignored);
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  const Slot* slot = mapping_at(info->si_addr);
  if (slot == nullptr) {
    // Not ours: the instruction faults again under the handler that was installed before.
    sigaction(signal, &previous_action, nullptr);
    return;
  }
  // Several threads may arrive here; the first one prints the message and ends the process.
  static std::atomic_flag said = ATOMIC_FLAG_INIT;
  while (said.test_and_set()) pause();
  const bool reading = slot->use == MappedFor::reading;
  say(message_prefix);
  say(slot->path);
  say(reading ? ": the file became shorter while it was read, or its disk failed; "
                "do not change input files during the run\n"
              : ": the disk is full or failed while the result was written; nothing was kept\n");
  remove_temporaries();
  _exit(reading ? 3 : 1);
}

}  // namespace
}  // namespace io

void remove_temporaries() noexcept {
  const int saved = errno;
  for (const io::Slot& slot : io::temporaries) {
    if (slot.ready.load() && slot.process == getpid()) unlink(slot.path);
  }
  errno = saved;
}

const char* mapped_file_at(const void* address) noexcept {
  const io::Slot* slot = io::mapping_at(address);
  return slot == nullptr ? nullptr : slot->path;
}

void guard_mapped_files(std::string_view prefix) {
  const std::size_t length = std::min(prefix.size(), sizeof io::message_prefix - 1);
  prefix.copy(io::message_prefix, length);
  io::message_prefix[length] = '\0';
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = io::on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
  if (before.sa_sigaction != io::on_bus_error) io::previous_action = before;
}

}  // namespace tessera
