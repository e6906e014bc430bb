// Limits of memory and of files, and Landlock where the kernel has it: see sandbox.hpp.
#include "sandbox.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

#include "limits.hpp"

#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif

namespace tessera::puzzle {

namespace {

bool is_active = false;

void limit(int what, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(static_cast<__rlimit_resource>(what), &both);
}

#if defined(LANDLOCK_ACCESS_FS_WRITE_FILE)
/// Files outside the folder can no longer be written, made or removed. An older kernel, or one
/// without Landlock, leaves that to the limits.
void allow_writing_only_in(const char* folder) {
  const std::uint64_t writing = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO;
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = writing;
  const int rules =
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules < 0) return;
  for (const char* each : {folder, "/dev"}) {
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = each == folder ? writing : LANDLOCK_ACCESS_FS_WRITE_FILE;
    beneath.parent_fd = open(each, O_PATH | O_CLOEXEC);
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
    close(beneath.parent_fd);
  }
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_landlock_restrict_self, rules, 0);
  close(rules);
}
#else
void allow_writing_only_in(const char*) {}
#endif

/// Runs before the static objects of the learner's file.
[[gnu::constructor(101)]] void enter_sandbox() {
  const char* const folder = std::getenv(kFolderVariable);
  if (folder == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr rlim_t kMebibyte = 1 << 20;
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_DATA, 1024 * kMebibyte);
  limit(RLIMIT_FSIZE, kMostFileBytes);
  std::signal(SIGXFSZ, SIG_IGN);  // output beyond the limit is lost, and the program continues
  allow_writing_only_in(folder);
  is_active = true;
}

}  // namespace

bool is_sandboxed() { return is_active; }

}  // namespace tessera::puzzle
