// `tessera multiply A B -o C`: reads two matrices from files, multiplies, writes the result. The
// product runs in bands of rows: a .npy result goes to the file band by band and may be larger than
// memory, progress can be shown, and every element is the same chain of multiply-adds whatever the
// bands are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "clock.hpp"
#include "commands.hpp"
#include "conversion.hpp"
#include "device.hpp"
#include "json_text.hpp"
#include "operand.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "suggest.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/matmul.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

/// A first band takes at most a second or so: the slowest kernels make 0.3 GFLOP/s, the packed path
/// ten times that and more on any CPU.
constexpr double kFirstBandFlops = 2e8, kFirstPackedBandFlops = 2e9;
constexpr double kBandSeconds = 0.5;
/// At most this much of a result that goes to a file band by band.
constexpr index_t kBandBytes = 64000000;
/// Memory for the verifier of one band.
constexpr index_t kVerifierMemory = 512000000;

struct Request {
  std::string a, b, c, output;
  bool transpose_a = false, transpose_b = false, force = false, verify = false, dry_run = false;
  double alpha = 1;
  std::optional<double> beta;  // without one, C0 has no use
  std::string dtype, algorithm = "auto", tile, device = "cpu", format;
  int threads = 0;
};

// ---- inputs -------------------------------------------------------------------------------------

/// `array` with another shape and strides over the same memory.
Array viewed(const Array& array, std::vector<index_t> shape, std::vector<index_t> strides) {
  return Array::read_only(array.dtype(), std::move(shape), std::move(strides), array.data(),
                          std::make_shared<Array>(array));
}

enum class Vector { row, column };

/// A file as a matrix; one dimension is a row or a column.
Array read_matrix(const std::string& path, const std::string& what, Vector vector,
                  const Request& request) {
  ReadOptions options;
  if (!request.dtype.empty()) {
    const DType type = parse_dtype(request.dtype);
    if (type == DType::bf16 || type == DType::f16) options.untyped = type;
  }
  Array out = read_array(path, options);
  if (out.rank() == 1) {
    const index_t n = out.shape()[0], stride = out.strides()[0];
    return vector == Vector::row ? viewed(out, {1, n}, {n * stride, stride})
                                 : viewed(out, {n, 1}, {stride, stride});
  }
  out.require_matrix(cat(what, " (", path, ")"));
  return out;
}

struct Operands {
  Array a, b, c0;  // of the product's type; c0 is empty where beta is 0
  DType type = DType::f32;
  index_t M() const { return a.rows(); }
  index_t N() const { return b.cols(); }
  index_t K() const { return a.cols(); }
};

std::string shape_of(const Array& array) { return cat("(", array.rows(), ",", array.cols(), ")"); }

/// `matrix` in the type `to`. Where the user chose that type, nothing but rounding may be lost.
Array converted(const Context& context, const Request& request, const Array& matrix, DType to,
                DType natural, const std::string& what) {
  if (matrix.dtype() == to) return matrix;
  if (!request.dtype.empty()) {
    const Conversion found = examine_conversion(matrix, to);
    require_lossless(found, matrix, to, natural, what);
    if (found.rounded > 0)
      context.detail(cat(what, ": ", found.rounded, " of ", matrix.count(), " elements rounded to ",
                         name(to)));
  } else if (is_wide_integer(matrix.dtype())) {
    context.note(cat(what, " is ", name(matrix.dtype()), ": computed in ", name(to),
                     ", exact for values up to 2^53"));
  }
  return convert(matrix, to);
}

void require_inner_extents(const Request& request, const Array& a, const Array& b) {
  if (a.cols() == b.rows()) return;
  const auto shown = [](const std::string& path, bool turned) {
    return turned ? path + " transposed" : path;
  };
  std::string advice = "check which file is which";
  if (a.cols() == b.cols()) advice = "try --transpose-b";
  else if (a.rows() == b.rows()) advice = "try --transpose-a";
  throw Error(
      Category::shape,
      cat("A (", shown(request.a, request.transpose_a), ") has ", a.cols(), " columns but B (",
          shown(request.b, request.transpose_b), ") has ", b.rows(), " rows"),
      {}, cat("A ", shape_of(a), " and B ", shape_of(b)), advice);
}

