// Refuses launches that no device supports: see launch_limits.hpp. Limits: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability".
#include "launch_limits.hpp"

#include <map>
#include <mutex>

#include "program.hpp"
#include "tessera/check/device_model.hpp"
#include "tessera/core/text.hpp"
#include "tessera/plain_cuda/parts/runtime_api.h"

namespace tessera::plain_cuda {

namespace {

constexpr std::size_t kDefaultShared = 48 * 1024;

/// The most dynamic shared memory that cudaFuncSetAttribute has allowed for any kernel.
std::size_t allowed_shared = kDefaultShared;

std::string text(dim3 d) { return cat("(", d.x, ",", d.y, ",", d.z, ")"); }

bool refuse_launch(cudaError_t error, const char* kernel, const Place& place,
                   const std::string& problem, std::string hint) {
  Program& program = Program::get();
  program.fail(error);
  if (program.is_checked)
    program.find(
        check::Kind::impossible_launch, check::Severity::error, place,
        cat("the launch of ", kernel, " is refused (", cudaGetErrorName(error), "): ", problem),
        std::move(hint));
  return false;
}

const check::DeviceModel& device() {
  const std::string& name = Program::get().options.device;
  return check::device_model(name.empty() ? "h200" : name);
}

}  // namespace

bool require_possible(const char* kernel, const LaunchBounds& bounds, const Place& place, dim3 grid,
                      dim3 block, std::size_t shared_bytes) {
  const auto threads = std::uint64_t{block.x} * block.y * block.z;
  constexpr auto kConfiguration = cudaErrorInvalidConfiguration;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return refuse_launch(kConfiguration, kernel, place, cat("a grid of ", text(grid), " blocks"),
                         "launch at least one block, or nothing where there is no work");
  if (threads == 0)
    return refuse_launch(kConfiguration, kernel, place, cat("a block of ", text(block), " threads"),
                         "a block has at least one thread");
  if (threads > 1024 || block.x > 1024 || block.y > 1024 || block.z > 64)
    return refuse_launch(kConfiguration, kernel, place,
                         cat("a block of ", text(block), " = ", threads,
                             " threads; devices take at most 1024, and at most (1024,1024,64)"),
                         "use smaller blocks");
  if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535)
    return refuse_launch(
        kConfiguration, kernel, place,
        cat("a grid of ", text(grid), " blocks; devices take at most (2147483647,65535,65535)"),
        "count the blocks along x");
  if (std::uint64_t{grid.x} * grid.y * grid.z > 2147483647u)
    return refuse_launch(
        cudaErrorNotSupported, kernel, place,
        cat("a grid of ", text(grid), " blocks, which is more than can be run here"),
        "use a smaller grid");
  if (bounds.threads > 0 && threads > static_cast<std::uint64_t>(bounds.threads))
    return refuse_launch(cudaErrorInvalidValue, kernel, place,
                         cat("a block of ", threads,
                             " threads, and __launch_bounds__ promises at most ", bounds.threads),
                         "launch smaller blocks, or raise the bound");
  if (shared_bytes > allowed_shared)
    return refuse_launch(
        cudaErrorInvalidValue, kernel, place,
        cat(shared_bytes, " bytes of dynamic shared memory; ",
            shared_bytes > static_cast<std::size_t>(device().smem_per_block_bytes)
                ? cat(device().full_name, " gives a block at most ", device().smem_per_block_bytes)
                : cat("more than ", allowed_shared, " are to be requested")),
        "call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, "
        "bytes) before the launch");
  return true;
}

bool require_cluster(const char* kernel, const Place& place, dim3 grid, const ClusterDims& declared,
                     dim3& cluster) {
  constexpr auto kSize = cudaErrorInvalidClusterSize;
  const dim3 own(declared.x, declared.y, declared.z);
  const auto count = [](dim3 d) { return std::uint64_t{d.x} * d.y * d.z; };
  if (count(cluster) == 1) cluster = own;
  else if (count(own) > 1 && (cluster.x != own.x || cluster.y != own.y || cluster.z != own.z))
    return refuse_launch(
        kSize, kernel, place,
        cat("a cluster of ", text(cluster), " blocks, and __cluster_dims__ says ", text(own)),
        "leave the attribute of the launch out, or let both be the same");
  if (count(cluster) == 0 || count(cluster) > 8)
    return refuse_launch(kSize, kernel, place,
                         cat("a cluster of ", text(cluster), " = ", count(cluster),
                             " blocks; every device with clusters takes 1 to 8"),
                         "use a smaller cluster");
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    return refuse_launch(kSize, kernel, place,
                         cat("a grid of ", text(grid), " blocks in clusters of ", text(cluster)),
                         "the grid has whole clusters: round each extent up to a multiple");
  return true;
}

cudaError_t set_attribute(const void*, cudaFuncAttribute attribute, int value, Place place) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || value > device().smem_per_block_bytes)
    return refuse(cudaErrorInvalidValue, place,
                  cat(value, " bytes of dynamic shared memory; ", device().full_name,
                      " gives a block at most ", device().smem_per_block_bytes),
                  "use smaller tiles");
  allowed_shared = std::max(allowed_shared, static_cast<std::size_t>(value));
  return cudaSuccess;
}

int blocks_on_sm(int threads, std::size_t shared) {
  return check::occupancy(device(),
                          {.threads = threads, .smem_bytes = static_cast<index_t>(shared)})
      .blocks;
}

}  // namespace tessera::plain_cuda
