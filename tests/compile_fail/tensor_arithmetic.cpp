// expect: arithmetic on tensors: each mode of the right side, counted from the last, has the extent of the left side or extent 1
// expect: arithmetic on tensors: a tensor of integers takes whole numbers only; cast<> it
// expect: fill: the tensor's elements are constant
// expect: a new tensor in registers needs extents known when compiled: make a copy_of() the left side, and use += -= *= /= on its view
// expect: tensors that are compared have the same rank
// expect: outer_product_acc: acc is (M,N), a is (M), b is (N), with the same M and N
// expect: sum<mode>(src, dst), max<mode>(src, dst): dst has the modes of src without the one that is folded
#include "tessera/ops/outer_product.hpp"
#include "tessera/ops/reduce.hpp"
#include "tessera/tensor/compare.hpp"
#include "tessera/tensor/storage.hpp"

using namespace tessera;

void use(Tile<float, 4, 8>& a, Tile<float, 4>& four, Tile<int, 4, 8>& whole,
         Tensor<float*, kRowMajorMatrix> run_time, const Tile<float, 4, 8>& constant) {
  a.view() += four.view();             // refused
  whole.view() *= 0.5;                 // refused
  fill(constant.view(), 1);            // refused
  run_time + 1;                        // refused
  (void)equal(a.view(), four.view());  // refused
  outer_product_acc(a, four, four);    // refused
  sum<0>(a.view(), a.view());          // refused
}
