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
#include "scale/steps.hpp"
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
    for (index_t n = 0; n < static_cast<index_t>(finished_.size()); ++n)
      blocks_with_parts_ += scale::has_parts(schedule_, scale::place_of(schedule_, n)) ? 1 : 0;
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
    for (index_t n = 0; journal_ && n < static_cast<index_t>(finished_.size()); ++n) {
      const std::uint64_t* sum = journal_->find(n);
      if (sum != nullptr) finished_[static_cast<std::size_t>(n)] = written_checksum(n) == *sum;
    }
    already_finished_ = static_cast<index_t>(std::count(finished_.begin(), finished_.end(), true));
  }

  index_t blocks() const { return blocks_with_parts_; }
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
    product.place = [this](index_t row, index_t col) { return blocks_->place_in_page(row, col); };
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
  /// Of what the file has of a block, in the order in which it was written.
  std::uint64_t written_checksum(index_t block) const {
    std::uint64_t sum = io::kNoChecksum;
    for (const auto& [computed, mirror] : parts_of(schedule_, scale::place_of(schedule_, block))) {
      for (const scale::Part& p : {computed, mirror}) {
        if (!p.is_empty()) sum = blocks_->checksum_of(p.i0, p.j0, p.rows(), p.cols(), sum);
      }
    }
    return sum;
  }

  const scale::Schedule& schedule_;
  int threads_;
  std::unique_ptr<detail::RowSelector> selector_;  ///< of selected entries, else blocks_
  std::vector<bool> finished_;
  index_t already_finished_ = 0, blocks_with_parts_ = 0;
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

/// Bytes of a file that can be read in blocks; -1 for others.
index_t sliced_bytes(const std::string& name) {
  const std::filesystem::path path = parse_location(name).path;
  std::error_code failed;
  const bool is_file = std::filesystem::is_regular_file(path, failed);
  if (!is_file || (path.extension() != ".npy" && path.extension() != ".safetensors")) return -1;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? -1 : static_cast<index_t>(size);
}

bool writes_a_new_npy(const MultiplyRequest& request) {
  std::error_code ignored;
  const auto kind = std::filesystem::status(request.output, ignored).type();
  const Format format = request.format.empty() ? Format::automatic : parse_format(request.format);
  return request.output != "-" && output_format(request.output, format) == Format::npy &&
         (kind == std::filesystem::file_type::regular ||
          kind == std::filesystem::file_type::not_found);
}

}  // namespace

index_t default_limit(const MultiplyRequest& request) {
  const bool is_packed =
      request.algorithm == "packed" || (request.algorithm == "auto" && request.tile.empty());
  if (!is_packed || request.device != "cpu" || request.verify || request.arithmetic != "chain" ||
      request.dry_run || !(request.selects() || writes_a_new_npy(request)))
    return 0;
  index_t bytes = 0;
  for (const std::string& name : {request.a, request.b, request.c}) {
    const index_t size = name.empty() ? 0 : sliced_bytes(name);
    if (size < 0) return 0;
    bytes += size;
  }
  const index_t limit = available_memory() / 5 * 4;
  return bytes > limit || (is_gram(request) && !request.selects()) ? limit : 0;
}

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
  const double gflops = forecast.flops() / std::max(1e-9, seconds) * 1e-9;
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
