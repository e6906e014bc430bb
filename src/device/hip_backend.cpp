// An AMD GPU by the HIP runtime, with one stream. Compiled, and tested against a fake runtime; not
// run on a GPU. The runtime is opened when a device is first requested.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "backend.hpp"
#include "gpu_code/entry_text.hpp"
#include "gpu_modules.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {

using Handle = void*;  // hipModule_t, hipFunction_t, hipStream_t, hipEvent_t, device pointers

/// Declarations after hip_runtime_api.h of ROCm 5.
struct Hip {
  int (*get_device_count)(int*);
  int (*set_device)(int);
  int (*device_get_name)(char*, int, int);
  int (*device_total_mem)(std::size_t*, int);
  int (*device_get_attribute)(int*, int, int);
  const char* (*get_error_string)(int);
  int (*malloc)(Handle*, std::size_t);
  int (*free)(Handle);
  int (*copy_to_device)(Handle, void*, std::size_t, Handle);
  int (*copy_to_host)(void*, Handle, std::size_t, Handle);
  int (*fill)(Handle, int, std::size_t, Handle);
  int (*stream_create)(Handle*);
  int (*stream_synchronize)(Handle);
  int (*event_create)(Handle*);
  int (*event_record)(Handle, Handle);
  int (*event_elapsed_ms)(float*, Handle, Handle);
  int (*module_load_data)(Handle*, const void*);
  int (*module_get_function)(Handle*, Handle, const char*);
  int (*launch)(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                Handle, void**, void**);
  std::string problem;  // why there is none

  Hip() {
    void* library = nullptr;
    for (const char* name : {"libamdhip64.so", "libamdhip64.so.6", "libamdhip64.so.5"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
    }
    if (library == nullptr) {
      problem = "there is no HIP runtime (libamdhip64.so)";
      return;
    }
    const auto find = [&](auto& function, const char* name) {
      void* const found = dlsym(library, name);
      if (found == nullptr && problem.empty()) problem = cat("libamdhip64.so has no ", name);
      std::memcpy(&function, &found, sizeof found);
    };
    find(get_device_count, "hipGetDeviceCount");
    find(set_device, "hipSetDevice");
    find(device_get_name, "hipDeviceGetName");
    find(device_total_mem, "hipDeviceTotalMem");
    find(device_get_attribute, "hipDeviceGetAttribute");
    find(get_error_string, "hipGetErrorString");
    find(malloc, "hipMalloc");
    find(free, "hipFree");
    find(copy_to_device, "hipMemcpyHtoDAsync");
    find(copy_to_host, "hipMemcpyDtoHAsync");
    find(fill, "hipMemsetAsync");
    find(stream_create, "hipStreamCreate");
    find(stream_synchronize, "hipStreamSynchronize");
    find(event_create, "hipEventCreate");
    find(event_record, "hipEventRecord");
    find(event_elapsed_ms, "hipEventElapsedTime");
    find(module_load_data, "hipModuleLoadData");
    find(module_get_function, "hipModuleGetFunction");
    find(launch, "hipModuleLaunchKernel");
  }
};

const Hip& hip() {
  static const Hip out;
  return out;
}

void check_hip(int code, const char* function) {
  if (code == 0) return;
  constexpr int out_of_memory = 2;
  const char* const text = hip().get_error_string(code);
  throw Error(code == out_of_memory ? Category::resource : Category::kernel,
              cat("HIP: ", function, ": ", text == nullptr ? "an error" : text, " (", code, ")"));
}

int count_devices() {
  int count = 0;
  const bool is_there = hip().problem.empty() && hip().get_device_count(&count) == 0;
  return is_there ? std::clamp(count, 0, 64) : 0;
}

DeviceInfo info_of(int number) {
  const Hip& api = hip();
  char name[256] = {};
  std::size_t memory = 0;
  int threads = 0, shared = 0;
  constexpr int most_threads = 56, most_shared = 74;  // hipDeviceAttribute_t
  check_hip(api.device_get_name(name, sizeof name - 1, number), "hipDeviceGetName");
  check_hip(api.device_total_mem(&memory, number), "hipDeviceTotalMem");
  check_hip(api.device_get_attribute(&threads, most_threads, number), "hipDeviceGetAttribute");
  check_hip(api.device_get_attribute(&shared, most_shared, number), "hipDeviceGetAttribute");
  return {Device::hip(number), name, static_cast<index_t>(memory), threads, shared, true};
}

class HipBackend : public Backend {
 public:
  explicit HipBackend(int number) : number_(number) {
    if (!hip().problem.empty())
      throw Error(Category::unavailable, cat("no HIP device: ", hip().problem), {}, {},
                  "it comes with the driver of an AMD GPU; other devices are cpu and opencl:N");
    if (number >= count_devices())
      throw Error(Category::unavailable, cat("hip:", number, ": there is no such device"));
    here();
    check_hip(hip().stream_create(&stream_), "hipStreamCreate");
    check_hip(hip().event_create(&begin_), "hipEventCreate");
    check_hip(hip().event_create(&end_), "hipEventCreate");
  }

