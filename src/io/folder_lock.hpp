// Holds a lock on a folder while a process changes members of a file in it. Without it, two
// processes that add arrays to one archive would each keep what they read, and one array would be
// lost. The lock is on the folder because each process replaces the file. Where locks are not
// supported, nobody waits.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "uninterrupted.hpp"

namespace tessera::io {

class FolderLock {
 public:
  /// Locks the folder of the file that `path` resolves to; an empty path locks nothing.
  explicit FolderLock(const std::string& path) {
    if (path.empty()) return;
    std::error_code ignored;
    const auto file = std::filesystem::weakly_canonical(path, ignored);
    if (ignored) return;
    const std::string folder = file.parent_path();
    descriptor_ =
        uninterrupted([&] { return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (descriptor_ >= 0) uninterrupted([&] { return flock(descriptor_, LOCK_EX); });
  }
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace tessera::io
