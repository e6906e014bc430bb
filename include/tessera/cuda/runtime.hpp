// CUDA devices, streams, events and memory with one owner each. Nothing here needs nvcc or CUDA's
// headers, and nothing touches CUDA before it is called: a program that links this starts on a
// machine without driver or device, where devices() is empty and why_unavailable() says why.
//
// Every call throws Error: (unavailable) no driver, no device, or CUDA no longer works in this
// process; (resource) no memory; (kernel) a kernel that ran before has failed; (argument) the rest.
// No call changes the caller's current device, and none waits for the device unless it says so.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tessera/core/config.hpp"

struct CUstream_st;  // what cudaStream_t points to
struct CUevent_st;   // and cudaEvent_t

namespace tessera::cuda {

/// Was this library built with CUDA?
bool is_built();

/// A GPU that this process sees.
struct Device {
  int number = 0;
  std::string name;            ///< "NVIDIA H200"
  int major = 0, minor = 0;    ///< compute capability
  int sms = 0;                 ///< streaming multiprocessors
  index_t memory_bytes = 0;    ///< all of it
  index_t l2_bytes = 0;        ///< of its L2 cache
  index_t shared_bytes = 0;    ///< most shared memory of a block, by its own request
  double clock_hz = 0;         ///< highest clock of the SMs
  double memory_clock_hz = 0;  ///< and of the memory
  int memory_bus_bits = 0;     ///< width of the path to memory
  std::string pci_bus_id;      ///< "0000:19:00.0"

  /// f32 multiply-adds on CUDA cores at the highest clock, two operations each: 64 for each SM and
  /// clock on sm_80, 128 on sm_86 and later (CUDA C++ Programming Guide, "Arithmetic
  /// Instructions").
  double peak_f32_flops() const;
};

/// All devices; empty where there is none to be used. Never throws.
std::vector<Device> devices();
/// One line on why devices() is empty; "" when it is not.
std::string why_unavailable();
/// Device `number`. Throws Error(unavailable) where it is not there.
Device device(int number);
/// The caller's current device.
int current_device();
/// Versions of the driver's and of this program's CUDA as "13.0"; "" without a driver.
std::string driver_version();
std::string runtime_version();
/// Bytes that can be allocated now.
index_t free_memory(int device);

/// Makes a device this thread's current one for the object's lifetime. The previous one is then
/// current again, untouched: if it was never used, it still has no context.
class OnDevice {
 public:
  /// Throws Error.
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  bool entered_ = false;  // the device's context was pushed onto the context stack
  int before_ = -1;       // device to restore, where contexts cannot be pushed
};

/// An order of work on one device. A copy of a Stream is the same stream.
class Stream {
 public:
  /// A new stream on `device`, which does not wait for the legacy default stream.
  static Stream create(int device);
  /// The caller's stream; null is the legacy default stream of the current device. The caller keeps
  /// it alive.
  static Stream borrow(CUstream_st* handle);
  ~Stream();
  Stream(Stream&& other) noexcept;
  Stream& operator=(Stream&& other) noexcept;
  Stream(const Stream&) = delete;

  CUstream_st* handle() const { return handle_; }
  int device() const { return device_; }
  /// Waits until all work is done. Throws Error(kernel) where some of it failed.
  void synchronize() const;

 private:
  Stream(CUstream_st* handle, int device, bool owns)
      : handle_(handle), device_(device), owns_(owns) {}
  CUstream_st* handle_;
  int device_;
  bool owns_;
};

/// A point in the order of a stream, with the time when the device reached it.
class Event {
 public:
  explicit Event(int device);
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(const Stream& stream);
  /// Has the device reached it? Waits for nothing.
  bool reached() const;
  /// Waits until the device has reached it.
  void synchronize() const;
  /// Time between two events that were reached, accurate to about half a microsecond.
  static double seconds_between(const Event& begin, const Event& end);

 private:
  CUevent_st* handle_ = nullptr;
  int device_;
};

/// Bytes on a device, aligned to 256. Not initialised. Freeing it waits for the device.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws Error(resource), naming the bytes and what is free.
  DeviceBuffer(std::size_t bytes, int device);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;
};

/// Pinned host memory: copies of every device access it directly, concurrently with kernels.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  /// CUDA allocates such memory in the context of one device, `device`, which it creates if needed.
  /// Throws Error(resource) where there is no memory.
  PinnedBuffer(std::size_t bytes, int device);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(PinnedBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = 0;
};

/// Copies bytes between any two of host and device memory, in the order of the stream. Returns
/// before it is done only where both sides are device or pinned memory.
void copy(void* to, const void* from, std::size_t bytes, const Stream& stream);
/// Fills device memory with a byte, in the order of the stream.
void fill(void* to, unsigned char value, std::size_t bytes, const Stream& stream);

/// The kind of memory of an address.
enum class Place { host, pinned, device, managed };
/// Queries the driver, except for memory of a DeviceBuffer. `device`: the device that owns it, or
/// from which it may be used.
struct Where {
  Place place;
  int device;
};
Where where_is(const void* address);

}  // namespace tessera::cuda
