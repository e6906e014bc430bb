// See opencl.hpp.
#include "opencl.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail::opencl {

namespace {

constexpr std::uint32_t kMostPlatforms = 64, kMostDevices = 64;

/// Why there is no device, and what to do.
struct Problem {
  std::string what = {};
  std::string advice =
      "on Debian pocl-opencl-icd runs OpenCL on the CPU, and a GPU's driver brings its own";
};

struct Loader {
  Api api{};
  Problem problem;
};

Loader open_loader() {
  Loader out;
  const char* const named = std::getenv("TESSERA_OPENCL_LIBRARY");
  const char* const file = named != nullptr && *named != '\0' ? named : "libOpenCL.so.1";
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    out.problem.what = why == nullptr ? file : why;
  }
  if (file == named)
    out.problem.advice =
        "TESSERA_OPENCL_LIBRARY names the file of an OpenCL loader: "
        "libOpenCL.so.1 where it is not set";
  if (library == nullptr) return out;
  const auto find = [&](auto& function, const char* name, bool is_needed = true) {
    void* const found = dlsym(library, name);
    if (found == nullptr && is_needed && out.problem.what.empty())
      out.problem.what = cat(file, " has no ", name);
    std::memcpy(&function, &found, sizeof found);
  };
  Api& a = out.api;
  find(a.get_platforms, "clGetPlatformIDs");
  find(a.get_devices, "clGetDeviceIDs");
  find(a.get_device_info, "clGetDeviceInfo");
  find(a.create_context, "clCreateContext");
  find(a.release_context, "clReleaseContext");
  find(a.create_queue, "clCreateCommandQueue");
  find(a.create_buffer, "clCreateBuffer");
  find(a.release_buffer, "clReleaseMemObject");
  find(a.create_program_with_binary, "clCreateProgramWithBinary");
  find(a.create_program_with_il, "clCreateProgramWithIL", false);
  find(a.build_program, "clBuildProgram");
  find(a.get_build_info, "clGetProgramBuildInfo");
  find(a.release_program, "clReleaseProgram");
  find(a.create_kernel, "clCreateKernel");
  find(a.get_kernel_info, "clGetKernelWorkGroupInfo");
  find(a.set_argument, "clSetKernelArg");
  find(a.enqueue_kernel, "clEnqueueNDRangeKernel");
  find(a.enqueue_read, "clEnqueueReadBuffer");
  find(a.enqueue_write, "clEnqueueWriteBuffer");
  find(a.enqueue_fill, "clEnqueueFillBuffer");
  find(a.get_event_time, "clGetEventProfilingInfo");
  find(a.release_event, "clReleaseEvent");
  find(a.finish, "clFinish");
  return out;
}

const Loader& loader() {
  static const Loader out = open_loader();
  return out;
}

/// A text property; empty where the driver has none, or returns an invalid one.
std::string text_of(Handle device, Info what) {
  constexpr std::size_t most = 1 << 16;
  std::size_t bytes = 0;
  if (loader().api.get_device_info(device, what, 0, nullptr, &bytes) != 0 || bytes > most)
    return {};
  std::string out(bytes, '\0');
  if (loader().api.get_device_info(device, what, bytes, out.data(), nullptr) != 0) return {};
  out.resize(strnlen(out.c_str(), bytes));
  return out;
}

template <class T>
T number_of(Handle device, Info what) {
  T out{};
  return loader().api.get_device_info(device, what, sizeof out, &out, nullptr) == 0 ? out : T{};
}

DeviceFacts facts_of(Handle device) {
  DeviceFacts out;
  out.handle = device;
  out.name = text_of(device, 0x102B);
  out.version = text_of(device, 0x102F);
  out.extensions = text_of(device, 0x1030);
  out.il = text_of(device, 0x105B);
  out.most_threads = number_of<std::size_t>(device, 0x1004);
  out.most_allocation = number_of<std::uint64_t>(device, 0x1010);
  out.memory_bytes = number_of<std::uint64_t>(device, 0x101F);
  out.local_bytes = number_of<std::uint64_t>(device, 0x1023);
  return out;
}

struct Found {
  std::vector<DeviceFacts> devices;
  Problem problem;
};

Found find_devices() {
  std::array<Handle, kMostPlatforms> platforms{};
  std::uint32_t found = 0;
  Found out;
  const Api& a = loader().api;
  if (a.get_platforms(kMostPlatforms, platforms.data(), &found) != 0 || found == 0) {
    out.problem.what = "there is no driver";
    return out;
  }
  for (std::uint32_t i = 0; i < std::min(found, kMostPlatforms); ++i) {
    std::array<Handle, kMostDevices> some{};
    std::uint32_t count = 0;
    constexpr Bits all = 0xFFFFFFFF;
    if (platforms[i] == nullptr ||
        a.get_devices(platforms[i], all, kMostDevices, some.data(), &count) != 0)
      continue;
    for (std::uint32_t j = 0; j < std::min(count, kMostDevices); ++j) {
      if (some[j] == nullptr) continue;
      DeviceFacts facts = facts_of(some[j]);
      const bool makes_sense = !facts.name.empty() && facts.most_threads > 0 &&
                               facts.memory_bytes > 0 && facts.local_bytes > 0;
      if (makes_sense) out.devices.push_back(std::move(facts));
    }
  }
  if (out.devices.empty())
    out.problem = {"no driver has a device",
                   "drivers need a GPU that this user may open; PoCL runs on the CPU, and needs a "
                   "cache folder that it can write: POCL_CACHE_DIR, or ~/.cache/pocl"};
  return out;
}