Operands read_operands(const Context& context, const Request& request) {
  const auto turned = [](const Array& matrix, bool turn) {
    return turn ? transposed(matrix) : matrix;
  };
  const Array a = read_matrix(request.a, "A", Vector::row, request);
  const Array b = read_matrix(request.b, "B", Vector::column, request);
  require_inner_extents(request, turned(a, request.transpose_a), turned(b, request.transpose_b));
  const DType natural = product_type(a.dtype(), b.dtype());
  Operands out;
  out.type = request.dtype.empty() ? natural : parse_dtype(request.dtype);
  const auto fit = [&](const Array& matrix, const char* what, const std::string& path) {
    return converted(context, request, matrix, out.type, natural, cat(what, " (", path, ")"));
  };
  // As they lie in their files, so that messages name the elements as the user knows them.
  out.a = turned(fit(a, "A", request.a), request.transpose_a);
  out.b = turned(fit(b, "B", request.b), request.transpose_b);
  if (request.c.empty()) return out;
  const Array c0 =
      read_matrix(request.c, "C0", out.M() == 1 ? Vector::row : Vector::column, request);
  if (c0.rows() != out.M() || c0.cols() != out.N()) {
    throw Error(Category::shape, cat("C0 (", request.c, ") does not have the shape of the product"),
                cat("(", out.M(), ",", out.N(), ")"), shape_of(c0));
  }
  if (request.beta.value_or(0) != 0) out.c0 = fit(c0, "C0", request.c);
  return out;
}

// ---- the product --------------------------------------------------------------------------------

Plan plan_of(const Request& request, const Operands& in) {
  Problem problem;
  problem.M = in.M(), problem.N = in.N(), problem.K = in.K();
  problem.in = problem.out = in.type;
  problem.a = {in.a.row_stride(), in.a.col_stride()};
  problem.b = {in.b.row_stride(), in.b.col_stride()};
  problem.c = {in.N(), 1};
  problem.alpha = request.alpha, problem.beta = request.beta.value_or(0);
  Options options;
  options.algorithm = request.algorithm;
  options.threads = request.threads;
  if (!request.tile.empty()) options.tile = parse_tile(request.tile);
  return make_plan(problem, options);
}

/// The same decisions for some rows of the product.
Plan for_rows(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B, const Matrix& C) {
  Plan out = plan;
  out.problem = make_problem(A, B, C, plan.problem.alpha, plan.problem.beta, plan.problem.epilogue);
  return out;
}

/// Copies rows of C0 into the rows of C that are about to be computed.
void copy_into(const ConstMatrix& from, const Matrix& to, int threads) {
  visit_dtype(to.dtype, [&]<class T>(TypeTag<T>) {
    const T* const source = static_cast<const T*>(from.data);
    T* const target = static_cast<T*>(to.data);
    parallel_for(to.rows, threads, [&](index_t i) {
      for (index_t j = 0; j < to.cols; ++j)
        target[i * to.row_stride + j * to.col_stride] =
            source[i * from.row_stride + j * from.col_stride];
    });
  });
}

struct Outcome {
  double seconds = 0;  ///< of the product alone
  double max_error_ratio = 0;
  bool same_bits = true;
};

/// Checks every element of some rows of C, the first of which is `row`. Throws Error(failed) when
/// one is out of its bound.
void verify_rows(const Plan& plan, const ConstMatrix& A, const ConstMatrix& B,
                 const ConstMatrix& C0, const Matrix& C, index_t row, Outcome& outcome,
                 const std::function<void(index_t, index_t)>& progress) {
  const Verifier verifier(plan.problem, A, B, C0, nullptr, plan.threads, progress);
  const Verification found =
      verifier.check(C, find_algorithm(plan.algorithm).arithmetic(plan.problem.in));
  outcome.max_error_ratio = std::max(outcome.max_error_ratio, found.max_error_ratio);
  outcome.same_bits = outcome.same_bits && found.same_bits;
  if (found.within_bound) return;
  throw Error(Category::failed,
              fmt::format("the result is wrong at ({},{}) and {} other elements", row + found.row,
                          found.col, found.outside - 1),
              fmt::format("{}", found.expected), fmt::format("{}", found.got),
              "nothing was written; please report it");
}

