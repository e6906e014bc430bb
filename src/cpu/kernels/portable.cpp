// Kernels in plain C++, for every CPU.
#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

using F = Plain<PortableBase<float, 4>>;
using D = Plain<PortableBase<double, 2>>;

/// A of one type of bytes and B of another, or of the same.
template <class ElementOfA, class ElementOfB = ElementOfA>
constexpr auto integer_kernels() {
  using Pairs = PortablePairs<4>;
  using Source =
      std::conditional_t<std::is_same_v<ElementOfA, ElementOfB>, ElementOfA, std::uint8_t>;
  return make_kernels<Pairs, 4, 1, Source>("portable",
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfA, Source>>,
                                           pack_groups<Pairs, PairsOf<Pairs, ElementOfB, Source>>);
}

constexpr auto kF32 = make_kernels<F, 4, 1, float>("portable", pack_panels<F>, pack_panels<F>);
[[maybe_unused]] constexpr auto kF64 =
    make_kernels<D, 4, 1, double>("portable", pack_panels<D>, pack_panels<D>);

}  // namespace

constexpr KernelSet kPortable = {
    kF32,
#if !defined(TESSERA_ONLY_DEMO)
    kF64,
    make_converted_kernels<F, 4, 1, PortableConvert<F, HalfBits>>("portable"),
    make_converted_kernels<F, 4, 1, PortableConvert<F, BrainBits>>("portable"),
    integer_kernels<std::int8_t>(),
    integer_kernels<std::uint8_t>(),
    integer_kernels<std::uint8_t, std::int8_t>(),
    integer_kernels<std::int8_t, std::uint8_t>(),
    complex_kernels<F, D>(kF32),
    complex_kernels<D, D>(kF64)
#endif
};

}  // namespace tessera::cpu
