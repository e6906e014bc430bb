// A kernel of the ladder under the checker: see checked_kernel.hpp.
#include "checked_kernel.hpp"

#include <algorithm>
#include <filesystem>

#include "check/shared_names.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/suggest.hpp"
#include "shell/types.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/check/product.hpp"
#include "tessera/io/array.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::inspect {

namespace {

void require_known(const std::string& name) {
  const auto known = checked_algorithms();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string near = shell::nearest(name, known);
  throw Error(Category::argument, cat("unknown kernel '", name, "'"),
              "one of " + shell::join(known), {},
              near.empty() ? "" : "did you mean '" + near + "'?");
}

/// Types that only kernels with matrix units multiply, `warpgroup` all of them.
std::vector<std::string> unit_only_types() {
  const auto of_all = shell::product_dtype_names();
  std::vector<std::string> out;
  for (const auto& name : shell::product_dtype_names(shell::Products::operands)) {
    const DType in = parse_dtype(name);
    if (std::find(of_all.begin(), of_all.end(), name) == of_all.end() &&
        find_algorithm("warpgroup").supports(in, shell::sums_of(in)))
      out.push_back(name);
  }
  return out;
}

/// A matrix of seeded numbers with the requested strides of its operand.
struct Operand {
  Operand(const CheckedKernel& kernel, DType type, char name, index_t rows_, index_t cols_,
          std::uint64_t stream)
      : layout(check::operand_layout(check::parse_product_strides(kernel.strides), name, rows_,
                                     cols_)),
        memory(make_array(type, {layout.elements})),
        rows(rows_),
        cols(cols_) {
    visit_dtype(type, [&]<class T>(TypeTag<T>) {
      T* const to = static_cast<T*>(memory.writable());
      for (index_t i = 0; i < layout.elements; ++i)
        to[i] = check::seeded_element<T>(kernel.seed, stream, i);
    });
  }
  Matrix view() const {
    return {memory.writable(), memory.dtype(), rows, cols, layout.row_stride, layout.col_stride};
  }

  check::OperandLayout layout;
  Array memory;
  index_t rows, cols;
};

Strides strides_of(const CheckedKernel& kernel, char name, index_t rows, index_t cols) {
  const check::OperandLayout layout =
      check::operand_layout(check::parse_product_strides(kernel.strides), name, rows, cols);
  return {layout.row_stride, layout.col_stride};
}

Problem problem_of(const CheckedKernel& kernel) {
  const DType type = parse_dtype(kernel.dtype);
  return {.M = kernel.m,
          .N = kernel.n,
          .K = kernel.k,
          .in = type,
          .out = shell::sums_of(type),
          .a = strides_of(kernel, 'A', kernel.m, kernel.k),
          .b = strides_of(kernel, 'B', kernel.k, kernel.n),
          .c = strides_of(kernel, 'C', kernel.m, kernel.n),
          .beta = kernel.beta};
}

}  // namespace

void add_device_model(CLI::App& app, CheckedKernel& kernel) {
  std::vector<std::string> names;
  for (const check::DeviceModel& model : check::device_models()) names.emplace_back(model.name);
  shell::add_text(app, "--device", shell::join(names, "|"), kernel.device,
                  cat("GPU whose limits count; default ", kernel.device));
}

void add_strides(CLI::App& app, CheckedKernel& kernel) {
  shell::add_choice(app, "--strides", kernel.strides,
                    {check::kProductStridesNames.begin(), check::kProductStridesNames.end()},
                    "Memory layout of A, B and C (default rows)");
}

