// run(device, grid, block, kernel, arguments...): one call for every device. The file is compiled
// for the CPU by the compiler of the program; for other devices also by theirs, which
// tessera_add_kernels(TARGET FILE) in CMake asks for. Elements that the kernel needs and the device
// does not have are moved there first.
#pragma once

#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "tessera/device/gpu_kernel.hpp"
#include "tessera/device/kernel_entry.hpp"
#include "tessera/device/managed_tensor.hpp"
#include "tessera/simt/launch.hpp"
#if defined(__CUDACC__)
#include "tessera/cuda/launch.cuh"
#elif TESSERA_GPU_CODE
#include "tessera/device/gpu_entry.hpp"
#elif TESSERA_CHECK
#include "tessera/device/run_checked.hpp"
#endif

namespace tessera {

/// An argument of run() of which the kernel writes every element and reads none: its old elements
/// are not copied.
template <class T, int Rank>
struct Overwritten {
  ManagedPart<T, Rank> part;
};
template <class T, int Rank>
Overwritten<T, Rank> overwritten(ManagedTensor<T, Rank>& tensor) {
  return {tensor.all()};
}
template <class T, int Rank>
Overwritten<T, Rank> overwritten(const ManagedPart<T, Rank>& part) {
  return {part};
}

namespace detail {

[[noreturn]] void refuse_undeclared_block(const char* kernel);
[[noreturn]] void refuse_block(const char* kernel, Dim3 declared, Dim3 block);

/// The compiler's pass: what differs between passes has symbols of its own in each.
enum class Pass : std::uint8_t { plain, contracts, checked, cuda, gpu };
#if defined(__CUDACC__)
constexpr Pass kPass = Pass::cuda;
#elif TESSERA_GPU
constexpr Pass kPass = Pass::gpu;
#elif TESSERA_CHECK
constexpr Pass kPass = Pass::checked;
#elif TESSERA_CONTRACTS
constexpr Pass kPass = Pass::contracts;
#else
constexpr Pass kPass = Pass::plain;
#endif

template <class Param>
struct Unpack {
  static const Param& from(const void* argument, const Device&) {
    return *static_cast<const Param*>(argument);
  }
};
template <class T, int Rank>
struct Unpack<Elements<T, Rank>> {
  static auto from(const void* argument, const Device&) {
    const auto& tensor = *static_cast<const TensorArgument*>(argument);
    std::array<index_t, Rank> extents;
    for (int i = 0; i < Rank; ++i) extents[static_cast<std::size_t>(i)] = tensor.extents[i];
    auto* data = static_cast<std::byte*>(tensor.address.base) + tensor.address.offset;
    return view_as<row_major_pattern<Rank>(), T, Rank>(reinterpret_cast<T*>(data), extents);
  }
};

/// The entry of a kernel and its kinds of parameters in this pass.
template <Pass P, class Kernel, class... Params>
struct CompiledKernel {
  static void call(const KernelCall& call) { unpack(call, std::index_sequence_for<Params...>()); }

