// Finds the groups of this process in /proc/self/cgroup and reads their quotas, and those of the
// groups above: a service or a user's slice is some folders down, a container's group at the top
// of what it can see. Linux, Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
#include "cgroup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <new>

namespace tessera {

namespace {

/// Microseconds of processors in each period.
double processors(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : 0;
}

/// The beginning of a small file; nothing where it cannot be read. With system calls: the first
/// product of a process waits for it, and iostreams are slower. Measured:
/// bench/results/cpu/tuning.md.
std::string start_of(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  char text[4096];
  std::size_t length = 0;
  for (ssize_t count; (count = read(file, text + length, sizeof text - length)) > 0;)
    length += static_cast<std::size_t>(count);
  close(file);
  return {text, length};
}

double quota_of_version_2(const std::string& folder) {
  const std::string text = start_of(folder + "/cpu.max");  // "150000 100000", or "max 100000"
  char* rest = nullptr;
  const double quota = std::strtod(text.c_str(), &rest);
  return processors(quota, std::strtod(rest, nullptr));
}

double quota_of_version_1(const std::string& folder) {
  const double quota = std::strtod(start_of(folder + "/cpu.cfs_quota_us").c_str(), nullptr);
  if (quota <= 0) return 0;  // -1: no quota
  return processors(quota, std::strtod(start_of(folder + "/cpu.cfs_period_us").c_str(), nullptr));
}

/// The smaller one, where 0 is none.
double stricter(double a, double b) { return a == 0 || b == 0 ? std::max(a, b) : std::min(a, b); }

/// Calls found(folder, version) for each group of this process and all above it, which limit
/// `controller`.
template <class Found>
void each_group(const std::string& root, const std::string& controller, const Found& found) {
  const std::string mount = root + "/sys/fs/cgroup";
  const auto all = [&](const std::string& top, std::string path, int version) {
    found(top, version);
    for (; !path.empty(); path.resize(path.rfind('/'))) found(top + path, version);
  };
  const std::string groups = start_of(root + "/proc/self/cgroup");
  for (std::size_t at = 0, end = 0; at < groups.size(); at = end + 1) {
    end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);  // number:controllers:/path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") all(mount, path, 2);
    else if (controllers.find(',' + controller + ',') != std::string::npos)
      all(mount + '/' + controller, path, 1);
  }
}

double read_quota(const std::string& root) {
  double out = 0;
  each_group(root, "cpu", [&](const std::string& folder, int version) {
    out = stricter(out, version == 2 ? quota_of_version_2(folder) : quota_of_version_1(folder));
  });
  return out;
}

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// The number at the beginning of a text, or after `key`; below 0 where there is none, as in
/// "max".
std::int64_t number_in(const std::string& text, const std::string& key = {}) {
  const auto at = text.find(key);
  if (at == std::string::npos) return -1;
  const char* const begin = text.c_str() + at + key.size();
  char* end = nullptr;
  const long long value = std::strtoll(begin, &end, 10);
  return end == begin ? -1 : value;
}

/// What one group still allows; no limit where not all figures can be read.
std::int64_t memory_room_of(const std::string& folder, int version) {
  const std::string limit = version == 2 ? "/memory.max" : "/memory.limit_in_bytes";
  const std::string used = version == 2 ? "/memory.current" : "/memory.usage_in_bytes";
  const std::int64_t most = number_in(start_of(folder + limit));
  const std::int64_t now = number_in(start_of(folder + used));
  const std::string figures = start_of(folder + "/memory.stat");
  if (most < 0 || now < 0 || figures.empty()) return kNoLimit;
  // Cached pages of files count as used, but give way.
  const std::int64_t cached = number_in('\n' + figures, "\ninactive_file ");
  return std::max<std::int64_t>(0, most - now + std::max<std::int64_t>(0, cached));
}

}  // namespace

double cgroup_cpu_quota(const std::string& root) {
  try {
    return read_quota(root);
  } catch (const std::bad_alloc&) {
    return 0;  // out of memory: the product runs without a quota
  }
}

std::int64_t cgroup_memory_room(const std::string& root) {
  std::int64_t out = kNoLimit;
  try {
    each_group(root, "memory", [&](const std::string& folder, int version) {
      out = std::min(out, memory_room_of(folder, version));
    });
  } catch (const std::bad_alloc&) {
  }
  return out;
}

}  // namespace tessera
