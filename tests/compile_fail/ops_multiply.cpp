// expect: multiply_accumulate: acc is (TM,TN), a is (TM,K), b is (K,TN), all known at compile time
// expect: outer_product_acc: acc is (M,N), a is (M), b is (N)
// expect: outer_product_acc: acc is (M,N), a is (M), b is (N), with the same M and N
// expect: sum and max along a mode: no such mode
// expect: sum<mode>(src, dst), max<mode>(src, dst): dst has the modes of src without the one that is folded
#include "tessera/ops/multiply.hpp"
#include "tessera/ops/outer_product.hpp"
#include "tessera/ops/reduce.hpp"

using namespace tessera;

void use(Tile<float, 4, 8>& acc, Tile<float, 4, 2>& a, Tile<float, 2, 4>& b, Tile<float, 4>& v) {
  multiply_accumulate(acc, a.view(), b.view());  // refused
  outer_product_acc(acc, a, b);                  // refused
  outer_product_acc(acc, v, v);                  // refused
  sum<2>(acc.view(), v.view());                  // refused
  sum<1>(acc.view(), a.view());                  // refused
}
