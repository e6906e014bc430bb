// Kernels in plain C++, for every CPU.
#include "vector_portable.hpp"

namespace tessera::cpu {

namespace {

using F = Plain<PortableBase<float, 4>>;
using D = Plain<PortableBase<double, 2>>;

template <class Source>
constexpr auto integer_kernels() {
  using Pairs = PortablePairs<4>;
  constexpr auto pack = pack_groups<Pairs, PairsOf<Pairs, Source>>;
  return make_kernels<Pairs, 4, 1, Source>("portable", pack, pack);
}

}  // namespace

constexpr KernelSet kPortable = {
    make_kernels<F, 4, 1, float>("portable", pack_panels<F>, pack_panels<F>),
    make_kernels<D, 4, 1, double>("portable", pack_panels<D>, pack_panels<D>),
    make_converted_kernels<F, 4, 1, PortableConvert<F, HalfBits>>("portable"),
    make_converted_kernels<F, 4, 1, PortableConvert<F, BrainBits>>("portable"),
    integer_kernels<std::int8_t>(),
    integer_kernels<std::uint8_t>()};

}  // namespace tessera::cpu
