// The file of the learner's progress: see progress.hpp.
#include "progress.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "course.hpp"
#include "shell/json_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

fs::path state_file() {
  const char* const state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return fs::path(state) / "tessera/puzzles.json";
  const char* const home = std::getenv("HOME");
  const fs::path base =
      home != nullptr && *home == '/' ? fs::path(home) : fs::temp_directory_path();
  return base / ".local/state/tessera/puzzles.json";
}

}  // namespace

LearnerProgress::LearnerProgress() : file_(state_file()) {
  if (!fs::exists(file_)) return;
  const ordered_json all = ordered_json::parse(read_text(file_), nullptr, false);
  try {
    for (const auto& [id, each] : all.at("puzzles").items())
      states_[id] = {each.at("file"), each.at("solved"), each.at("hints"), each.at("runs")};
  } catch (const ordered_json::exception&) {
    throw Error(Category::file, cat(file_.string(), " is damaged"), {}, {},
                "remove it; the files you wrote are not in it");
  }
}

namespace {

/// Only one command at a time holds the lock; without system support, there is no lock.
class Lock {
 public:
  explicit Lock(const fs::path& file)
      : file_(::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

}  // namespace

void LearnerProgress::update(const shell::Context& context,
                             const std::function<void(LearnerProgress&)>& change) {
  const fs::path file = state_file();
  std::error_code none;
  fs::create_directories(file.parent_path(), none);
  const Lock lock(file.string() + ".lock");
  LearnerProgress progress;
  change(progress);
  try {
    progress.save();
  } catch (const Error& error) {
    context.warn(cat("your progress is not saved: ", error.what()));
  }
}

void LearnerProgress::save() const {
  ordered_json all = shell::json_object();
  for (const auto& [id, each] : states_)
    all[id] = {
        {"file", each.file}, {"solved", each.solved}, {"hints", each.hints}, {"runs", each.runs}};
  AtomicFile out(file_.string(), Overwrite::replace);
  out.write(shell::json_text({{"puzzles", all}}));
  out.commit();
}

}  // namespace tessera::course
