// The decisions of GemmPlan: whether microkernels alone compute the product, and which ones.
// Everything else takes the route of gemm().
#include "tessera/cpu/gemm_plan.hpp"

#include <utility>

#include "choose_kernels.hpp"
#include "degenerate_strides.hpp"
#include "each_product.hpp"
#include "lane_sums.hpp"
#include "one_panel.hpp"
#include "small.hpp"
#include "small_k_groups.hpp"
#include "swapped.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::cpu {

template <class In, class Out>
GemmPlan<In, Out>::GemmPlan(const Gemm<In, Out>& asked)
    : call_(has_degenerate_strides(asked) ? clamped(asked) : asked) {
  const Gemm<In, Out> call = call_;
  if (call_.threads <= 0) call_.threads = default_threads();
  if (call.M <= 0 || call.N <= 0 || call.K <= 0 || call.alpha == 0) return;
  if constexpr (std::is_same_v<ElementA<In>, ElementB<In>>) {
    if (call.c_col != 1 && call.c_row == 1) call_ = swapped(call_), swapped_ = true;
  }
  if (!is_tiny(call)) return;
  if constexpr (kIsPlainType<In, Out>) {
    if (is_for_lanes(call)) return;
    const auto& kernels = tiny_kernels<In>(call_.N);
    is_plain_ = is_plain(call_);
    // Products that need only microkernels, without transposition of A or B.
    if (call_.N > kernels.one_panel() || (is_plain_ && call_.b_col != 1) ||
        columns_left(call_, plain_kernels<In>()) > 0)
      return;
    const OnePanel<In> panel(call_.M, call_.N, kernels, finishes_in_tiles(call_, kernels));
    kernels_ = &kernels, full_ = panel.full, rest_ = panel.rest, rows_ = panel.rows;
  } else {
    packs_k_groups_ = true;
  }
}

template <class In, class Out>
void GemmPlan<In, Out>::operator()(const ElementA<In>* A, const ElementB<In>* B, Out* C) const {
  if constexpr (std::is_same_v<ElementA<In>, ElementB<In>>) {
    if (swapped_) std::swap(A, B);
  }
  if constexpr (kIsPlainType<In, Out>) {
    if (is_plain_ && kernels_ != nullptr)
      return OnePanel<In>{full_, rest_, rows_}.run(call_.M, call_.N, call_.K, A, call_.a_row,
                                                   call_.a_col, B, call_.b_row, C, call_.c_row);
  }
  multiply(A, B, C);
}

template <class In, class Out>
void GemmPlan<In, Out>::multiply(const ElementA<In>* A, const ElementB<In>* B, Out* C) const {
  if constexpr (kIsPlainType<In, Out>) {
    if (kernels_ != nullptr) {
      const OnePanel<In> panel{full_, rest_, rows_};
      if (call_.b_col == 1) return panel.run_and_finish(call_, *kernels_, A, B, call_.b_row, C);
      const TinyPanel<In> packed(call_, *kernels_, B);
      return panel.run_and_finish(call_, *kernels_, A, packed.k_groups, packed.width, C);
    }
  } else if (packs_k_groups_) {
    return with_kernels<In>(
        [&](const auto& kernels) { gemm_tiny_k_groups(call_, kernels, A, B, C); });
  }
  Gemm<In, Out> call = call_;
  call.A = A, call.B = B, call.C = C;
  gemm(call);
}

#define TESSERA_INSTANTIATE(In, Out) template class GemmPlan<In, Out>;
TESSERA_EACH_PRODUCT(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::cpu
