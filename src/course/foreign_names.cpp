// The list: see foreign_names.hpp. Used only for names that a text does not declare itself.
#include "foreign_names.hpp"

#include <set>

#include "error_reasons.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

constexpr std::string_view kSharedWords =
    "a member of struct Shared, Tile<float, rows, columns> name; and auto& s = shared<Shared>(t);";
constexpr std::string_view kKernelWords =
    "TESSERA_KERNEL void operator()(auto t, ...) const, as in the file you were given";
constexpr std::string_view kHostWords = "leave it out: the puzzle allocates, copies and launches";
constexpr std::string_view kVectorWords =
    "copy_vectorized<4>(t, a tile, s.a.view()) moves four elements at a time";
constexpr std::string_view kUnitWords =
    "TensorCore<float, float, MmaShape{16, 8, 8}>: load_a, load_b, mma, store_d";

constexpr ForeignName kForeign[] = {
    {"threadIdx", "CUDA", "t.thread", ".x"},
    {"blockIdx", "CUDA", "t.block", ".x"},
    {"blockDim", "CUDA", "t.block_dim", ".x"},
    {"gridDim", "CUDA", "t.grid_dim", ".x"},
    {"warpSize", "CUDA", "t.warp_size", ""},
    {"__syncthreads", "CUDA", "t.barrier()", ""},
    {"syncthreads", "CUDA", "t.barrier()", ""},
    {"__syncwarp", "CUDA", "t.warp_barrier()", ""},
    {"__shared__", "CUDA", kSharedWords, ""},
    {"__global__", "CUDA", kKernelWords, ""},
    {"__device__", "CUDA", "TESSERA_KERNEL", ""},
    {"__host__", "CUDA", "TESSERA_KERNEL", ""},
    {"__launch_bounds__", "CUDA", "static constexpr Dim3 block{...}", ""},
    {"__constant__", "CUDA", "constexpr", ""},
    {"dim3", "CUDA", "Dim3", ""},
    {"float2", "CUDA", kVectorWords, ""},
    {"float4", "CUDA", kVectorWords, ""},
    {"int4", "CUDA", kVectorWords, ""},
    {"make_float4", "CUDA", kVectorWords, ""},
    {"atomicAdd", "CUDA", "t.atomic_add(C(row, col), value), without an &", ""},
    {"atomicMax", "CUDA", "t.atomic_max(C(row, col), value), without an &", ""},
    {"atomicMin", "CUDA", "t.atomic_min(C(row, col), value), without an &", ""},
    {"atomicExch", "CUDA", "t.atomic_exchange(C(row, col), value), without an &", ""},
    {"atomicCAS", "CUDA", "t.atomic_compare_exchange(C(row, col), expected, desired), without an &",
     ""},
    {"__shfl_sync", "CUDA", "t.shuffle(value, lane)", ""},
    {"__shfl_down_sync", "CUDA", "t.shuffle_down(value, delta)", ""},
    {"__shfl_up_sync", "CUDA", "t.shuffle_up(value, delta)", ""},
    {"__shfl_xor_sync", "CUDA", "t.shuffle_xor(value, mask)", ""},
    {"__ballot_sync", "CUDA", "t.ballot(vote)", ""},
    {"__any_sync", "CUDA", "t.any(vote)", ""},
    {"__all_sync", "CUDA", "t.all(vote)", ""},
    {"__ldg", "CUDA", "the element itself: A(row, col)", ""},
    {"__fmaf_rn", "CUDA", "fma(a, b, sum)", ""},
    {"__expf", "CUDA", "std::exp(x)", ""},
    {"__pipeline_memcpy_async", "CUDA", "copy_async(t, a tile, s.a.view())", ""},
    {"__pipeline_commit", "CUDA", "commit(t)", ""},
    {"__pipeline_wait_prior", "CUDA", "wait<0>(t)", ""},
    {"memcpy_async", "CUDA", "copy_async(t, a tile, s.a.view())", ""},
    {"cooperative_groups", "CUDA", "t: t.barrier(), t.warp_barrier()", ""},
    {"this_thread_block", "CUDA", "t: t.barrier(), t.thread", ""},
    {"nvcuda", "CUDA", kUnitWords, ""},
    {"wmma", "CUDA", kUnitWords, ""},
    {"load_matrix_sync", "CUDA", "Mma::load_a(t, a tile of A), Mma::load_b(t, a tile of B)", ""},
    {"mma_sync", "CUDA", "Mma::mma(t, sum, a, b)", ""},
    {"store_matrix_sync", "CUDA", "Mma::store_d(t, a tile of C, sum)", ""},
    {"cudaMalloc", "CUDA", kHostWords, ""},
    {"cudaMemcpy", "CUDA", kHostWords, ""},
    {"cudaFree", "CUDA", kHostWords, ""},
    {"cudaDeviceSynchronize", "CUDA", kHostWords, ""},

    {"__threadfence", "CUDA", "t.fence()", ""},
    {"__activemask", "CUDA", "t.active_mask()", ""},
    {"__forceinline__", "CUDA", "TESSERA_KERNEL", ""},
    {"hipThreadIdx_x", "HIP", "t.thread.x", ""},
    {"hipThreadIdx_y", "HIP", "t.thread.y", ""},
    {"hipBlockIdx_x", "HIP", "t.block.x", ""},
    {"hipBlockIdx_y", "HIP", "t.block.y", ""},
    {"make_tuple", "CuTe", "tuple(...)", ""},
    {"make_shape", "CuTe", "tuple(...)", ""},
    {"make_stride", "CuTe", "tuple(...)", ""},
    {"make_coord", "CuTe", "tuple(...)", ""},
    {"make_layout", "CuTe", "Layout name(tuple(...), tuple(...)): the extents, then the strides",
     ""},
    {"local_tile", "CuTe", "tile<rows, columns>(A, i, k)", ""},
    {"threadgroup_barrier", "Metal", "t.barrier()", ""},
    {"workgroupBarrier", "WGSL", "t.barrier()", ""},

    {"tl.program_id", "Triton", "t.block", ".x"},
    {"tl.load", "Triton", "the element itself: A(row, col)", ""},
    {"tl.store", "Triton", "C(row, col) = value;", ""},
    {"tl.dot", "Triton", "a loop over k: sum = fma(a, b, sum)", ""},
    {"tl.arange", "Triton", "t.thread: each thread has its own number", ""},
    {"tl", "Triton", "what one thread does: t.block, t.thread, A(row, col)", ""},

    {"integer", "Fortran", "int", ""},
    {"real", "Fortran", "float", ""},
    {"endif", "Fortran", "}", ""},
    {"enddo", "Fortran", "}", ""},
    {"f32", "Rust", "float", ""},
    {"f64", "Rust", "double", ""},
    {"i32", "Rust", "int", ""},
    {"usize", "Rust", "index_t", ""},
    {"float32", "NumPy", "float", ""},
    {"int32", "NumPy", "int", ""},
    {"function", "JavaScript", kKernelWords, ""},
    {"Math.min", "JavaScript", "std::min(a, b)", ""},
    {"Math.max", "JavaScript", "std::max(a, b)", ""},
    {"Math.exp", "JavaScript", "std::exp(x)", ""},
    {"Math.sqrt", "JavaScript", "std::sqrt(x)", ""},

    {"get_local_id", "OpenCL", "t.thread.x, t.thread.y", ""},
    {"get_group_id", "OpenCL", "t.block.x, t.block.y", ""},
    {"get_local_size", "OpenCL", "t.block_dim.x, t.block_dim.y", ""},
    {"get_num_groups", "OpenCL", "t.grid_dim.x, t.grid_dim.y", ""},
    {"get_global_id", "OpenCL", "t.block.x * t.block_dim.x + t.thread.x, and the same with y", ""},
    {"CLK_LOCAL_MEM_FENCE", "OpenCL", "t.barrier(), with nothing in its brackets", ""},
    {"CLK_GLOBAL_MEM_FENCE", "OpenCL", "t.barrier(), with nothing in its brackets", ""},
    {"__kernel", "OpenCL", kKernelWords, ""},
    {"__local", "OpenCL", kSharedWords, ""},
    {"atomic_inc", "OpenCL", "t.atomic_add(element, 1)", ""},
    {"mad", "OpenCL", "fma(a, b, sum)", ""},

    {"thread_idx", "Mojo", "t.thread", ".x"},
    {"block_idx", "Mojo", "t.block", ".x"},
    {"block_dim", "Mojo", "t.block_dim", ".x"},
    {"grid_dim", "Mojo", "t.grid_dim", ".x"},
    {"global_idx", "Mojo", "t.block.x * t.block_dim.x + t.thread.x, and the same with y", ""},
    {"lane_id", "Mojo", "t.lane", ""},
    {"warp_id", "Mojo", "t.warp", ""},
    {"stack_allocation", "Mojo", kSharedWords, ""},
    {"AddressSpace", "Mojo", kSharedWords, ""},
    {"tb", "Mojo", kSharedWords, ""},
    {"LayoutTensor", "Mojo",
     "Tile<float, rows, columns> name; for shared memory; a kernel's tensors are auto", ""},
    {"LayoutTensorBuild", "Mojo", kSharedWords, ""},
    {"TileTensor", "Mojo",
     "Tile<float, rows, columns> name; for shared memory; a kernel's tensors are auto", ""},
    {"UnsafePointer", "Mojo", "auto: tensors and views know their address", ""},
    {"copy_dram_to_sram", "Mojo",
     "copy(t, a tile, s.a.view()): what is copied comes first, without .tile", ""},
    {"copy_dram_to_sram_async", "Mojo",
     "copy_async(t, tile<rows, columns>(A, i, k), s.a.view()): what is copied comes first", ""},
    {"async_copy_wait_all", "Mojo", "wait<0>(t), after commit(t)", ""},
    {"async_copy_commit_group", "Mojo", "commit(t)", ""},
    {"async_copy_wait_group", "Mojo", "wait<0>(t)", ""},
    {"Atomic", "Mojo", "t.atomic_add(C(row, col), value)", ""},
    {"warp_sum", "Mojo", "t.shuffle_down(value, delta), added up in a loop", ""},
    {"Float32", "Mojo", "float", ""},
    {"Float64", "Mojo", "double", ""},
    {"Int", "Mojo", "int", ""},
    {"Int32", "Mojo", "int", ""},
    {"UInt", "Mojo", "int", ""},
    {"SIMD", "Mojo", "float", ""},
    {"var", "Mojo", "the type of the number: float sum = 0; int i = 0;", ""},
    {"let", "Mojo", "const and the type of the number: const int i = ...;", ""},
    {"alias", "Mojo", "constexpr int NAME = ...;", ""},
    {"comptime", "Mojo", "constexpr int NAME = ...;", ""},
    {"fn", "Mojo", kKernelWords, ""},
    {"rebind", "Mojo", "leave it out: an element is a float", ""},

    {"def", "Python", kKernelWords, ""},
    {"range", "Python", "for (int k = 0; k < n; ++k)", ""},
    {"elif", "Python", "else if (...)", ""},
    {"None", "Python", "leave it out, or write the number", ""},
    {"True", "Python", "true", ""},
    {"False", "Python", "false", ""},
    {"len", "Python", "extent<0>(A), the number of its rows; extent<1>(A) of its columns", ""},
    {"print", "Python",
     "#include <cstdio> at the top of the file, and std::printf(\"%g\\n\", value)", ""},
    {"pass", "Python", "nothing, or {}", ""},
    {"np.exp", "NumPy", "std::exp(x)", ""},
    {"np.sqrt", "NumPy", "std::sqrt(x)", ""},
    {"np.maximum", "NumPy", "a > b ? a : b", ""},
    {"np.minimum", "NumPy", "a < b ? a : b", ""},
    {"np.max", "NumPy", "a loop: largest = x > largest ? x : largest", ""},
    {"ones", "NumPy", "float name[n] = {};", ""},
    {"full", "NumPy", "float name[n] = {};", ""},
    {"empty", "NumPy", "float name[n] = {};", ""},
    {"np.zeros", "NumPy", "float name[n] = {};", ""},
    {"np.dot", "NumPy", "a loop over k: sum = fma(a, b, sum)", ""},
    {"np.sum", "NumPy", "a loop: sum += x", ""},
    {"np.float32", "NumPy", "float", ""},
    {"math.exp", "Python", "std::exp(x)", ""},
    {"math.sqrt", "Python", "std::sqrt(x)", ""},
    {"np", "NumPy", "C++: std::exp(x), a loop for sums", ""},
    {"numpy", "NumPy", "C++: std::exp(x), a loop for sums", ""},
    {"math", "Python", "std::exp(x), std::sqrt(x)", ""},
    {"torch", "PyTorch", "C++: a loop, fma(a, b, sum)", ""},
    {"cuda.threadIdx", "Numba", "t.thread", ".x"},
    {"cuda.blockIdx", "Numba", "t.block", ".x"},
    {"cuda.blockDim", "Numba", "t.block_dim", ".x"},
    {"cuda.gridDim", "Numba", "t.grid_dim", ".x"},
    {"cuda.grid", "Numba", "t.block.x * t.block_dim.x + t.thread.x, and the same with y", ""},
    {"cuda.syncthreads", "Numba", "t.barrier()", ""},
    {"cuda.shared", "Numba", kSharedWords, ""},
    {"cuda.atomic", "Numba", "t.atomic_add(C(row, col), value)", ""},
};

}  // namespace

