// The CPU quota that the control group of this process imposes.
#pragma once

#include <string>

namespace tessera {

/// The CPU quota in processors (1.5 is one and a half): the least of this process's cgroup and its
/// ancestors; 0 where there is none. Reads cgroups v2 and v1. `root` is a prefix of all paths, for
/// tests.
double cgroup_cpu_quota(const std::string& root = {});

}  // namespace tessera
