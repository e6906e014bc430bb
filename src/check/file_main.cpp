// The program of `tessera check FILE.cpp`: see file.hpp. There is a report however it ends: a
// signal in a thread is already a finding, a call of exit() becomes one here, and in other cases
// the command notices that the report is missing.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <thread>

#include "check/formats/formats.hpp"
#include "memory_map.hpp"
#include "tessera/check/file.hpp"
#include "unfinished.hpp"

namespace tessera::check {

namespace {

constexpr int kNoSuchForm = 2, kCouldNotCheck = 4;

struct Printing {
  const Format* format = find_format("text");
  std::vector<std::pair<const Format*, std::string>> others;  ///< each with its file
  std::string device = "h200", source, report;
  ProductProblem problem;
  bool sized = false;
  std::size_t columns = 0;  ///< of the terminal where the report is printed; 0: any
};

bool set(ProductProblem& problem, std::string_view key, const std::string& value) {
  if (key == "m") problem.m = std::atoll(value.c_str());
  else if (key == "n") problem.n = std::atoll(value.c_str());
  else if (key == "k") problem.k = std::atoll(value.c_str());
  else if (key == "beta") problem.beta = std::strtod(value.c_str(), nullptr);
  else if (key == "strides") problem.strides = parse_product_strides(value);
  else return false;
  return true;
}

void set(Options& options, Printing& printing, std::string_view key, const std::string& value) {
  if (set(printing.problem, key, value)) return;
  if (key == "order") options.order = parse_order(value);
  else if (key == "seed") options.seed = std::strtoull(value.c_str(), nullptr, 10);
  else if (key == "threads") options.threads = std::atoi(value.c_str());
  else if (key == "blocks") options.blocks = std::atoll(value.c_str());
  else if (key == "time_limit_s") options.time_limit_s = std::atof(value.c_str());
  else if (key == "correctness") options.correctness = value == "1";
  else if (key == "forget_tiles") options.forget_tiles = value == "1";
  else if (key == "coverage") options.coverage = value == "1";
  else if (key == "registers") options.registers = std::atoi(value.c_str());
  else if (key == "warp") options.warp = std::atoi(value.c_str());
  else if (key == "suppress") options.suppressions = read_suppressions(value);
  else if (key == "problem") options.problem = value;
  else if (key == "stop_at") options.stop_at = parse_stop_at(value);
  else if (key == "format") printing.format = find_format(value);
  else if (key == "device") printing.device = options.device = value;
  else if (key == "source") printing.source = value;
  else if (key == "sized") printing.sized = value == "1";
  else if (key == "columns") printing.columns = std::strtoul(value.c_str(), nullptr, 10);
  else if (key == "report") printing.report = value;
  else if (const Format* const other = find_format(key)) printing.others.emplace_back(other, value);
}

bool write(const std::string& path, const std::string& text) {
  std::FILE* const file = path.empty() ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = path.empty() ? std::fflush(file) == 0 : std::fclose(file) == 0;
  return written && closed;
}

/// Writes the report, or only an exit code, for the command: complete or not at all.
bool leave(const Printing& to, int code, const std::string& text) {
  if (to.report.empty()) return write({}, text);
  const std::string unfinished = to.report + ".part";
  std::error_code failed;
  if (!write(unfinished, cat(code, "\n", text))) return false;
  std::filesystem::rename(unfinished, to.report, failed);
  return !failed;
}

/// Returns the exit code.
int print(const Printing& to, Report report) {
  report.source = to.source;
  const DeviceModel& device = device_model(to.device);
  const int code = exit_code(report.summary);
  bool written = true;
  for (const auto& [format, file] : to.others)
    written = written && write(file, format->text(report, device, read_source, 0));
  written = written && leave(to, code, to.format->text(report, device, read_source, to.columns));
  if (written) return code;
  std::fputs("tessera check: the report cannot be written\n", stderr);
  return kCouldNotCheck;
}

/// The file does not have the required form. Returns the exit code.
int refuse(const Printing& to, bool has_any) {
  const Error error =
      has_any
          ? Error(Category::argument, cat(to.source, " takes no shape, which --sweep chooses"),
                  "a function check_kernel(const check::Options& options, const "
                  "check::ProductProblem& problem)",
                  {}, "see 'Many shapes' in docs/checker.md")
          : Error(Category::unavailable, cat(to.source, " defines no function check_kernel"),
                  "tessera::check::Report check_kernel(const tessera::check::Options& options), in "
                  "no namespace and not static",
                  {}, "see 'Your own kernel' in docs/checker.md");
  const int code = has_any ? kNoSuchForm : kCouldNotCheck;
  std::fprintf(stderr, "tessera check: %s\n", error.what());
  leave(to, code, "");
  return code;
}

/// What exit() uses while a kernel runs.
Printing* unfinished = nullptr;

/// Registered with atexit, so it runs on the stack of the caller of exit(): the report needs more.
void report_the_exit() {
  if (unfinished == nullptr) return;
  const auto* const recorder = static_cast<BlockRecorder*>(tessera::detail::recorder);
  int code = kCouldNotCheck;
  std::thread([&] {
    code = print(*unfinished, recorder != nullptr
                                  ? report_of_exit(*recorder)
                                  : report_of_crash("check_kernel", Kind::crash, "called exit()"));
  }).join();
  _exit(code);
}

}  // namespace

int file_main(int argc, char** argv, CheckKernel* check_kernel, HeapBlockOf* heap_block_of,
              CheckKernelOfShape* check_shape) {
  static Printing printing;  // an exit() in the kernel reads it
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  tessera::check::heap_block = heap_block_of;
  int code = kCouldNotCheck;
  try {
    Options options;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const auto equals = word.find('=');
      if (equals != std::string_view::npos)
        set(options, printing, word.substr(0, equals), std::string(word.substr(equals + 1)));
    }
    device_model(printing.device);
    const bool sized = check_shape != nullptr && (printing.sized || check_kernel == nullptr);
    if (!sized && (printing.sized || check_kernel == nullptr))
      return refuse(printing, check_kernel != nullptr);
    unfinished = &printing;
    std::atexit(report_the_exit);
    const Report report = sized ? check_shape(options, printing.problem) : check_kernel(options);
    unfinished = nullptr;
    code = print(printing, report);
  } catch (const std::exception& error) {
    unfinished = nullptr;
    std::fprintf(stderr, "tessera check: %s\n", error.what());
    leave(printing, code, "");
  }
  return code;
}

}  // namespace tessera::check
