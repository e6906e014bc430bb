// Large operands: see large_operands.hpp.
#include "large_operands.hpp"

#include <filesystem>
#include <utility>

#include "conversion.hpp"
#include "operand.hpp"
#include "shell/build_info.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/text.hpp"

namespace tessera::product {

namespace {

MatrixFile opened_matrix(const std::string& path, const std::string& what, bool is_row,
                         const MultiplyRequest& request) {
  ReadOptions options;
  if (!request.dtype.empty()) {
    const DType type = parse_dtype(request.dtype);
    if (type == DType::bf16 || type == DType::f16) options.untyped = type;
  }
  MatrixFile out(path, options);
  if (out.shape().size() == 1) {
    const index_t n = out.shape()[0];
    if (is_row) out.reshape(1, n);
    else out.reshape(n, 1);
  }
  out.require_matrix(cat(what, " (", path, ")"));
  return out;
}

/// What converting the whole file would do, with positions as the file has them.
Conversion examine_file(const MatrixFile& file, bool transposed, DType to) {
  Conversion all;
  file.read_pieces(
      {0, 0, file.rows(), file.cols()}, [&](const Array& piece, index_t row, index_t col) {
        if (transposed) std::swap(row, col);
        Conversion found = examine_conversion(transposed ? tessera::transposed(piece) : piece, to);
        if (found.lost == 0) return;
        found.row += row, found.col += col;
        const index_t lost = all.lost + found.lost;
        if (all.lost == 0 || std::pair(found.row, found.col) < std::pair(all.row, all.col))
          all = found;
        all.lost = lost;
      });
  return all;
}

/// If the user chose the type, each block is examined before it is converted. The error counts the
/// elements of the whole file.
scale::Source source_of(const MultiplyRequest& request, const MatrixFile& file, bool transposed,
                        DType to, DType natural, std::string what) {
  scale::Source out{&file, {}};
  if (request.dtype.empty() || file.dtype() == to) return out;
  out.examine = [=, &file, what = std::move(what)](const Array& piece) {
    if (examine_conversion(piece, to).lost == 0) return;
    require_lossless(examine_file(file, transposed, to), file.rows() * file.cols(), to, natural,
                     what);
  };
  return out;
}

}  // namespace

LargeOperands open_operands(const MultiplyRequest& request) {
  LargeOperands out{opened_matrix(request.a, "A", true, request),
                    opened_matrix(request.b, "B", false, request),
                    {},
                    {},
                    {}};
  if (request.transpose_a) out.a.transpose();
  if (request.transpose_b) out.b.transpose();
  require_inner_extents(request, out.a.rows(), out.a.cols(), out.b.rows(), out.b.cols());
  const DType a = out.a.dtype(), b = out.b.dtype();
  out.natural = natural_type(request, a, b);
  const DType type = request.dtype.empty() ? out.natural : parse_dtype(request.dtype);
  out.types = scale::types_of(type);
  const bool as_f8 = type == out.natural && type != product_type(a, b);
  if (as_f8 || multiplied_as_bytes(request, a, b, type)) out.types.in_a = a, out.types.in_b = b;
  out.types.a = a, out.types.b = b;
  out.symmetric = is_gram(request) && out.types.in_a == out.types.in_b;
  if (request.c.empty()) return out;
  out.c0.emplace(opened_matrix(request.c, "C0", out.a.rows() == 1, request));
  if (out.c0->rows() != out.a.rows() || out.c0->cols() != out.b.cols()) {
    throw Error(Category::shape, cat("C0 (", request.c, ") does not have the shape of the product"),
                cat("(", out.a.rows(), ",", out.b.cols(), ")"),
                cat("(", out.c0->rows(), ",", out.c0->cols(), ")"));
  }
  out.types.c0 = out.c0->dtype();
  if (request.beta.value_or(0) == 0) out.c0.reset();
  return out;
}

Plan plan_of_blocks(const MultiplyRequest& request, const LargeOperands& in) {
  Problem problem;
  problem.M = in.a.rows(), problem.N = in.b.cols(), problem.K = in.a.cols();
  problem.in = in.types.in_a, problem.out = in.types.out;
  if (in.types.in_b != in.types.in_a) problem.in_b = in.types.in_b;
  problem.a = {problem.K, 1}, problem.b = {problem.N, 1}, problem.c = {problem.N, 1};
  problem.alpha = request.alpha, problem.beta = request.beta.value_or(0);
  Options options;
  options.algorithm = request.algorithm, options.threads = request.threads;
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);
  Plan plan = make_plan(problem, options);
  // Sums of integers are exact in any order, so slices along K may replace split-K.
  if (plan.algorithm == "split_k" && request.algorithm == "auto") plan.algorithm = "packed";
  const bool whole = plan.algorithm != "packed";
  if (plan.algorithm == "split_k" || (whole && in.types.sum != in.types.out))
    throw Error(Category::argument,
                cat("a product in blocks cannot be computed by ", plan.algorithm, " in ",
                    name(in.types.out)),
                "auto or packed");
  return plan;
}

