// An OpenCL device, with one queue in order.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "backend.hpp"
#include "gpu_code/entry_text.hpp"
#include "gpu_modules.hpp"
#include "opencl.hpp"
#include "tessera/core/text.hpp"

namespace tessera::detail {

namespace {

using opencl::api;
using opencl::check;
using opencl::Handle;

DeviceInfo info_of(int number, const opencl::DeviceFacts& facts) {
  const auto limited = [](std::uint64_t value) {
    return static_cast<index_t>(std::min<std::uint64_t>(value, index_t{1} << 60));
  };
  return {Device::opencl(number),
          facts.name,
          limited(facts.memory_bytes),
          static_cast<int>(std::min<std::size_t>(facts.most_threads, 1 << 20)),
          limited(facts.local_bytes),
          facts.has_f64()};
}

const opencl::DeviceFacts& facts_of(int number) {
  const auto& all = opencl::devices();
  if (number >= std::ssize(all))
    throw Error(Category::unavailable, cat("opencl:", number, ": there is no such device"),
                all.size() == 1 ? "opencl:0" : cat("opencl:0 to opencl:", all.size() - 1));
  return all[static_cast<std::size_t>(number)];
}

/// The code that a driver's function returns within the limit, or Error.
template <class Call>
opencl::Code returned_bounded(const char* function, const Call& call,
                              const opencl::Limit& limit = opencl::driver_limit()) {
  const auto code = std::make_shared<opencl::Code>();
  opencl::call_bounded(function, limit, [=] { *code = call(); });
  return *code;
}
/// What such a function makes: call(&code).
template <class Call>
Handle made_bounded(const char* function, const Call& call) {
  const auto made = std::make_shared<Handle>();
  check(returned_bounded(function,
                         [=] {
                           opencl::Code code = 0;
                           *made = call(&code);
                           return code;
                         }),
        function);
  return *made;
}

/// Calls a function that returns its code. Throws if that is an error.
template <class Call>
void checked(const char* function, const Call& call) {
  const opencl::Calling calling(function);
  check(call(), function);
}

using Extents = std::array<std::size_t, 3>;

/// A kernel of a program that was built.
struct Built {
  Handle kernel;
  std::size_t most_threads;
};

class OpenClBackend : public Backend {
 public:
  explicit OpenClBackend(int number) : number_(number), facts_(facts_of(number)) {
    const Handle device = facts_.handle;
    context_ = made_bounded("clCreateContext", [device](opencl::Code* code) {
      return api().create_context(nullptr, 1, &device, nullptr, nullptr, code);
    });
    try {
      constexpr opencl::Bits timed = 2;
      queue_ =
          made_bounded("clCreateCommandQueue", [device, context = context_](opencl::Code* code) {
            return api().create_queue(context, device, timed, code);
          });
    } catch (const Error&) {
      if (!opencl::is_stuck()) api().release_context(context_);
      throw;
    }
  }

  DeviceInfo info() override { return info_of(number_, facts_); }
  void* allocate(index_t bytes) override {
    if (static_cast<std::uint64_t>(bytes) > facts_.most_allocation)
      throw Error(Category::resource, cat("opencl:", number_, ": no memory for ", bytes, " bytes"),
                  cat("at most ", facts_.most_allocation, " bytes at once"));
    const opencl::Calling calling("clCreateBuffer");
    opencl::Code code = 0;
    void* const out =
        api().create_buffer(context_, 1, static_cast<std::size_t>(bytes), nullptr, &code);
    if (code != 0)
      throw Error(Category::resource,
                  cat("opencl:", number_, ": no memory for ", bytes,
                      " bytes: clCreateBuffer: ", opencl::name_of(code), " (", code, ")"));
    return out;
  }
  void free(void* memory) noexcept override {
    if (opencl::is_stuck()) return;
    const opencl::Calling calling("clReleaseMemObject");
    api().release_buffer(memory);
  }
  void upload(void* to, index_t at, const void* from, index_t bytes) override {
    await_kernels();
    checked("clEnqueueWriteBuffer", [&] {
      return api().enqueue_write(queue_, to, 1, static_cast<std::size_t>(at),
                                 static_cast<std::size_t>(bytes), from, 0, nullptr, nullptr);
    });
  }
  void download(void* to, void* from, index_t at, index_t bytes) override {
    await_kernels();
    checked("clEnqueueReadBuffer", [&] {
      return api().enqueue_read(queue_, from, 1, static_cast<std::size_t>(at),
                                static_cast<std::size_t>(bytes), to, 0, nullptr, nullptr);
    });
  }
  void fill_with_zero(void* to, index_t at, index_t bytes) override {
    const unsigned char zero = 0;
    checked("clEnqueueFillBuffer", [&] {
      return api().enqueue_fill(queue_, to, &zero, 1, static_cast<std::size_t>(at),
                                static_cast<std::size_t>(bytes), 0, nullptr, nullptr);
    });
  }
  void wait() override {
    const auto finish = [queue = queue_] { return api().finish(queue); };
    const opencl::Limit limit = opencl::kernel_limit();
    if (limit.seconds.count() == 0) checked("clFinish", finish);
    else check(returned_bounded("clFinish", finish, limit), "clFinish");
  }

