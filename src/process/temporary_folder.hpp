// A folder below the system's folder for temporary files that goes, with all in it, when the scope
// ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tessera/core/error.hpp"

namespace tessera::process {

class TemporaryFolder {
 public:
  /// Throws Error(unavailable) where none can be made.
  TemporaryFolder() {
    std::error_code failed;
    const auto place = std::filesystem::temp_directory_path(failed);
    std::string name = (place / "tessera-check-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr)
      throw Error(Category::unavailable, "check: no folder for the compiled kernel can be made",
                  "a folder for temporary files that can be written", {},
                  "name one in the environment variable TMPDIR");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::process
