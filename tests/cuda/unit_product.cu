// The kernels of support/unit_product.hpp on a GPU.
#include <vector>

#include "support/unit_product.hpp"
#include "tessera/cuda/launch.cuh"
#include "tessera/cuda/tensor_map.hpp"
#include "unit_product_calls.hpp"

namespace tessera::testing {

namespace {

template <class T>
cuda::DeviceBuffer upload(const std::vector<T>& values, const cuda::Stream& stream) {
  cuda::DeviceBuffer out(values.size() * sizeof(T), stream.device());
  cuda::copy(out.data(), values.data(), out.bytes(), stream);
  stream.synchronize();
  return out;
}

}  // namespace

std::vector<int> wrong_units(const cuda::Stream& stream) {
  std::vector<int> out;
  for_each_unit([&]<class Acc, class InA, class InB, int N, Major A, Major B>() {
    using Kernel = UnitProduct<Acc, InA, InB, N, A, B>;
    const auto a = unit_numbers<InA>(64 * Kernel::K, 1);
    const auto b = unit_numbers<InB>(N * Kernel::K, 3);
    std::vector<Acc> c(64 * N, Acc{-1});
    const auto at = upload(a, stream), bt = upload(b, stream), ct = upload(c, stream);
    const auto operands = unit_operands<Kernel, InA, InB, N>(
        cuda::tensor_map, static_cast<const InA*>(at.data()), static_cast<const InB*>(bt.data()));
    cuda::launch(stream, {1}, Kernel{}, operands.first, operands.second,
                 static_cast<Acc*>(ct.data()));
    cuda::copy(c.data(), ct.data(), ct.bytes(), stream);
    stream.synchronize();
    out.push_back(wrong_elements(a, b, c, N, Kernel::K, A, B));
  });
  return out;
}

}  // namespace tessera::testing
