// The kernels of the ladder on devices whose code Clang makes: OpenCL now, AMD GPUs from the same
// files. A file for each kernel, made from kernel.cpp.in, is compiled by Clang alone; on the
// host a kernel is known by the names of its entries. Private to src/matmul.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "matmul/ladder/tiles.hpp"
#include "tessera/device/gpu_kernel.hpp"
#include "tessera/ops/epilogue.hpp"
#include "tessera/simt/launch.hpp"
#include "tessera/tensor/tensor.hpp"
#if defined(__HIP__)
// Clang: the operands are taken apart on the device.
#include "tessera/matmul/matrix.hpp"
#pragma clang force_cuda_host_device begin
#include "matmul/operands.hpp"
#pragma clang force_cuda_host_device end
#include "tessera/device/gpu_entry.hpp"
#else
#include "matmul/operands.hpp"
#endif

namespace tessera::detail {

/// A kernel of the ladder as a kernel of plain arguments: the elements of A, B, C and the bias, and
/// the problem.
template <class Kernel, class In, class Out>
struct GpuProduct : Kernel {
  TESSERA_KERNEL void operator()(auto t, auto a, auto b, auto c, auto bias,
                                 const Problem& problem) const {
    with_operands<In, Out>(problem, a.data(), b.data(), c.data(), bias.data(),
                           [&](const auto& A, const auto& B, const auto& C) {
                             static_cast<const Kernel&> (*this)(t, A, B, C);
                           });
  }
};

template <class In, class Out>
struct GpuParams {
  using In1 = Elements<const In, 1>;
  using Bias = Elements<const Accumulator<Out>, 1>;
  template <class Kernel>
  using Entry = GpuEntryOf<GpuProduct<Kernel, In, Out>, In1, In1, Elements<Out, 1>, Bias, Problem>;
  static constexpr GpuParam list[] = {kGpuParam<In1>, kGpuParam<In1>, kGpuParam<Elements<Out, 1>>,
                                      kGpuParam<Bias>, kGpuParam<Problem>};
};

/// Calls body.template operator()<Kernel, In, Out>() for the kernel of a tile and its types, as on
/// CUDA: the default tile for every type, the others for f32.
template <template <TileShape> class Kernel, class Tiles>
struct GpuLadder;
template <template <TileShape> class Kernel, int Typed, TileShape... Tiles>
struct GpuLadder<Kernel, TileList<Typed, Tiles...>> {
  template <class Body>
  static void visit(const TileShape& tile, DType in, DType out, const Body& body) {
    if constexpr (Typed > 0) {
      if (is_first_tile<List>(tile, in))
        return visit_product(in, out, [&]<class In, class Out>() {
          body.template operator()<Kernel<kFirstTile<List, In>>, In, Out>();
        });
    }
    visit_from<0, Tiles...>(tile, in, out, body);
  }
#if defined(__HIP__)
  /// Compiles the entries of f64, or all others.
  template <bool Doubles>
  static void make() {
    if constexpr (Typed > 0) make_types<Doubles>(NativeProducts{});
    if constexpr (!Doubles) (make_tile<Tiles>(), ...);
  }
#endif

 private:
  using List = TileList<Typed, Tiles...>;
  template <int At, TileShape First, TileShape... Rest, class Body>
  static void visit_from(const TileShape& tile, DType in, DType out, const Body& body) {
    if (tile == First) {
      if constexpr (At >= std::min(kTypedOnCuda, Typed))
        body.template operator()<Kernel<First>, float, float>();
    } else if constexpr (sizeof...(Rest) > 0) {
      visit_from<At + 1, Rest...>(tile, in, out, body);
    }
  }
#if defined(__HIP__)
  template <TileShape Tile>
  static void make_tile() {
    if constexpr (Typed == 0 || Tile != List::tiles[0]) make_type<Kernel<Tile>, float, float>();
  }
  template <bool Doubles, class... In, class... Out>
  static void make_types(TypeList<TypePair<In, Out>...>) {
    (make_if<In, Out, std::is_same_v<Out, double> == Doubles>(), ...);
  }
  template <class In, class Out, bool Wanted>
  static void make_if() {
    if constexpr (Wanted) make_type<Kernel<kFirstTile<List, In>>, In, Out>();
  }
  template <class One, class In, class Out>
  static void make_type() {
    static_cast<void>(&GpuParams<In, Out>::template Entry<One>::tessera_gpu_entry);
  }
#endif
};

/// What a launch needs of a device.
struct GpuNeeds {
  int threads;
  std::size_t shared_bytes;
};
/// A product with its operands on the device.
struct GpuCall {
  const Device& device;
  const Problem& problem;
  const TileShape& tile;
  DeviceAddress A, B, C, bias;
};
struct GpuLadderEntry {
  std::string_view name;  ///< as in the ladder
  void (*run)(const GpuCall& call);
  GpuNeeds (*needs)(const TileShape& tile, DType in, DType out);
  int typed;  ///< the number of leading tiles that are built for every type
};
/// In the order of the ladder; empty in a build without Clang.
std::span<const GpuLadderEntry> gpu_ladder();
/// Null where the algorithm has no GPU code by Clang.
const GpuLadderEntry* find_gpu_entry(std::string_view name);

}  // namespace tessera::detail