/// Where the result goes: rows of an array in memory, or a file that takes rows as they come.
class Target {
 public:
  Target(const std::string& path, DType type, index_t rows, index_t cols,
         const WriteOptions& options)
      : type_(type), cols_(cols) {
    std::error_code ignored;
    const auto kind = std::filesystem::status(path, ignored).type();
    const bool on_disk = path != "-" && (kind == std::filesystem::file_type::regular ||
                                         kind == std::filesystem::file_type::not_found);
    if (on_disk && output_format(path, options.format) == Format::npy)
      streamed_.emplace(path, type, std::vector<index_t>{rows, cols}, options.overwrite);
    else array_.emplace(path, type, std::vector<index_t>{rows, cols}, options);
  }

  /// How many rows may be computed at once.
  index_t most_rows(index_t rows) const {
    const index_t row_bytes = std::max<index_t>(1, cols_ * size_of(type_));
    return streamed_ ? std::clamp<index_t>(kBandBytes / row_bytes, 1, rows) : rows;
  }
  /// Where rows [first, first + count) are to be computed.
  Matrix begin(index_t first, index_t count) {
    if (array_) return rows_of(matrix_of(array_->array()), first, count);
    if (!buffer_ || buffer_->rows() < count) buffer_ = make_array(type_, {count, cols_});
    return rows_of(matrix_of(*buffer_), 0, count);
  }
  /// They are complete.
  void end(const Matrix& rows) {
    if (streamed_) streamed_->append(rows.data, rows.rows * rows.cols);
  }
  void commit() { streamed_ ? streamed_->commit() : array_->commit(); }

 private:
  DType type_;
  index_t cols_;
  std::optional<StreamedOutput> streamed_;
  std::optional<OutputArray> array_;
  std::optional<Array> buffer_;  // of one band, for a file
};

/// How many rows to compute at once: whole block tiles for every thread where that is allowed.
index_t band_of(const Plan& plan, double wanted, index_t most) {
  const index_t step = std::max<index_t>(1, plan.tile.bm) * plan.threads;
  const auto rows = static_cast<index_t>(std::min(wanted, static_cast<double>(most)));
  return std::clamp<index_t>(rows / step * step, std::min(step, most), most);
}

Outcome multiply_in_bands(const Context& context, const Request& request, const Plan& plan,
                          const Operands& in, Target& target) {
  const ConstMatrix A = const_matrix_of(in.a), B = const_matrix_of(in.b);
  const index_t rows_in_all = in.M();
  const double all = static_cast<double>(rows_in_all), flops = plan.problem.flops();
  index_t most = target.most_rows(std::max<index_t>(1, rows_in_all));
  if (request.verify) {
    const index_t row_bytes = kVerifierBytes * std::max<index_t>(1, in.N());
    most = std::min(most, std::max<index_t>(1, kVerifierMemory / row_bytes));
  }
  Progress progress(context, request.verify ? "multiplying and verifying" : "multiplying", all);
  Outcome out;
  // The first band tells how many rows take half a second.
  const double first = plan.algorithm == "packed" ? kFirstPackedBandFlops : kFirstBandFlops;
  index_t band = flops <= first ? most : band_of(plan, first / flops * all, most);
  for (index_t row = 0; row < rows_in_all;) {
    const index_t rows = std::min(band, rows_in_all - row);
    progress.update(static_cast<double>(row), static_cast<double>(rows));
    const Matrix c = target.begin(row, rows);
    const ConstMatrix a = rows_of(A, row, rows);
    const auto start = Clock::now();
    const bool adds = plan.problem.beta != 0;
    const ConstMatrix c0 = adds ? rows_of(const_matrix_of(in.c0), row, rows) : ConstMatrix(c);
    if (adds) copy_into(c0, c, plan.threads);
    const Plan part = for_rows(plan, a, B, c);
    run(part, a, B, c);
    const double seconds = seconds_since(start);
    out.seconds += seconds;
    if (request.verify) {
      verify_rows(part, a, B, c0, c, row, out, [&](index_t done, index_t total) {
        const double share =
            static_cast<double>(done) / static_cast<double>(std::max<index_t>(1, total));
        progress.update(static_cast<double>(row) + static_cast<double>(rows) * share);
      });
    }
    target.end(c);
    row += rows;
    band = band_of(plan, static_cast<double>(rows) * kBandSeconds / std::max(1e-6, seconds), most);
  }
  return out;
}

