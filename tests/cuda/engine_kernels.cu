// The kernels of engine_kernels.hpp on a GPU.
#include "engine_kernels.hpp"
#include "tessera/cuda/launch.cuh"

namespace tessera::testing {

using cuda::launch;
using cuda::Stream;

void number_blocks(const Stream& stream, Dim3 grid, int* out) {
  launch(stream, grid, NumberBlocks{}, out);
}
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
