// Kernels in plain C++, for every CPU.
#include "cpu/vector_portable.hpp"

namespace tessera::cpu {

namespace {

struct Set {
  using F32 = Plain<PortableBase<float, 4>>;
  using F64 = Plain<PortableBase<double, 2>>;
  using Pairs = PortablePairs<4>;
  using Half = PortableConvert<F32, HalfBits>;
  using Brain = PortableConvert<F32, BrainBits>;
  static constexpr int rows = 4, vectors = 1, pairs_rows = 4, pairs_vectors = 1;
  static constexpr const char* pairs_isa = "portable";
};

}  // namespace

constexpr KernelSet kPortable = make_plain_kernel_set<Set>("portable");

}  // namespace tessera::cpu
