// A product on the ranks of MPI: see multiply_ranks.hpp. What can fail on each rank alone comes in
// phases, after each of which the ranks agree whether to go on; then the job ends with the line of
// the first rank that failed.
#include "multiply_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/block_output.hpp"
#include "io/checksum.hpp"
#include "large_operands.hpp"
#include "process/clock.hpp"
#include "scale/mpi_transport.hpp"
#include "scale/rank_product.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

/// The job ends with this code; its line has been written.
struct JobEnded {
  int code;
};

class Job {
 public:
  explicit Job(const shell::Context& context)
      : context_(context),
        transport_([&context](const std::string& text) { context.error(text); }) {}
  scale::MpiTransport& transport() { return transport_; }
  int rank() const { return transport_.rank(); }
  bool is_first() const { return rank() == 0; }

  /// Runs a part of the work that calls no other rank. All ranks go on, or none.
  template <class Work>
  void together(const Work& work) {
    constexpr index_t kCodes = 256;
    index_t failed = std::numeric_limits<index_t>::max();
    std::string text;
    try {
      work();
    } catch (const Error& error) {
      failed = rank() * kCodes + exit_code(error.category()), text = error.what();
    } catch (const std::exception& error) {
      failed = rank() * kCodes + 1, text = error.what();
    }
    const index_t first = transport_.least(failed);
    if (first == std::numeric_limits<index_t>::max()) return;
    if (first == failed) context_.error(scale::of_rank(rank(), text));
    throw JobEnded{static_cast<int>(first % kCodes)};
  }

 private:
  const shell::Context& context_;
  scale::MpiTransport transport_;
};

std::uint64_t hash_of(const std::string& text) {
  return io::checksum(reinterpret_cast<const std::byte*>(text.data()), text.size(),
                      io::kNoChecksum);
}

/// What must be the same on all ranks, each with the words for a difference.
struct Sameness {
  std::array<std::uint64_t, 5> hashes{};
  std::array<std::string, 5> names;
};

/// A file's size and checksum; its time may differ where each machine has a copy.
std::string content_of(const MatrixFile& file) {
  const std::string identity = file.identity();
  return cat(identity.substr(0, identity.find(' ')), identity.substr(identity.rfind(' ') + 1), " ",
             name(file.dtype()), " ", file.rows(), " ", file.cols(), " ", file.order() == Order::c);
}

Sameness sameness_of(const MultiplyRequest& request, const LargeOperands& in) {
  Sameness out;
  const bool is_paired = in.types.in_a == DType::bf16 || in.types.in_b == DType::bf16;
  out.names = {cat("A (", request.a, ")"), cat("B (", request.b, ")"), cat("C0 (", request.c, ")"),
               "the command or its version",
               "the instruction sets of the processor, which decide how sums of bf16 are rounded,"};
  const std::string version = shell::version_text();
  out.hashes = {
      hash_of(content_of(in.a)), hash_of(content_of(in.b)), in.c0 ? hash_of(content_of(*in.c0)) : 0,
      hash_of(cat(request.transpose_a, request.transpose_b, " ", request.alpha, " ",
                  request.beta.value_or(0), " ", name(in.types.out), " ", request.algorithm, " ",
                  request.tile, " ", request.memory, " ", version.substr(0, version.find('\n')))),
      is_paired ? hash_of(shell::join(shell::instruction_sets())) : 0};
  return out;
}

void require_same(Job& job, const Sameness& here) {
  auto first = here.hashes;
  job.transport().broadcast(first.data(), sizeof first);
  job.together([&] {
    for (std::size_t n = 0; n < first.size(); ++n) {
      if (first[n] == here.hashes[n]) continue;
      throw Error(Category::file, cat(here.names[n], " differs from that of rank 0"), {}, {},
                  "start all ranks with the same command on the same files");
    }
  });
}

void check_rank_request(const MultiplyRequest& request) {
  const auto refuse = [](const char* what) {
    throw Error(Category::argument, cat("several ranks cannot be combined with ", what), {}, {},
                "run it without mpirun");
  };
  check_large_request(request, "several ranks");
  if (request.resume) refuse("--resume");
  if (request.selects()) refuse("--top or --above");
  if (request.a == "-" || request.b == "-" || request.c == "-") refuse("standard input");
}

/// The output: rank 0 creates and commits it, all write to it.
class SharedOutput {
 public:
  void begin(Job& job, const MultiplyRequest& request, const LargeOperands& in) {
    const index_t rows = in.a.rows(), cols = in.b.cols();
    std::array<char, 32> tag{};
    job.together([&] {
      if (!job.is_first()) return;
      file_ = std::make_unique<BlockOutput>(request.output, in.types.out, rows, cols,
                                            request.force ? Overwrite::replace : Overwrite::refuse);
      const std::string text = file_->tag();
      std::memcpy(tag.data(), text.data(), std::min(text.size(), tag.size() - 1));
    });
    job.transport().broadcast(tag.data(), tag.size());
    job.together([&] {
      if (!job.is_first())
        file_ = std::make_unique<BlockOutput>(
            BlockOutput::joined(request.output, tag.data(), in.types.out, rows, cols));
    });
  }
  void write(const Array& part, index_t row, index_t col) { file_->write(part, row, col); }
  void commit(Job& job) {
    job.together([&] { file_->flush(); });
    job.together([&] {
      if (job.is_first()) file_->commit();
    });
  }

 private:
  std::unique_ptr<BlockOutput> file_;
};

/// What each rank did, at rank 0.
struct Done {
  index_t sent = 0, received = 0, messages = 0, read = 0;
};

