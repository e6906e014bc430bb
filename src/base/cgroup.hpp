// What the control group of this process leaves it of the machine.
#pragma once

#include <string>

namespace tessera {

/// Processors that the CPU quotas of this process's cgroup and of those above it grant: the least
/// of them, 1.5 for one and a half; 0 where there is no quota. Versions 2 and 1 of cgroups. `root`
/// stands before the paths that are read: a test has a folder of its own.
double cgroup_cpu_quota(const std::string& root = {});

}  // namespace tessera
