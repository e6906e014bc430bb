// Products within a memory limit: see memory.hpp. Opens the files, makes the plan of one
// rank and runs it.
#include "memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "io/block_journal.hpp"
#include "io/checksum.hpp"
#include "large_operands.hpp"
#include "process/clock.hpp"
#include "scale/out_of_core.hpp"
#include "selected.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/text.hpp"

namespace tessera::product {

namespace {

/// Bytes that blocks request from the files; operands in memory request none.
double planned_read(const LargeOperands& in, const scale::Schedule& schedule) {
  return (in.a.is_sliced() ? schedule.read_a : 0) + (in.b.is_sliced() ? schedule.read_b : 0) +
         (in.c0 && in.c0->is_sliced() ? schedule.read_c0 : 0);
}

nlohmann::ordered_json bytes_json(double read, double planned, double written) {
  return {{"read", read}, {"planned_read", planned}, {"written", written}};
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
    const std::string path = path_in_blocks(request);
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
      if (journal_) checksum_ = checksum_of(part, checksum_);
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
  check_large_request(request, "--memory");
  LargeOperands in = open_operands(request);
  if (request.selects()) in.types.out = in.types.sum;
  const Plan plan = plan_of_blocks(request, in);
  const scale::ScalePlan forecast = make_scale_plan(scale_request(in, plan, request.memory));
  if (request.dry_run) {
    context.print_wrapped(to_string(forecast));
    return 0;
  }
  const scale::Schedule& schedule = forecast.schedule;
  shell::note_other_names(context, request.output);
  Output output(request, in, plan, schedule);
  note_what_is_left(context, request, output);
  scale::OutOfCore product{schedule, in.types, plan};
  const Sources sources = sources_of(request, in);
  product.a = sources.a, product.b = sources.b, product.c0 = sources.c0;
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

}  // namespace tessera::product
