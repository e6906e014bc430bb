// CPU quotas of cgroups, read from a folder that looks like a system: at the top, further down, in
// both versions.
#include "base/cgroup.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace tessera
