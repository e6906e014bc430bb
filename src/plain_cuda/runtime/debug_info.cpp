// Reads the program's own debug information: see debug_info.hpp.
#include "debug_info.hpp"

#include <elfutils/libdwfl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <set>

namespace tessera::plain_cuda {

namespace {

class DebugInfo {
 public:
  DebugInfo() {
    static const Dwfl_Callbacks callbacks = {dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                             nullptr, nullptr};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr) return;
    dwfl_linux_proc_report(dwfl_, getpid());
    dwfl_report_end(dwfl_, nullptr, nullptr);
  }
  Place place_of(std::uintptr_t pc) {
    const std::lock_guard lock(mutex_);
    Dwfl_Line* const line = dwfl_ == nullptr ? nullptr : dwfl_getsrc(dwfl_, pc);
    if (line == nullptr) return {};
    Place out;
    const char* const file = dwfl_lineinfo(line, nullptr, &out.line, &out.column, nullptr, nullptr);
    out.file = files_.insert(file == nullptr ? "" : file).first->c_str();
    return out;
  }

 private:
  std::mutex mutex_;
  Dwfl* dwfl_ = nullptr;
  std::set<std::string> files_;
};

DebugInfo& debug_info() {
  static DebugInfo* const info = new DebugInfo;
  return *info;
}

}  // namespace

Place place_of(std::uintptr_t pc) { return debug_info().place_of(pc); }

const std::vector<Variable>& variables() {
  static const std::vector<Variable> none;
  return none;
}

bool is_read_only(std::uint64_t address) {
  struct Search {
    std::uint64_t address;
    bool found;
  } search{address, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0 &&
              s.address - (info->dlpi_addr + part.p_vaddr) < part.p_memsz)
            s.found = true;
        }
        return s.found ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace tessera::plain_cuda