void add_kernel_options(CLI::App& app, CheckedKernel& kernel, std::string name_type,
                        std::string name_description) {
  shell::add_argument(app, "NAME", std::move(name_type), kernel.name, std::move(name_description));
  const std::string extent = cat(" (default ", kernel.m, ")");
  shell::add_extent(app, "-m", kernel.m, "Rows of A and C" + extent);
  shell::add_extent(app, "-n", kernel.n, "Columns of B and C" + extent);
  shell::add_extent(app, "-k", kernel.k, "Columns of A, rows of B" + extent);
  const std::vector<std::string> types = shell::product_dtype_names();
  const std::vector<std::string> bytes = unit_only_types();
  const std::string text =
      cat("Element type of A and B: ", shell::join(types), "; with matrix units also ",
          shell::join(bytes), ", summed in f32 or i32; default ", kernel.dtype);
  shell::add_checked(
      app, "--dtype", [&kernel](const std::string& given) { kernel.dtype = checked_dtype(given); },
      text, "TYPE");
  shell::add_text(app, "--tile", "TILE", kernel.tile,
                  "Tile, such as 32x32x32 or 128,128,8/8,8; default: the kernel's own");
  shell::add_choice(app, "--order", kernel.order,
                    {kThreadOrderNames.begin(), kThreadOrderNames.end()},
                    "Order in which a block's threads run between two barriers (default forward)");
  shell::add_seed(app, "--seed", kernel.seed,
                  "Seed of the data and of the orders shuffled and late (default 0)");
  shell::add_number(app, "--beta", kernel.beta,
                    "C = A * B + beta * C (default 0: reading C is an error)");
  shell::add_count(app, "--blocks", kernel.blocks,
                   cat("Number of blocks to check, spread over the grid; default ",
                       kernel.blocks == 0 ? "all" : cat(kernel.blocks)));
  shell::add_count(app, "--time-limit", kernel.seconds,
                   "Stop a kernel that takes longer, in seconds (default 60)");
  add_device_model(app, kernel);
  shell::add_count(app, "--registers", kernel.registers,
                   "Registers of a thread, as 'ptxas -v' says: they limit the occupancy too");
  shell::add_threads(app, kernel.threads);
}

std::string checked_dtype(const std::string& text) {
  const shell::Types types = shell::parse_types(text);
  if (types.in_b != types.in || types.out != shell::sums_of(types.in))
    throw Error(Category::argument,
                cat("kernels are checked with A and B of one type, and ", types.in, " into ",
                    shell::sums_of(types.in)),
                to_string(types.in), text);
  return std::string(name(types.in));
}

const check::DeviceModel& checked_device(const CheckedKernel& kernel) {
  const check::DeviceModel& device = check::device_model(kernel.device);
  if (kernel.registers > device.registers_per_thread)
    throw Error(Category::argument, cat("--registers: a thread of ", device.name, " has fewer"),
                cat("a whole number from 1 to ", device.registers_per_thread),
                cat(kernel.registers));
  return device;
}

bool is_file(const CheckedKernel& kernel) {
  static constexpr std::string_view kEndings[] = {".cpp", ".cc", ".cxx", ".c++", ".cu"};
  return kernel.name.find('/') != std::string::npos ||
         std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return kernel.name.ends_with(ending); });
}

namespace {

/// The registers that nvcc gives a thread of a built-in kernel, on the GPUs that it was compiled
/// for; 0: unknown.
int built_registers(const Plan& plan, const std::string& device) {
  struct Built {
    std::string_view algorithm, tile;
    int registers;
  };
  static constexpr Built kBuilt[] = {
#include "kernel_registers.inc"
  };
  if (device == "a100" || plan.problem.in != DType::f32 || plan.problem.out != DType::f32) return 0;
  const std::string tile = to_string(plan.tile);
  for (const Built& each : kBuilt) {
    if (each.algorithm == plan.algorithm && each.tile == tile) return each.registers;
  }
  return 0;
}

/// Which kernel takes the place of the plan's, whose bulk copies cannot read the operands, or what
/// is done to these first, and why; empty where neither.
std::string remark_of(const Plan& plan) {
  constexpr std::string_view requested = "requested; ";
  return plan.reason.starts_with(requested)
             ? cat(plan.algorithm, ": ", plan.reason.substr(requested.size()))
             : std::string();
}

}  // namespace

