// All threads write one element: a race that `tessera check` finds in the user's own file.
#include "tessera/check/file.hpp"
#include "tessera/tensor/host_tensor.hpp"
using namespace tessera;

struct Mistake {
  static constexpr Dim3 block{64};
  TESSERA_KERNEL void operator()(auto t, auto C) const { C(0, 0) = t.thread.x; }
};

check::Report check_kernel(const check::Options& options) {
  HostTensor<int> C(1, 1);
  return check::check(options, Dim3{1}, Mistake{}, C.view());
}
