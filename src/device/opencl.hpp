// OpenCL as this library uses it: the loader of drivers (ICDs) is opened when a device is first
// requested, so that a program starts without it and no package needs it. Declarations after the
// OpenCL 3.0 API specification; devices are numbered over all platforms.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/core/config.hpp"

namespace tessera::detail::opencl {

using Handle = void*;  // cl_platform_id, cl_device_id, cl_context, ...
using Code = std::int32_t;
using Info = std::uint32_t;
using Bits = std::uint64_t;

/// The functions of the loader.
struct Api {
  Code (*get_platforms)(std::uint32_t, Handle*, std::uint32_t*);
  Code (*get_devices)(Handle, Bits, std::uint32_t, Handle*, std::uint32_t*);
  Code (*get_device_info)(Handle, Info, std::size_t, void*, std::size_t*);
  Code (*release_context)(Handle);
  Handle (*create_context)(const std::intptr_t*, std::uint32_t, const Handle*, void*, void*, Code*);
  Handle (*create_queue)(Handle, Handle, Bits, Code*);
  Handle (*create_buffer)(Handle, Bits, std::size_t, void*, Code*);
  Code (*release_buffer)(Handle);
  Handle (*create_program_with_binary)(Handle, std::uint32_t, const Handle*, const std::size_t*,
                                       const unsigned char**, Code*, Code*);
  Handle (*create_program_with_il)(Handle, const void*, std::size_t, Code*);  // or null: before 2.1
  Code (*build_program)(Handle, std::uint32_t, const Handle*, const char*, void*, void*);
  Code (*get_build_info)(Handle, Handle, Info, std::size_t, void*, std::size_t*);
  Code (*release_program)(Handle);
  Handle (*create_kernel)(Handle, const char*, Code*);
  Code (*get_kernel_info)(Handle, Handle, Info, std::size_t, void*, std::size_t*);
  Code (*set_argument)(Handle, std::uint32_t, std::size_t, const void*);
  Code (*enqueue_kernel)(Handle, Handle, std::uint32_t, const std::size_t*, const std::size_t*,
                         const std::size_t*, std::uint32_t, const Handle*, Handle*);
  Code (*enqueue_read)(Handle, Handle, std::uint32_t, std::size_t, std::size_t, void*,
                       std::uint32_t, const Handle*, Handle*);
  Code (*enqueue_write)(Handle, Handle, std::uint32_t, std::size_t, std::size_t, const void*,
                        std::uint32_t, const Handle*, Handle*);
  Code (*enqueue_fill)(Handle, Handle, const void*, std::size_t, std::size_t, std::size_t,
                       std::uint32_t, const Handle*, Handle*);
  Code (*get_event_time)(Handle, Info, std::size_t, void*, std::size_t*);
  Code (*release_event)(Handle);
  Code (*finish)(Handle);
};

/// A device of some driver, as it describes itself.
struct DeviceFacts {
  Handle handle = nullptr;
  std::string name, version, extensions, il;
  std::uint64_t memory_bytes = 0, most_allocation = 0, local_bytes = 0;
  std::size_t most_threads = 0;

  bool has(std::string_view extension) const;
  bool reads_spirv() const { return !il.empty(); }
  bool reads_spir() const { return has("cl_khr_spir"); }
  bool has_f64() const { return has("cl_khr_fp64"); }
};

/// Throws Error(unavailable) if there is no loader, one without a function that is needed, or a
/// driver that did not answer.
const Api& api();
/// Did a driver not answer? No function of any driver is called then: it may hang too.
bool is_stuck();

/// A limit for a call of a driver. 0 seconds: none.
struct Limit {
  const char* variable;  ///< the environment variable that sets it
  std::chrono::seconds seconds;
};
/// For calls that are made once: TESSERA_DRIVER_TIMEOUT. Throws Error(argument).
Limit driver_limit(int otherwise = 300);
/// For the wait for kernels: TESSERA_KERNEL_TIMEOUT, else none. Throws Error(argument).
Limit kernel_limit();

/// Calls a function of a driver on a thread of its own. `call` owns what it uses. Throws
/// Error(unavailable) if it does not return within the limit, Error(resource) if there is no
/// thread.
void call_bounded(const char* function, const Limit& limit, std::function<void()> call);

/// During its lifetime, the calling thread is in this function of a driver.
class Calling {
 public:
  explicit Calling(const char* function);
  ~Calling();
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  const char* before_;
};
/// The function of a driver that the process is in, or null. Also for signal handlers.
const char* called_function() noexcept;
/// All devices of all drivers. Throws Error(unavailable), with the reason, if there is none. The
/// first call looks for them in a process of its own: a driver that crashes does not end this one.
const std::vector<DeviceFacts>& devices();

/// "CL_OUT_OF_RESOURCES", or "an error".
const char* name_of(Code code);
/// Throws where `code` is an error: "OpenCL: clCreateBuffer: CL_OUT_OF_RESOURCES (-5)".
void check(Code code, const char* function);

}  // namespace tessera::detail::opencl
