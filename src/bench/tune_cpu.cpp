// See tune_cpu.hpp.
#include "tune_cpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "process/clock.hpp"
#include "shell/json_text.hpp"
#include "shell/table.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/cpu/gemm.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::bench {

namespace {

/// Products that take each of the forms that the values decide on.
constexpr const char* kEveryForm =
    "1x4096x4096,2x2048x2048,4x2048x2048,6x2000x2000,16x2000x2000,16x4096x4096,32x2048x2048,"
    "128x1000x1000,1x2048x2048-NT,4x2048x2048-NT,64,256,512,768,1024,256x4096x256,2000x2000x64";
/// A candidate is kept if its products take at most this part of the time, and again.
constexpr double kFaster = 0.98;
constexpr int kRounds = 5;

/// One product with its operands; integers, so that results compare exactly.
class Timed {
 public:
  Timed(const Shape& shape, int threads) {
    call_.M = shape.M, call_.N = shape.N, call_.K = shape.K, call_.threads = threads;
    const auto fill = [](std::vector<float>& to, index_t count, int step) {
      to.resize(static_cast<std::size_t>(count));
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = static_cast<float>(static_cast<int>(i * static_cast<std::size_t>(step) % 7) - 3);
    };
    fill(a_, shape.M * shape.K, 3), fill(b_, shape.K * shape.N, 5);
    c_.resize(static_cast<std::size_t>(shape.M * shape.N));
    call_.a_row = shape.a_transposed ? 1 : shape.K, call_.a_col = shape.a_transposed ? shape.M : 1;
    call_.b_row = shape.b_transposed ? 1 : shape.N, call_.b_col = shape.b_transposed ? shape.K : 1;
    call_.c_row = shape.N;
    call_.A = a_.data(), call_.B = b_.data(), call_.C = c_.data();
    seconds();
    expected_ = c_;
  }
  double seconds() const {
    const auto start = process::Clock::now();
    cpu::gemm(call_);
    return process::seconds_since(start);
  }
  bool has_the_same_bits() const {
    return std::memcmp(c_.data(), expected_.data(), c_.size() * sizeof(float)) == 0;
  }

 private:
  cpu::Gemm<float> call_;
  std::vector<float> a_, b_, c_, expected_;
};

/// Restores the values at the end of its lifetime.
class Assumed {
 public:
  Assumed() : before_(cpu::tuning()) {}
  ~Assumed() { cpu::assume_tuning(before_); }
  Assumed(const Assumed&) = delete;
  Assumed& operator=(const Assumed&) = delete;