// ---- output -------------------------------------------------------------------------------------

std::string summary(const Request& request, const Operands& in, const Plan& plan, double seconds) {
  const double gflops = seconds > 0 ? plan.problem.flops() / seconds * 1e-9 : 0;
  const std::string target = request.output == "-" ? "stdout" : request.output;
  const std::string tile = plan.tile == TileShape{} ? "" : " " + to_string(plan.tile);
  return fmt::format(
      "{}: ({},{}) = ({},{}) * ({},{}) in {}; {}{} on {} thread{} ({}); {}, {:.2f} GFLOP/s", target,
      in.M(), in.N(), in.M(), in.K(), in.K(), in.N(), name(in.type), plan.algorithm, tile,
      plan.threads, plan.threads == 1 ? "" : "s", plan.reason, duration_text(seconds), gflops);
}

ordered_json plan_json(const Plan& plan) {
  ordered_json rejected = ordered_json::array();
  for (const auto& each : plan.rejected)
    rejected.push_back({{"algorithm", each.algorithm}, {"reason", each.reason}});
  return {{"algorithm", plan.algorithm}, {"tile", to_string(plan.tile)}, {"threads", plan.threads},
          {"reason", plan.reason},       {"rejected", rejected},         {"text", to_string(plan)}};
}

ordered_json problem_json(const Problem& problem) {
  const auto number = [](double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
  };
  return {{"m", problem.M},
          {"n", problem.N},
          {"k", problem.K},
          {"dtype", name(problem.in)},
          {"alpha", number(problem.alpha)},
          {"beta", number(problem.beta)}};
}

void check_request(const Context& context, const Request& request) {
  named_device(request.device);
  if (request.output.empty() && !request.dry_run)
    throw Error(Category::argument, "no output named", "-o FILE (or --dry-run)");
  if (request.beta.value_or(0) != 0 && request.c.empty())
    throw Error(Category::argument, "--beta adds to a matrix, but none is given",
                "--c FILE beside --beta");
  if (!request.beta && !request.c.empty())
    throw Error(Category::argument, "--c is given, but without --beta it is not read",
                "--beta Y beside --c");
  if (!request.dtype.empty()) require_product(parse_dtype(request.dtype));
  if (request.output == "-" && context.json)
    throw Error(Category::argument, "the result and --json cannot both go to stdout",
                "-o FILE beside --json");
  if (request.output == "-" && is_terminal(Stream::out))
    throw Error(Category::argument, "a matrix is not written to a terminal",
                "-o FILE, or stdout redirected");
  if (int{request.a == "-"} + int{request.b == "-"} + int{request.c == "-"} > 1)
    throw Error(Category::argument, "stdin can be read once only",
                "'-' for at most one of A, B and C0");
}

