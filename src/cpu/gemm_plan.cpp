// Decides what GemmPlan decides once: whether the microkernels alone make the product, and which of
// them. Everything else goes the way of gemm().
#include "tessera/cpu/gemm_plan.hpp"

#include "choose_kernels.hpp"
#include "epilogue.hpp"
#include "one_panel.hpp"
#include "tessera/core/parallel.hpp"

namespace tessera::cpu {

template <class In, class Out>
GemmPlan<In, Out>::GemmPlan(const Gemm<In, Out>& call) : call_(call) {
  if (call_.threads <= 0) call_.threads = default_threads();
  if constexpr (std::is_same_v<In, Sum>) {
    if (!is_tiny(call) || !is_plain(call) || call.b_col != 1) return;
    if (call.M <= 0 || call.N <= 0 || call.K <= 0) return;
    const auto& kernels = tiny_kernels<In>(call.N);
    if (call.N > kernels.one_panel()) return;
    const OnePanel<In> panel(call.M, call.N, kernels);
    full_ = panel.full, rest_ = panel.rest, rows_ = panel.rows;
  }
}

template <class In, class Out>
void GemmPlan<In, Out>::operator()(const In* A, const In* B, Out* C) const {
  if constexpr (std::is_same_v<In, Sum>) {
    if (full_ != nullptr)
      return OnePanel<In>{full_, rest_, rows_}.run(call_.M, call_.N, call_.K, A, call_.a_row,
                                                   call_.a_col, B, call_.b_row, C, call_.c_row);
  }
  Gemm<In, Out> call = call_;
  call.A = A, call.B = B, call.C = C;
  gemm(call);
}

template class GemmPlan<double>;
template class GemmPlan<float>;
template class GemmPlan<f16>;
template class GemmPlan<f16, float>;
template class GemmPlan<bf16>;
template class GemmPlan<bf16, float>;
template class GemmPlan<std::int8_t, std::int32_t>;
template class GemmPlan<std::uint8_t, std::int32_t>;

}  // namespace tessera::cpu
