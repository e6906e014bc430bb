// Streams, events and the launch of a kernel: see runtime.hpp and launch.cuh.
#include <utility>

#include "errors.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/launch_kernel.hpp"
#include "tessera/cuda/runtime.hpp"
#include "tessera/simt/launch.hpp"

namespace tessera::cuda {

Stream Stream::create(int device) {
  detail::expect_usable();
  const OnDevice on(device);
  cudaStream_t handle = nullptr;
  detail::check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "making a stream");
  return {handle, device, true};
}

Stream Stream::borrow(CUstream_st* handle) {
  detail::expect_usable();
  int device = 0;
  if (handle == nullptr) detail::check(cudaGetDevice(&device), "querying the current device");
  else detail::check(cudaStreamGetDevice(handle, &device), "querying a stream's device");
  return {handle, device, false};
}

Stream::~Stream() {
  if (!owns_) return;
  detail::release_on(device_, [this] { (void)cudaStreamDestroy(handle_); });
}
Stream::Stream(Stream&& other) noexcept
    : handle_(other.handle_), device_(other.device_), owns_(std::exchange(other.owns_, false)) {}
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(device_, other.device_);
  std::swap(owns_, other.owns_);
  return *this;
}

void Stream::synchronize() const {
  detail::expect_usable();
  const OnDevice on(device_);
  detail::check(cudaStreamSynchronize(handle_), "waiting for a stream");
}

Event::Event(int device) : device_(device) {
  detail::expect_usable();
  const OnDevice on(device);
  detail::check(cudaEventCreate(&handle_), "making an event");
}
Event::~Event() {
  detail::release_on(device_, [this] { (void)cudaEventDestroy(handle_); });
}

void Event::record(const Stream& stream) {
  detail::expect_usable();
  const OnDevice on(device_);
  detail::check(cudaEventRecord(handle_, stream.handle()), "recording an event");
}
bool Event::reached() const {
  detail::expect_usable();
  const OnDevice on(device_);
  const cudaError_t status = cudaEventQuery(handle_);
  if (status == cudaErrorNotReady)
    return false;  // not an error: CUDA does not record it as the last one
  detail::check(status, "querying an event");
  return true;
}
void Event::synchronize() const {
  detail::expect_usable();
  const OnDevice on(device_);
  detail::check(cudaEventSynchronize(handle_), "waiting for an event");
}
double Event::seconds_between(const Event& begin, const Event& end) {
  detail::expect_usable();
  float milliseconds = 0;
  const OnDevice on(end.device_);
  detail::check(cudaEventElapsedTime(&milliseconds, begin.handle_, end.handle_),
                "taking the time between two events");
  return milliseconds * 1e-3;
}

namespace detail {

namespace {

/// Lets a kernel use more shared memory than the 48 KiB that every kernel may (CUDA C++ Programming
/// Guide, "Shared Memory" of compute capability 8.x). At each launch: a reset of the device undoes
/// it silently.
void allow_shared_bytes(const Stream& stream, const Kernel& kernel) {
  constexpr std::size_t kAlways = 48 * 1024;
  if (kernel.shared_bytes <= kAlways) return;
  int most = 0;
  check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, stream.device()),
        cat("asking device ", stream.device()));
  if (kernel.shared_bytes > static_cast<std::size_t>(most)) {
    throw Error(Category::argument,
                cat("kernel '", kernel.name, "' needs more shared memory than device ",
                    stream.device(), " has for a block"),
                cat("at most ", most, " bytes"), cat(kernel.shared_bytes), "use smaller tiles");
  }
  check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kernel.shared_bytes)),
        cat("preparing kernel '", kernel.name, "'"));
}

}  // namespace

void launch(const Stream& stream, const Kernel& kernel, Dim3 grid, void** arguments) {
  const OnDevice on(stream.device());  // throws first where CUDA cannot be used
  if (grid.x < 0 || grid.y < 0 || grid.z < 0)
    throw Error(Category::argument, cat("kernel '", kernel.name, "': a negative grid"),
                "0 or more blocks along each side", to_string(grid));
  tessera::detail::check_clusters(kernel.name, grid, kernel.cluster);
  if (volume(grid) == 0) return;
  // The rows of a cluster stay together: such a grid is not folded.
  const Dim3 extents = kernel.cluster.y > 1 ? grid : launch_extents(grid);
  if (extents.y > kMostRows || extents.z > kMostRows)
    throw Error(Category::argument, cat("kernel '", kernel.name, "': the grid is too large"),
                cat("at most ", kMostRows, " blocks along y and z"), to_string(grid));
  allow_shared_bytes(stream, kernel);
  const auto side = [](int extent) { return static_cast<unsigned>(extent); };
  const dim3 blocks(side(extents.x), side(extents.y), side(extents.z));
  const dim3 threads(side(kernel.block.x), side(kernel.block.y), side(kernel.block.z));
  const bool is_clustered = volume(kernel.cluster) > 1;
  if (!is_clustered && !kernel.starts_early) {
    check(cudaLaunchKernel(kernel.function, blocks, threads, arguments, kernel.shared_bytes,
                           stream.handle()),
          cat("launch of kernel '", kernel.name, "'"));
    return;
  }
  cudaLaunchAttribute attributes[2] = {};
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = kernel.shared_bytes;
  config.stream = stream.handle();
  config.attrs = attributes;
  if (is_clustered) {
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = side(kernel.cluster.x);
    cluster.val.clusterDim.y = side(kernel.cluster.y);
    cluster.val.clusterDim.z = side(kernel.cluster.z);
  }
  if (kernel.starts_early) {
    cudaLaunchAttribute& early = attributes[config.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  check(cudaLaunchKernelExC(&config, kernel.function, arguments),
        cat("launch of kernel '", kernel.name, "'"));
}

}  // namespace detail

}  // namespace tessera::cuda
