// See tuning.hpp; tuned.hpp has what make_plan() uses.
#include "tuning.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "base/cache_folder.hpp"
#include "fields.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/device/devices.hpp"
#include "tuned.hpp"

namespace tessera {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNamedFile = "TESSERA_TUNING";

const char* environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

/// By rows, by columns, or neither.
int order_of(const Strides& strides) { return strides.col == 1 ? 0 : strides.row == 1 ? 1 : 2; }

bool same_product(const Problem& a, const Problem& b) {
  return a.M == b.M && a.N == b.N && a.K == b.K && a.in == b.in && a.out == b.out &&
         a.type_of_b() == b.type_of_b() && order_of(a.a) == order_of(b.a) &&
         order_of(a.b) == order_of(b.b);
}

TunedOn parse_where(std::string_view line) {
  TunedOn out;
  for (const auto& [key, value] : detail::parse_fields(line, "tuning")) {
    if (key == "device") out.device = value;
    else if (key == "capability") out.capability = value;
    else if (key == "driver") out.driver = value;
    else if (key == "version") out.version = value;
    else throw Error(Category::argument, cat("tuning: unknown field '", key, "'"));
  }
  return out;
}

/// "pipelined,64x128x16/8x8,1.25;...", followed by ",8" where K is in 8 parts.
std::vector<SlowerCandidate> parse_slower(std::string_view text) {
  std::vector<SlowerCandidate> out;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    const auto first = one.find(','), second = one.find(',', first + 1);
    const auto third = std::min(one.size(), one.find(',', second + 1));
    if (second == one.npos)
      throw Error(Category::argument, "tuning: cannot read 'slower'", "NAME,TILE,TIMES;...",
                  printable(one));
    SlowerCandidate& each = out.emplace_back();
    each.who.algorithm = one.substr(0, first);
    each.who.tile = parse_tile(one.substr(first + 1, second - first - 1));
    each.times = detail::parse_number<double>(one.substr(second + 1, third - second - 1), "tuning",
                                              "slower");
    if (third < one.size())
      each.who.parts = detail::parse_number<int>(one.substr(third + 1), "tuning", "slower");
  }
  return out;
}

/// A line of a product, or of a kernel that does not end.
void add_line(Tuning& to, std::string_view line) {
  TunedProduct out;
  std::string problem;
  bool hangs = false;
  const auto number = [](std::string_view value, std::string_view key) {
    return detail::parse_number<double>(value, "tuning", key);
  };
  for (const auto& [key, value] : detail::parse_fields(line, "tuning")) {
    if (key == "algorithm") out.best.algorithm = value;
    else if (key == "tile") out.best.tile = parse_tile(value);
    else if (key == "parts") out.best.parts = detail::parse_number<int>(value, "tuning", key);
    else if (key == "seconds") out.seconds = number(value, key);
    else if (key == "peer") out.peer = value;
    else if (key == "peer_seconds") out.peer_seconds = number(value, key);
    else if (key == "clock_mhz") out.clock_hz = number(value, key) * 1e6;
    else if (key == "watts") out.watts = number(value, key);
    else if (key == "limits") out.limits = static_cast<std::uint64_t>(number(value, key));
    else if (key == "slower") out.slower = parse_slower(value);
    else if (key == "hangs") hangs = value == "yes";
    else problem += cat(key, "=", value, " ");
  }
  out.problem = parse_problem(problem);
  if (hangs) to.hanging.push_back({out.problem, out.best});
  else to.add(out);
}

std::string line_of(const Problem& problem, const Candidate& who) {
  return cat(to_string(problem), " algorithm=", who.algorithm, " tile=", to_string(who.tile),
             who.parts == 1 ? "" : cat(" parts=", who.parts));
}

/// The cache, or a folder for all users where there is none.
fs::path tuning_folder() {
  const fs::path folder = cache_folder();
  return folder.empty() ? fs::temp_directory_path() / "tessera" : folder;
}

bool has_tuning(const fs::path& folder) {
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    if (at->path().filename().string().starts_with("tuning-")) return true;
  }
  return false;
}

ReadTuning tuning_for(const std::string& device) {
  const bool named = environment(kNamedFile) != nullptr;
  // Without a file the device is not queried, and CUDA is not initialised.
  if (!named && (device == "cpu" || !has_tuning(tuning_folder()))) return {};
  try {
    const TunedOn on = tuned_on(device);
    return read_tuning(tuning_file(on), on);
  } catch (const Error&) {  // no such device: running the plan reports that
    return {};
  }
}

}  // namespace

std::string to_string(const Candidate& who) {
  return cat(who.algorithm, who.tile == TileShape{} ? "" : cat(" ", to_string(who.tile)),
             who.parts == 1 ? "" : cat(" in ", who.parts, " parts"));
}

TunedOn tuned_on(const std::string& device) {
  if (device == "cpu") return {"cpu", "", "", TESSERA_VERSION};
  const Device named = Device::parse(device);
  if (has_gpu_code(named.kind())) return {describe(named).name, "", "", TESSERA_VERSION};
  const cuda::Device found = cuda::device(named.number());
  return {found.name, cat(found.major, ".", found.minor), cuda::driver_version(), TESSERA_VERSION};
}

