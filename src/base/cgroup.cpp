// Finds the groups of this process in /proc/self/cgroup and reads their quotas, and those of the
// groups above: a service or a user's slice is some folders down, a container's group at the top
// of what it can see. Linux, Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst.
#include "cgroup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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
  const ssize_t count = read(file, text, sizeof text);
  close(file);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
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

/// The least quota of the group at `path` and its ancestors.
double strictest(const std::string& mount, std::string path,
                 double (*quota_of)(const std::string&)) {
  double out = quota_of(mount);
  for (; !path.empty(); path.resize(path.rfind('/'))) out = stricter(out, quota_of(mount + path));
  return out;
}

double read_quota(const std::string& root) {
  const std::string mount = root + "/sys/fs/cgroup";
  double out = 0;
  const std::string groups = start_of(root + "/proc/self/cgroup");
  for (std::size_t at = 0, end = 0; at < groups.size(); at = end + 1) {
    end = std::min(groups.find('\n', at), groups.size());
    const std::string line = groups.substr(at, end - at);  // number:controllers:/path
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") out = stricter(out, strictest(mount, path, quota_of_version_2));
    else if (controllers.find(",cpu,") != std::string::npos)
      out = stricter(out, strictest(mount + "/cpu", path, quota_of_version_1));
  }
  return out;
}

}  // namespace

double cgroup_cpu_quota(const std::string& root) {
  try {
    return read_quota(root);
  } catch (const std::bad_alloc&) {
    return 0;  // out of memory: the product runs without a quota
  }
}

}  // namespace tessera
