// The decisions of GemmPlan: whether microkernels alone compute the product, and which ones.
// Everything else takes the route of gemm().
#include "tessera/cpu/gemm_plan.hpp"

#include <utility>

#include "choose.hpp"
#include "each_product.hpp"
#include "one_panel.hpp"
#include "small/k_groups.hpp"
#include "small/products.hpp"

namespace tessera::cpu {

template <class In, class Out>
GemmPlan<In, Out>::GemmPlan(const Gemm<In, Out>& asked)
    : call_(has_degenerate_strides(asked) ? clamped(asked) : asked) {
  if (call_.threads <= 0) call_.threads = default_threads();
  if constexpr (std::is_same_v<ElementA<In>, ElementB<In>>) {
    if (is_to_be_swapped(call_)) call_ = swapped(call_), swapped_ = true;
  }
  if (!is_tiny(call_)) return;
  with_kernels<In>([&](const auto& kernels) {
    const Route route = choose(call_, kernels, [](int, std::int64_t) { return false; });
    if (route.variant != Variant::tiny) return;
    if constexpr (kIsPlainType<In, Out>) {
      const auto& tiny = tiny_kernels<In>(call_.N);
      is_plain_ = is_plain(call_);
      // Products that need only microkernels, without transposition of A or B.
      if (call_.N > tiny.one_panel() || (is_plain_ && call_.b_col != 1) || route.columns_apart > 0)
        return;
      const OnePanel<In> panel(call_.M, call_.N, tiny, finishes_in_tiles(call_, tiny));
      kernels_ = &tiny, full_ = panel.full, rest_ = panel.rest, rows_ = panel.rows;
    } else {
      packs_k_groups_ = true;
    }
  });
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
    return with_kernels<In>([&](const auto& kernels) {
      multiply_tiny_k_groups(call_, kernels, k_group_form(call_, kernels), A, B, C);
    });
  }
  Gemm<In, Out> call = call_;
  call.A = A, call.B = B, call.C = C;
  gemm(call);
}

#define TESSERA_INSTANTIATE_PRODUCT(In, Out) template class GemmPlan<In, Out>;
#include "base/products.inc"
TESSERA_EACH_MIXED_PRODUCT(TESSERA_INSTANTIATE_PRODUCT)
#undef TESSERA_INSTANTIATE_PRODUCT

}  // namespace tessera::cpu
