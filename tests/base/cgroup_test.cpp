// CPU quotas and memory limits of cgroups, read from a folder that looks like a system: at the top,
// further down, in both versions.
#include "base/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace tessera {
namespace {

namespace fs = std::filesystem;

class Cgroup : public ::testing::Test {
 protected:
  Cgroup() : root_(fs::temp_directory_path() / ("cgroup." + std::to_string(getpid()))) {}
  ~Cgroup() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  double quota() const { return cgroup_cpu_quota(root_.string()); }

  fs::path root_;
};

TEST_F(Cgroup, WhereNothingIsSaidThereIsNone) {
  EXPECT_EQ(quota(), 0);
  write("proc/self/cgroup", "0::/");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0);
  write("proc/self/cgroup", "nonsense\n0::\n:::");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Cgroup, OfAContainerItLiesAtTheTop) {
  write("sys/fs/cgroup/cpu.max", "150000 100000");
  for (const char* groups : {"0::/", "0::/docker/1234"}) {
    write("proc/self/cgroup", groups);
    EXPECT_EQ(quota(), 1.5) << groups;
  }
}

TEST_F(Cgroup, OfAServiceItLiesFurtherDownAndTheStrictestCounts) {
  write("proc/self/cgroup", "0::/system.slice/some.service");
  write("sys/fs/cgroup/system.slice/some.service/cpu.max", "300000 100000");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/system.slice/cpu.max", "200000 100000");
  EXPECT_EQ(quota(), 2);
  write("sys/fs/cgroup/system.slice/other.service/cpu.max", "100000 100000");
  EXPECT_EQ(quota(), 2) << "a group of others";
}

TEST_F(Cgroup, OfVersion1ItBelongsToTheCpuController) {
  write("proc/self/cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/batch/job\n0::/");
  write("sys/fs/cgroup/cpu/batch/job/cpu.cfs_quota_us", "-1");
  write("sys/fs/cgroup/cpu/batch/job/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu/batch/cpu.cfs_quota_us", "50000");
  write("sys/fs/cgroup/cpu/batch/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota(), 0.5);
}

TEST_F(Cgroup, MemoryThatIsLeftIsTheLeastOfAllGroupsAbove) {
  const auto room = [&] { return cgroup_memory_room(root_.string()); };
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(room(), none);
  write("proc/self/cgroup", "0::/job/step");
  write("sys/fs/cgroup/job/step/memory.max", "max");
  EXPECT_EQ(room(), none);
  const auto group = [&](const std::string& folder, const char* most) {
    write(folder + "/memory.max", most);
    write(folder + "/memory.current", "3000");
    write(folder + "/memory.stat", "anon 2000\ninactive_file 500\nactive_file 7");
  };
  group("sys/fs/cgroup", "1000000");
  EXPECT_EQ(room(), 997500);
  group("sys/fs/cgroup/job", "10000");
  EXPECT_EQ(room(), 7500) << "a job's limit is below the top";
  group("sys/fs/cgroup/job/step", "2000");
  EXPECT_EQ(room(), 0);
}

TEST_F(Cgroup, MemoryOfVersion1BelongsToItsController) {
  write("proc/self/cgroup", "4:cpu:/job\n9:memory:/batch");
  write("sys/fs/cgroup/memory/batch/memory.limit_in_bytes", "5000");
  write("sys/fs/cgroup/memory/batch/memory.usage_in_bytes", "1000");
  write("sys/fs/cgroup/memory/batch/memory.stat", "cache 1\ninactive_file 10");
  EXPECT_EQ(cgroup_memory_room(root_.string()), 4010);
}

}  // namespace
}  // namespace tessera
