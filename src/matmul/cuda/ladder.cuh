// A kernel of the ladder for CUDA, in its types and tiles: see ladder.hpp.
#pragma once

#include <algorithm>

#include "ladder.hpp"
#include "matmul/ladder/tiles.hpp"
#include "matmul/operands.hpp"
#include "tessera/cuda/launch.cuh"

namespace tessera::detail {

template <class Kernel, class In, class Out>
void run_on_cuda(const CudaCall& call) {
  with_operands<In, Out>(call.problem, call.A, call.B, call.C, call.bias,
                         [&](const auto& A, const auto& B, const auto& C) {
                           cuda::launch(call.stream, Kernel::grid(call.problem.M, call.problem.N),
                                        Kernel{}, A, B, C);
                         });
}

template <template <TileShape> class Kernel, class Tiles>
struct CudaLadder;
template <template <TileShape> class Kernel, int Typed, TileShape... Tiles>
struct CudaLadder<Kernel, TileList<Typed, Tiles...>> {
  static void run(const CudaCall& call) {
    if constexpr (Typed > 0) {
      if (is_first_tile<List>(call.tile, call.problem.in))
        return visit_product(call.problem.in, call.problem.out, [&]<class In, class Out>() {
          run_on_cuda<Kernel<kFirstTile<List, In>>, In, Out>(call);
        });
    }
    run_from<0, Tiles...>(call);
  }

 private:
  using List = TileList<Typed, Tiles...>;
  template <int At, TileShape First, TileShape... Rest>
  static void run_from(const CudaCall& call) {
    if (call.tile == First) {
      if constexpr (At >= std::min(kTypedOnCuda, Typed))
        run_on_cuda<Kernel<First>, float, float>(call);
    } else if constexpr (sizeof...(Rest) > 0) {
      run_from<At + 1, Rest...>(call);
    }
  }
};

}  // namespace tessera::detail
