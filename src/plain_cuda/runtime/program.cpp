// The report of a program in plain CUDA, and its main(): see program.hpp. The command links with
// --wrap=main, so that the program's own main() is __real_main here.
#include "program.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "check/merge/reports.hpp"
#include "crash.hpp"
#include "forks.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "tessera/check/device_model.hpp"
#include "tessera/check/file.hpp"
#include "tessera/check/suppressions.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/recorder.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/array.hpp"

extern "C" int __real_main(int argc, char** argv, char** environment);
extern "C" char** environ;
extern "C" int tessera_warp_size;  // what programs call warpSize
/// The text of --launch, if a program was generated from it.
extern "C" [[gnu::weak]] const char tessera_requested_launch[];
/// Not null: the program was built to run unchecked.
extern "C" [[gnu::weak]] const char tessera_runs_unchecked;

namespace tessera::plain_cuda {

namespace {

/// The memory of the process, in bytes.
std::int64_t memory_taken() {
  long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

/// The limit of its memory: if memory runs out, the system may end any process. `ulimit -m` does
/// not help.
std::int64_t memory_room() {
  const std::int64_t room = memory_taken() + available_memory() / 8 * 7;
  rlimit limit{};
  if (getrlimit(RLIMIT_RSS, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(room)) return room;
  return static_cast<std::int64_t>(limit.rlim_cur);
}

/// The program's main(), on a thread of its own: the report is printed even if it crashes.
class MainThread {
 public:
  int argc = 0;
  char** argv = nullptr;

  /// Returns when main() has ended, exit() was called, the program has crashed or exceeded this
  /// many bytes, or this many seconds are over (0: never).
  void run(double seconds, std::int64_t bytes) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, std::size_t{64} << 20);
    pthread_t thread{};
    const int failed = pthread_create(&thread, &attributes, body, this);
    if (failed != 0) throw Error(Category::resource, "no thread for the program");
    pthread_detach(thread);
    std::unique_lock lock(mutex_);
    constexpr auto kLook = std::chrono::milliseconds(10);
    const auto began = std::chrono::steady_clock::now();
    const auto is_late = [&] {
      const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - began;
      return seconds > 0 && gone.count() > seconds;
    };
    while (!over_.wait_for(lock, kLook, [this] { return is_over_; })) {
      takes_too_much_ = memory_taken() > bytes;
      if (takes_too_much_ || has_crashed() || is_late()) break;
    }
    if (failure_) std::rethrow_exception(failure_);
  }
  bool is_over() const { return is_over_; }
  bool takes_too_much() const { return takes_too_much_; }
  int exit_code() const { return exit_code_; }
  const std::string& thrown() const { return thrown_; }

  /// The program is over, and the calling thread stops.
  [[noreturn]] void leave(int code) {
    end(code);
    for (;;) pause();
  }

 private:
  static void* body(void* self) {
    auto& mine = *static_cast<MainThread*>(self);
    frame_above_main = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    int code = 1;
    use_stack_for_crashes();
    try {
      code = __real_main(mine.argc, mine.argv, environ);
    } catch (const Error&) {
      mine.failure_ = std::current_exception();
    } catch (const std::exception& error) {
      mine.thrown_ = error.what();
    }
    if (is_forked()) {
      std::fflush(nullptr);
      _exit(code);
    }
    mine.end(code);
    return nullptr;
  }
  void end(int code) {
    const std::lock_guard lock(mutex_);
    if (is_over_) return;
    is_over_ = true;
    exit_code_ = code & 0xff;  // what a system keeps of it
    over_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false, takes_too_much_ = false;
  int exit_code_ = 0;
  std::string thrown_;
  std::exception_ptr failure_;
};

MainThread& main_thread() {
  static MainThread* const thread = new MainThread;
  return *thread;
}

check::Report run_main(const check::Options& options) {
  Program& program = Program::get();
  program.options = options;
  program.is_checked = true;
  tessera_warp_size = options.warp;
  const char* const called = std::getenv("TESSERA_PROGRAM");
  program.report.kernel = called != nullptr ? called : main_thread().argv[0];
  program.report.grid = {0, 0, 0};  // until a kernel is launched
  program.report.order = name(options.order);
  catch_crashes();
  watch_forks();
  const std::int64_t room = memory_room();
  // A launch ends by itself at the time limit; the host's own work is abandoned.
  MainThread& main = main_thread();
  try {
    main.run(options.time_limit_s > 0 ? options.time_limit_s + 2 : 0, room);
  } catch (const Error& error) {  // the findings so far remain
    if (error.category() != Category::unavailable) throw;
    program.leave_unknown(error.what());
  }
  if (const std::string why = why_forks_matter(); !why.empty()) program.leave_unknown(why);
  if (main.is_over()) program.end(main.exit_code(), main.thrown());
  else if (has_crashed()) program.end(crashed());
  const std::lock_guard lock(program.mutex);
  check::Summary& summary = program.report.summary;
  if (main.takes_too_much()) {
    summary.clean = false;
    summary.incomplete =
        cat("the program was ended when it had taken ", room >> 20,
            " MiB of memory, the most that it may: give it less to do, or more memory (ulimit -m)");
  } else if ((!main.is_over() && !has_crashed()) || summary.timed_out) {
    summary.timed_out = true;
    summary.clean = false;
    if (summary.incomplete.empty())
      summary.incomplete =
          cat("the program was still running at the time limit of ", options.time_limit_s,
              " s: raise --time-limit, or give it less to do");
  }
  if (program.report.launches.size() == 1)
    program.report.kernel = program.report.launches[0].kernel;
  check::suppress(program.report, options.suppressions);
  return std::move(program.report);
}

check::Report run_launch(const check::Options& options, const check::ProductProblem& problem) {
  Program::get().problem = problem;
  Program::get().is_asked = true;
  check::Report report = run_main(options);
  report.problem = tessera_requested_launch;
  for (check::Finding& each : report.findings) {  // the words of --launch are no file
    for (check::Location* const at : {&each.location, &each.other})
      if (at->file == "--launch") *at = {};
  }
  if (Program::get().is_sized)
    report.problem += cat(" with m=", problem.m, " n=", problem.n, " k=", problem.k);
  return report;
}

}  // namespace

Program& Program::get() {
  static Program* const program = new Program;
  return *program;
}

cudaError_t Program::fail(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) error_ = error;
  return error;
}

cudaError_t Program::last_error(bool clear) {
  const cudaError_t out = lost_ != cudaSuccess ? lost_.load() : error_;
  if (clear) error_ = cudaSuccess;
  return out;
}

void Program::find(check::Kind kind, check::Severity severity, const Place& place,
                   std::string problem, std::string hint, const Place& other) {
  check::Report one;
  check::Finding finding;
  finding.kind = kind;
  finding.severity = severity;
  finding.location = {place.file, place.line, place.column};
  if (other.line > 0) finding.other = {other.file, other.line, other.column};
  finding.block.linear = finding.other_block.linear = -1;
  finding.problem = std::move(problem);
  finding.hint = std::move(hint);
  one.findings.push_back(std::move(finding));
  const std::lock_guard lock(mutex);
  check::merge_report(report, std::move(one));
}

void Program::leave_unknown(std::string why) {
  const std::lock_guard lock(mutex);
  report.summary.clean = false;
  if (report.summary.incomplete.empty()) report.summary.incomplete = std::move(why);
}

void cannot_run(const Place& place, const std::string& problem, std::string expected) {
  Program& program = Program::get();
  const std::lock_guard lock(program.mutex);
  program.report.summary.incomplete_at = {place.file, place.line, place.column};
  throw Error(Category::unavailable, cat(place.file, ":", place.line, ": ", problem),
              std::move(expected));
}

void Program::take_back(check::Kind kind, const Place& place) {
  const check::Location at{place.file, place.line, place.column};
  const std::lock_guard lock(mutex);
  check::Summary& summary = report.summary;
  summary.errors -= static_cast<std::int64_t>(std::erase_if(report.findings, [&](const auto& each) {
    return each.kind == kind && each.severity == check::Severity::error && each.location == at;
  }));
  summary.clean = summary.errors == 0 && summary.warnings == 0 && !summary.timed_out &&
                  summary.incomplete.empty();
}

cudaError_t refuse(cudaError_t error, const Place& place, std::string problem, std::string hint) {
  Program& program = Program::get();
  if (program.is_checked)
    program.find(check::Kind::runtime_misuse, check::Severity::error, place, std::move(problem),
                 std::move(hint));
  return program.fail(error);
}

namespace {
/// Watched accesses of lanes: at least in one launch, and in all launches of one kernel.
constexpr std::int64_t kOfLaunch = 1 << 24, kOfKernel = 1 << 27;
/// The estimate for a thread of an unknown kernel.
constexpr std::int64_t kGuess = 64;
constexpr std::int64_t kFewest = 4;
}  // namespace

double Program::seconds_left() const {
  if (options.time_limit_s <= 0) return 0;
  const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - began_;
  return std::max(options.time_limit_s - gone.count(), 0.1);
}

std::int64_t Program::watched_blocks(const std::string& kernel, std::int64_t blocks,
                                     std::int64_t threads) {
  const Watched& known = watched_[kernel];
  const std::int64_t of_thread =
      known.threads > 0 ? std::max<std::int64_t>(known.accesses / known.threads, 1) : kGuess;
  const std::int64_t room =
      std::min(kOfLaunch, std::max<std::int64_t>(kOfKernel - known.accesses, 0));
  return std::clamp(room / (of_thread * threads), std::min(kFewest, blocks), blocks);
}

void Program::add(const std::string& kernel, std::int64_t threads, check::Report&& launched) {
  Watched& known = watched_[kernel];
  known.threads += launched.summary.checked_blocks * threads;
  known.accesses += launched.total.active_lanes;
  const std::lock_guard lock(mutex);
  check::merge_report(report, std::move(launched));
}

void Program::leave() { main_thread().leave(0); }

void Program::end(int code, const std::string& thrown) {
  check::Summary& summary = report.summary;
  if (summary.timed_out) return;
  const bool did_nothing = volume(report.grid) == 0 && report.findings.empty();
  if ((code != 0 || did_nothing) && !summary.incomplete.empty()) return;  // the reason is known
  if (did_nothing && thrown.empty() &&
      (code != 0 || (!is_asked && !DeviceMemory::get().was_used()))) {
    summary.clean = false;
    summary.incomplete =
        cat("the program ended with exit code ", code,
            " before it launched a kernel: look at what "
            "it printed; it has one GPU, the stdin of the command, and the words of --args");
    return;
  }
  if (!thrown.empty())
    find(check::Kind::program_failed, check::Severity::error, {},
         cat("the program ended with an exception: ", thrown), "look at what it printed");
  else if (code != 0)
    find(check::Kind::program_failed, check::Severity::error, {},
         cat("the program ended with exit code ", code),
         "its own check failed: look at what it printed");
  find_leaks();
}

void Program::end(const Crash& crash) {
  using check::Kind;
  const std::string name = crash.signal == SIGABRT ? "aborts" : "crashes";
  Kind kind = Kind::crash;
  std::string problem = cat(crash.in_kernel ? "a kernel " : "the program ", name, " with signal ",
                            crash.signal, " (", strsignal(crash.signal), ")");
  std::string hint = crash.signal == SIGABRT
                         ? "look at what it printed: a failed assertion, an exception that nobody "
                           "catches, or a heap that was written past its blocks"
                         : "follow the pointer back to where it gets its value";
  if (crash.is_access) {
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx",
                  static_cast<unsigned long long>(crash.address));
    problem += cat(", at an access to address ", address);
  }
  DeviceMemory& memory = DeviceMemory::get();
  const Allocation* const near = memory.before(crash.address);
  if (crash.is_access && near != nullptr &&
      memory.contains(reinterpret_cast<const void*>(crash.address))) {
    kind = crash.in_kernel ? Kind::out_of_bounds : Kind::host_memory;
    problem += cat(", ", crash.address - near->end(), " bytes after the end of ",
                   DeviceMemory::name_of(*near));
    hint = "guard the access with the extent of the memory";
  }
  find(kind, check::Severity::error, crash.place, std::move(problem), std::move(hint));
}