 private:
  template <std::size_t... I>
  static void unpack(const KernelCall& call, std::index_sequence<I...>) {
    start(call, Unpack<Params>::from(call.arguments[I], call.device)...);
  }
  template <class... Views>
  static void start(const KernelCall& call, const Views&... views) {
    const auto& kernel = *static_cast<const Kernel*>(call.kernel);
#if defined(__CUDACC__)
    if constexpr (declared_block<Kernel>().x == 0) refuse_undeclared_block(call.name);
    else cuda::launch(*static_cast<const cuda::Stream*>(call.queue), call.grid, kernel, views...);
#else
#if TESSERA_CHECK
    if (call.device.kind() == DeviceKind::checked) {
      bool are_overwritten = true;
      std::size_t at = 0;
      (note<Params>(call.arguments[at++], are_overwritten), ...);
      return check_or_throw(call, are_overwritten, kernel, views...);
    }
#endif
    launch(LaunchConfig{.grid = call.grid, .block = call.block}, kernel, views...);
#endif
  }
  template <class Param>
  static void note(const void* argument, bool& are_overwritten) {
    if constexpr (requires { typename OutputOf<Param>::type; })
      are_overwritten &= static_cast<const TensorArgument*>(argument)->is_overwritten;
  }
  template <class Param>
  struct OutputOf {};
  template <class T, int Rank>
  requires(!std::is_const_v<T>) struct OutputOf<Elements<T, Rank>> {
    using type = T;
  };
};

template <class... Params>
struct ParamNames {};

/// The shared storage of a block: of the kernel's Shared, or of its Shared<T> for the elements of
/// the first parameter.
template <class Param>
struct ElementParam {};
template <class T, int Rank>
struct ElementParam<Elements<T, Rank>> {
  using element = T;
};
template <class Kernel, class... Params>
constexpr std::size_t shared_bytes_of() {
  return SharedOf<Kernel, ElementParam<Params>...>::bytes;
}

/// Registers it before main(), with its names.
template <Pass P, class Kernel, class... Params>
inline const bool kIsAdded = add_kernel(P == Pass::cuda      ? DeviceKind::cuda
                                        : P == Pass::checked ? DeviceKind::checked
                                                             : DeviceKind::cpu,
                                        typeid(Kernel).name(), typeid(ParamNames<Params...>).name(),
                                        &CompiledKernel<P, Kernel, Params...>::call);

/// One argument of run(): prepares its memory on the device, and marks it as written once the
/// kernel has started.
template <class T, int Rank>
class TensorPack {
 public:
  using Param = Elements<T, Rank>;
  TensorPack(const Device& device, ManagedPart<T, Rank> part, bool is_overwritten)
      : part_(std::move(part)) {
    argument_.is_overwritten = is_overwritten;
    argument_.address = part_.bytes().prepare(device, part_.range(), !is_overwritten);
    for (int i = 0; i < Rank; ++i) argument_.extents[i] = part_.extent(i);
  }
  const void* address() const { return &argument_; }
  void started(const Device& device) const {
    if constexpr (!std::is_const_v<T>) part_.bytes().written(device, part_.range());
  }
  /// The kernel failed on the host; `began`: it may have written before.
  void failed(const Device& device, bool began) const {
    if (began || !argument_.is_overwritten) started(device);
  }

 private:
  ManagedPart<T, Rank> part_;
  TensorArgument argument_;
};
template <class T>
class ValuePack {
 public:
  using Param = T;
  explicit ValuePack(const T& value) : value_(value) {}
  const void* address() const { return &value_; }
  void started(const Device&) const {}
  void failed(const Device&, bool) const {}

