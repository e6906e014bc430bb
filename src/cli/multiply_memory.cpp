// Products within a memory limit: see multiply_memory.hpp. Opens the files, makes the plan of one
// rank and runs it.
#include "multiply_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "conversion.hpp"
#include "io/block_journal.hpp"
#include "io/checksum.hpp"
#include "multiply_selected.hpp"
#include "operand.hpp"
#include "process/clock.hpp"
#include "scale/out_of_core.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

/// A, B and C0 as files, and their types.
struct LargeOperands {
  MatrixFile a, b;
  std::optional<MatrixFile> c0;
  DType natural = DType::f32;
  scale::Types types;
};

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

/// If the user chose the type, each block is examined before it is converted.
scale::Source source_of(const MultiplyRequest& request, const MatrixFile& file, bool transposed,
                        DType to, DType natural, std::string what) {
  scale::Source out{&file, {}};
  if (request.dtype.empty() || file.dtype() == to) return out;
  out.examine = [=, what = std::move(what)](const Array& piece, index_t row, index_t col) {
    Conversion found = examine_conversion(piece, to);
    if (found.lost == 0) return;
    found.row += row, found.col += col;
    if (transposed) std::swap(found.row, found.col);
    require_lossless(found, piece, to, natural, what);
  };
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
    throw Error(
        Category::argument,
        cat("--memory cannot be combined with ", plan.algorithm, " in ", name(in.types.out)),
        "auto or packed");
  return plan;
}

