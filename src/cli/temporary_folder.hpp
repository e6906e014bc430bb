// A folder below the system's folder for temporary files that goes, with all in it, when the scope
// ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tessera/core/error.hpp"

namespace tessera::cli {

class TemporaryFolder {
 public:
  /// Throws Error(resource) where none can be made.
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-check-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(Category::resource, "check: no temporary folder " + name);
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

}  // namespace tessera::cli
