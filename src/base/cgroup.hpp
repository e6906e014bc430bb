// The CPU quota and the memory that the control groups of this process leave it.
#pragma once

#include <cstdint>
#include <string>

namespace tessera {

/// The CPU quota in processors (1.5 is one and a half): the least of this process's cgroup and its
/// ancestors; 0 where there is none. Reads cgroups v2 and v1. `root` is a prefix of all paths, for
/// tests.
double cgroup_cpu_quota(const std::string& root = {});

/// Bytes that the memory limits of this process's cgroup and of those above it still allow, cached
/// pages of files counted as free; the largest number where there is no limit.
std::int64_t cgroup_memory_room(const std::string& root = {});

}  // namespace tessera
