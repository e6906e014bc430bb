// `tessera plan A B --ranks 64 --memory 16GiB`: what a product needs that exceeds one memory or one
// machine, before anything is computed. Reads only the headers of the files.
#include "scale/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.hpp"
#include "io/matrix_file.hpp"
#include "product/operand.hpp"
#include "product/speeds.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/write_file.hpp"
#include "tessera/matmul/problem.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

struct PlanRequest {
  std::vector<std::string> files;
  index_t m = -1, n = -1, k = -1, memory = 0;
  int ranks = 1;
  std::string dtype, svg;
  bool transpose_a = false, transpose_b = false, force = false;
  std::optional<double> gflops, network, latency, disk;
};

/// The file of an operand as a matrix; one dimension is a row of A or a column of B.
MatrixFile opened_operand(const std::string& path, bool is_row, bool transposed) {
  MatrixFile file(path);
  if (file.shape().size() == 1) {
    const index_t n = file.shape()[0];
    if (is_row) file.reshape(1, n);
    else file.reshape(n, 1);
  }
  file.require_matrix(path);
  if (transposed) file.transpose();
  return file;
}

void take_files(const PlanRequest& request, scale::Request& out) {
  const MatrixFile a = opened_operand(request.files[0], true, request.transpose_a);
  const MatrixFile b = opened_operand(request.files[1], false, request.transpose_b);
  if (a.cols() != b.rows())
    throw Error(Category::shape,
                fmt::format("A ({}) has {} columns but B ({}) has {} rows", request.files[0],
                            a.cols(), request.files[1], b.rows()));
  out.shape = {a.rows(), b.cols(), a.cols()};
  out.symmetric =
      request.files[0] == request.files[1] && request.transpose_a != request.transpose_b;
  const bool bytes = is_byte(a.dtype()) && is_byte(b.dtype());
  const DType type = request.dtype.empty() ? product::product_type(a.dtype(), b.dtype())
                                           : parse_dtype(request.dtype);
  product::require_product(type);
  out.types = scale::types_of(type);
  if (bytes && type == DType::i32) out.types.in_a = a.dtype(), out.types.in_b = b.dtype();
  out.types.a = a.dtype(), out.types.b = b.dtype();
}

void take_shape(const PlanRequest& request, scale::Request& out) {
  for (const auto& [flag, value] :
       {std::pair{"-m", request.m}, {"-n", request.n}, {"-k", request.k}}) {
    if (value < 0)
      throw Error(Category::argument, fmt::format("{} is missing", flag),
                  "two files, or -m M -n N -k K");
  }
  out.shape = {request.m, request.n, request.k};
  const DType type = request.dtype.empty() ? DType::f32 : parse_dtype(request.dtype);
  if (!is_byte(type)) product::require_product(type);
  out.types = scale::types_of(type);
}

scale::Request asked_plan(const PlanRequest& request) {
  scale::Request out;
  const bool by_shape = request.m >= 0 || request.n >= 0 || request.k >= 0;
  if (!request.files.empty() && (request.files.size() != 2 || by_shape))
    throw Error(Category::argument, "the product is described twice or incompletely",
                "two files, or -m M -n N -k K");
  if (request.files.empty()) take_shape(request, out);
  else take_files(request, out);
  out.ranks = request.ranks;
  out.memory = request.memory > 0 ? request.memory : available_memory() / 5 * 4;
  out.speeds = product::kept_speeds();
  if (!request.files.empty() && !request.disk) {
    product::measure_files(request.files[0], 0, out.speeds);
    out.speeds.memory = product::measured_memory();
  }
  out.speeds.flops =
      request.gflops ? *request.gflops * 1e9 : product::measured_flops(out.types.in_a);
  if (request.network) out.speeds.network = *request.network * 1e9;
  if (request.latency) out.speeds.message_seconds = *request.latency * 1e-6;
  if (request.disk) out.speeds.disk = out.speeds.writing = *request.disk * 1e9;
  return out;
}

ordered_json box_json(const scale::RankPart& part) {
  const scale::Box& b = part.box;
  return {{"m", {b.m0, b.m1}},    {"n", {b.n0, b.n1}},         {"k", {b.k0, b.k1}},
          {"sent", part.sent},    {"received", part.received}, {"messages", part.messages},
          {"memory", part.memory}};
}

