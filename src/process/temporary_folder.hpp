// A folder below the system's folder for temporary files that goes, with all in it, when the scope
// ends; where the command is killed, with the next one that makes a folder.
#pragma once

#include <filesystem>

namespace tessera::process {

class TemporaryFolder {
 public:
  /// Throws Error(unavailable) where none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< held while somebody uses the folder, and let go of by the system
};

}  // namespace tessera::process
