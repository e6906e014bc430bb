// See tune.hpp.
#include "tune.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "process/clock.hpp"
#include "results.hpp"
#include "shell/json_text.hpp"
#include "shell/suggest.hpp"
#include "shell/table.hpp"
#include "sizes.hpp"
#include "tessera/io/atomic_file.hpp"
#include "tuner.hpp"

namespace tessera::bench {

namespace {

namespace fs = std::filesystem;

/// One process at a time appends to a file; if the system has no locks, none waits. Whoever holds
/// the lock deletes its file at the end; one who waited for it then opens a new one.
class FileLock {
 public:
  explicit FileLock(const std::string& file) : name_(file + ".lock") {
    do {
      if (file_ >= 0) ::close(file_);
      file_ = ::open(name_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
      while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
      }
    } while (file_ >= 0 && !is_there());
  }
  ~FileLock() {
    if (file_ < 0) return;
    ::unlink(name_.c_str());
    ::close(file_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  bool is_there() const {
    struct stat named, mine;
    return ::stat(name_.c_str(), &named) == 0 && ::fstat(file_, &mine) == 0 &&
           named.st_ino == mine.st_ino && named.st_dev == mine.st_dev;
  }

  std::string name_;
  int file_ = -1;
};

/// The peers to compare with: by default the two fastest algorithms of cuBLASLt, and cuBLAS.
std::vector<std::string> peers_of(const TuneRequest& request, const BenchDevice& device,
                                  const shell::Types& types) {
  std::vector<std::string> out;
  if (request.peer == "none") return out;
  const auto there = device.peers();
  const bool automatic = request.peer == "auto";
  for (const auto& name : automatic ? std::vector<std::string>{"cublaslt", "cublaslt-2", "cublas"}
                                    : std::vector<std::string>{request.peer}) {
    for (const auto& peer : there) {
      if (peer.name == name && peer.supports(types)) out.push_back(name);
    }
  }
  if (!automatic && out.empty())
    throw Error(Category::unavailable,
                cat("no peer '", request.peer, "' on ", device.name(), " for ", to_string(types)),
                {}, device.missing_peers());
  return out;
}

struct Result {
  Shape shape;
  TunedCase found;
};

double tflops(const TunedProduct& product) {
  return product.problem.flops() / product.seconds * 1e-12;
}

void print_results(const shell::Context& context, const std::vector<Result>& results) {
  if (context.json) {
    nlohmann::ordered_json out = shell::json_object();
    out["products"] = nlohmann::ordered_json::array();
    for (const auto& [shape, found] : results) {
      const TunedProduct& p = found.product;
      nlohmann::ordered_json entry = {
          {"shape", to_string(shape)},     {"problem", to_string(p.problem)},
          {"algorithm", p.best.algorithm}, {"tile", to_string(p.best.tile)},
          {"seconds", p.seconds},          {"candidates", found.candidates},
          {"refused", found.refused}};
      if (!p.peer.empty()) entry["peer"] = p.peer, entry["peer_seconds"] = p.peer_seconds;
      out["products"].push_back(std::move(entry));
    }
    context.print(shell::json_text(out));
    return;
  }
  if (results.empty()) return;
  shell::Table table({{"", shell::Align::left},
                      {"fastest", shell::Align::left},
                      {"tile", shell::Align::left},
                      {"time", shell::Align::right},
                      {"TFLOP/s", shell::Align::right, 1},
                      {"x peer", shell::Align::right, 2},
                      {"of", shell::Align::right, 3}});
  for (const auto& [shape, found] : results) {
    const TunedProduct& p = found.product;
    table.add({to_string(shape), p.best.algorithm,
               cat(to_string(p.best.tile), p.best.parts == 1 ? "" : cat(" in ", p.best.parts)),
               time_text(p.seconds), short_number(tflops(p)),
               p.peer.empty() ? "" : fmt::format("{:.2f} {}", p.peer_seconds / p.seconds, p.peer),
               std::to_string(found.candidates)});
  }
  context.print(table.text(shell::terminal_columns(shell::Stream::out)));
}

}  // namespace

namespace {

void make_folder_of(const std::string& file) {
  std::error_code none;
  if (const auto folder = fs::path(file).parent_path(); !folder.empty())
    fs::create_directories(folder, none);
}

/// Before anything is measured: refuses a file that cannot be written and read again.
void require_file(const std::string& file) {
  std::error_code none;
  make_folder_of(file);
  check_output(file, Overwrite::replace);
  if (fs::exists(file, none) && !fs::is_regular_file(file, none))
    throw Error(Category::argument, cat("cannot keep tuned products in ", file), "a regular file",
                "a device or a pipe");
}

/// Changes a file; what others add at the same time is kept.
template <class Change>
void change_file(const std::string& file, const TunedOn& on, const Change& change) {
  make_folder_of(file);
  const FileLock lock(file);
  Tuning now = read_tuning(file, on).tuning;
  change(now);
  AtomicFile out(file, Overwrite::replace);
  out.write(to_string(now));
  out.commit();
}

/// What is left of the candidates without those that are known not to end.
std::vector<Candidate> ending(std::vector<Candidate> candidates, const Problem& problem,
                              const Tuning& known) {
  std::erase_if(candidates, [&](const Candidate& each) { return known.hangs(problem, each); });
  return candidates;
}

}  // namespace

void keep_tuned(const std::string& file, const TunedOn& on, const TunedProduct& product) {
  change_file(file, on, [&](Tuning& now) { now.add(product); });
}

int tune_on(const shell::Context& context, const TuneRequest& request, BenchDevice& device,
            const TunedOn& on) {
  const auto start = process::Clock::now();
  const shell::Types types = shell::parse_types(request.dtype);
  require_product(types);
  const auto shapes = parse_sizes(request.sizes);
  const std::string file = request.cache.empty() ? tuning_file(on) : request.cache;
  require_file(file);
  const ReadTuning before = read_tuning(file, on);
  if (!before.ignored.empty()) context.warn(before.ignored);
  const auto left = [&] { return request.seconds - process::seconds_since(start); };
  const std::vector<std::string> peers = peers_of(request, device, types);
  std::vector<Result> results;
  int known = 0, missing = 0, wrong = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const BenchCase now{types, shapes[i], 1, {}, device.name()};
    const Problem problem = problem_of(now);
    if (!request.again && before.tuning.find(problem) != nullptr) {
      ++known;
      continue;
    }
    // The remaining time is divided evenly.
    const double until = left() - left() / static_cast<double>(shapes.size() - i);
    Tuner tuner(device, peers, 1, [&] { return left() - until; });
    context.detail(cat("tuning ", to_string(shapes[i])));
    const auto found = tuner.tune(now, ending(request.candidates(problem), problem, before.tuning));
    if (!found) {
      ++missing;
      continue;
    }
    if (found->hanging) {
      const Candidate who = *found->hanging;
      change_file(file, on, [&](Tuning& all) { all.hanging.push_back({problem, who}); });
      print_results(context, results);
      throw Error(
          Category::kernel,
          cat(who.algorithm, " ", to_string(who.tile), " does not end on ", to_string(shapes[i])),
          {}, {}, cat(file, " leaves it out from now on: run the command again"));
    }
    for (const auto& each : found->refused)
      context.warn(cat(to_string(shapes[i]), ": refused ", each));
    wrong += static_cast<int>(found->refused.size());
    keep_tuned(file, on, found->product);
    results.push_back({shapes[i], *found});
  }
  print_results(context, results);
  if (known > 0) context.note(cat(known, known == 1 ? " size is" : " sizes are", " tuned already"));
  if (missing > 0)
    context.note(fmt::format("{} of {} sizes not tuned within {:g} s: run the command again",
                             missing, shapes.size(), request.seconds));
  if (known > 0 || !results.empty()) context.note(cat("tuned products are in ", file));
  return wrong > 0 ? 1 : 0;
}

}  // namespace tessera::bench