  void start(const KernelCall& call) override {
    const std::lock_guard lock(mutex_);
    const GpuKernel& gpu = *call.gpu;
    const auto threads = static_cast<std::size_t>(volume(call.block));
    refuse_beyond(call, "threads in a block", threads, facts_.most_threads);
    refuse_beyond(call, "bytes of shared storage", gpu.shared_bytes, facts_.local_bytes);
    const Built built = built_kernel(call);
    refuse_beyond(call, "threads in a block", threads, built.most_threads);
    set_arguments(call, built.kernel);
    const Extents block = {static_cast<std::size_t>(call.block.x),
                           static_cast<std::size_t>(call.block.y),
                           static_cast<std::size_t>(call.block.z)};
    const Extents all = {static_cast<std::size_t>(call.grid.x) * block[0],
                         static_cast<std::size_t>(call.grid.y) * block[1],
                         static_cast<std::size_t>(call.grid.z) * block[2]};
    if (last_ != nullptr) api().release_event(last_);
    last_ = nullptr;
    last_ = started(built.kernel, all, block);
  }
  double seconds_of_last() override {
    wait();
    const std::lock_guard lock(mutex_);
    std::uint64_t begin = 0, end = 0;
    if (last_ == nullptr) return 0;
    for (const auto& [what, time] : {std::pair{0x1282u, &begin}, {0x1283u, &end}}) {
      checked("clGetEventProfilingInfo", [&, what = what, time = time] {
        return api().get_event_time(last_, what, sizeof *time, time, nullptr);
      });
    }
    return static_cast<double>(end - begin) * 1e-9;
  }

 private:
  /// Applies the time limit of kernels before a copy. The copy itself has none, because it uses the
  /// caller's memory until it returns.
  void await_kernels() {
    if (opencl::kernel_limit().seconds.count() > 0) wait();
  }

  static void refuse_beyond(const KernelCall& call, const char* what, std::size_t wanted,
                            std::uint64_t most) {
    if (wanted <= most) return;
    throw Error(Category::unavailable,
                cat("it needs ", wanted, " ", what, ", ", call.device, " has ", most), {}, {},
                "take a smaller tile");
  }

  /// Starts the kernel and returns its event. A driver may compile the kernel again at its first
  /// start in blocks of another size.
  Handle started(Handle kernel, const Extents& all, const Extents& block) {
    const auto start = [=, queue = queue_](opencl::Code* code) {
      Handle event = nullptr;
      *code = api().enqueue_kernel(queue, kernel, 3, nullptr, all.data(), block.data(), 0, nullptr,
                                   &event);
      return event;
    };
    constexpr const char* function = "clEnqueueNDRangeKernel";
    if (blocks_.contains({kernel, block})) {
      const opencl::Calling calling(function);
      opencl::Code code = 0;
      const Handle event = start(&code);
      check(code, function);
      return event;
    }
    const Handle event = made_bounded(function, start);
    blocks_.insert({kernel, block});
    return event;
  }

  Built built_kernel(const KernelCall& call) {
    const auto at = kernels_.find(call.gpu->entry);
    if (at != kernels_.end()) return at->second;
    const std::string entry = gpu_code::entry_name(call.gpu->entry);
    const GpuModule& module = gpu_module_of(call, entry, "spir");
    const Handle program = program_of(call, module);
    const Handle kernel = made_bounded("clCreateKernel", [=](opencl::Code* code) {
      return api().create_kernel(program, entry.c_str(), code);
    });
    const auto most = std::make_shared<std::size_t>();
    constexpr const char* function = "clGetKernelWorkGroupInfo";
    check(returned_bounded(function,
                           [=, device = facts_.handle] {
                             return api().get_kernel_info(kernel, device, 0x11B0, sizeof *most,
                                                          most.get(), nullptr);
                           }),
          function);
    const Built out{kernel, *most};
    kernels_.emplace(call.gpu->entry, out);
    return out;
  }