void Program::find_leaks() {
  for (const Allocation* each : DeviceMemory::get().live()) {
    if (each->kind != MemoryKind::device) continue;
    const Place place{each->here.file, each->here.line, each->here.column};
    find(check::Kind::runtime_misuse, check::Severity::note, place,
         cat(DeviceMemory::name_of(*each), ", ", each->bytes, " bytes, is never given back"),
         "cudaFree it");
  }
}

}  // namespace tessera::plain_cuda

/// The exit() of the program's own files: the report is still to come.
extern "C" void tessera_cuda_exit(int code) {
  if (tessera::plain_cuda::is_forked()) _exit(code);
  if (!tessera::plain_cuda::Program::get().is_checked || tessera::detail::recorder != nullptr)
    std::exit(code);
  tessera::plain_cuda::main_thread().leave(code);
}

/// An error that no call returns, as of a kernel that cannot run here, is the program's last word.
static int main_unchecked(int argc, char** argv) {
  try {
    return __real_main(argc, argv, environ);
  } catch (const tessera::Error& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", error.what());
    return tessera::exit_code(error.category());
  }
}

/// The arguments are those of check::file_main, then `--` and the program's own.
extern "C" int __wrap_main(int argc, char** argv) {
  using namespace tessera::plain_cuda;
  if (&tessera_runs_unchecked != nullptr) return main_unchecked(argc, argv);
  int own = 1;
  while (own < argc && std::strcmp(argv[own], "--") != 0) ++own;
  MainThread& main = main_thread();
  main.argc = own < argc ? argc - own : 1;
  main.argv = own < argc ? argv + own : argv;
  main.argv[0] = argv[0];
  const int code = tessera::check::file_main(
      own, argv, run_main, nullptr, tessera_requested_launch != nullptr ? run_launch : nullptr);
  std::fflush(nullptr);
  _exit(code);  // the program's remaining work and objects are abandoned
}
