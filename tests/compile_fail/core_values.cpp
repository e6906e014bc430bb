// expect: this C++ type is not an element type of Tessera: use one of double, float, f16, bf16, f8e4m3, f8e5m2, bool or a fixed-width integer
// expect: a Vec has at least one lane
// expect: index_of takes whole numbers
// expect: this extent is only known at run time
// expect: view<L>(): a layout with dynamic numbers has one number for each mode of the tensor
// expect: a shuffle moves at most 16 plain bytes
#include "tessera/simt/cpu_thread.hpp"
#include "tessera/tensor/host_tensor.hpp"
#include "tessera/tensor/vec.hpp"

using namespace tessera;

constexpr Layout kNested{tuple(tuple(2, 2), dynamic), tuple(tuple(1, 8), 2)};
constexpr Layout kUnknown{tuple(tuple(dynamic, 2), 4), tuple(tuple(1, 8), 2)};
struct Large {
  double number[3];
};

void use(HostTensor<float>& owner, CpuThreadBase<32>& t) {
  dtype_of<int*>();                // refused
  constexpr Vec<float, 0> none{};  // refused
  index_of<row_major(4, 4)>(1.5);  // refused
  index_of<kUnknown>(1, 2);        // refused
  owner.view<kNested>();           // refused
  t.shuffle(Large{}, 3);           // refused
}
