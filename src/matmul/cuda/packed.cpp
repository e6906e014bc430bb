// A matrix B that was packed once for many products on a GPU. See matmul/cuda.hpp.
#include "ladder.hpp"
#include "matmul/call.hpp"
#include "reachable.hpp"
#include "tessera/kernels/pack_operand.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::cuda {

namespace {

/// From one row along K to the next, in elements.
index_t depth_of(const ConstMatrix& B, PackedAs as) {
  const index_t in_tile = 128 / (as == PackedAs::three_bf16 ? 2 : size_of(B.dtype));
  return (B.rows + in_tile - 1) / in_tile * in_tile;
}

}  // namespace

PackedMatrix::PackedMatrix(const ConstMatrix& B, const Stream& stream, PackedAs as) : as_(as) {
  tessera::detail::check_extents("PackedMatrix: B", B);
  tessera::detail::check_data("PackedMatrix: B", B);
  if (as == PackedAs::three_bf16 && B.dtype != DType::f32)
    throw Error(Category::type, cat("PackedMatrix: ", name(B.dtype), " is not three bf16"), "f32");
  const index_t depth = depth_of(B, as), element = as == PackedAs::rows ? size_of(B.dtype) : 6;
  const index_t extents[] = {B.cols, depth};
  view_ = {nullptr, B.dtype, B.rows, B.cols, 1, depth};
  if (B.rows == 0 || B.cols == 0) return;
  buffer_ =
      DeviceBuffer(checked_bytes(extents, 2, static_cast<std::size_t>(element)), stream.device());
  view_.data = buffer_.data();
  const OnDevice on(stream.device());
  tessera::detail::require_reachable("B", B.data, B.dtype, stream);
  tessera::detail::cuda_calls().pack(B, as, buffer_.data(), stream);
}

void run(const Plan& plan, const ConstMatrix& A, const PackedMatrix& B, const Matrix& C,
         const Stream& stream, const void* bias) {
  const bool has_planes = B.packed_as() == PackedAs::three_bf16;
  if (has_planes != (plan.algorithm == "three_bf16"))
    throw Error(Category::argument,
                cat("run: ", plan.algorithm, " does not multiply ",
                    has_planes ? "three bf16" : "a matrix packed in rows"),
                has_planes ? "a plan of algorithm three_bf16" : "any algorithm but three_bf16", {},
                "pack B for the algorithm, or give run the matrix");
  tessera::detail::run_on_cuda(plan, A, B.matrix(), C, stream, bias,
                               has_planes ? B.matrix().data : nullptr);
}

Plan matmul(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, const Stream& stream,
            double alpha, double beta, const Options& options) {
  Options here = options;
  here.device = cat("cuda:", stream.device());
  if (here.algorithm == "auto" && B.packed_as() == PackedAs::three_bf16)
    here.algorithm = "three_bf16";
  Plan plan = make_plan(make_problem(A, B.matrix(), C, alpha, beta), here);
  run(plan, A, B, C, stream);
  return plan;
}

}  // namespace tessera::cuda