const TunedProduct* Tuning::find(const Problem& problem) const {
  for (const auto& each : products) {
    if (same_product(each.problem, problem)) return &each;
  }
  return nullptr;
}

void Tuning::add(const TunedProduct& product) {
  std::erase_if(products, [&](const TunedProduct& each) {
    return same_product(each.problem, product.problem);
  });
  products.push_back(product);
}

bool Tuning::hangs(const Problem& problem, const Candidate& candidate) const {
  return std::any_of(hanging.begin(), hanging.end(), [&](const HangingCandidate& each) {
    // By text: a parsed tile does not say whether its second part is of a warp or of a thread.
    return each.who.algorithm == candidate.algorithm &&
           to_string(each.who.tile) == to_string(candidate.tile) &&
           each.who.parts == candidate.parts && each.problem.in == problem.in &&
           each.problem.out == problem.out && each.problem.type_of_b() == problem.type_of_b();
  });
}

std::string to_string(const Tuning& tuning) {
  const TunedOn& on = tuning.on;
  std::string out =
      cat("# The fastest kernel and tile of products on one device, by 'tessera tune'.\n",
          "device=", detail::quoted(on.device), " capability=", detail::quoted(on.capability),
          " driver=", detail::quoted(on.driver), " version=", detail::quoted(on.version), "\n");
  for (const auto& each : tuning.products) {
    out += cat(line_of(each.problem, each.best), " seconds=", detail::exact_text(each.seconds));
    if (!each.peer.empty())
      out += cat(" peer=", each.peer, " peer_seconds=", detail::exact_text(each.peer_seconds));
    if (each.clock_hz > 0)
      out +=
          cat(" clock_mhz=", each.clock_hz * 1e-6, " watts=", each.watts, " limits=", each.limits);
    std::string slower;
    for (const auto& [who, times] : each.slower)
      slower += cat(slower.empty() ? "" : ";", who.algorithm, ",", to_string(who.tile), ",", times,
                    who.parts == 1 ? "" : cat(",", who.parts));
    out += cat(slower.empty() ? "" : " slower=", slower, "\n");
  }
  for (const auto& each : tuning.hanging)
    out += cat(line_of(each.problem, each.who), " hangs=yes\n");
  return out;
}

Tuning parse_tuning(std::string_view text) {
  Tuning out;
  bool has_where = false;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (has_where) add_line(out, line);
    else out.on = parse_where(line), has_where = true;
  }
  if (!has_where) throw Error(Category::argument, "tuning: it does not say of which device it is");
  return out;
}

std::string tuning_file(const TunedOn& on) {
  if (const char* named = environment(kNamedFile)) return named;
  std::string name;
  for (const char c : on.device) {
    const auto letter = static_cast<unsigned char>(c);
    name += std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter)) : '-';
  }
  return tuning_folder() / cat("tuning-", name, ".txt");
}

ReadTuning read_tuning(const std::string& file, const TunedOn& on) {
  const auto ignored = [&](const std::string& why) {
    return ReadTuning{{on, {}}, cat("ignored ", file, ": ", why, "; run 'tessera tune'")};
  };
  std::error_code none;
  if (fs::exists(file, none) && !fs::is_regular_file(file, none))
    return ignored("it is a folder, a device or a pipe");  // which may have no end
  std::ifstream in(file, std::ios::binary);
  if (!in) return {{on, {}}, ""};
  std::ostringstream text;
  text << in.rdbuf();
  try {
    Tuning found = parse_tuning(text.str());
    const auto other = [&](const char* what, const std::string& theirs, const std::string& ours) {
      return ignored(cat("it is of ", what, " ", theirs, ", this is ", ours));
    };
    if (found.on.device != on.device || found.on.capability != on.capability)
      return other("device", found.on.device, on.device);
    if (found.on.driver != on.driver) return other("driver", found.on.driver, on.driver);
    if (found.on.version != on.version) return other("version", found.on.version, on.version);
    return {std::move(found), ""};
  } catch (const Error& error) {
    return ignored(error.what());
  }
}

Tuning detail::tuning_named(std::span<const std::string_view> tables, const std::string& device) {
  for (const std::string_view table : tables) {
    if (Tuning found = parse_tuning(table); found.on.device == device) return found;
  }
  return {};
}

const Tuning& detail::shipped_tuning(const std::string& device) {
  static const std::vector<std::string_view> tables = {
#include "shipped_tuning.inc"
  };
  static const Tuning none;
  static std::mutex one_at_a_time;
  static std::map<std::string, Tuning> found;
  if (tables.empty()) return none;
  const std::lock_guard lock(one_at_a_time);
  const auto [at, isnew] = found.try_emplace(device);
  if (!isnew) return at->second;
  try {
    at->second = tuning_named(tables, tuned_on(device).device);
  } catch (const Error&) {  // no such device: running the plan reports that
  }
  return at->second;
}

const ReadTuning& detail::tuning_of(const std::string& device) {
  if (device == "cpu") {
    static const ReadTuning of_cpu = tuning_for("cpu");
    return of_cpu;
  }
  static std::mutex one_at_a_time;
  static std::map<std::string, ReadTuning> read;
  const std::lock_guard lock(one_at_a_time);
  const auto [at, isnew] = read.try_emplace(device);
  if (isnew) at->second = tuning_for(device);
  return at->second;
}

}  // namespace tessera