 private:
  cpu::Tuning before_;
};

/// The geometric mean over products of the ratio of the least times, measured alternately.
double ratio(const std::vector<Timed>& products, const cpu::Tuning& candidate,
             const cpu::Tuning& base) {
  double sum = 0;
  for (const Timed& product : products) {
    double least[2] = {std::numeric_limits<double>::infinity(),
                       std::numeric_limits<double>::infinity()};
    for (int round = 0; round < 2 * kRounds; ++round) {
      const int which = (round + round / 2) % 2;
      cpu::assume_tuning(which == 0 ? candidate : base);
      least[which] = std::min(least[which], product.seconds());
      if (!product.has_the_same_bits())
        throw Error(Category::kernel, "tune: a product has other bits with other values", {}, {},
                    "please report this with the output of 'tessera doctor'");
    }
    sum += std::log(least[0] / least[1]);
  }
  return std::exp(sum / static_cast<double>(products.size()));
}

/// Other numbers to try for a value, near the one it has.
std::vector<index_t> neighbours(const cpu::TuningValue& value, index_t now) {
  std::set<index_t> out;
  if (value.most == 1) {
    out = {0, 1};
  } else {
    for (const index_t to : {now / 2, now * 3 / 4, now * 4 / 3, now * 2, now == 0 ? index_t{8} : 0})
      out.insert(std::clamp(to, value.least, value.most));
  }
  out.erase(now);
  return {out.begin(), out.end()};
}

std::string file_text(const cpu::Tuning& best) {
  const std::string_view known = cpu::microarchitecture();
  const std::time_t now = std::time(nullptr);
  char date[sizeof "YYYY-MM-DD"] = "";
  std::strftime(date, sizeof date, "%F", std::gmtime(&now));
  return cat("# Values of the packed path, for TESSERA_CPU_TUNING.\n# Measured on ", date, " (",
             known.empty() ? "unknown processor" : known, ", ", cpu_text(), ", ", default_threads(),
             " threads) by: tessera tune --device cpu\n", cpu::to_text(best));
}

/// Only a file of values is replaced.
void require_replaceable(const std::string& file) {
  std::error_code failed;
  if (!std::filesystem::exists(file, failed)) return;
  try {
    if (!std::filesystem::is_regular_file(file)) throw Error(Category::file, "it is no file");
    std::ifstream in(file, std::ios::binary);
    (void)cpu::tuning_from(std::string(std::istreambuf_iterator<char>(in), {}), cpu::tuning());
  } catch (const Error& error) {
    throw Error(Category::file, cat("tune: ", file, " contains no values: ", error.what()), {}, {},
                "name another file");
  }
}

void report(const shell::Context& context, const cpu::Tuning& before, const cpu::Tuning& best) {
  if (context.json) {
    nlohmann::ordered_json out = shell::json_object();
    out["base"] = std::string(before.name);
    for (const cpu::TuningValue& value : cpu::kTuningValues)
      out["values"][std::string(value.name)] = {{"before", before.*value.member},
                                                {"now", best.*value.member}};
    context.print(shell::json_text(out));
    return;
  }
  shell::Table table({{"value"},
                      {std::string(before.name), shell::Align::right},
                      {"now", shell::Align::right},
                      {"what it is"}});
  for (const cpu::TuningValue& value : cpu::kTuningValues)
    table.add({std::string(value.name), cat(before.*value.member), cat(best.*value.member),
               std::string(value.text)});
  context.print(table.text());
}

}  // namespace

cpu::Tuning best_tuning(const cpu::Tuning& start, const CompareTuning& compare,
                        const std::function<bool()>& goes_on) {
  cpu::Tuning best = start;
  for (const cpu::TuningValue& value : cpu::kTuningValues) {
    for (const index_t to : neighbours(value, best.*value.member)) {
      if (!goes_on()) return best;
      cpu::Tuning candidate = best;
      candidate.*value.member = to;
      if (compare(candidate, best) <= kFaster && compare(candidate, best) <= kFaster)
        best = candidate;
    }
  }
  return best;
}

int tune_cpu(const shell::Context& context, const std::string& sizes, double seconds,
             const std::string& file) {
  const auto shapes = parse_sizes(sizes.empty() ? std::string(kEveryForm) : sizes);
  require_replaceable(file);
  check_output(file, Overwrite::replace);
  const auto start = process::Clock::now();
  const cpu::Tuning before = cpu::tuning();
  std::vector<Timed> products;
  for (const Shape& shape : shapes) {
    products.emplace_back(shape, 1);
    if (default_threads() > 1) products.emplace_back(shape, default_threads());
  }
  bool all = true;
  const Assumed restores;
  const cpu::Tuning best = best_tuning(
      before,
      [&](const auto& candidate, const auto& base) { return ratio(products, candidate, base); },
      [&] { return all = process::seconds_since(start) < seconds; });
  report(context, before, best);
  if (!all) context.note(fmt::format("not all values tried within {:g} s", seconds));
  AtomicFile out(file, Overwrite::replace);
  out.write(file_text(best));
  out.commit();
  context.note(cat("use them with: export TESSERA_CPU_TUNING=", file));
  return 0;
}

}  // namespace tessera::bench
