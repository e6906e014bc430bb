// Preloaded into the tests: an aligned_alloc that never has any memory.
#include <cerrno>
#include <cstddef>

extern "C" void* aligned_alloc(std::size_t, std::size_t) noexcept {
  errno = ENOMEM;
  return nullptr;
}