void check_memory_request(const MultiplyRequest& request) {
  const auto refuse = [](const char* what, const char* advice) {
    throw Error(Category::argument, cat("--memory cannot be combined with ", what), {}, {}, advice);
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

scale::ScalePlan scale_plan_of(const MultiplyRequest& request, const LargeOperands& in,
                               const Plan& plan) {
  const index_t kept =
      // of files that cannot be read in slices
      in.a.memory() + in.b.memory() + (in.c0 ? in.c0->memory() : 0);
  if (kept >= request.memory)
    throw Error(Category::resource,
                "the memory is too small for the files that are read as a whole",
                cat("more than ", bytes_text(kept)), bytes_text(request.memory),
                "convert them to .npy, or allow more memory");
  scale::Request asked;
  asked.shape = {in.a.rows(), in.b.cols(), in.a.cols()};
  asked.types = in.types;
  asked.memory = request.memory - kept;
  asked.reads_c0 = in.c0.has_value();
  if (plan.algorithm != "packed") asked.chains = scale::Chains::whole;
  return make_scale_plan(asked);
}

/// Bytes that blocks request from the files; operands in memory request none.
double planned_read(const LargeOperands& in, const scale::Schedule& schedule) {
  return (in.a.is_sliced() ? schedule.read_a : 0) + (in.b.is_sliced() ? schedule.read_b : 0) +
         (in.c0 && in.c0->is_sliced() ? schedule.read_c0 : 0);
}

nlohmann::ordered_json bytes_json(double read, double planned, double written) {
  return {{"read", read}, {"planned_read", planned}, {"written", written}};
}

/// All that the bytes of the output depend on.
nlohmann::ordered_json question_of(const MultiplyRequest& request, const LargeOperands& in,
                                   const Plan& plan, const scale::Schedule& s) {
  nlohmann::ordered_json out = {
      {"--memory", bytes_text(request.memory)},
      {"A", in.a.identity()},
      {"B", in.b.identity()},
      {"C0", in.c0 ? in.c0->identity() : ""},
      {"shape", {s.shape.M, s.shape.N, s.shape.K}},
      {"transposed", {request.transpose_a, request.transpose_b}},
      {"type", name(in.types.out)},
      {"alpha and beta", {cat(plan.problem.alpha), cat(plan.problem.beta)}},
      {"algorithm", cat(plan.algorithm, " ", to_string(plan.tile))},
      {"blocks", {scale::name(s.resident), s.block_m, s.block_n, s.depth}},
      {"version", shell::version_text().substr(0, shell::version_text().find('\n'))}};
  // Sums of bf16 are rounded as the instructions do it.
  if (in.types.in_a == DType::bf16) out["processor"] = shell::instruction_sets();
  return out;
}

/// The output in blocks, with the journal that --resume needs.
class Output {
 public:
  Output(const MultiplyRequest& request, const LargeOperands& in, const Plan& plan,
         const scale::Schedule& schedule)
      : schedule_(schedule),
        threads_(plan.threads),
        finished_(static_cast<std::size_t>(schedule.blocks_down() * schedule.blocks_across())) {
    if (request.selects()) {
      selector_ =
          detail::make_row_selector(selection_of(request), in.types.sum, in.a.rows(), in.b.cols());
      return;
    }
    namespace fs = std::filesystem;
    const bool is_link =
        request.resume && fs::is_symlink(request.output) && fs::exists(request.output);
    const std::string path = is_link ? fs::canonical(request.output).string() : request.output;
    if (request.resume) journal_.emplace(path, question_of(request, in, plan, schedule));
    blocks_.emplace(path, in.types.out, in.a.rows(), in.b.cols(),
                    request.force ? Overwrite::replace : Overwrite::refuse,
                    journal_ ? journal_->unfinished() : Unfinished::remove);
    for (index_t n = 0; journal_ && n < blocks(); ++n) {
      const std::uint64_t* sum = journal_->find(n);
      if (sum == nullptr) continue;
      const scale::Box box = scale::block_of(schedule_, n);
      finished_[static_cast<std::size_t>(n)] =
          blocks_->checksum_of(box.m0, box.n0, box.m(), box.n()) == *sum;
    }
    already_finished_ = static_cast<index_t>(std::count(finished_.begin(), finished_.end(), true));
  }

  index_t blocks() const { return static_cast<index_t>(finished_.size()); }
  index_t already_finished() const { return already_finished_; }

  void connect(scale::OutOfCore& product) {
    if (selector_) {
      product.write = [this](const Array& part, index_t row, index_t col) {
        selector_->take({part.data(), part.dtype(), part.rows(), part.cols(), part.row_stride(),
                         part.col_stride()},
                        row, col, threads_);
      };
      return;
    }
    product.write = [this](const Array& part, index_t row, index_t col) {
      blocks_->write(part, row, col);
      const auto bytes = static_cast<std::size_t>(part.cols() * size_of(part.dtype()));
      for (index_t i = 0; journal_ && i < part.rows(); ++i)
        checksum_ = io::checksum(
            static_cast<const std::byte*>(part.data()) + static_cast<std::size_t>(i) * bytes, bytes,
            checksum_);
    };
    product.is_finished = [this](index_t n) { return finished_[static_cast<std::size_t>(n)]; };
    product.finished = [this](index_t n) {
      if (journal_) journal_->add(n, std::exchange(checksum_, io::kNoChecksum));
    };
  }

  /// The bytes of the matrix that has been written.
  double commit(const MultiplyRequest& request) {
    if (selector_) {
      const SelectedEntries found = selector_->finish(threads_);
      write_selected(request, found);
      return static_cast<double>(found.values.size()) +
             static_cast<double>(found.starts.size() + found.columns.size()) * sizeof(index_t);
    }
    blocks_->commit();
    if (journal_) journal_->remove();
    return schedule_.written;
  }

 private:
  const scale::Schedule& schedule_;
  int threads_;
  std::unique_ptr<detail::RowSelector> selector_;  ///< of selected entries, else blocks_
  std::vector<bool> finished_;
  index_t already_finished_ = 0;
  std::optional<BlockJournal> journal_;
  std::optional<BlockOutput> blocks_;
  std::uint64_t checksum_ = io::kNoChecksum;  ///< of the block that is being written
};

void note_what_is_left(const shell::Context& context, const MultiplyRequest& request,
                       const Output& output) {
  if (output.already_finished() > 0)
    context.note(cat("resuming: ", output.already_finished(), " of ", output.blocks(),
                     " blocks are finished"));
  if (!request.resume && std::filesystem::exists(request.output + ".part.journal"))
    context.note(cat(request.output,
                     ".part has blocks of an interrupted product: --resume continues from them"));
}

}  // namespace

int multiply_in_memory(const shell::Context& context, const MultiplyRequest& request) {
  check_memory_request(request);
  LargeOperands in = open_operands(request);
  if (request.selects()) in.types.out = in.types.sum;
  const Plan plan = plan_of_blocks(request, in);
  const scale::ScalePlan forecast = scale_plan_of(request, in, plan);
  if (request.dry_run) {
    context.print_wrapped(to_string(forecast));
    return 0;
  }
  const scale::Schedule& schedule = forecast.schedule;
  shell::note_other_names(context, request.output);
  Output output(request, in, plan, schedule);
  note_what_is_left(context, request, output);
  scale::OutOfCore product{schedule, in.types, plan};
  product.a = source_of(request, in.a, request.transpose_a, in.types.in_a, in.natural,
                        cat("A (", request.a, ")"));
  product.b = source_of(request, in.b, request.transpose_b, in.types.in_b, in.natural,
                        cat("B (", request.b, ")"));
  if (in.c0)
    product.c0 =
        source_of(request, *in.c0, false, in.types.out, in.natural, cat("C0 (", request.c, ")"));
  output.connect(product);
  shell::Progress progress(
      context, cat("multiplying, ", bytes_text(static_cast<index_t>(schedule.moved())), " to move"),
      schedule.moved());
  const double before = schedule.moved() * static_cast<double>(output.already_finished()) /
                        static_cast<double>(std::max<index_t>(1, output.blocks()));
  product.progress = [&](double moved) { progress.update(before + moved); };
  const auto start = process::Clock::now();
  scale::run_out_of_core(product);
  const double written = output.commit(request);
  progress.finish();
  const double seconds = process::seconds_since(start);
  const index_t read = in.a.bytes_read() + in.b.bytes_read() + (in.c0 ? in.c0->bytes_read() : 0);
  const double gflops = plan.problem.flops() / std::max(1e-9, seconds) * 1e-9;
  context.note(fmt::format(
      "{}: ({},{}) = ({},{}) * ({},{}) in {}; {} x {} blocks in {}, {} read, {} written; {}, "
      "{:.2f} "
      "GFLOP/s",
      request.output, in.a.rows(), in.b.cols(), in.a.rows(), in.a.cols(), in.b.rows(), in.b.cols(),
      name(in.types.out), schedule.blocks_down(), schedule.blocks_across(),
      bytes_text(schedule.memory), bytes_text(read), bytes_text(static_cast<index_t>(written)),
      shell::duration_text(seconds), gflops));
  if (context.json) {
    context.print(shell::json_text(
        {{"output", request.output},
         {"bytes", bytes_json(static_cast<double>(read), planned_read(in, schedule), written)},
         {"memory", schedule.memory},
         {"blocks", {schedule.blocks_down(), schedule.blocks_across(), schedule.slices()}},
         {"resumed_blocks", output.already_finished()},
         {"seconds", seconds},
         {"gflops", gflops}}));
  }
  return 0;
}

}  // namespace tessera::cli
