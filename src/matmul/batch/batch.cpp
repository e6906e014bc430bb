// The checked calls for many products: all checks, then the packed path's batch.
#include "tessera/matmul/batch.hpp"

#include <algorithm>
#include <vector>

#include "checks.hpp"
#include "matmul/call.hpp"
#include "matmul/keeps_subnormals.hpp"
#include "matmul/ladder.hpp"
#include "matmul/overlap.hpp"
#include "matmul/overlap_error.hpp"
#include "matmul/packed.hpp"
#include "matmul/product_text.hpp"
#include "overlap.hpp"

namespace tessera {

namespace {

constexpr index_t kMostCompared = 4096;  // matrices of a strided batch that are compared one by one

/// The plan of the first product, used for all.
Plan plan_batch(std::string_view call, const Problem& problem, const Options& options) {
  if (problem.in == DType::i32)
    throw Error(Category::type, cat(call, ": there is no i32 product in a batch"),
                detail::packed_operands_text(), {}, "call matmul for each product");
  return detail::packed_plan(problem, options, "a batch");
}

/// The matrix of product i.
template <class Void>
MatrixView<Void> at(MatrixView<Void> m, index_t i, index_t step) {
  using Byte = std::conditional_t<std::is_const_v<Void>, const char, char>;
  m.data = static_cast<Byte*>(m.data) + i * step * size_of(m.dtype);
  return m;
}

/// Do any two of `count` matrices like c overlap?
bool overlap_each_other(const Matrix& c, index_t count, index_t step) {
  const index_t bytes = size_of(c.dtype);
  const ByteMode modes[] = {
      {c.rows, c.row_stride * bytes}, {c.cols, c.col_stride * bytes}, {count, step * bytes}};
  return may_overlap_itself({c.data, bytes, modes});
}

/// One of the operands of a strided batch.
struct Operand {
  char name;
  const ConstMatrix& matrix;
  index_t step;
};

/// Refuses overlaps and overflows that the steps cause among matrices that have passed
/// make_problem(); C is not empty.
void check_steps(std::string_view call, const Product& first, index_t count,
                 const BatchSteps& steps) {
  const auto& [A, B, C] = first;
  const ConstMatrix c = C;
  const Operand operands[] = {{'C', c, steps.c}, {'A', A, steps.a}, {'B', B, steps.b}};
  const std::span read(operands + 1, A.cols > 0 ? 2 : 0);
  for (const auto& [name, m, step] : std::span(operands, 1 + read.size())) {
    if (!detail::reach_fits(m, count, step))
      throw Error(Category::shape, cat(call, ": ", name, " reaches beyond 64-bit addresses"), {},
                  cat(count, " of ", to_string(m), " at steps of ", step));
  }
  const detail::Footprint all_c(C, count, steps.c);
  if (!overlap_each_other(C, count, steps.c) &&
      std::none_of(read.begin(), read.end(), [&](const Operand& each) {
        return may_overlap(detail::Footprint(each.matrix, count, each.step), all_c);
      }))
    return;
  std::vector<Product> products;
  for (index_t i = 0; i < std::min(count, kMostCompared); ++i)
    products.push_back(detail::product_at(first, i, steps));
  detail::refuse_overlaps(call, products);
  if (count > kMostCompared)
    throw OverlapError(Category::argument, cat(call, ": C may overlap another C, an A or a B"),
                       "steps that keep them plainly apart",
                       cat(count, " of ", to_string(C), " at steps of ", steps.c),
                       "give C memory of its own");
}

/// The problem of product i, within the limits of a plan; errors name i.
Problem problem_of(std::string_view call, const Product& product, std::size_t i, double alpha,
                   double beta) try {
  const Problem problem = make_problem(product.A, product.B, product.C, alpha, beta);
  detail::check_problem(problem);
  return problem;
} catch (const Error& error) {
  throw Error(error.category(), cat(call, ": product ", i, ": ", error.problem()), error.expected(),
              error.got(), error.advice());
}

}  // namespace

Product detail::product_at(const Product& first, index_t i, const BatchSteps& steps) {
  return {at(first.A, i, steps.a), at(first.B, i, steps.b), at(first.C, i, steps.c)};
}

detail::StridedBatch detail::check_strided(std::string_view call, const Product& first,
                                           index_t count, const BatchSteps& steps, double alpha,
                                           double beta, const Epilogue& epilogue,
                                           const void* bias) {
  if (count < 0)
    throw Error(Category::argument, cat(call, ": the count is negative"), "0 or more", cat(count));
  const auto& [A, B, C] = first;
  const Problem p = count == 0 ? Problem{} : make_problem(A, B, C, alpha, beta, epilogue);
  const StridedBatch batch{p, p.K == 0 ? BatchSteps{.c = steps.c} : steps};
  const bool empty = p.M == 0 || p.N == 0;
  if (!empty && count > 1) check_steps(call, first, count, batch.steps);
  expect_bias(p, bias, C, count, steps.c);
  return batch;
}

std::vector<Problem> detail::check_products(std::string_view call,
                                            std::span<const Product> products, double alpha,
                                            double beta) {
  std::vector<Problem> problems;
  problems.reserve(products.size());
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Problem& p = problems.emplace_back(problem_of(call, products[i], i, alpha, beta));
    const Problem& first = problems.front();
    if (p.in != first.in || p.in_b != first.in_b || p.out != first.out)
      throw Error(Category::type,
                  cat(call, ": product ", i, " has other element types than product 0"),
                  type_text(first), type_text(p), "make a batch of each type");
  }
  return problems;
}

void matmul_strided(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, index_t count,
                    const BatchSteps& requested, double alpha, double beta, const Options& options,
                    const Epilogue& epilogue, const void* bias) {
  const auto [p, steps] = detail::check_strided("matmul_strided", {A, B, C}, count, requested,
                                                alpha, beta, epilogue, bias);
  const Plan plan = plan_batch("matmul_strided", p, options);
  detail::run_reported(cat("matmul_strided count=", count), plan, [&, p = p, steps = steps] {
    if (p.M == 0 || p.N == 0) return;
    const detail::KeepsSubnormals keeps;
    detail::visit_packed(p, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
      cpu::gemm_strided(
          detail::gemm_of<In, Out>(p, A.data, B.data, C.data, bias, plan.threads, plan.arithmetic),
          count, steps);
    });
  });
}

void matmul_batch(std::span<const Product> products, double alpha, double beta,
                  const Options& options) {
  const std::vector<Problem> problems =
      detail::check_products("matmul_batch", products, alpha, beta);
  const Problem first = products.empty() ? Problem{} : problems.front();
  const Plan plan = plan_batch("matmul_batch", first, options);
  detail::refuse_overlaps("matmul_batch", products);
  detail::run_reported(cat("matmul_batch count=", products.size()), plan, [&] {
    const detail::KeepsSubnormals keeps;
    detail::visit_packed(first, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
      std::vector<cpu::Gemm<In, Out>> calls;
      calls.reserve(products.size());
      for (std::size_t i = 0; i < products.size(); ++i) {
        const auto& [A, B, C] = products[i];
        calls.push_back(detail::gemm_of<In, Out>(problems[i], A.data, B.data, C.data, nullptr,
                                                 plan.threads, plan.arithmetic));
      }
      cpu::gemm_batch(calls.data(), static_cast<index_t>(calls.size()));
    });
  });
}

}  // namespace tessera
