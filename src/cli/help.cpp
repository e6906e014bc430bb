// `tessera help [TOPIC]`: the help of a command, or a page on a topic that concerns all commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "core/cpu_names.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "shell/wrap.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/matmul/plan.hpp"

namespace tessera::cli {

std::string algorithms_page() {
  std::string out = "Algorithms, in the order of the ladder:\n\n";
  for (const auto& each : algorithms()) {
    out += fmt::format("  {}\n      {}\n      tiles: ", each.name, each.idea);
    std::vector<std::string> tiles;
    for (const auto& tile : each.tiles) tiles.push_back(to_string(tile));
    out += shell::join(tiles, "; ");
    for (const auto& tile : each.f64_tiles) out += "; of f64 " + to_string(tile);
    std::vector<std::string> of_bytes;
    for (const auto& tile : each.byte_tiles) of_bytes.push_back(to_string(tile));
    if (!of_bytes.empty()) out += "; of bytes " + shell::join(of_bytes, ", ");
    std::vector<std::string> types;
    for (const auto& name : shell::product_dtype_names(shell::Products::operands)) {
      const DType type = parse_dtype(name);
      if (each.supports(type, type)) types.push_back(name);
      else if (each.supports(type, DType::i32)) types.push_back(name + ":i32");
    }
    for (auto type : {DType::f8e4m3, DType::f8e5m2}) {
      if (each.supports(type, DType::f32)) types.push_back(to_string(type) + ":f32");
    }
    out += fmt::format("\n      types: {}{}\n", shell::join(types, " "),
                       each.same_bits                   ? "; same bits"
                       : each.promises_bits(DType::f64) ? "; same bits of f64"
                                                        : "");
  }
  return out +
         "\nsame bits: f32 and f64 results have the same bits with each of these algorithms.\n"
         "'auto' chooses one for the problem; -v reports the reasons for and against each.\n";
}

namespace {

constexpr const char* kTypesPage =
    R"(NumPy's names (float32, int8, bfloat16, ...) are accepted too.

Files may hold all of them. Without --dtype, 'tessera multiply' computes in

  - the inputs' type, when both inputs have the same one of those with a product;
  - else the smallest of them that holds every value of both inputs exactly:
      i8 u8 i16 u16 bool           -> i32
      f8e4m3 f8e5m2                -> f16
      f16 with bf16                -> f32
      i8 u8 bool with f16          -> f16
      i8 u8 bool with bf16         -> bf16
      i16 u16 with f16, bf16, f32  -> f32
      i32 with any floating point  -> f64
      u32 i64 u64                  -> f64, exact up to 2^53, with a note on stderr

--dtype takes another type, if nothing but rounding is lost: floating point goes to the nearest neighbour (-v says
how many elements), but a fraction or NaN for i32, and a value beyond the type, are refused with the first such element.
So are --alpha and --beta that the sums' type cannot hold.

f16 and bf16 are summed in f32 and rounded once, to nearest even. i32 wraps modulo 2^32. Two matrices of i8 or u8, or one
of each, are multiplied as the bytes that they are, into i32. With --algorithm warpgroup, two of f8e4m3 or f8e5m2 are, into f32.
)";

constexpr const char* kFilesPage =
    R"(The extension of a file, or --format, selects its format:

  .npy          NumPy, versions 1 to 3, C or Fortran order, both byte orders
  .npz          NumPy archives; name one array as FILE.npz:NAME where there are several
  .mtx          Matrix Market, dense or coordinate
  .safetensors  tensors by name: FILE.safetensors:NAME

A matrix has two dimensions. One dimension of n elements is read as a row, 1 x n, for A and as a column, n x 1, for B.
Large .npy files are mapped into memory, not copied, so they may be larger than memory.

A result is first written to a temporary file in the same folder and then renamed, so that the file is
always complete, either old or new. An existing file is replaced only with --force. An array
named with FILE.npz:NAME or FILE.safetensors:NAME is added to the file; its other arrays are kept.
)";

constexpr const char* kExitCodesPage =
    R"(Exit codes:

    0  success
    1  failure: a result beyond its error bound, not enough memory, a full disk, a failed kernel
    2  wrong usage: an unknown name, an invalid value, shapes that do not match
    3  an input file that cannot be read or is invalid
    4  a device, a feature or a package that is not available
  130  interrupted by Ctrl-C (other signals: 128 + their number)
  141  the reader closed standard output: the command ends silently

