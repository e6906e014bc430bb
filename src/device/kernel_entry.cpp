// The registry of kernels by the names of their types, and the lookup from run() to an entry.
#include "tessera/device/kernel_entry.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "backend.hpp"
#include "tessera/core/text.hpp"
#include "tessera/device/run.hpp"

namespace tessera::detail {

namespace {

struct Entries {
  std::mutex mutex;
  struct Found {
    KernelEntry entry;
    bool is_ambiguous = false;
  };
  std::map<std::tuple<DeviceKind, std::string, std::string>, Found> all;
};

Entries& entries() {
  static Entries out;
  return out;
}

const char* build_advice(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::checked:
      return "in CMake: tessera_add_kernels(TARGET FILE), or compile FILE with -DTESSERA_CHECK=1";
    case DeviceKind::cuda:
      return "in CMake, with the language CUDA and a Tessera built with CUDA: "
             "tessera_add_kernels(TARGET FILE), or compile FILE with nvcc";
    case DeviceKind::cpu: return "compile FILE with the C++ compiler too, not with nvcc alone";
    case DeviceKind::opencl:
    case DeviceKind::hip: break;
  }
  return "";
}

/// As launch() does: drivers count the blocks of a grid in 32 bits, and check nothing.
void check_grid(Dim3 grid) {
  constexpr index_t most = std::numeric_limits<int>::max();
  if (std::min({grid.x, grid.y, grid.z}) > 0 && index_t{grid.y} * grid.z <= most / grid.x) return;
  throw Error(Category::argument, "the grid does not fit",
              cat("positive extents, at most ", most, " blocks"), to_string(grid));
}

}  // namespace

bool add_kernel(DeviceKind kind, std::string_view kernel, std::string_view arguments,
                KernelEntry entry) {
  Entries& known = entries();
  const std::lock_guard lock(known.mutex);
  const auto [at, is_new] = known.all.try_emplace(
      {kind, std::string(kernel), std::string(arguments)}, Entries::Found{entry});
  if (!is_new && at->second.entry != entry) at->second.is_ambiguous = true;
  return true;
}

KernelEntry find_kernel(const Device& device, const char* name, std::string_view kernel,
                        std::string_view arguments) {
  if (has_own_memory(device)) backend_of(device);  // throws if the device is missing
  Entries& known = entries();
  const std::lock_guard lock(known.mutex);
  const auto at = known.all.find({device.kind(), std::string(kernel), std::string(arguments)});
  if (at == known.all.end()) {
    if (has_gpu_code(device.kind())) return start_compiled;
    throw Error(Category::unavailable,
                cat("kernel ", name, ": this program was not built for ", device), {}, {},
                build_advice(device.kind()));
  }
  if (at->second.is_ambiguous) {
    throw Error(Category::argument,
                cat("kernel ", name, ": two files have a kernel of this type's name for ", device),
                "one", {}, "give each a unique name, outside of unnamed namespaces");
  }
  return at->second.entry;
}

void start_compiled(const KernelCall& call) {
  Backend& backend = backend_of(call.device);
  try {
    check_grid(call.grid);
    backend.start(call);
  } catch (const Error& error) {
    throw Error(error.category(), cat("kernel ", call.name, ": ", error.problem()),
                error.expected(), error.got(), error.advice());
  }
}

void start_kernel(KernelEntry entry, KernelCall call) {
  if (!has_own_memory(call.device)) return entry(call);
  Backend& backend = backend_of(call.device);
  call.queue = backend.queue();
  entry(call);
  backend.started(call.name);
}

void refuse_undeclared_block(const char* kernel) {
  throw Error(Category::argument, cat("kernel ", kernel, ": a GPU needs a fixed block size"), {},
              {}, "give the kernel a static constexpr Dim3 block");
}

void refuse_block(const char* kernel, Dim3 declared, Dim3 block) {
  throw Error(Category::argument,
              cat("kernel ", kernel, ": the block differs from the declared one"),
              to_string(declared), to_string(block));
}

void check_product_extents(const char* kernel, const std::array<index_t, 2>& a,
                           const std::array<index_t, 2>& b, const std::array<index_t, 2>& c) {
  const auto text = [](const std::array<index_t, 2>& e) { return cat("(", e[0], ",", e[1], ")"); };
  if (a[1] == b[0] && a[0] == c[0] && b[1] == c[1]) return;
  throw Error(Category::shape, cat("kernel ", kernel, ": the shapes of A, B and C do not match"),
              "A (M,K), B (K,N) and C (M,N)",
              cat("A ", text(a), ", B ", text(b), " and C ", text(c)));
}

}  // namespace tessera::detail
