// Short measurements, and the file that keeps them: see speeds.hpp.
#include "speeds.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/cache_folder.hpp"
#include "io/past_cache.hpp"
#include "process/clock.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::product {

namespace {

/// Speeds that most clusters and disks reach.
constexpr scale::Speeds kAssumed{0, 2.5e9, 1e-6, 1.5e9, 1.5e9};
constexpr index_t kPiece = 8 << 20;
constexpr double kPatience = 0.1;  // seconds for each measurement

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// Memory that the system has given already.
Array touched_buffer(index_t bytes = kPiece) {
  const Array out = make_array(DType::u8, {bytes});
  std::memset(out.writable(), 'x', static_cast<std::size_t>(bytes));
  return out;
}

double reading_of(const std::string& path, int turn) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.number() < 0 || fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
  const index_t pieces = info.st_size / kPiece;
  if (pieces < 1) return 0;
  const io::PastCache past_cache(file.number(), O_RDONLY);
  const Array buffer = touched_buffer();
  const auto start = process::Clock::now();
  double bytes = 0;
  for (index_t n = 0; n < pieces && process::seconds_since(start) < kPatience; ++n) {
    const index_t at = (n + turn) % pieces * kPiece;
    const ssize_t got = past_cache.read_some(file.number(), at, buffer.writable(), kPiece);
    if (got <= 0) return 0;
    bytes += static_cast<double>(got);
  }
  return bytes / std::max(1e-9, process::seconds_since(start));
}

double writing_beside(const std::string& path) {
  constexpr index_t kPieces = 16;
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor file(
      open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.number() < 0 || posix_fallocate(file.number(), 0, kPieces * kPiece) != 0) return 0;
  const io::PastCache past_cache(file.number(), O_WRONLY);
  const Array buffer = touched_buffer();
  const auto start = process::Clock::now();
  double bytes = 0;
  for (index_t n = 0; n < kPieces && process::seconds_since(start) < kPatience; ++n) {
    const ssize_t put = past_cache.write_some(file.number(), n * kPiece, buffer.data(), kPiece);
    if (put <= 0) return 0;
    bytes += static_cast<double>(put);
  }
  if (fsync(file.number()) != 0) return 0;
  return bytes / std::max(1e-9, process::seconds_since(start));
}

std::filesystem::path kept_file() {
  const std::filesystem::path folder = cache_folder();
  return folder.empty() ? folder : folder / "speeds.json";
}

}  // namespace

double measured_flops(DType type, int threads) {
  constexpr index_t extent = 768;
  constexpr int rounds = 20;
  const Array A = make_array(type, {extent, extent}), B = make_array(type, {extent, extent});
  const Array C = make_array(is_byte(type) ? DType::i32 : type, {extent, extent});
  const auto viewed = [](const Array& m) {
    return Matrix{m.writable(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
  };
  Options options;
  options.threads = threads;
  // The mean, without the first round if there are more: what other programs leave counts.
  double flops = 0, seconds = 0;
  const auto begin = process::Clock::now();
  for (int round = 0; round < rounds; ++round) {
    if (round > 0 && process::seconds_since(begin) > kPatience) break;
    const auto start = process::Clock::now();
    const Plan plan = matmul(viewed(A), viewed(B), viewed(C), 1, 0, options);
    if (round == 1) flops = seconds = 0;
    flops += plan.problem.flops(), seconds += process::seconds_since(start);
  }
  return flops / std::max(1e-9, seconds);
}

double measured_memory() {
  constexpr index_t kBytes = index_t{64} << 20;
  const auto start = process::Clock::now();
  (void)touched_buffer(kBytes);
  return static_cast<double>(kBytes) / std::max(1e-9, process::seconds_since(start));
}

void measure_files(const std::string& path, int turn, scale::Speeds& speeds) {
  if (const double reading = reading_of(path, turn); reading > 0) speeds.disk = reading;
  if (const double writing = writing_beside(path); writing > 0) speeds.writing = writing;
}

void measure_network(scale::Transport& ranks, scale::Speeds& speeds) {
  constexpr int kMessages = 100, kLarge = 4;
  constexpr index_t kBytes = index_t{8} << 20;
  const int other = ranks.rank() ^ 1;
  std::vector<std::byte> out(kBytes), in(kBytes);
  const auto exchange = [&](index_t bytes) {
    const scale::Transport::Ticket tickets[] = {
        ranks.receive({in.data(), 1, bytes, bytes}, other, scale::Kind::result),
        ranks.send({out.data(), 1, bytes, bytes}, other, scale::Kind::result)};
    for (const auto ticket : tickets) {
      while (!ranks.is_done(ticket)) ranks.watch();
    }
  };
  const auto timed = [&](int messages, index_t bytes) {
    ranks.least(0);
    const auto start = process::Clock::now();
    for (int n = 0; n < messages && other < ranks.ranks(); ++n) exchange(bytes);
    const double each = process::seconds_since(start) / messages;
    return static_cast<double>(-ranks.least(-static_cast<index_t>(each * 1e9))) * 1e-9;
  };
  speeds.message_seconds = std::max(1e-9, timed(kMessages, 8));
  speeds.network = static_cast<double>(kBytes) / std::max(1e-9, timed(kLarge, kBytes));
}

scale::Speeds kept_speeds() {
  scale::Speeds out = kAssumed;
  std::ifstream file(kept_file());
  const auto kept = nlohmann::json::parse(file, nullptr, false);
  const auto take = [&](const char* name, double& to) {
    const double value = kept.is_object() && kept.contains(name) && kept[name].is_number()
                             ? kept[name].get<double>()
                             : 0;
    if (value > 0) to = value;
  };
  take("network", out.network), take("message_seconds", out.message_seconds);
  take("reading", out.disk), take("writing", out.writing);
  return out;
}

void keep_speeds(const scale::Speeds& speeds) {
  const std::filesystem::path path = kept_file();
  if (path.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  // A reader sees a whole file; without a place to write, nothing is kept.
  const std::filesystem::path next = path.string() + "." + std::to_string(getpid());
  std::ofstream(next) << nlohmann::json{{"network", speeds.network},
                                        {"message_seconds", speeds.message_seconds},
                                        {"reading", speeds.disk},
                                        {"writing", speeds.writing}}
                             .dump()
                      << '\n';
  std::filesystem::rename(next, path, ignored);
  if (ignored) std::filesystem::remove(next, ignored);
}

}  // namespace tessera::product
