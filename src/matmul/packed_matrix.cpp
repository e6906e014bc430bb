// The checked form of a packed B. Only B's extents and type are kept, and calls are checked against
// them; the panels are private memory, which no C can overlap.
#include "tessera/matmul/packed_matrix.hpp"

#include "call.hpp"
#include "keeps_subnormals.hpp"
#include "packed.hpp"
#include "product_text.hpp"

namespace tessera {

namespace {

constexpr index_t kMostElements = index_t{1} << 46;  // more than 47 bits of address space hold

PackedMatrix::Panels pack(const ConstMatrix& B, DType of_a) {
  detail::check_extents("PackedMatrix: B", B);
  detail::check_data("PackedMatrix: B", B);
  if (B.cols > 0 && B.rows > kMostElements / B.cols)
    throw Error(Category::shape, "PackedMatrix: B has too many elements",
                cat("at most ", kMostElements), cat(B.rows, " x ", B.cols));
  const auto as = [&]<class T>(TypeTag<T>) -> PackedMatrix::Panels {
    return cpu::PackedMatrix<T>(static_cast<const cpu::ElementB<T>*>(B.data), B.rows, B.cols,
                                B.row_stride, B.col_stride);
  };
  if (of_a == DType::u8 && B.dtype == DType::i8) return as(TypeTag<cpu::U8I8>{});
  if (of_a == DType::i8 && B.dtype == DType::u8) return as(TypeTag<cpu::I8U8>{});
  if (of_a != B.dtype)
    throw Error(Category::type,
                cat("PackedMatrix: there is no product of ", name(of_a), " and ", name(B.dtype)),
                "A and B of one type, or u8 and i8", {}, "convert one of them");
  switch (B.dtype) {
    case DType::f64: return as(TypeTag<double>{});
    case DType::f32: return as(TypeTag<float>{});
    case DType::f16: return as(TypeTag<f16>{});
    case DType::bf16: return as(TypeTag<bf16>{});
    case DType::i8: return as(TypeTag<std::int8_t>{});
    case DType::u8: return as(TypeTag<std::uint8_t>{});
    default:
      throw Error(Category::type, cat("PackedMatrix: ", name(B.dtype), " is not packed"),
                  detail::packed_operands_text(), {},
                  B.dtype == DType::i32 ? "give matmul the matrix itself" : "convert B first");
  }
}

}  // namespace

PackedMatrix::PackedMatrix(const ConstMatrix& B, DType of_a) : panels_(pack(B, of_a)) {}

index_t PackedMatrix::rows() const {
  return std::visit([](const auto& panels) { return panels.rows(); }, panels_);
}
index_t PackedMatrix::cols() const {
  return std::visit([](const auto& panels) { return panels.cols(); }, panels_);
}
std::size_t PackedMatrix::bytes() const {
  return std::visit([](const auto& panels) { return panels.bytes(); }, panels_);
}
DType PackedMatrix::dtype() const {
  return std::visit(
      []<class T>(const cpu::PackedMatrix<T>&) { return dtype_of<cpu::ElementB<T>>(); }, panels_);
}
DType PackedMatrix::dtype_of_a() const {
  return std::visit(
      []<class T>(const cpu::PackedMatrix<T>&) { return dtype_of<cpu::ElementA<T>>(); }, panels_);
}

Problem make_problem(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, double alpha,
                     double beta, Epilogue epilogue) {
  const void* any = std::visit([](const auto& panels) { return panels.data(); }, B.panels());
  // Strides of 0: one address of the panels stands for all elements.
  if (is_byte(A.dtype) && is_byte(B.dtype()) && A.dtype != B.dtype_of_a())
    throw Error(Category::type,
                cat("multiply: A is of ", name(A.dtype), ", but B was packed for another type"),
                to_string(B.dtype_of_a()), to_string(A.dtype),
                "convert A, or pack B for the type of A: PackedMatrix(B, type)");
  const ConstMatrix stand_in(any, B.dtype(), B.rows(), B.cols(), 0, 0);
  Problem problem = make_problem(A, stand_in, C, alpha, beta, epilogue);
  problem.b = {B.cols(), 1};
  return problem;
}

void run(const Plan& plan, const ConstMatrix& A, const PackedMatrix& B, const Matrix& C,
         const void* bias) {
  const Problem& p = plan.problem;
  // Sums of bytes are the same in any order, so a packed B also serves a split-K plan.
  if (plan.algorithm != "packed" && !(plan.algorithm == "split_k" && is_byte(p.in)))
    throw Error(Category::argument,
                cat("run: ", plan.algorithm, " does not multiply a packed matrix"),
                "a plan of algorithm packed", {}, "make the plan with it, or give run the matrix");
  detail::expect_planned("A", A, p.M, p.K, p.in, p.a);
  if (B.rows() != p.K || B.cols() != p.N || B.dtype() != p.type_of_b() || B.dtype_of_a() != p.in)
    throw Error(Category::shape, "run: B is not the matrix that was planned for",
                cat(name(p.type_of_b()), " (", p.K, ",", p.N, ")"),
                cat(name(B.dtype()), " (", B.rows(), ",", B.cols(), ")"),
                "make a plan for this matrix");
  detail::expect_planned("C", C, p.M, p.N, p.out, p.c);
  (void)make_problem(A, B, C);
  detail::expect_bias(p, bias, C);
  detail::run_reported("matmul", plan, [&] {
    const detail::KeepsSubnormals keeps;
    detail::visit_packed(p, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
      cpu::gemm(detail::gemm_of<In, Out>(p, A.data, nullptr, C.data, bias, plan.threads),
                std::get<cpu::PackedMatrix<In>>(B.panels()));
    });
  });
}

Plan matmul(const ConstMatrix& A, const PackedMatrix& B, const Matrix& C, double alpha, double beta,
            const Options& options) {
  const Plan plan =
      detail::packed_plan(make_problem(A, B, C, alpha, beta), options, "a packed matrix");
  run(plan, A, B, C);
  return plan;
}

}  // namespace tessera
