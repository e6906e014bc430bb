// What this machine is and what of it this process may use: processor, caches, memory, limits.
// Reads /proc and /sys; what cannot be found out stays empty or zero, never an error.
#pragma once

#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::shell {

struct Cache {
  int level = 0;
  std::string type;  ///< "Data", "Instruction", "Unified"
  index_t bytes = 0;
  int shared_by = 1;  ///< logical processors that share one
};

struct Machine {
  std::string host, cpu_model, kernel;
  std::string cpu_stepping;            ///< what tells apart processors of one model name
  std::vector<std::string> cpu_flags;  ///< of /proc/cpuinfo, those that matter for arithmetic
  int cpus_online = 1;                 ///< logical processors of the machine
  int cpus_allowed = 1;                ///< by this process's affinity mask
  double cgroup_cpus = 0;              ///< CPU quota in processors; 0: none
  double mhz = 0;
  std::string governor;  ///< of CPU 0; empty where the kernel does not tell
  std::vector<Cache> caches;
  index_t memory_bytes = 0, available_bytes = 0;
  index_t cgroup_memory_bytes = 0;     ///< memory limit of the cgroup; 0: none
  std::string transparent_huge_pages;  ///< "always", "madvise", "never"
  index_t huge_pages_reserved = 0;
  std::vector<double> load;
};

Machine describe_machine();

/// Clock ticks of this process's processors since the machine started, of a text as /proc/stat has.
struct ProcessorTicks {
  double busy = 0, all = 0;
  int processors = 0;
};
ProcessorTicks processor_ticks(const std::string& stat);
/// How many of this process's processors others keep busy, about: looks for `seconds`, in which
/// this process sleeps. What a hypervisor takes away counts too. 0 where the system does not tell.
double busy_processors(double seconds);

/// The full path of a program in $PATH or in `extra`; "" when there is none.
std::string find_program(const std::string& name, const std::vector<std::string>& extra = {});
/// The compiler of CUDA; "" when there is none.
std::string nvcc_path();

/// Throws Error(resource) with both numbers when `wanted` bytes (a double, since it may not fit
/// into 64 bits) for `purpose` exceed what is available.
void require_memory(double wanted, const std::string& purpose);

/// First line of a small file without its line break; "" when it cannot be read.
std::string first_line(const std::string& path);

}  // namespace tessera::shell
