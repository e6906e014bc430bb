// Folders for temporary files: see temporary_folder.hpp.
#include "temporary_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "tessera/core/error.hpp"

namespace tessera::process {

namespace {

namespace fs = std::filesystem;
constexpr const char* kPrefix = "tessera-check-";
/// Another process may still read the remaining files, or be about to lock the folder.
constexpr std::time_t kYoung = 3600;

/// The lock of a folder, or -1 if another process holds it.
int locked(const fs::path& folder) {
  const int lock = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) return lock;
  if (lock >= 0) close(lock);
  return -1;
}

/// Removes folders of this user that a killed command has left.
void remove_abandoned(const fs::path& place) {
  std::error_code failed;
  for (const auto& each : fs::directory_iterator(place, failed)) {
    struct stat about {};
    if (!each.path().filename().string().starts_with(kPrefix) ||
        lstat(each.path().c_str(), &about) != 0 || !S_ISDIR(about.st_mode) ||
        about.st_uid != geteuid() || std::time(nullptr) - about.st_mtime < kYoung)
      continue;
    const int lock = locked(each.path());
    if (lock < 0) continue;
    std::error_code ignored;
    fs::remove_all(each.path(), ignored);
    close(lock);
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code failed;
  const fs::path place = fs::temp_directory_path(failed);
  if (!failed) remove_abandoned(place);
  std::string name = (place / kPrefix).string() + "XXXXXX";
  if (failed || mkdtemp(name.data()) == nullptr)
    throw Error(Category::unavailable, "cannot create a folder for the compiled kernel",
                "a writable folder for temporary files", {},
                "name one in the environment variable TMPDIR");
  path_ = name;
  lock_ = locked(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace tessera::process
