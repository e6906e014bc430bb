// Preloaded into the tests: an mmap that never has any memory. A program that never asked it has
// tested nothing: it ends with an error.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace {

std::atomic<int> refused_maps;

[[gnu::destructor]] void expect_refusals() {
  if (refused_maps > 0) return;
  std::fprintf(stderr, "no_memory: never refused a mapping: nothing is tested\n");
  _exit(1);
}

}  // namespace

extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file,
                      off_t offset) noexcept {
  if ((flags & MAP_ANONYMOUS) != 0 && (protection & PROT_WRITE) != 0) {
    ++refused_maps;
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