Every other failure writes one line on stderr that begins with the command's name.
)";

constexpr const char* kEnvironmentPage =
    R"(Environment variables:

  TESSERA_NUM_THREADS  threads to use; else OMP_NUM_THREADS; else the cores of this process
  TESSERA_CPU          the instruction set of the packed path and of the CPU engine, as far as this CPU has it:
                       {}; else the best one
  TESSERA_CPU_TUNING   the file of 'tessera tune --device cpu' for the packed path
  TESSERA_DEVICE       the device of --device where that is not given: cpu, cuda:N, opencl:N or hip:N
  TESSERA_DRIVER_TIMEOUT
                       the seconds in which an OpenCL driver lists its devices (else 30), builds a kernel or starts
                       it for the first time (else 300)
  TESSERA_KERNEL_TIMEOUT
                       the seconds in which kernels on an OpenCL device end; else they may run for any time
  TESSERA_OPENCL_LIBRARY
                       the file of the loader of OpenCL drivers; else libOpenCL.so.1
  TESSERA_PEERS        more libraries for 'tessera bench', as paths joined by colons
  TESSERA_CUBLAS       the file of cuBLAS for 'tessera bench --device cuda', if it is not found automatically
  TESSERA_TUNING       the file of 'tessera tune' that products read; else that of their GPU in the user's cache
  TESSERA_BLAS_FALLBACK
                       the BLAS to which libtessera_blas passes what it does not compute; else one that it finds
  TESSERA_PYTHON       the Python of 'tessera mcp'; else python3
  TESSERA_COURSE       the folder of another course for 'tessera puzzle'
  TESSERA_ARITHMETIC   of the BLAS: lanes (default) or chain, the order of summation of products in dot form
  TESSERA_VERBOSE      1: each product writes one line on stderr with shape, plan, reason and time
  NO_COLOR             any value: no colours
  CLICOLOR_FORCE       not 0: colours even where the output is no terminal
  --color wins over both.
)";

constexpr const char* kAsynchronousPage =
    R"(Gates, bulk copies and warpgroup units, in kernels for sm_90a, the CPU engine and the checker:

  Gate, Turn<Stages>         a barrier in shared memory that goes through phases; stage and phase of a ring
  open_gate, open_gates      one thread opens them; publish_gates and a block barrier follow
  expect, arrive             one arrival, with or without the bytes that copies add in this phase
  wait(t, gate, phase)       until the phase of that parity has ended
  UnitTile, BulkMatrix       a swizzled tile in shared memory; a matrix with the map for such tiles
  copy_bulk                  starts the copy of a tile, whose bytes count at a gate
  store_bulk, commit_bulk    starts to store a tile; ends a group of such stores
  wait_bulk_read<N>          all but the newest N groups have read their tiles; wait_bulk<N>: have stored them
  fence_async                between ordinary stores to shared memory and bulk copies, stores or units on those bytes
  fence_async_global         the same of global memory
  WarpgroupUnit::mma         four warps start a product of operands in shared memory
  wait_mma<N>                all but the newest N products are done
  meet<id>(t, threads)       a barrier of some whole warps
  cluster_barrier            of all blocks of a cluster; arrive(t, gate, rank), copy_bulk(..., blocks): in other blocks

'tessera check KERNEL --order late' executes copies and products as late as the waits allow. 'tessera check warpgroup'
and 'thin' need operands that bulk copies can read: --strides aligned or aligned-transposed-b.
docs/asynchronous.md explains them, the puzzles p27_gates and p28_warpgroup teach them.
)";

std::string layouts_page() {
  std::string out =
      R"(A layout maps coordinates to offsets. It is written shape:stride, nested as deep as needed:

  (4,2):(2,1)                  4 rows, 2 columns, row-major
  ((2,2),(2,3)):((4,1),(2,8))  rows and columns of two levels each

'tessera layout eval EXPR' understands, nested freely:

)";
  for (const auto& each : expression_functions())
    out += fmt::format("  {:<26} {}\n", each.usage, each.meaning);
  return out + R"(