int run_multiply(const Context& context, const Request& request) {
  check_request(context, request);
  const WriteOptions write{
      .format = request.format.empty() ? Format::automatic : parse_format(request.format),
      .overwrite = request.force ? Overwrite::replace : Overwrite::refuse};
  if (!request.dry_run) {  // refused now, not after an hour
    output_format(request.output, write.format);
    check_output(parse_location(request.output).path, write.overwrite);
  }
  const Operands in = read_operands(context, request);
  const Plan plan = plan_of(request, in);
  for (const auto& each : plan.rejected)
    context.detail(cat("not ", each.algorithm, ": ", each.reason));
  if (request.dry_run) {
    if (context.json)
      context.print(
          json_text({{"problem", problem_json(plan.problem)}, {"plan", plan_json(plan)}}));
    else context.print(to_string(plan) + "\n");
    return 0;
  }
  Target target(request.output, in.type, in.M(), in.N(), write);
  const Outcome outcome = multiply_in_bands(context, request, plan, in, target);
  const double seconds = outcome.seconds;
  ordered_json verified;
  if (request.verify) {
    verified = {{"max_error_ratio", outcome.max_error_ratio}, {"same_bits", outcome.same_bits}};
    context.note(fmt::format("verified: every element within {:.3g} of its error bound{}",
                             outcome.max_error_ratio,
                             outcome.same_bits ? ", the same bits as the reference" : ""));
  }
  {
    const Progress progress(context, "writing", 1);
    target.commit();
  }
  context.note(summary(request, in, plan, seconds));
  if (context.json) {
    const double flops = plan.problem.flops();
    context.print(json_text({{"output", request.output},
                             {"problem", problem_json(plan.problem)},
                             {"plan", plan_json(plan)},
                             {"seconds", seconds},
                             {"gflops", seconds > 0 ? flops / seconds * 1e-9 : 0.0},
                             {"verified", verified}}));
  }
  return 0;
}

}  // namespace

void add_multiply(CLI::App& root, Context& context) {
  auto request = std::make_shared<Request>();
  CLI::App* app = add_command(
      root, context, "multiply", "Multiply two matrices from files: C = alpha * A * B + beta * C0",
      "  tessera multiply a.npy b.npy -o c.npy\n"
      "  tessera multiply digits.npy digits.npy --transpose-b -o similarity.npy --verify\n"
      "  tessera multiply a.mtx model.safetensors:weight -o c.npz --dtype f64 --force\n"
      "  tessera multiply a.npy b.npy --beta 1 --c c0.npy -o c.npy\n"
      "  tessera multiply a.npy b.npy --dry-run");
  app->add_option("A", request->a,
                  "Left matrix: .npy, .npz[:NAME], .mtx, .safetensors[:NAME], - for stdin")
      ->required()
      ->type_name("FILE");
  app->add_option("B", request->b, "Right matrix")->required()->type_name("FILE");
  app->add_option("-o,--output", request->output, "Where the result goes; - for stdout")
      ->type_name("FILE");
  app->add_flag("--transpose-a", request->transpose_a, "Use A transposed");
  app->add_flag("--transpose-b", request->transpose_b, "Use B transposed");
  add_number(*app, "--alpha", request->alpha, "Factor of the product (default 1)");
  add_number(*app, "--beta", request->beta, "Factor of C0 (default 0); needs --c");
  app->add_option("--c", request->c,
                  "C0, of the shape of the product; with --beta 0 its elements are not read")
      ->type_name("FILE");
  add_dtype(*app, "--dtype", request->dtype,
            "Type of the product, where it loses nothing but rounding; default: by the inputs, see "
            "'tessera help types'");
  add_algorithm(*app, "--algorithm", request->algorithm,
                "Algorithm (default auto), see 'tessera help algorithms'");
  app->add_option("--tile", request->tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: the algorithm's own")
      ->type_name("TILE");
  app->add_option("--device", request->device, "Where to run: cpu")->type_name("cpu|cuda:0");
  add_threads(*app, request->threads);
  app->add_flag("--force", request->force, "Replace an output that exists");
  add_choice(*app, "--format", request->format, {"npy", "npz", "mtx", "safetensors"},
             "Format of the output; default: by the ending of its name");
  app->add_flag("--verify", request->verify,
                "Check every element against its error bound before writing");
  app->add_flag("--dry-run", request->dry_run,
                "Read the inputs, say what would be done, write nothing");
  add_json_option(*app, context, "One JSON document about what was done on stdout");
  app->callback([&context, request] {
    context.action = [&context, request] { return run_multiply(context, *request); };
  });
}

}  // namespace tessera::cli