Limit limit_of(const char* variable, int otherwise) {
  constexpr double most = 1e6;
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return {variable, std::chrono::seconds(otherwise)};
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds >= 1 && seconds <= most))
    throw Error(Category::argument, cat(variable, "=", printable(text)),
                "a number of seconds from 1 on");
  return {variable, std::chrono::seconds(static_cast<long>(seconds))};
}

std::string no_answer(const char* who, std::chrono::seconds limit) {
  return cat(who, " did not answer within ", limit.count(), " s");
}

std::atomic<bool> stuck = false;
std::atomic<const char*> called = nullptr;

/// Finds devices in a process of its own. Why that failed; empty if it did not.
std::string rehearsal() {
  const std::chrono::seconds limit = driver_limit(30).seconds;
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    const int quiet = open("/dev/null", O_WRONLY);
    if (quiet >= 0) dup2(quiet, 2);
    find_devices();
    _exit(write(ends[1], "", 1) == 1 ? 0 : 1);
  }
  close(ends[1]);
  pollfd done{ends[0], POLLIN, 0};
  const int limit_ms = static_cast<int>(std::chrono::milliseconds(limit).count());
  while (poll(&done, 1, limit_ms) < 0 && errno == EINTR) continue;
  const bool is_late = done.revents == 0;
  char byte = 0;
  const bool is_found = !is_late && read(ends[0], &byte, 1) == 1;
  close(ends[0]);
  kill(child, SIGKILL);  // threads of a driver may keep it alive
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (is_found) return {};
  if (is_late) return no_answer("a driver", limit);
  return WIFSIGNALED(status) ? cat("a driver crashed with signal ", WTERMSIG(status))
                             : cat("a driver ended the process");
}

const Found& found() {
  static const Found out = [] {
    Found all{{}, loader().problem};
    if (!all.problem.what.empty()) return all;
    all.problem = {rehearsal(),
                   "see what 'clinfo -l' says; TESSERA_DRIVER_TIMEOUT has the seconds to wait"};
    if (!all.problem.what.empty()) return all;
    const auto listed = std::make_shared<Found>();
    call_bounded("clGetPlatformIDs", driver_limit(), [=] { *listed = find_devices(); });
    return std::move(*listed);
  }();
  return out;
}

}  // namespace

bool DeviceFacts::has(std::string_view extension) const {
  return cat(" ", extensions, " ").find(cat(" ", extension, " ")) != std::string::npos;
}

bool is_stuck() { return stuck; }

const Api& api() {
  if (is_stuck())
    throw Error(Category::unavailable, "OpenCL: a driver did not answer and is not called again");
  return loader().api;
}

Limit driver_limit(int otherwise) { return limit_of("TESSERA_DRIVER_TIMEOUT", otherwise); }
Limit kernel_limit() { return limit_of("TESSERA_KERNEL_TIMEOUT", 0); }

Calling::Calling(const char* function) : before_(called.exchange(function)) {}
Calling::~Calling() { called = before_; }
const char* called_function() noexcept { return called; }

void call_bounded(const char* function, const Limit& limit, std::function<void()> call) {
  const Calling calling(function);
  // The thread may outlive this call: it owns all it uses.
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(call));
  std::future<void> done = task->get_future();
  std::thread thread;
  try {
    thread = std::thread([task] { (*task)(); });
  } catch (const std::system_error&) {
    throw Error(Category::resource, cat("OpenCL: ", function, ": no thread can be started"));
  }
  if (done.wait_for(limit.seconds) == std::future_status::ready) {
    thread.join();
    return done.get();
  }
  thread.detach();
  stuck = true;
#if defined(__GLIBC__)
  // The driver's own destructors may wait for that thread.
  on_exit([](int code, void*) { std::fflush(nullptr), _exit(code); }, nullptr);
#endif
  throw Error(Category::unavailable, cat("OpenCL: ", no_answer(function, limit.seconds)), {}, {},
              cat("use another device, or set ", limit.variable, " to more seconds"));
}

const std::vector<DeviceFacts>& devices() {
  const Found& all = found();
  if (!all.problem.what.empty())
    throw Error(Category::unavailable, cat("no OpenCL device: ", all.problem.what), {}, {},
                all.problem.advice);
  return all.devices;
}

const char* name_of(Code code) {
  switch (code) {
    case -1: return "CL_DEVICE_NOT_FOUND";
    case -2: return "CL_DEVICE_NOT_AVAILABLE";
    case -4: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5: return "CL_OUT_OF_RESOURCES";
    case -6: return "CL_OUT_OF_HOST_MEMORY";
    case -11: return "CL_BUILD_PROGRAM_FAILURE";
    case -14: return "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST";
    case -33: return "CL_INVALID_DEVICE";
    case -34: return "CL_INVALID_CONTEXT";
    case -36: return "CL_INVALID_COMMAND_QUEUE";
    case -38: return "CL_INVALID_MEM_OBJECT";
    case -42: return "CL_INVALID_BINARY";
    case -45: return "CL_INVALID_PROGRAM_EXECUTABLE";
    case -46: return "CL_INVALID_KERNEL_NAME";
    case -52: return "CL_INVALID_KERNEL_ARGS";
    case -54: return "CL_INVALID_WORK_GROUP_SIZE";
    case -61: return "CL_INVALID_BUFFER_SIZE";
    default: return "an error";
  }
}

void check(Code code, const char* function) {
  if (code == 0) return;
  const bool is_short = code == -4 || code == -5 || code == -6 || code == -61;
  throw Error(is_short ? Category::resource : Category::kernel,
              cat("OpenCL: ", function, ": ", name_of(code), " (", code, ")"));
}

}  // namespace tessera::detail::opencl