void check_large_request(const MultiplyRequest& request, std::string_view what) {
  const auto refuse = [what](const char* other, const char* advice) {
    throw Error(Category::argument, cat(what, " cannot be combined with ", other), {}, {}, advice);
  };
  if (request.device != "cpu") refuse("--device", "omit --device");
  if (request.verify) refuse("--verify", "omit one of the two");
  if (request.arithmetic != "chain") refuse("--arithmetic lanes", "sums of blocks are chains");
  if (!request.dry_run && !request.selects() &&
      output_format(request.output,
                    request.format.empty() ? Format::automatic : parse_format(request.format)) !=
          Format::npy)
    refuse("this format of the output", "write a .npy file");
  if (!request.dry_run && request.output == "-") refuse("standard output", "name a file");
}

Sources sources_of(const MultiplyRequest& request, const LargeOperands& in) {
  Sources out;
  out.a = source_of(request, in.a, request.transpose_a, in.types.in_a, in.natural,
                    cat("A (", request.a, ")"));
  out.b = source_of(request, in.b, request.transpose_b, in.types.in_b, in.natural,
                    cat("B (", request.b, ")"));
  if (in.c0)
    out.c0 =
        source_of(request, *in.c0, false, in.types.out, in.natural, cat("C0 (", request.c, ")"));
  return out;
}

nlohmann::ordered_json question_of(const MultiplyRequest& request, const LargeOperands& in,
                                   const Plan& plan, const scale::Schedule& s, int ranks) {
  nlohmann::ordered_json out = {
      {"--memory", bytes_text(request.memory)},
      {"A", in.a.identity()},
      {"B", in.b.identity()},
      {"ranks", ranks},
      {"C0", in.c0 ? in.c0->identity() : ""},
      {"shape", {s.shape.M, s.shape.N, s.shape.K}},
      {"transposed", {request.transpose_a, request.transpose_b}},
      {"type", name(in.types.out)},
      {"alpha and beta", {cat(plan.problem.alpha), cat(plan.problem.beta)}},
      {"algorithm", cat(plan.algorithm, " ", to_string(plan.tile))},
      {"blocks", {scale::name(s.resident), s.block_m, s.block_n, s.depth, s.symmetric}},
      {"version", shell::version_text().substr(0, shell::version_text().find('\n'))}};
  // Sums of bf16 are rounded as the instructions do it.
  if (in.types.in_a == DType::bf16) out["processor"] = shell::instruction_sets();
  return out;
}

std::string path_in_blocks(const MultiplyRequest& request) {
  namespace fs = std::filesystem;
  const bool is_link =
      request.resume && fs::is_symlink(request.output) && fs::exists(request.output);
  return is_link ? fs::canonical(request.output).string() : request.output;
}

scale::Request scale_request(const LargeOperands& in, const Plan& plan, index_t memory) {
  const index_t kept = in.a.memory() + in.b.memory() + (in.c0 ? in.c0->memory() : 0);
  if (kept >= memory)
    throw Error(Category::resource,
                "the memory is too small for the files that are read as a whole",
                cat("more than ", bytes_text(kept)), bytes_text(memory),
                "convert them to .npy, or allow more memory");
  scale::Request out;
  out.shape = {in.a.rows(), in.b.cols(), in.a.cols()};
  out.types = in.types;
  out.memory = memory - kept;
  out.reads_c0 = in.c0.has_value();
  out.symmetric = in.symmetric;
  // Kernels of the ladder compute each chain in one call; integers need no chains.
  if (plan.algorithm != "packed" && in.types.in_a != DType::i32) out.chains = scale::Chains::whole;
  return out;
}

}  // namespace tessera::product
