// A product on the ranks of MPI: see ranks.hpp and, for errors of single ranks,
// rank_job.hpp.
#include "ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "io/checksum.hpp"
#include "process/clock.hpp"
#include "rank_output.hpp"
#include "selected.hpp"
#include "shell/build_info.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "speeds.hpp"
#include "tessera/core/parallel.hpp"
#include "tessera/core/text.hpp"

namespace tessera::product {

namespace {

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
                  request.tile, " ", request.memory, " ", request.resume, request.top.value_or(-1),
                  " ", request.above.has_value(), request.above.value_or(0), " ",
                  version.substr(0, version.find('\n')))),
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
  if (request.a == "-" || request.b == "-" || request.c == "-") refuse("standard input");
}

/// What each rank did, at rank 0.
struct Done {
  index_t sent = 0, received = 0, messages = 0, read = 0;
};

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
            const scale::ScalePlan& forecast, const std::vector<Done>& all,
            const RankOutput& output, double seconds) {
  index_t sent = 0, read = 0;
  for (const Done& each : all) sent += each.sent, read += each.read;
  const double gflops = plan.problem.flops() / std::max(1e-9, seconds) * 1e-9;
  context.note(fmt::format(
      "{}: {}({},{}) = ({},{}) * ({},{}) in {}; {} ranks with up to {} threads each, {} "
      "sent ({:.2f} x "
      "the lower bound), {} read; {}, {:.2f} GFLOP/s",
      request.output, request.selects() ? cat(selection_text(request), " of ") : "", plan.problem.M,
      plan.problem.N, plan.problem.M, plan.problem.K, plan.problem.K, plan.problem.N,
      name(forecast.request.types.out), all.size(), plan.threads, bytes_text(sent),
      forecast.ratio_to_bound(), bytes_text(read), shell::duration_text(seconds), gflops));
  if (!context.json) return;
  nlohmann::ordered_json out = {{"output", request.output},
                                {"ranks", ranks_json(forecast, all)},
                                {"sent", sent},
                                {"sent_bound", forecast.sent_bound},
                                {"read", read},
                                {"threads", plan.threads},
                                {"seconds", seconds},
                                {"gflops", gflops}};
  if (request.resume)
    out["blocks"] = output.blocks(), out["resumed_blocks"] = output.already_finished();
  if (request.selects()) out["entries"] = output.entries();
  context.print(shell::json_text(out));
}

/// A share of the processors and of the memory, the same for all ranks.
void take_defaults(Job& job, MultiplyRequest& request) {
  const int neighbours = std::max(1, job.transport().neighbours());
  if (request.threads == 0) request.threads = std::max(1, default_threads() / neighbours);
  const index_t share = std::max<index_t>(1, available_memory() / neighbours / 5 * 4);
  const index_t least = job.transport().least(share);
  if (request.memory == 0) request.memory = least;
}

/// All ranks measure at once, as they work; the slowest counts. Rank 0 keeps the result.
scale::Speeds measured_speeds(Job& job, const MultiplyRequest& request, const Plan& plan) {
  scale::Speeds speeds = kept_speeds();
  measure_network(job.transport(), speeds);
  job.together([&] {
    measure_files(request.a, job.rank(), speeds);
    speeds.flops = measured_flops(plan.problem.in, plan.threads);
    speeds.memory = measured_memory();
  });
  for (double* const speed : {&speeds.flops, &speeds.disk, &speeds.writing, &speeds.memory})
    *speed = static_cast<double>(job.transport().least(static_cast<index_t>(*speed)));
  if (job.is_first()) keep_speeds(speeds);
  return speeds;
}

int multiply_as_rank(Job& job, const shell::Context& context, MultiplyRequest& request,
                     const std::function<void()>& check) {
  std::optional<LargeOperands> in;
  std::optional<Plan> plan;
  job.together([&] {
    check();
    check_rank_request(request);
    in.emplace(open_operands(request));
    if (request.selects()) in->types.out = in->types.sum;
  });
  require_same(job, sameness_of(request, *in));
  take_defaults(job, request);
  scale::ScalePlan forecast;
  scale::Request requested;
  job.together([&] {
    plan.emplace(plan_of_blocks(request, *in));
    requested = scale_request(*in, *plan, request.memory);
    requested.ranks = job.transport().ranks();
    forecast = make_scale_plan(requested);
  });
  if (request.dry_run) {
    requested.speeds = measured_speeds(job, request, *plan);
    if (job.is_first()) context.print_wrapped(to_string(make_scale_plan(requested)));
    return 0;
  }
  RankOutput output(job, request, *in, *plan, forecast);
  if (output.already_finished() > 0)
    context.note(cat("resuming: ", output.already_finished(), " of ", output.blocks(),
                     " blocks are finished"));
  const Sources sources = sources_of(request, *in);
  scale::RankProduct product{&forecast, *plan, sources.a, sources.b, sources.c0, {}};
  output.connect(product);
  const scale::Box& box = forecast.ranks[static_cast<std::size_t>(job.rank())].box;
  shell::Progress progress(
      context, "multiplying",
      static_cast<double>(box.m() * box.n()) * static_cast<double>(std::max<index_t>(1, box.k())));
  if (job.is_first()) product.progress = [&](double done) { progress.update(done); };
  const auto start = process::Clock::now();
  const scale::Traffic traffic = run_rank(product, job.transport());
  output.commit();
  progress.finish();
  const double seconds = process::seconds_since(start);
  const index_t read =
      in->a.bytes_read() + in->b.bytes_read() + (in->c0 ? in->c0->bytes_read() : 0);
  const auto all = job.gathered_one(Done{traffic.sent, traffic.received, traffic.messages, read});
  if (job.is_first()) report(context, request, *plan, forecast, all, output, seconds);
  return 0;
}

}  // namespace

int multiply_on_ranks(const shell::Context& context, MultiplyRequest request,
                      const std::function<void()>& check) {
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
    return multiply_as_rank(*job, quiet, request, check);
  } catch (const JobEnded& ended) {
    return ended.code;
  } catch (const Error& error) {
    job->transport().fail(error);  // does not return
    return exit_code(error.category());
  } catch (const std::exception& error) {
    job->transport().fail(Error(Category::resource, error.what()));
    return 1;
  }
}

}  // namespace tessera::product
