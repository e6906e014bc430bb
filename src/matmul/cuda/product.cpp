// Products on a GPU: checks the call, finds the compiled kernel, starts it. See
// matmul/cuda.hpp.
#include <cstdint>
#include <cstring>

#include "ladder.hpp"
#include "matmul/call.hpp"
#include "matmul/footprint.hpp"
#include "reachable.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::detail {

void run_on_cuda(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
                 const cuda::Stream& stream, const void* bias, const void* packed_b) {
  const Problem& p = plan.problem;
  if (!plan.device.starts_with("cuda"))
    throw Error(Category::argument, cat("run: the plan was made for device '", plan.device, "'"),
                "a plan for a CUDA device", {}, "make it with Options{.device = \"cuda\"}");
  expect_planned("A", A, p.M, p.K, p.in, p.a);
  expect_planned("B", B, p.K, p.N, p.type_of_b(), p.b);
  expect_planned("C", C, p.M, p.N, p.out, p.c);
  (void)make_problem(A, B, C);  // pointers and overlaps depend on the call, not on the plan
  expect_bias(p, bias, C);
  run_reported("cuda::run", plan, [&] {
    if (p.M == 0 || p.N == 0) return;
    const cuda::OnDevice on(
        stream.device());  // querying a pointer creates a context on the current one
    require_reachable_operands(p, A, B, C, stream, bias);
    for (const auto& entry : cuda_ladder()) {
      if (entry.name == plan.algorithm)
        return entry.run(
            {p, plan.tile, stream, A.data, B.data, C.data, bias, plan.parts, packed_b});
    }
    throw Error(Category::argument,
                cat("run: algorithm '", plan.algorithm, "' does not run on CUDA devices"));
  });
}

}  // namespace tessera::detail

namespace tessera::cuda {

void run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
         const Stream& stream, const void* bias) {
  tessera::detail::run_on_cuda(plan, A, B, C, stream, bias, nullptr);
}

Plan matmul(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, const Stream& stream,
            double alpha, double beta, const Options& options) {
  Options here = options;
  here.device = cat("cuda:", stream.device());
  Plan plan = make_plan(make_problem(A, B, C, alpha, beta), here);
  run(plan, A, B, C, stream);
  return plan;
}

DeviceMatrix::DeviceMatrix(DType dtype, index_t rows, index_t cols, int device) {
  const index_t extents[] = {rows, cols};
  buffer_ =
      DeviceBuffer(checked_bytes(extents, 2, static_cast<std::size_t>(size_of(dtype))), device);
  view_ = {buffer_.data(), dtype, rows, cols, cols, 1};
}

namespace {

/// The bytes from the first to the last element of a nonempty matrix in any memory.
struct Span {
  char* first;
  std::size_t bytes;
  explicit Span(const ConstMatrix& m) {
    const tessera::detail::Footprint footprint(m);
    first = reinterpret_cast<char*>(static_cast<std::intptr_t>(footprint.low));
    bytes = static_cast<std::size_t>(footprint.high() - footprint.low);
  }
};

}  // namespace

DeviceMatrix::DeviceMatrix(const ConstMatrix& from, const Stream& stream) {
  tessera::detail::check_extents("upload", from);
  tessera::detail::check_data("upload", from);
  view_ = {nullptr, from.dtype, from.rows, from.cols, from.row_stride, from.col_stride};
  if (from.rows == 0 || from.cols == 0) return;
  const Span host(from);
  buffer_ = DeviceBuffer(host.bytes, stream.device());
  view_.data =
      static_cast<char*>(buffer_.data()) + (static_cast<const char*>(from.data) - host.first);
  copy(buffer_.data(), host.first, host.bytes, stream);
  stream.synchronize();
}

void download(const ConstMatrix& from, const Matrix& to, const Stream& stream) {
  const bool same_strides = (from.rows <= 1 || from.row_stride == to.row_stride) &&
                            (from.cols <= 1 || from.col_stride == to.col_stride);
  if (from.rows != to.rows || from.cols != to.cols || from.dtype != to.dtype || !same_strides)
    throw Error(Category::shape, "download: the matrices differ", to_string(from), to_string(to));
  if (from.rows == 0 || from.cols == 0) return;
  const Span device(from), host(to);
  copy(host.first, device.first, host.bytes, stream);
  stream.synchronize();
}

}  // namespace tessera::cuda