a(i,j,...) is the index of a coordinate. A tiler that names a layout for each mode is written
<3:3,(2,4):(1,8)>. Where CuTe and Mojo differ, CuTe's meaning is taken.
)";
}

std::string page(const std::string& topic) {
  if (topic == "algorithms") return algorithms_page();
  if (topic == "types")
    return "Element types: " + element_type_names(" ") +
           ".\nWith a product: " + shell::join(shell::product_dtype_names(), " ") + ".\n" +
           kTypesPage;
  if (topic == "asynchronous") return kAsynchronousPage;
  if (topic == "files") return kFilesPage;
  if (topic == "exit-codes") return kExitCodesPage;
  if (topic == "environment") return fmt::format(kEnvironmentPage, detail::cpu_names());
  if (topic == "layouts") return layouts_page();
  return {};
}

bool is_command(const CLI::App& app, const std::string& name) {
  for (const auto* sub : shell::visible_commands(app)) {
    if (sub->get_name() == name) return true;
  }
  return false;
}

int show_help(const shell::Context& context, const std::vector<std::string>& words) {
  if (words.empty()) {
    // root->help() would print the help of the parsed command, which is this one.
    std::string out = context.root->get_formatter()->make_help(
                          context.root, context.root->get_name(), CLI::AppFormatMode::Normal) +
                      "\nHelp topics ('tessera help TOPIC'):\n";
    for (const auto& each : help_topics())
      out += fmt::format("  {:<14}{}\n", each.name, each.summary);
    context.print_wrapped(out);
    return 0;
  }
  if (const std::string text = page(words.front()); !text.empty() && words.size() == 1) {
    context.print(shell::reflowed(text, shell::terminal_columns(shell::Stream::out)));
    return 0;
  }
  // A topic has no sub-topics; a command with the same name may have sub-commands.
  if (words.size() > 1 && !page(words.front()).empty() && !is_command(*context.root, words.front()))
    throw Error(Category::argument, cat("unexpected argument '", words[1], "'"),
                cat("nothing after the topic '", words.front(), "'"), {},
                cat("'tessera help ", words.front(), "' shows it"));
  const CLI::App* app = context.root;
  for (const auto& word : words) {
    std::vector<std::string> known;
    const CLI::App* found = nullptr;
    for (const auto* sub : shell::visible_commands(*app)) {
      known.push_back(sub->get_name());
      if (sub->get_name() == word) found = sub;
    }
    if (found == nullptr) {
      for (const auto& each : help_topics()) known.emplace_back(each.name);
      throw Error(Category::argument, cat("no help on '", word, "'"),
                  "one of " + shell::join(known), {},
                  shell::nearest(word, known).empty()
                      ? ""
                      : "did you mean '" + shell::nearest(word, known) + "'?");
    }
    app = found;
  }
  std::string prefix;
  for (const auto* parent = app->get_parent(); parent != nullptr; parent = parent->get_parent())
    prefix = prefix.empty() ? parent->get_name() : parent->get_name() + " " + prefix;
  context.print(app->help(prefix));
  return 0;
}

}  // namespace

const std::vector<HelpTopic>& help_topics() {
  static const std::vector<HelpTopic> topics = {
      {"algorithms", "the ladder: every algorithm, its idea, its tiles and types"},
      {"asynchronous", "gates, bulk copies and warpgroup units: the words of kernels"},
      {"environment", "environment variables"},
      {"exit-codes", "what each exit code means"},
      {"files", "file formats, writing, overwriting"},
      {"layouts", "how layouts and their expressions are written"},
      {"types", "element types and how the type of a product is chosen"},
  };
  return topics;
}

void add_help(CLI::App& root, shell::Context& context) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* app = shell::add_command(root, context, "help", "Show the help of a command or a topic",
                                     "  tessera help\n"
                                     "  tessera help multiply\n"
                                     "  tessera help exit-codes");
  app->configurable(false);  // it works with any settings file
  app->add_option("TOPIC", *words, "A command or a topic; 'tessera help' lists them")
      ->type_name("TOPIC");
  app->callback([&context, words] {
    context.action = [&context, words] { return show_help(context, *words); };
  });
}

}  // namespace tessera::cli