ordered_json plan_document(const scale::ScalePlan& plan) {
  const scale::Schedule& s = plan.schedule;
  ordered_json ranks = ordered_json::array();
  for (const scale::RankPart& part : plan.ranks) ranks.push_back(box_json(part));
  const scale::Request& r = plan.request;
  return {{"m", r.shape.M},
          {"n", r.shape.N},
          {"k", r.shape.K},
          {"dtype", name(r.types.out)},
          {"ranks", r.ranks},
          {"memory", {{"given", r.memory}, {"needed", plan.memory}}},
          {"schedule",
           {{"resident", scale::name(s.resident)},
            {"block", {s.block_m, s.block_n, s.depth}},
            {"grid", {s.blocks_down(), s.blocks_across(), s.slices()}},
            {"moved", s.moved()},
            {"bound", s.bound}}},
          {"network",
           {{"sent", plan.sent},
            {"bound", plan.sent_bound},
            {"ratio", plan.ratio_to_bound()},
            {"worst_received", plan.worst_received},
            {"worst_moved", plan.worst_moved},
            {"worst_ratio", plan.worst_ratio()},
            {"messages", plan.messages}}},
          {"files", {{"read", plan.read}, {"written", plan.written}}},
          {"seconds",
           {{"arithmetic", plan.time.arithmetic},
            {"network", plan.time.network},
            {"disk", plan.time.disk},
            {"total", plan.time.total}}},
          {"limited_by", plan.limit},
          {"boxes", ranks}};
}

int run_plan(const shell::Context& context, const PlanRequest& request) {
  const scale::ScalePlan plan = make_scale_plan(asked_plan(request));
  if (!request.svg.empty())
    shell::write_file(context, request.svg, request.force, scale::picture(plan));
  if (context.json) context.print(shell::json_text(plan_document(plan)));
  else context.print_wrapped(to_string(plan));
  return 0;
}

void add_speed(CLI::App& app, const char* flag, std::optional<double>& target, std::string text) {
  shell::add_checked(
      app, flag,
      [&target](const std::string& value) {
        double number = 0;
        std::size_t end = 0;
        try {
          number = std::stod(value, &end);
        } catch (const std::exception&) {
          end = 0;
        }
        if (end == 0 || end != value.size() || !(number > 0))
          throw Error(Category::argument, "the speed", "a number above 0", value);
        target = number;
      },
      std::move(text), "X");
}

}  // namespace

void add_plan(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<PlanRequest>();
  CLI::App* app = shell::add_command(
      root, context, "plan",
      "Report what a large product needs: memory, bytes, messages and time, on one machine or many",
      "  tessera plan a.npy b.npy --memory 2GiB\n"
      "  tessera plan -m 100000 -n 100000 -k 100000 --ranks 64 --memory 16GiB\n"
      "  tessera plan -m 8192 -n 8192 -k 8192 --ranks 7 --svg boxes.svg");
  shell::add_arguments(*app, "FILES", "FILE", request->files,
                       "A and B, .npy or .safetensors[:NAME]; or -m, -n and -k");
  shell::add_extent(*app, "-m", request->m, "Rows of A and C");
  shell::add_extent(*app, "-n", request->n, "Columns of B and C");
  shell::add_extent(*app, "-k", request->k, "Columns of A, rows of B");
  shell::add_dtype(*app, "--dtype", request->dtype,
                   "Type of the product; default: by the files, else f32");
  shell::add_flag(*app, "--transpose-a", request->transpose_a, "Use A transposed");
  shell::add_flag(*app, "--transpose-b", request->transpose_b, "Use B transposed");
  shell::add_count(*app, "--ranks", request->ranks, "Machines, or processes of MPI (default 1)");
  shell::add_bytes(*app, "--memory", request->memory,
                   "Memory of each rank, such as 16GiB; default: 80 % of what is free here");
  add_speed(*app, "--gflops", request->gflops,
            "Arithmetic of a rank in GFLOP/s; default: that of a short product here");
  add_speed(*app, "--network", request->network,
            "GB/s that a rank receives; default: as measured last, else 2.5");
  add_speed(*app, "--latency", request->latency,
            "Microseconds for each message; default: as measured last, else 1");
  add_speed(*app, "--disk", request->disk,
            "GB/s of the files of a rank; default: of A and beside it, else 1.5");
  shell::add_text(*app, "--svg", "FILE", request->svg, "Draw the boxes of the ranks into FILE");
  shell::add_flag(*app, "--force", request->force, "Replace a picture that exists");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context, request] { return run_plan(context, *request); });
}

}  // namespace tessera::cli