std::vector<Done> gathered(Job& job, const Done& own) {
  scale::Transport& transport = job.transport();
  std::vector<Done> all(static_cast<std::size_t>(transport.ranks()), own);
  std::vector<scale::Transport::Ticket> tickets;
  const auto bytes = [](Done& done) {
    return scale::Lines{reinterpret_cast<std::byte*>(&done), 1, sizeof(Done), sizeof(Done)};
  };
  if (!job.is_first()) tickets.push_back(transport.send(bytes(all[0]), 0, scale::Kind::result));
  for (int rank = 1; job.is_first() && rank < transport.ranks(); ++rank)
    tickets.push_back(
        transport.receive(bytes(all[static_cast<std::size_t>(rank)]), rank, scale::Kind::result));
  for (const auto ticket : tickets) {
    while (!transport.is_done(ticket)) std::this_thread::yield();
  }
  return all;
}

nlohmann::ordered_json ranks_json(const scale::ScalePlan& plan, const std::vector<Done>& all) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < all.size(); ++n) {
    const scale::RankPart& part = plan.ranks[n];
    out.push_back({{"sent", all[n].sent},
                   {"planned_sent", part.sent},
                   {"received", all[n].received},
                   {"planned_received", part.received},
                   {"messages", all[n].messages},
                   {"planned_messages", part.messages},
                   {"read", all[n].read},
                   {"memory", part.memory}});
  }
  return out;
}

void report(const shell::Context& context, const MultiplyRequest& request, const Plan& plan,
            const scale::ScalePlan& forecast, const std::vector<Done>& all, double seconds) {
  index_t sent = 0, read = 0;
  for (const Done& each : all) sent += each.sent, read += each.read;
  const double gflops = plan.problem.flops() / std::max(1e-9, seconds) * 1e-9;
  context.note(
      fmt::format("{}: ({},{}) = ({},{}) * ({},{}) in {}; {} ranks with up to {} threads each, {} "
                  "sent ({:.2f} x "
                  "the lower bound), {} read; {}, {:.2f} GFLOP/s",
                  request.output, plan.problem.M, plan.problem.N, plan.problem.M, plan.problem.K,
                  plan.problem.K, plan.problem.N, name(forecast.request.types.out), all.size(),
                  plan.threads, bytes_text(sent), forecast.ratio_to_bound(), bytes_text(read),
                  shell::duration_text(seconds), gflops));
  if (!context.json) return;
  context.print(shell::json_text({{"output", request.output},
                                  {"ranks", ranks_json(forecast, all)},
                                  {"sent", sent},
                                  {"sent_bound", forecast.sent_bound},
                                  {"read", read},
                                  {"threads", plan.threads},
                                  {"seconds", seconds},
                                  {"gflops", gflops}}));
}

/// A share of the processors and of the memory, the same for all ranks.
void take_defaults(Job& job, MultiplyRequest& request) {
  const int neighbours = std::max(1, job.transport().neighbours());
  if (request.threads == 0) request.threads = std::max(1, default_threads() / neighbours);
  const index_t share = std::max<index_t>(1, available_memory() / neighbours / 5 * 4);
  const index_t least = job.transport().least(share);
  if (request.memory == 0) request.memory = least;
}

int multiply_as_rank(Job& job, const shell::Context& context, MultiplyRequest& request) {
  std::optional<LargeOperands> in;
  std::optional<Plan> plan;
  job.together([&] {
    check_rank_request(request);
    in.emplace(open_operands(request));
  });
  require_same(job, sameness_of(request, *in));
  take_defaults(job, request);
  scale::ScalePlan forecast;
  job.together([&] {
    plan.emplace(plan_of_blocks(request, *in));
    scale::Request asked = scale_request(*in, *plan, request.memory);
    asked.ranks = job.transport().ranks();
    forecast = make_scale_plan(asked);
  });
  if (request.dry_run) {
    if (job.is_first()) context.print_wrapped(to_string(forecast));
    return 0;
  }
  SharedOutput output;
  output.begin(job, request, *in);
  const Sources sources = sources_of(request, *in);
  scale::RankProduct product{&forecast, *plan, sources.a, sources.b, sources.c0, {}};
  product.write = [&](const Array& part, index_t row, index_t col) {
    output.write(part, row, col);
  };
  const scale::Box& box = forecast.ranks[static_cast<std::size_t>(job.rank())].box;
  shell::Progress progress(
      context, "multiplying",
      static_cast<double>(box.m() * box.n()) * static_cast<double>(std::max<index_t>(1, box.k())));
  if (job.is_first()) product.progress = [&](double done) { progress.update(done); };
  const auto start = process::Clock::now();
  const scale::Traffic traffic = run_rank(product, job.transport());
  output.commit(job);
  progress.finish();
  const double seconds = process::seconds_since(start);
  const index_t read =
      in->a.bytes_read() + in->b.bytes_read() + (in->c0 ? in->c0->bytes_read() : 0);
  const auto all = gathered(job, {traffic.sent, traffic.received, traffic.messages, read});
  if (job.is_first()) report(context, request, *plan, forecast, all, seconds);
  return 0;
}

}  // namespace

int multiply_on_ranks(const shell::Context& context, MultiplyRequest request) {
  std::optional<Job> job;
  try {
    job.emplace(context);
  } catch (const Error& error) {
    // The launcher ends all ranks when one has ended: the first writes the line before.
    if (scale::launched_rank() == 0) context.error(error.what());
    else std::this_thread::sleep_for(std::chrono::seconds(1));
    return exit_code(error.category());
  }
  shell::Context quiet = context;
  quiet.quiet = quiet.quiet || !job->is_first();
  try {
    return multiply_as_rank(*job, quiet, request);
  } catch (const JobEnded& ended) {
    return ended.code;
  } catch (const Error& error) {
    job->transport().fail(error);  // does not return
    return exit_code(error.category());
  }
}

}  // namespace tessera::cli