const ForeignName* foreign_name(std::string_view name) {
  for (const ForeignName& each : kForeign)
    if (each.name == name) return &each;
  return nullptr;
}

std::string_view meant_by(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> parts[] = {
      {"commit", "commit(t)"},
      {"wait", "wait<0>(t)"},
      {"cp_async", "copy_async(t, a tile, s.a.view())"},
      {"async_copy", "copy_async(t, a tile, s.a.view())"},
      {"load_async", "copy_async(t, a tile, s.a.view())"},
      {"syncwarp", "t.warp_barrier()"},
      {"sync_warp", "t.warp_barrier()"},
      {"syncthreads", "t.barrier()"},
      {"sync_threads", "t.barrier()"},
      {"synchronize", "t.barrier()"},
      {"barrier", "t.barrier()"},
      {"atomic_add", "t.atomic_add(C(row, col), value)"},
      {"fetch_add", "t.atomic_add(C(row, col), value)"}};
  for (const auto& [part, ours] : parts)
    if (name.find(part) != std::string_view::npos) return ours;
  return {};
}

namespace {

/// "threadIdx.x" with its equivalent here.
struct ForeignUse {
  const ForeignName* name;
  std::string text, ours;
};

/// For a token that the text does not declare; name null: it belongs to no other language.
ForeignUse foreign_use(const LearnersText& text, std::size_t at) {
  const auto& tokens = text.tokens;
  std::string name = tokens[at].text;
  std::size_t end = at + 1;
  const bool has_member = text.is(".", at + 1) && at + 2 < tokens.size();
  const ForeignName* found =
      has_member ? foreign_name(cat(name, ".", tokens[at + 2].text)) : nullptr;
  if (found != nullptr) name += "." + tokens[at + 2].text, end = at + 3;
  else found = foreign_name(name);
  if (found == nullptr) return {};
  ForeignUse out{found, name, std::string(found->ours)};
  const bool keeps = !found->member.empty();
  if (keeps && text.is(".", end) && end + 1 < tokens.size() && tokens[end + 1].text.size() == 1) {
    out.text += "." + tokens[end + 1].text;
    out.ours += "." + tokens[end + 1].text;
  } else if (keeps) {
    out.ours += found->member;
  }
  return out;
}

}  // namespace

ErrorReason reason_of_foreign_names(const CompilerSays& error, const LearnersText& text) {
  const auto range = text.line(error.line);
  std::set<std::string> words, languages;
  std::vector<ForeignUse> uses;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const std::string& name = text.tokens[i].text;
    const bool is_declared_here = text.names.visible(name, i) != nullptr;
    if (!text.tokens[i].is_name() || is_declared_here || text.is_member(i)) continue;
    ForeignUse use = foreign_use(text, i);
    const bool is_own = use.name != nullptr && text.is_in_cuda() && use.name->language == "CUDA";
    if (use.name == nullptr || is_own || !words.insert(use.text).second) continue;
    languages.insert(std::string(use.name->language));
    uses.push_back(std::move(use));
  }
  if (uses.empty() || languages.size() > 1) return {};
  std::string why, advice;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    why += cat(i == 0 ? "" : i + 1 == uses.size() ? " and " : ", ", uses[i].text);
    advice +=
        uses.size() == 1 ? uses[i].ours : cat(i == 0 ? "" : "; ", uses[i].text, ": ", uses[i].ours);
  }
  why += cat(uses.size() == 1 ? " is a name of " : " are names of ", *languages.begin());
  return {"foreign-name", why, advice};
}

}  // namespace tessera::course
