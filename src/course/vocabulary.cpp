// The table: see vocabulary.hpp. docs/kernels.md says more of each.
#include "vocabulary.hpp"

namespace tessera::course {

namespace {

using Of = KernelWord::Of;

constexpr KernelWord kWords[] = {
    {Of::library, "tile",
     "tile<rows, columns>(A, i, k): the size of a tile between < >; in the brackets the tensor, "
     "and which tile"},
    {Of::library, "tiles",
     "tiles<1>(A, T): how many tiles of T columns cover A; tiles<0>(A, T) of its rows"},
    {Of::library, "extent", "extent<0>(A), the number of its rows; extent<1>(A), of its columns"},
    {Of::library, "valid", "valid<0>(A), valid<1>(A)"},
    {Of::library, "copy",
     "copy(t, what is copied, where to): copy(t, tile<T, T>(A, i, k), s.a.view())"},
    {Of::library, "copy_async",
     "copy_async(t, a tile of A or B, a tile of shared memory): tile<T, T>(A, i, k), s.a.view()"},
    {Of::library, "copy_vectorized",
     "copy_vectorized<4>(t, a tile of A or B, a tile of shared memory): tile<T, T>(A, i, k), "
     "s.a.view()"},
    {Of::library, "commit", "commit(t)"},
    {Of::library, "wait", "wait<0>(t)"},
    {Of::library, "shared", "auto& s = shared<Shared>(t);"},
    {Of::library, "store", "store(C, row, col, sum)"},
    {Of::library, "fma", "fma(a, b, sum): three numbers; it is a * b + sum"},
    {Of::library, "zero_of", "zero_of(C)"},
    {Of::library, "multiply_accumulate", "multiply_accumulate(acc, a, b): tiles in registers"},
    {Of::library, "outer_product_acc",
     "outer_product_acc(acc, a, b): a tile and two vectors in registers"},
    {Of::library, "swizzled", "swizzled<Swizzle{bits, base, shift}>(s.tile.view())"},
    {Of::library, "Swizzle", "Swizzle{bits, base, shift}: three whole numbers"},
    {Of::library, "Tile", "Tile<float, rows, columns> name;"},
    {Of::library, "Dim3", "static constexpr Dim3 block{threads along x, threads along y};"},
    {Of::library, "Layout",
     "Layout name(tuple(...), tuple(...)): the extents, then the strides, nested alike"},
    {Of::library, "tuple", "tuple(rows, columns)"},
    {Of::library, "row_major", "row_major(rows, columns)"},
    {Of::library, "TensorCore", "TensorCore<float, float, MmaShape{16, 8, 8}>"},
    {Of::library, "MmaShape", "MmaShape{16, 8, 8}"},
    {Of::library, "TESSERA_KERNEL", "TESSERA_KERNEL void operator()(auto t, ...) const"},
    {Of::library, "index_t", "index_t k = 0;"},
    {Of::thread, "thread",
     "t.thread.x, t.thread.y, t.thread.z; t.thread alone is the number, x fastest"},
    {Of::thread, "block", "t.block.x, t.block.y, t.block.z"},
    {Of::thread, "block_dim", "t.block_dim.x, t.block_dim.y"},
    {Of::thread, "grid_dim", "t.grid_dim.x, t.grid_dim.y"},
    {Of::thread, "lane", "t.lane"},
    {Of::thread, "warp", "t.warp"},
    {Of::thread, "lanes", "t.lanes()"},
    {Of::thread, "warp_size", "t.warp_size"},
    {Of::thread, "barrier", "t.barrier(), with nothing in its brackets"},
    {Of::thread, "warp_barrier", "t.warp_barrier(), with nothing in its brackets"},
    {Of::thread, "superstep", "t.superstep(\"name\", [&] { ... });"},
    {Of::thread, "shuffle", "t.shuffle(value, lane)"},
    {Of::thread, "shuffle_down", "t.shuffle_down(value, delta)"},
    {Of::thread, "shuffle_up", "t.shuffle_up(value, delta)"},
    {Of::thread, "shuffle_xor", "t.shuffle_xor(value, mask)"},
    {Of::thread, "ballot", "t.ballot(vote)"},
    {Of::thread, "any", "t.any(vote)"},
    {Of::thread, "all", "t.all(vote)"},
    {Of::thread, "atomic_add", "t.atomic_add(C(row, col), value)"},
    {Of::thread, "atomic_max", "t.atomic_max(C(row, col), value)"},
    {Of::thread, "atomic_min", "t.atomic_min(C(row, col), value)"},
    {Of::thread, "atomic_exchange", "t.atomic_exchange(C(row, col), value)"},
    {Of::thread, "atomic_compare_exchange",
     "t.atomic_compare_exchange(C(row, col), expected, desired)"},
    {Of::matrix_unit, "load_a", "load_a(t, a tile of A)"},
    {Of::matrix_unit, "load_b", "load_b(t, a tile of B)"},
    {Of::matrix_unit, "mma",
     "mma(t, sum, a, b): the sums, then what load_a gave, then what load_b gave"},
    {Of::matrix_unit, "store_d", "store_d(t, a tile of C, sum)"},
    {Of::matrix_unit, "zero", "zero()"},
    {Of::cuda, "threadIdx", "threadIdx.x, threadIdx.y, threadIdx.z"},
    {Of::cuda, "blockIdx", "blockIdx.x, blockIdx.y, blockIdx.z"},
    {Of::cuda, "blockDim", "blockDim.x, blockDim.y, blockDim.z"},
    {Of::cuda, "gridDim", "gridDim.x, gridDim.y, gridDim.z"},
    {Of::cuda, "warpSize", "warpSize"},
    {Of::cuda, "__syncthreads", "__syncthreads(), with nothing in its brackets"},
    {Of::cuda, "__syncwarp", "__syncwarp()"},
    {Of::cuda, "__shared__", "__shared__ float name[rows][columns];"},
    {Of::cuda, "__global__", "__global__ void name(const float* a, float* out)"},
    {Of::cuda, "__device__", "__device__ float name(float x)"},
    {Of::cuda, "__shfl_sync", "__shfl_sync(~0u, value, lane)"},
    {Of::cuda, "__shfl_down_sync", "__shfl_down_sync(~0u, value, step)"},
    {Of::cuda, "__shfl_up_sync", "__shfl_up_sync(~0u, value, step)"},
    {Of::cuda, "__shfl_xor_sync", "__shfl_xor_sync(~0u, value, mask)"},
    {Of::cuda, "__ballot_sync", "__ballot_sync(~0u, vote)"},
    {Of::cuda, "__any_sync", "__any_sync(~0u, vote)"},
    {Of::cuda, "__all_sync", "__all_sync(~0u, vote)"},
    {Of::cuda, "atomicAdd", "atomicAdd(&element, value)"},
    {Of::cuda, "atomicMax", "atomicMax(&element, value)"},
    {Of::cuda, "atomicMin", "atomicMin(&element, value)"},
    {Of::cuda, "atomicExch", "atomicExch(&element, value)"},
    {Of::cuda, "atomicCAS", "atomicCAS(&element, expected, desired)"},
    {Of::cuda, "fmaf", "fmaf(a, b, sum)"},
    {Of::cuda, "fmaxf", "fmaxf(a, b)"},
    {Of::cuda, "fminf", "fminf(a, b)"},
    {Of::cuda, "expf", "expf(x)"},
    {Of::cuda, "sqrtf", "sqrtf(x)"},
    {Of::cuda, "__float_as_int", "__float_as_int(x)"},
    {Of::cuda, "__int_as_float", "__int_as_float(bits)"},
    {Of::cuda, "__pipeline_memcpy_async", "__pipeline_memcpy_async(to, from, sizeof(float))"},
    {Of::cuda, "__pipeline_commit", "__pipeline_commit()"},
    {Of::cuda, "__pipeline_wait_prior", "__pipeline_wait_prior(0)"},
};

}  // namespace

const KernelWord* kernel_word(std::string_view name) {
  for (const KernelWord& each : kWords)
    if (each.name == name) return &each;
  return nullptr;
}

std::vector<std::string> kernel_words(KernelWord::Of of) {
  std::vector<std::string> out;
  for (const KernelWord& each : kWords)
    if (each.of == of) out.emplace_back(each.name);
  return out;
}

}  // namespace tessera::course
