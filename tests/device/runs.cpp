#include "runs.hpp"

#include "kernels.hpp"
#include "tessera/kernels/naive.hpp"
#include "tessera/kernels/tiled.hpp"

namespace tessera::testing {

void run_naive(const Device& device, const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& c) {
  run(device, Naive<TileShape{.bm = 16, .bn = 16}>{}, a, b, c);
}
void run_tiled(const Device& device, const FloatMatrix& a, const FloatMatrix& b, FloatMatrix& c) {
  run(device, Tiled<TileShape{16, 16, 16}>{}, a, b, c);
}
void run_fill(const Device& device, Dim3 grid, Dim3 block, float value, Vector<float>& y) {
  run(device, grid, block, Fill{value}, y);
}
void run_add_to(const Device& device, Dim3 block, const Vector<float>& x, Vector<float>& y,
                Dim3 grid) {
  run(device, grid, block, AddTo{}, x, y, 1.0f);
}
void run_add_to_nothing(const Device& device, const Vector<float>& x, Vector<float>& y) {
  run(device, Dim3{4}, AddTo::block, AddTo{}, x, overwritten(y), 1.0f);
}
void run_racy(const Device& device, Vector<float>& y) {
  run(device, Dim3{1}, Racy::block, Racy{}, y);
}

}  // namespace tessera::testing
