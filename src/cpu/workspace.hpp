// Memory for packed panels: page-aligned, on huge pages where large, kept for the next call. No
// locks: a call takes an idle block or maps its own, so any number of callers and forked children
// may run.
#pragma once

#include <cstddef>

namespace tessera::cpu {

class Workspace {
 public:
  /// At least `bytes` bytes, aligned to a page; data() is null where the system has none left.
  explicit Workspace(std::size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Takes the next `bytes` bytes, a multiple of a cache line (see rounded). The sum must not
  /// exceed the size.
  template <class T>
  T* take(std::size_t bytes) {
    char* at = next_;
    next_ += bytes;
    return reinterpret_cast<T*>(at);
  }
  /// Up to whole cache lines.
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  explicit operator bool() const { return data_ != nullptr; }

 private:
  char* data_ = nullptr;
  char* next_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera::cpu