  Handle program_of(const KernelCall& call, const GpuModule& module) {
    const auto known = programs_.find(&module);
    if (known != programs_.end()) return known->second;
    const std::string_view spirv = code_for(module, "spirv"), spir = code_for(module, "spir");
    const bool takes_spirv =
        facts_.reads_spirv() && !spirv.empty() && api().create_program_with_il != nullptr;
    if (!takes_spirv && !facts_.reads_spir())
      throw Error(Category::unavailable,
                  cat(call.device, " (", facts_.name, ") reads neither SPIR-V nor SPIR"));
    const auto create = [=, context = context_, device = facts_.handle](opencl::Code* code) {
      if (takes_spirv)
        return api().create_program_with_il(context, spirv.data(), spirv.size(), code);
      const std::size_t bytes = spir.size();
      const auto* data = reinterpret_cast<const unsigned char*>(spir.data());
      return api().create_program_with_binary(context, 1, &device, &bytes, &data, nullptr, code);
    };
    const Handle program =
        made_bounded(takes_spirv ? "clCreateProgramWithIL" : "clCreateProgramWithBinary", create);
    const char* const options = takes_spirv ? "" : "-x spir -spir-std=1.2";
    const opencl::Code code = returned_bounded("clBuildProgram", [=, device = facts_.handle] {
      return api().build_program(program, 1, &device, options, nullptr, nullptr);
    });
    if (code != 0) {
      const std::string log = build_log(program);
      api().release_program(program);
      throw Error(Category::unavailable,
                  cat(call.device, " cannot build it: ", opencl::name_of(code), " (", code, ")"),
                  {}, {}, log);
    }
    programs_.emplace(&module, program);
    return program;
  }

  std::string build_log(Handle program) const {
    const opencl::Calling calling("clGetProgramBuildInfo");
    std::size_t bytes = 0;
    constexpr opencl::Info log = 0x1183;
    api().get_build_info(program, facts_.handle, log, 0, nullptr, &bytes);
    std::string out(std::min<std::size_t>(bytes, 4096), '\0');
    if (bytes > out.size() ||
        api().get_build_info(program, facts_.handle, log, bytes, out.data(), nullptr) != 0)
      return {};
    out.resize(strnlen(out.c_str(), out.size()));
    while (!out.empty() && std::isspace(static_cast<unsigned char>(out.back())) != 0)
      out.pop_back();
    return out;
  }

  /// The arguments of an entry: device/gpu_kernel.hpp.
  static void set_arguments(const KernelCall& call, Handle kernel) {
    std::uint32_t number = 0;
    const auto set = [&](std::size_t bytes, const void* value) {
      checked("clSetKernelArg", [&] { return api().set_argument(kernel, number++, bytes, value); });
    };
    set(std::max<std::size_t>(call.gpu->shared_bytes, 8), nullptr);
    const GpuArguments arguments = arguments_of(call);
    for (const auto& each : arguments.addresses) {
      if (each.is_tensor) set(sizeof each.base, &each.base);
      else set(sizeof(std::uint64_t), &each.base);
    }
    for (const std::uint64_t word : arguments.words) set(sizeof word, &word);
  }

  int number_;
  const opencl::DeviceFacts& facts_;
  Handle context_ = nullptr, queue_ = nullptr, last_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, Built> kernels_;
  std::map<const GpuModule*, Handle> programs_;
  std::set<std::pair<Handle, Extents>> blocks_;  // in which kernels were started
};

}  // namespace

std::unique_ptr<Backend> make_opencl_backend(int number) {
  return std::make_unique<OpenClBackend>(number);
}

std::vector<DeviceInfo> opencl_devices() {
  std::vector<DeviceInfo> out;
  try {
    for (const auto& facts : opencl::devices())
      out.push_back(info_of(static_cast<int>(out.size()), facts));
  } catch (const Error&) {  // there is none
  }
  return out;
}

}  // namespace tessera::detail
