// Keeps other Tessera processes from changing members of files in the same folder: if two added
// arrays to one archive at a time, the second would overwrite the first one's array. It locks the
// folder, since each process replaces the file. On a file system without locks it does nothing.
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
  /// The folder of the file that `path` leads to; empty: none.
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
