// The modes of a tensor in another order, without copying: transpose(t) turns (M,N) into (N,M);
// permute<2, 0, 1>(t) gives modes 2, 0 and 1.
#pragma once

#include "tessera/tensor/assemble.hpp"

namespace tessera {

namespace detail {

template <int... Modes>
constexpr Layout permuted(const Layout& layout) {
  TupleBuilder shape, stride;
  (shape.push(layout.shape.mode(Modes)), ...);
  (stride.push(layout.stride.mode(Modes)), ...);
  return {shape.done(), stride.done()};
}

template <int... Modes>
constexpr bool is_permutation() {
  unsigned seen = 0;
  ((seen |= Modes >= 0 && Modes < 32 ? 1u << Modes : 0u), ...);
  return seen == (1u << sizeof...(Modes)) - 1;
}

/// The leaf of `layout` that leaf number `i` of the permuted layout is.
template <int... Modes>
constexpr int leaf_before_permuting(const Layout& layout, int i) {
  for (const int mode : {Modes...}) {
    const int leaves = layout.shape.mode(mode).leaves();
    if (i < leaves) return leaves_before(layout.shape, mode) + i;
    i -= leaves;
  }
  return 0;
}

}  // namespace detail

/// The modes of t in the order Modes...
template <int... Modes, class P, Layout L, class E>
TESSERA_HD constexpr auto permute(const Tensor<P, L, E>& t) {
  static_assert(sizeof...(Modes) == L.rank() && detail::is_permutation<Modes...>(),
                "permute<...> names every mode of the tensor exactly once");
  constexpr Layout pattern = detail::permuted<Modes...>(L);
  constexpr auto from = [](int i) { return detail::leaf_before_permuting<Modes...>(L, i); };
  const auto edge = [&] {
    if constexpr (!Tensor<P, L, E>::is_clipped) return Whole{};
    else return Clipped<L.rank()>{{t.template valid<Modes>()...}};
  }();
  return detail::assemble<pattern>(
      t.data(), edge, [&](auto i) { return t.template shape_leaf<from(i)>(); },
      [&](auto i) { return t.template stride_leaf<from(i)>(); });
}

/// (M,N) to (N,M); more generally, the modes in reverse order.
template <class P, Layout L, class E>
TESSERA_HD constexpr auto transpose(const Tensor<P, L, E>& t) {
  return [&]<int... M>(std::integer_sequence<int, M...>) {
    return permute<(static_cast<int>(sizeof...(M)) - 1 - M)...>(t);
  }
  (std::make_integer_sequence<int, L.rank()>{});
}

}  // namespace tessera
