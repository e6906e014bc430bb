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
#include <thread>
#include <utility>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail::opencl {

namespace {

constexpr std::uint32_t kMostPlatforms = 64, kMostDevices = 64;

struct Loader {
  Api api{};
  std::string problem;  // why there is none
};

Loader open_loader() {
  Loader out;
  const char* const named = std::getenv("TESSERA_OPENCL_LIBRARY");
  const char* const file = named != nullptr && *named != '\0' ? named : "libOpenCL.so.1";
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    out.problem = why == nullptr ? file : why;
    return out;
  }
  const auto find = [&](auto& function, const char* name, bool is_needed = true) {
    void* const found = dlsym(library, name);
    if (found == nullptr && is_needed && out.problem.empty())
      out.problem = cat(file, " has no ", name);
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

/// A text property; empty where the driver has none, or says nonsense.
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

std::vector<DeviceFacts> find_devices() {
  std::array<Handle, kMostPlatforms> platforms{};
  std::uint32_t found = 0;
  std::vector<DeviceFacts> out;
  const Api& a = loader().api;
  if (a.get_platforms(kMostPlatforms, platforms.data(), &found) != 0) return out;
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
      if (makes_sense) out.push_back(std::move(facts));
    }
  }
  return out;
}

/// How long a driver may take for what it does once: TESSERA_DRIVER_TIMEOUT, in seconds.
std::chrono::seconds patience(int otherwise) {
  constexpr double most = 1e6;
  const char* const text = std::getenv("TESSERA_DRIVER_TIMEOUT");
  if (text == nullptr || *text == '\0') return std::chrono::seconds(otherwise);
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds >= 1 && seconds <= most))
    throw Error(Category::argument, cat("TESSERA_DRIVER_TIMEOUT=", printable(text)),
                "a number of seconds from 1 on");
  return std::chrono::seconds(static_cast<long>(seconds));
}

std::string no_answer(const char* who, std::chrono::seconds limit) {
  return cat(who, " did not answer within ", limit.count(), " s");
}

std::atomic<bool> stuck = false;

/// Finds devices in a process of its own. Why that failed; empty if it did not.
std::string rehearsal() {
  const std::chrono::seconds limit = patience(30);
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
  kill(child, SIGKILL);  // a driver's threads have nothing more to do
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (is_found) return {};
  if (is_late) return no_answer("a driver", limit);
  return WIFSIGNALED(status) ? cat("a driver crashed with signal ", WTERMSIG(status))
                             : cat("a driver ended the process");
}

struct Found {
  std::vector<DeviceFacts> devices;
  std::string problem;
};

const Found& found() {
  static const Found out = [] {
    Found all;
    all.problem = loader().problem.empty() ? rehearsal() : loader().problem;
    if (all.problem.empty()) {
      const auto devices = std::make_shared<std::vector<DeviceFacts>>();
      call_bounded("clGetPlatformIDs", [=] { *devices = find_devices(); });
      all.devices = std::move(*devices);
    }
    if (all.problem.empty() && all.devices.empty()) all.problem = "no driver has a device";
    return all;
  }();
  return out;
}

const char* name_of(Code code) {
  switch (code) {
    case -1: return "CL_DEVICE_NOT_FOUND";
    case -2: return "CL_DEVICE_NOT_AVAILABLE";
    case -4: return "CL_MEM_OBJECT_ALLOCATION_FAILURE";
    case -5: return "CL_OUT_OF_RESOURCES";
    case -6: return "CL_OUT_OF_HOST_MEMORY";
    case -11: return "CL_BUILD_PROGRAM_FAILURE";
    case -42: return "CL_INVALID_BINARY";
    case -46: return "CL_INVALID_KERNEL_NAME";
    case -52: return "CL_INVALID_KERNEL_ARGS";
    case -54: return "CL_INVALID_WORK_GROUP_SIZE";
    case -61: return "CL_INVALID_BUFFER_SIZE";
    default: return "an error";
  }
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

void call_bounded(const char* function, std::function<void()> call) {
  const std::chrono::seconds limit = patience(300);
  // The thread may outlive this call: it owns all it uses.
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(call));
  std::future<void> done = task->get_future();
  std::thread thread([task] { (*task)(); });
  if (done.wait_for(limit) == std::future_status::ready) {
    thread.join();
    return done.get();
  }
  thread.detach();
  stuck = true;
#if defined(__GLIBC__)
  // The driver's own destructors may wait for that thread.
  on_exit([](int code, void*) { std::fflush(nullptr), _exit(code); }, nullptr);
#endif
  throw Error(Category::unavailable, cat("OpenCL: ", no_answer(function, limit)), {}, {},
              "use another device, or set TESSERA_DRIVER_TIMEOUT to more seconds");
}

const std::vector<DeviceFacts>& devices() {
  const Found& all = found();
  if (!all.problem.empty())
    throw Error(
        Category::unavailable, cat("no OpenCL device: ", all.problem), {}, {},
        "on Debian pocl-opencl-icd runs OpenCL on the CPU, and a GPU's driver brings its own");
  return all.devices;
}

void check(Code code, const char* function) {
  if (code == 0) return;
  const bool is_short = code == -4 || code == -5 || code == -6 || code == -61;
  throw Error(is_short ? Category::resource : Category::kernel,
              cat("OpenCL: ", function, ": ", name_of(code), " (", code, ")"));
}

}  // namespace tessera::detail::opencl