 private:
  const T& value_;
};

template <class T, int Rank>
TensorPack<T, Rank> pack(const Device& device, ManagedTensor<T, Rank>& tensor) {
  return {device, tensor.all(), false};
}
template <class T, int Rank>
TensorPack<const T, Rank> pack(const Device& device, const ManagedTensor<T, Rank>& tensor) {
  return {device, tensor.all(), false};
}
template <class T, int Rank>
TensorPack<T, Rank> pack(const Device& device, const ManagedPart<T, Rank>& part) {
  return {device, part, false};
}
template <class T, int Rank>
TensorPack<T, Rank> pack(const Device& device, const Overwritten<T, Rank>& argument) {
  return {device, argument.part, true};
}
template <class T>
ValuePack<T> pack(const Device&, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>, "run passes plain values and managed tensors");
  static_assert(!std::is_pointer_v<T>,
                "run passes no pointers, which hold on one device: give it a Vector instead");
  return ValuePack<T>(value);
}

/// The same elements, only to be read.
template <class T, int Rank>
ManagedPart<const T, Rank> input(const ManagedTensor<T, Rank>& tensor) {
  return tensor.all();
}
template <class T, int Rank>
auto input(const ManagedPart<T, Rank>& part) {
  return part.constant();
}
/// Throws Error(shape) where they are no A (M,K), B (K,N), C (M,N).
void check_product_extents(const char* kernel, const std::array<index_t, 2>& a,
                           const std::array<index_t, 2>& b, const std::array<index_t, 2>& c);

template <Pass P, class Kernel, class... Packs>
void run_packed(const Device& device, Dim3 grid, Dim3 block, const Kernel& kernel,
                const Packs&... packs) {
  static_assert(std::is_trivially_copyable_v<Kernel>,
                "a kernel is copied to the device: its members are plain values");
  using Compiled = CompiledKernel<P, Kernel, typename Packs::Param...>;
#if defined(__HIP__)
  static_cast<void>(
      &GpuEntryOf<Kernel, typename Packs::Param...>::tessera_gpu_entry);  // instantiates it
#else
  static_cast<void>(&kIsAdded<P, Kernel, typename Packs::Param...>);
#endif
  constexpr bool is_cuda = P == Pass::cuda, is_checked = P == Pass::checked;
  const DeviceKind kind = device.kind();
  const bool is_own = is_cuda
                          ? kind == DeviceKind::cuda
                          : kind == DeviceKind::cpu || (is_checked && kind == DeviceKind::checked);
  constexpr const char* name = kernel_name<Kernel>();
  const auto entry = is_own ? &Compiled::call
                            : find_kernel(device, name, typeid(Kernel).name(),
                                          typeid(ParamNames<typename Packs::Param...>).name());
  constexpr Dim3 declared = declared_block<Kernel>();
  if (declared.x > 0 && block != declared) refuse_block(name, declared, block);
  if constexpr (declared.x == 0) {
    if (entry == &start_compiled) refuse_undeclared_block(name);
  }
  const void* const arguments[] = {packs.address()..., nullptr};
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  constexpr GpuParam params[] = {kGpuParam<typename Packs::Param>..., {0, 0}};
  const GpuKernel gpu{typeid(GpuEntryOf<Kernel, typename Packs::Param...>*).name(),
                      static_cast<int>(sizeof(Kernel)),
                      shared_bytes_of<Kernel, typename Packs::Param...>(),
                      {params, sizeof...(Packs)},
                      __BASE_FILE__,
                      __FILE__};
  try {
    start_kernel(entry, {device, grid, block, name, &kernel, arguments, nullptr, &gpu});
  } catch (const Error& error) {
    // On the host the kernel may have written before it failed: other copies are then old.
    const bool is_refused = error.category() == Category::argument ||
                            error.category() == Category::resource ||
                            error.category() == Category::unavailable;
    if (kind == DeviceKind::cpu || kind == DeviceKind::checked)
      (packs.failed(device, !is_refused), ...);
    throw;
  }
  (packs.started(device), ...);
}

}  // namespace detail

/// Starts `kernel(t, arguments...)` for every thread of every block on the device. The kernel is
/// given a tensor for each managed tensor or part of one, of constant elements where the argument
/// is const, and other arguments as they are. On cpu and checked it is over when run() returns;
/// elsewhere device.wait(), or reading what it writes, waits for it.
///
/// Throws Error: (argument) an impossible grid or block; (unavailable) the device is not there, or
/// this program has no build of the kernel for it; (resource) no memory; (kernel) the kernel went
/// wrong, here or at the next wait; (failed) what the device checked has found. Where nothing was
/// started, all elements are unchanged.
template <detail::Pass P = detail::kPass, class Kernel, class... Args>
void run(const Device& device, Dim3 grid, Dim3 block, const Kernel& kernel, Args&&... arguments) {
  detail::run_packed<P>(device, grid, block, kernel, detail::pack(device, arguments)...);
}

/// C = A * B by a kernel that multiplies matrices, on the grid that it has for C. A is (M,K), B is
/// (K,N), C is (M,N), a ManagedMatrix or rows of one each; old elements of C are not read.
template <detail::Pass P = detail::kPass, class Kernel, class A, class B, class C>
requires requires { Kernel::grid(index_t{}, index_t{}); }
void run(const Device& device, const Kernel& kernel, const A& a, const B& b, C&& c) {
  detail::check_product_extents(detail::kernel_name<Kernel>(), a.extents(), b.extents(),
                                c.extents());
  run<P>(device, Kernel::grid(c.extent(0), c.extent(1)), Kernel::block, kernel, detail::input(a),
         detail::input(b), overwritten(c));
}

}  // namespace tessera