check::Report checked(const CheckedKernel& kernel) {
  require_known(kernel.name);
  const DType type = parse_dtype(kernel.dtype);
  Options options;
  options.algorithm = kernel.name;
  if (!kernel.tile.empty()) options.tile = parse_tile(kernel.tile);
  options.threads = kernel.threads;
  options.order = parse_order(kernel.order);
  options.seed = kernel.seed;
  check::Options how;
  how.blocks = kernel.blocks;
  how.time_limit_s = kernel.seconds;
  how.correctness = !kernel.counters_only;
  how.forget_tiles = kernel.forget_tiles;
  how.coverage = kernel.coverage;
  how.registers = kernel.registers;
  how.device = kernel.device;
  how.suppressions = kernel.suppressions;
  try {
    const Operand a(kernel, type, 'A', kernel.m, kernel.k, 1),
        b(kernel, type, 'B', kernel.k, kernel.n, 2),
        c(kernel, shell::sums_of(type), 'C', kernel.m, kernel.n, 3);
    const ConstMatrix A = a.view(), B = b.view();
    const Plan plan = make_plan(make_problem(A, B, c.view(), 1, kernel.beta), options);
    if (how.registers == 0) how.registers = built_registers(plan, kernel.device);
    check::Report report = check_matmul(plan, A, B, c.view(), how);
    check::name_shared_tiles(report, source_of);
    report.remark = remark_of(plan);
    return report;
  } catch (const Error& error) {
    if (error.category() != Category::resource) throw;
    throw Error(Category::unavailable, cat("could not check: ", error.problem()), error.expected(),
                error.got(), error.advice());
  }
}

KernelSpelling spelling_of(const CheckedKernel& kernel) {
  require_known(kernel.name);
  const DType type = parse_dtype(kernel.dtype);
  return spell_kernel(kernel.name, type, shell::sums_of(type),
                      kernel.tile.empty() ? TileShape{} : parse_tile(kernel.tile));
}

std::string source_text(const CheckedKernel& kernel, const KernelSpelling& spelling) {
  if (spelling.header.empty()) {
    const DType type = parse_dtype(kernel.dtype);
    std::vector<std::string> built, checked;
    for (const TileShape& tile : find_algorithm(kernel.name).tiles_of(type)) {
      built.push_back(to_string(tile));
      if (spell_kernel(kernel.name, type, shell::sums_of(type), tile).is_compiled)
        checked.push_back(to_string(tile));
    }
    const std::string tile = to_string(spelling.tile);
    const auto has = [&](const std::vector<std::string>& all) {
      return std::find(all.begin(), all.end(), tile) != all.end();
    };
    const std::string what = cat(kernel.name, " with tile ", tile, " in ", kernel.dtype);
    if (!built.empty() && !has(built))
      throw Error(Category::unavailable,
                  cat("kernels with bulk copies are checked in built-in tiles: ", what),
                  cat("--tile ", shell::join(built)));
    if (!checked.empty() && !has(checked))
      throw Error(Category::unavailable,
                  cat("the checker is built without ", what, ", to be smaller"),
                  cat("--tile ", shell::join(checked), ", or --dtype ",
                      type == DType::f16 ? "bf16, whose kernel is the same" : "f32"));
    throw Error(Category::unavailable,
                cat("kernels with bulk copies are checked as they are built in, without --stop-at "
                    "and compiler flags: ",
                    what),
                checked.empty() ? "f32" : "");
  }
  return cat("#include \"tessera/check/file.hpp\"\n#include \"", spelling.header,
             "\"\n\nusing namespace tessera;\n\n"
             "check::Report check_kernel(const check::Options& options, const "
             "check::ProductProblem& problem) {\n  return check::check_product<",
             spelling.kernel, ", ", spelling.type, ">(options, problem);\n}\n");
}

std::string problem_text(const CheckedKernel& kernel, const KernelSpelling& spelling) {
  return cat(to_string(problem_of(kernel)), " tile=", to_string(spelling.tile));
}

std::optional<std::string> source_of(const std::string& file) {
  if (auto text = check::read_source(file)) return text;
  const std::size_t at = file.rfind("/include/tessera/");
  std::error_code failed;
  const auto command = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (at == std::string::npos || failed) return {};
  return check::read_source((command.parent_path().parent_path() / file.substr(at + 1)).string());
}

}  // namespace tessera::inspect
