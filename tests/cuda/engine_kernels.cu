// The kernels of engine_kernels.hpp on a GPU.
#include "engine_kernels.hpp"
#include "tessera/cuda/launch.cuh"

namespace tessera::testing {

using cuda::launch;
using cuda::Stream;

void number_blocks(const Stream& stream, Dim3 grid, int* out) {
  launch(stream, grid, NumberBlocks{}, out);
}
template <class In, class Out, int K>
void matrix_unit(const Stream& stream, const In* A, const In* B, Out* C) {
  launch(stream, {1}, MatrixUnit<In, Out, K>{}, tensor<kRowMajorMatrix>(A, 16, K, K),
         tensor<kRowMajorMatrix>(B, K, 8, 8), tensor<kRowMajorMatrix>(C, 16, 8, 8));
}
template void matrix_unit<float, float, 4>(const Stream&, const float*, const float*, float*);
template void matrix_unit<float, float, 8>(const Stream&, const float*, const float*, float*);
template void matrix_unit<f16, float, 8>(const Stream&, const f16*, const f16*, float*);
template void matrix_unit<f16, float, 16>(const Stream&, const f16*, const f16*, float*);
template void matrix_unit<bf16, float, 8>(const Stream&, const bf16*, const bf16*, float*);
template void matrix_unit<bf16, float, 16>(const Stream&, const bf16*, const bf16*, float*);
template void matrix_unit<f8e4m3, float, 32>(const Stream&, const f8e4m3*, const f8e4m3*, float*);
template void matrix_unit<f8e5m2, float, 32>(const Stream&, const f8e5m2*, const f8e5m2*, float*);
template void matrix_unit<std::int8_t, int, 32>(const Stream&, const std::int8_t*,
                                                const std::int8_t*, int*);
template void matrix_unit<std::uint8_t, int, 32>(const Stream&, const std::uint8_t*,
                                                 const std::uint8_t*, int*);
void nothing(const Stream& stream) { launch(stream, {1}, Nothing{}); }
void reverse_large(const Stream& stream, const int* in, int* out) {
  launch(stream, {1}, ReverseLarge{}, in, out);
}
void largest_shared(const Stream& stream, int* out) { launch(stream, {1}, LargestShared{}, out); }
void warp_verbs(const Stream& stream, int* out) { launch(stream, {1}, WarpVerbs{}, out); }
void atomics(const Stream& stream, int blocks, int* out) {
  launch(stream, {blocks}, Atomics{}, out);
}
void async_stages(const Stream& stream, const int* in, int rows, int* out) {
  launch(stream, {1}, AsyncStages{}, tensor<kAnyMatrix>(in, rows, 64, 64, 1), out);
}
void count_slowly(const Stream& stream, int* out, int times) {
  launch(stream, {1}, CountSlowly{}, out, times);
}
void faulty(const Stream& stream, int* out) { launch(stream, {1}, Faulty{}, out); }

}  // namespace tessera::testing
