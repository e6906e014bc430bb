// What this machine has and what this process may use: CPU, caches, memory, limits. Reads /proc and
// /sys; an unknown fact is empty or zero, never an error.
#pragma once

#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::shell {

struct Cache {
  int level = 0;
  std::string type;  ///< "Data", "Instruction", "Unified"
  index_t bytes = 0;
  int shared_by = 1;  ///< logical CPUs that share one
};

struct Machine {
  std::string host, cpu_model, kernel;
  std::string cpu_stepping;            ///< distinguishes CPUs with the same model name
  std::vector<std::string> cpu_flags;  ///< those in /proc/cpuinfo that matter for arithmetic
  int cpus_online = 1;                 ///< logical CPUs of the machine
  int cpus_allowed = 1;                ///< by this process's affinity mask
  double cgroup_cpus = 0;              ///< CPU quota, in CPUs; 0: none
  double mhz = 0;
  std::string governor;  ///< of CPU 0; empty if the kernel does not report it
  std::vector<Cache> caches;
  index_t memory_bytes = 0, available_bytes = 0;
  index_t cgroup_memory_bytes = 0;     ///< memory limit of the cgroup; 0: none
  std::string transparent_huge_pages;  ///< "always", "madvise", "never"
  index_t huge_pages_reserved = 0;
  std::vector<double> load;
};

Machine describe_machine();

/// Clock ticks of this process's CPUs since the machine started, from the text of /proc/stat.
struct ProcessorTicks {
  double busy = 0, all = 0;
  int processors = 0;
};
ProcessorTicks processor_ticks(const std::string& stat);
/// Approximately how many of this process's CPUs other programs keep busy: samples for `seconds`,
/// in which this process sleeps. Includes time that a hypervisor takes. 0 if the system does not
/// report it.
double busy_processors(double seconds);

/// The compiler of CUDA; "" if there is none.
std::string nvcc_path();

/// Throws Error(resource) with both numbers if `wanted` bytes (a double, since it may not fit into
/// 64 bits) for `purpose` exceed the available memory.
void require_memory(double wanted, const std::string& purpose);

/// First line of a small file without its line break; "" if it cannot be read.
std::string first_line(const std::string& path);

}  // namespace tessera::shell
