// A folder below the system's folder for temporary files. It is removed with its content at the end
// of the scope; if the command is killed, the next command that makes a folder removes it.
#pragma once

#include <filesystem>

namespace tessera::process {

class TemporaryFolder {
 public:
  /// Throws Error(unavailable) if none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< held during use; the system releases it when the process ends
};

}  // namespace tessera::process