  DeviceInfo info() override { return info_of(number_); }
  void* allocate(index_t bytes) override {
    here();
    Handle out = nullptr;
    check_hip(hip().malloc(&out, static_cast<std::size_t>(bytes)), "hipMalloc");
    return out;
  }
  void free(void* memory) noexcept override { hip().free(memory); }
  void upload(void* to, index_t at, const void* from, index_t bytes) override {
    here();
    check_hip(hip().copy_to_device(static_cast<std::byte*>(to) + at, const_cast<void*>(from),
                                   static_cast<std::size_t>(bytes), stream_),
              "hipMemcpyHtoDAsync");
    wait();  // the host's bytes may be reused
  }
  void download(void* to, void* from, index_t at, index_t bytes) override {
    here();
    check_hip(hip().copy_to_host(to, static_cast<std::byte*>(from) + at,
                                 static_cast<std::size_t>(bytes), stream_),
              "hipMemcpyDtoHAsync");
    wait();
  }
  void fill_with_zero(void* to, index_t at, index_t bytes) override {
    here();
    check_hip(
        hip().fill(static_cast<std::byte*>(to) + at, 0, static_cast<std::size_t>(bytes), stream_),
        "hipMemsetAsync");
  }
  void wait() override {
    here();
    check_hip(hip().stream_synchronize(stream_), "hipStreamSynchronize");
  }

  void start(const KernelCall& call) override {
    const std::lock_guard lock(mutex_);
    here();
    const Handle function = function_of(call);
    GpuArguments arguments = arguments_of(call);
    std::uint64_t shared = 0;  // an entry for AMD finds its storage by itself
    std::vector<void*> list = {&shared};
    for (auto& each : arguments.addresses) list.push_back(&each.base);
    for (auto& word : arguments.words) list.push_back(&word);
    const auto extent = [](int value) { return static_cast<unsigned>(value); };
    check_hip(hip().event_record(begin_, stream_), "hipEventRecord");
    check_hip(
        hip().launch(function, extent(call.grid.x), extent(call.grid.y), extent(call.grid.z),
                     extent(call.block.x), extent(call.block.y), extent(call.block.z),
                     static_cast<unsigned>(call.gpu->shared_bytes), stream_, list.data(), nullptr),
        "hipModuleLaunchKernel");
    check_hip(hip().event_record(end_, stream_), "hipEventRecord");
  }
  double seconds_of_last() override {
    wait();
    float milliseconds = 0;
    check_hip(hip().event_elapsed_ms(&milliseconds, begin_, end_), "hipEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  /// HIP calls are for the device of the calling thread.
  void here() const { check_hip(hip().set_device(number_), "hipSetDevice"); }

  Handle function_of(const KernelCall& call) {
    const auto known = functions_.find(call.gpu->entry);
    if (known != functions_.end()) return known->second;
    const std::string entry = gpu_code::entry_name(call.gpu->entry);
    const Handle module = module_of(call, gpu_module_of(call, entry, kAmdTargets));
    Handle out = nullptr;
    check_hip(hip().module_get_function(&out, module, entry.c_str()), "hipModuleGetFunction");
    functions_.emplace(call.gpu->entry, out);
    return out;
  }
  /// The code of the target that this GPU takes.
  Handle module_of(const KernelCall& call, const GpuModule& module) {
    const auto known = modules_.find(&module);
    if (known != modules_.end()) return known->second;
    std::string tried;
    for (const auto& code : module.targets) {
      if (!is_amd_target(code.target)) continue;
      Handle out = nullptr;
      if (hip().module_load_data(&out, code.bytes.data()) == 0) {
        modules_.emplace(&module, out);
        return out;
      }
      tried += cat(tried.empty() ? "" : ", ", code.target);
    }
    throw Error(Category::unavailable,
                cat(call.device, " (", info().name, ") takes no code for ", tried), {}, {},
                "configure with -DTESSERA_AMD_TARGETS=gfx... for it");
  }

  int number_;
  Handle stream_ = nullptr, begin_ = nullptr, end_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, Handle> functions_;
  std::map<const GpuModule*, Handle> modules_;
};

}  // namespace

std::unique_ptr<Backend> make_hip_backend(int number) {
  return std::make_unique<HipBackend>(number);
}

std::vector<DeviceInfo> hip_devices() {
  std::vector<DeviceInfo> out;
  try {
    for (int i = 0; i < count_devices(); ++i) out.push_back(info_of(i));
  } catch (const Error&) {  // the device does not describe itself
  }
  return out;
}

}  // namespace tessera::detail
