// Runs a plan: checks that the matrices match the plan, finds the compiled kernel
// and calls it, and prints the line of TESSERA_VERBOSE=1. The checks of pointers and overlaps are
// repeated for each call, because they belong to the matrices and not to the plan.
#include "tessera/matmul/matmul.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/environment.hpp"
#include "call.hpp"
#include "cpu/reported_route.hpp"
#include "keeps_subnormals.hpp"
#include "ladder.hpp"
#include "overlap.hpp"
#include "overlap_error.hpp"
#include "packed.hpp"
#include "tessera/core/cpu.hpp"
#include "tessera/cpu/split_k.hpp"
#include "tessera/matmul/on_device.hpp"
#include "waves.hpp"

namespace tessera {

namespace detail {

bool verbose() {
  static const bool on = is_switched_on("TESSERA_VERBOSE");
  return on;
}

void report(std::string_view call, const Plan& plan, std::string_view route, double time_us) {
  const std::string line =
      cat("tessera: ", call, " ", to_string(plan),
          plan.device == "cpu" ? cat(" isa=", name(vector_path())) : "", route);
  std::fprintf(stderr, "%s time_us=%.1f\n", line.c_str(), time_us);
}

void expect_planned(std::string_view name, const ConstMatrix& m, index_t rows, index_t cols,
                    DType dtype, Strides strides) {
  if (m.rows == rows && m.cols == cols && m.dtype == dtype && m.row_stride == strides.row &&
      m.col_stride == strides.col)
    return;
  throw Error(
      Category::shape, cat("run: ", name, " is not the matrix that was planned for"),
      cat(tessera::name(dtype), " (", rows, ",", cols, "):(", strides.row, ",", strides.col, ")"),
      to_string(m), "make a plan for this matrix");
}

void expect_bias(const Problem& p, const void* bias, const Matrix& C, index_t count, index_t step) {
  if (p.epilogue.bias == Bias::none || p.M == 0 || p.N == 0 || count == 0) return;
  const bool along_rows = p.epilogue.bias == Bias::per_row;
  if (bias == nullptr)
    throw Error(Category::argument, "run: the plan has a bias, but no vector was given",
                along_rows ? cat(p.M, " values, one for each row")
                           : cat(p.N, " values, one for each column"),
                "a null pointer");
  const DType sums = p.in == DType::f64                          ? DType::f64
                     : p.in == DType::f16 || p.in == DType::bf16 ? DType::f32
                     : p.in == DType::f32                        ? DType::f32
                                                                 : DType::i32;
  const index_t values = along_rows ? p.M : p.N;
  const ConstMatrix vector(bias, sums, 1, values, values);
  if (may_overlap(Footprint(vector), Footprint(C, count, step)))
    throw OverlapError(Category::argument, "run: C overlaps the bias", {},
                       places("bias", vector, C), "give C memory of its own");
}

}  // namespace detail

namespace detail {

index_t workspace_of(const Plan& plan) {
  const Problem& p = plan.problem;
  if (plan.parts > 1) return bytes_of_parts(p, plan.parts);
  if (plan.algorithm == "three_bf16") return plane_bytes(p, p.M + p.N);
  const bool splits = plan.algorithm == "split_k";
  if (!splits && plan.algorithm != "packed") return 0;
  constexpr index_t most = index_t{1} << 48;
  for (const auto& [rows, cols] : {std::pair{p.M, p.K}, std::pair{p.K, p.N}, std::pair{p.M, p.N}}) {
    if (rows > most || cols > most / std::max<index_t>(1, rows)) return 0;
  }
  index_t bytes = 0;
  visit_packed(p, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
    const auto gemm = gemm_of<In, Out>(p, nullptr, nullptr, nullptr, nullptr, plan.threads,
                                       splits ? Arithmetic::chain : plan.arithmetic);
    bytes = static_cast<index_t>(splits ? cpu::split_k_bytes(gemm) : cpu::workspace_bytes(gemm));
  });
  return bytes;
}

}  // namespace detail

namespace {

void expect_no_cuda(const Plan& plan) {
  if (plan.device.starts_with("cuda"))
    throw Error(Category::argument, cat("run: the plan was made for device '", plan.device, "'"),
                "a plan for the cpu, or an OpenCL or AMD device", {},
                "cuda::run of matmul/cuda.hpp runs it");
}

/// For the line of TESSERA_VERBOSE=1: the route that the packed path takes.
std::string way_text(const Plan& plan) {
  std::string out;
  if (plan.algorithm == "packed") {
    detail::visit_packed(plan.problem, [&]<class In, class Out>(TypeTag<In>, TypeTag<Out>) {
      const cpu::GemmRoute route = cpu::route_of(detail::gemm_of<In, Out>(
          plan.problem, nullptr, nullptr, nullptr, nullptr, plan.threads, plan.arithmetic));
      out = cat(" route=", route.name, " taking_part=", route.threads, " route_reason=\"",
                route.reason, "\"");
    });
  }
  return out;
}

/// Runs a plan with matrices that were checked.
void execute(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
             const void* bias) {
  const Problem& p = plan.problem;
  const auto multiply = [&] {
    if (p.M == 0 || p.N == 0) return;
    if (plan.device != "cpu") {
      OnDevice(plan.device).run(plan, A, B, C, bias);
      return;
    }
    const detail::KeepsSubnormals keeps;
    LaunchConfig config;
    config.threads = plan.threads;
    config.order = plan.order;
    config.seed = plan.seed;
    detail::find_entry(plan.algorithm)
        .run({p, plan.tile, config, A.data, B.data, C.data, bias, plan.arithmetic, plan.parts});
  };
  if (!detail::verbose()) return multiply();
  Plan said = plan;
  said.workspace_bytes = detail::workspace_of(plan);
  detail::run_reported("matmul", said, multiply, way_text(plan));
}

}  // namespace

void run(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C,
         const void* bias) {
  const Problem& p = plan.problem;
  expect_no_cuda(plan);
  detail::expect_planned("A", A, p.M, p.K, p.in, p.a);
  detail::expect_planned("B", B, p.K, p.N, p.type_of_b(), p.b);
  detail::expect_planned("C", C, p.M, p.N, p.out, p.c);
  (void)make_problem(A, B, C);  // pointers and overlaps depend on the call, not on the plan
  detail::expect_bias(p, bias, C);
  execute(plan, A, B, C, bias);
}

Plan matmul(const ConstMatrix& A, const ConstMatrix& B, const Matrix& C, double alpha, double beta,
            const Options& options) {
  Plan plan = detail::decide(make_problem(A, B, C, alpha, beta), options);
  expect_no_cuda(plan);
  execute(plan, A, B, C, nullptr);
  return plan;
}

}  // namespace tessera
