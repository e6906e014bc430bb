// What the benchmark's tests share: running the command, results made by hand, a scratch folder,
// and whether a text is well-formed XML.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bench/report.hpp"
#include "support/xml.hpp"

namespace tessera::bench::testing {

/// A folder that disappears with its owner.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string folder() const { return folder_.string(); }
  std::string operator/(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Ran {
  int code = -1;  ///< exit code, or 128 + signal
  std::string out, err;
};

/// `tessera bench` with these arguments; `environment` is added to this process's.
inline Ran run_bench(const std::vector<std::string>& arguments,
                     const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const Scratch scratch;
  const std::string out = scratch / "out", err = scratch / "err";
  const pid_t pid = fork();
  if (pid == 0) {
    unsetenv("TESSERA_PEERS");
    setenv("XDG_CONFIG_HOME", scratch.folder().c_str(), 1);  // finds no files but its own
    for (const auto& [key, value] : environment) setenv(key.c_str(), value.c_str(), 1);
    dup2(open(out.c_str(), O_CREAT | O_WRONLY, 0600), 1);
    dup2(open(err.c_str(), O_CREAT | O_WRONLY, 0600), 2);
    std::vector<std::string> words = {TESSERA_COMMAND, "bench"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(out),
          content_of(err)};
}

inline BenchRow made_row(const std::string& name, Contestant::Kind kind, index_t side,
                         const std::vector<double>& seconds) {
  BenchRow row{name, kind, {{}, {side, side, side}, 1}, RowStatus::verified, "", 0.25, {}};
  if (kind == Contestant::Kind::peak) row.max_error_ratio = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    row.samples.push_back({static_cast<int>(i), 10, seconds[i], seconds[i] * 0.9});
  return row;
}

/// Two algorithms, a peer and the peak on two sizes, and one wrong result.
inline BenchResults made_results() {
  using Kind = Contestant::Kind;
  BenchResults out;
  out.context = {
      {"date", "2026-11-21T10:00:00+0000"},
      {"num_cpus", 2},
      {"cpu_model", "Test <CPU> & \"more\""},
      {"compiler", "GCC 12.2.0"},
      {"peers", {{{"name", "blas"}, {"version", "Blas 1.0"}, {"settings", "one | two"}}}}};
  for (index_t side : {64, 128}) {
    const double scale = side == 64 ? 1 : 8;
    out.rows.push_back(
        made_row("naive", Kind::algorithm, side, {4e-4 * scale, 4.4e-4 * scale, 3.6e-4 * scale}));
    out.rows.push_back(
        made_row("tiled", Kind::algorithm, side, {1e-4 * scale, 1e-4 * scale, 2e-4 * scale}));
    out.rows.push_back(
        made_row("blas", Kind::peer, side, {2e-5 * scale, 2e-5 * scale, 4e-5 * scale}));
    out.rows.push_back(
        made_row("peak", Kind::peak, side, {1e-5 * scale, 1e-5 * scale, 2e-5 * scale}));
  }
  BenchRow wrong = made_row("broken", Kind::peer, 128, {});
  wrong.status = RowStatus::refused;
  wrong.message = "wrong at (0,0), \"quoted\"";
  wrong.max_error_ratio = 1e6;
  out.rows.push_back(wrong);
  return out;
}

/// A peak that was held up at every size, so that a product seems to be 1.4 times as fast.
inline BenchResults disturbed_throughout() {
  BenchResults out = made_results();
  for (auto& row : out.rows) {
    const double scale = row.on.shape.M == 64 ? 1 : 8;
    if (row.kind != Contestant::Kind::peak) continue;
    for (Sample& sample : row.samples) sample.seconds = 2.8e-5 * scale;
  }
  return out;
}

/// Each sample three times: enough of them for a verdict.
inline BenchResults repeated(BenchResults results) {
  for (auto& row : results.rows) {
    const auto once = row.samples;
    for (int round = 1; round < 3; ++round) {
      for (Sample sample : once) {
        sample.round += round * static_cast<int>(once.size());
        row.samples.push_back(sample);
      }
    }
  }
  return results;
}

using tessera::xml_fault;

}  // namespace tessera::bench::testing
