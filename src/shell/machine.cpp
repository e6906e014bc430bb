// Facts from /proc and /sys: see machine.hpp.
#include "machine.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <thread>

#include "base/cgroup.hpp"
#include "base/environment.hpp"
#include "options.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"

namespace tessera::shell {

namespace {

/// The whole number at the start of `text`, or -1.
index_t leading_number(const std::string& text) {
  index_t value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The value of `key` in a file of "key: value" or "key value" lines; "" if it is missing.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? "" : line.substr(start);
  }
  return {};
}

index_t meminfo_bytes(const std::string& key) {
  return std::max<index_t>(0, leading_number(value_of("/proc/meminfo", key))) * 1024;
}

/// Folder of this process in the unified cgroup hierarchy, or its root.
std::string cgroup_folder() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

/// The first line of `name` in this process's cgroup, also if the hierarchy is mounted at the root
/// (containers), or of `legacy` below /sys/fs/cgroup (version 1).
std::string cgroup_line(const std::string& name, const std::string& legacy) {
  for (const auto& path :
       {cgroup_folder() + "/" + name, "/sys/fs/cgroup/" + name, "/sys/fs/cgroup/" + legacy}) {
    if (const std::string line = first_line(path); !line.empty()) return line;
  }
  return {};
}

index_t cgroup_memory_limit() {
  const index_t limit = leading_number(cgroup_line("memory.max", "memory/memory.limit_in_bytes"));
  return limit <= 0 || limit > (index_t{1} << 56) ? 0 : limit;
}

std::vector<Cache> caches_of_first_cpu() {
  std::vector<Cache> out;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = cat("/sys/devices/system/cpu/cpu0/cache/index", i, "/");
    const std::string size = first_line(folder + "size");
    if (size.empty()) break;
    Cache cache;
    cache.level =
        static_cast<int>(std::max<index_t>(0, leading_number(first_line(folder + "level"))));
    cache.type = first_line(folder + "type");
    const index_t unit = size.back() == 'K' ? 1024 : size.back() == 'M' ? 1024 * 1024 : 1;
    cache.bytes = std::max<index_t>(0, leading_number(size)) * unit;
    const std::string map = first_line(folder + "shared_cpu_map");
    cache.shared_by = 0;
    for (char digit : map) {
      if (digit == ',') continue;
      const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
      cache.shared_by += __builtin_popcount(static_cast<unsigned>(value));
    }
    cache.shared_by = std::max(1, cache.shared_by);
    out.push_back(cache);
  }
  return out;
}

/// "AuthenticAMD family 25 model 17 stepping 1", on Arm "0x41 part 0xd4f variant 0x0 revision 0";
/// hypervisors omit these details from the model's name.
std::string stepping_text() {
  std::string out;
  for (const auto& [key, word] : {std::pair{"vendor_id", ""},
                                  {"cpu family", " family "},
                                  {"model\t", " model "},
                                  {"stepping", " stepping "},
                                  {"CPU implementer", ""},
                                  {"CPU part", " part "},
                                  {"CPU variant", " variant "},
                                  {"CPU revision", " revision "}}) {
    if (const std::string value = value_of("/proc/cpuinfo", key); !value.empty())
      out += word + value;
  }
  return out;
}

std::vector<std::string> arithmetic_flags() {
  constexpr std::array<std::string_view, 21> wanted = {
      "sse4_2",   "avx",      "avx2",        "fma",         "f16c",        "avx512f",  "avx512dq",
      "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx_vnni", "amx_tile",
      "amx_bf16", "amx_fp16", "amx_int8",    "asimd",       "asimdhp",     "bf16",     "sve"};
  std::string line = value_of("/proc/cpuinfo", "flags");
  if (line.empty()) line = value_of("/proc/cpuinfo", "Features");
  std::istringstream words(line);
  std::vector<std::string> out;
  for (std::string word; words >> word;) {
    if (std::find(wanted.begin(), wanted.end(), word) != wanted.end()) out.push_back(word);
  }
  return out;
}

}  // namespace

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

Machine describe_machine() {
  Machine out;
  utsname names{};
  if (uname(&names) == 0) {
    out.host = names.nodename;
    out.kernel = cat(names.sysname, " ", names.release, " ", names.machine);
  }
  out.cpu_model = value_of("/proc/cpuinfo", "model name");
  out.cpu_stepping = stepping_text();
  out.cpu_flags = arithmetic_flags();
  out.mhz = std::strtod(value_of("/proc/cpuinfo", "cpu MHz").c_str(), nullptr);
  out.governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  out.cpus_online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  out.cpus_allowed =
      sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : out.cpus_online;
  out.cgroup_cpus = cgroup_cpu_quota();
  out.caches = caches_of_first_cpu();
  out.memory_bytes = meminfo_bytes("MemTotal");
  out.available_bytes = std::max<index_t>(0, available_memory());
  out.cgroup_memory_bytes = cgroup_memory_limit();
  const std::string pages = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  if (const auto open = pages.find('['), close = pages.find(']');
      open != std::string::npos && close > open)
    out.transparent_huge_pages = pages.substr(open + 1, close - open - 1);
  out.huge_pages_reserved =
      std::max<index_t>(0, leading_number(value_of("/proc/meminfo", "HugePages_Total")));
  double load[3];
  const int loads = getloadavg(load, 3);
  out.load.assign(load, load + std::max(0, loads));
  return out;
}

ProcessorTicks processor_ticks(const std::string& stat) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (sched_getaffinity(0, sizeof own, &own) != 0) return {};
  ProcessorTicks out;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    const auto digit = line.find_first_of("0123456789");
    if (!line.starts_with("cpu") || digit != 3) continue;  // "cpu " is the sum of all
    std::istringstream words(line.substr(3));
    int processor = -1;
    // user, nice, system, idle, iowait, irq, softirq, steal; the columns after them are part of
    // user.
    std::array<double, 8> ticks{};
    words >> processor;
    for (double& each : ticks) words >> each;
    if (!CPU_ISSET(processor, &own)) continue;
    const double all = std::accumulate(ticks.begin(), ticks.end(), 0.0);
    out.all += all;
    out.busy += all - ticks[3] - ticks[4];
    ++out.processors;
  }
  return out;
}

double busy_processors(double seconds) {
  const auto now = [] {
    std::ostringstream text;
    text << std::ifstream("/proc/stat").rdbuf();
    return processor_ticks(text.str());
  };
  const ProcessorTicks before = now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const ProcessorTicks after = now();
  const double all = after.all - before.all;
  return all > 0 ? after.processors * (after.busy - before.busy) / all : 0;
}

void require_memory(double wanted, const std::string& purpose) {
  const index_t available = available_memory();
  if (wanted <= static_cast<double>(available)) return;
  const std::string wanted_text =
      wanted < 0x1p62 ? bytes_text(static_cast<index_t>(wanted)) : "more than 4 EiB";
  throw Error(Category::resource,
              cat(purpose, " needs ", wanted_text, " of memory but ", bytes_text(available),
                  " are available"),
              {}, {}, "use smaller sizes");
}

std::string nvcc_path() {
  std::vector<std::string> folders = {"/usr/local/cuda/bin"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr)
    folders.insert(folders.begin(), cat(home, "/bin"));
  return find_program("nvcc", folders);
}

}  // namespace tessera::shell
