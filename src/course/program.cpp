// Compiles, runs, reads the results: see program.hpp.
#include "program.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>

#include "answer.hpp"
#include "brackets.hpp"
#include "cuda_answer.hpp"
#include "device/device_names.hpp"
#include "finding_text.hpp"
#include "process/checked_flags.hpp"
#include "process/clock.hpp"
#include "process/compile.hpp"
#include "process/program.hpp"
#include "process/temporary_folder.hpp"
#include "puzzle/limits.hpp"
#include "shell/machine.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/cuda/runtime.hpp"

namespace tessera::course {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPrintedBytes = 2000;

// All in one function, with a name that no learner's file has.
constexpr const char* kProgram = "tessera-puzzle.cpp";
constexpr const char* kProgramOfGpu = "tessera-puzzle.cu";
constexpr const char* kOnDevice = "-DTESSERA_PUZZLE_ON_DEVICE=1";

/// Each in its own namespace, to avoid name collisions, after all includes; the first include
/// is that of compiled_header().
std::string program_of(const std::vector<PuzzleTry>& tries) {
  std::string includes = "#include \"tessera/puzzle/run.hpp\"\n", bodies, entries;
  for (const auto& one : tries) {
    const bool is_in_cuda = one.puzzle->is_in_cuda;
    bodies += cat("namespace ", one.name, " {\n#line 1 \"",
                  is_in_cuda ? "puzzle.cpp" : name_of(one), "\"\n");
    for (const auto& text : {is_in_cuda ? declarations_for(*one.puzzle) : one.source,
                             "#line 1 \"spec.hpp\"\n" + read_text(one.puzzle->folder / "spec.hpp")})
      for (const auto& line : lines_of(text)) {
        const bool is_include = line.starts_with("#include");
        if (is_include) includes += line + "\n";
        bodies += (is_include ? "" : line) + "\n";
      }
    bodies += "}\n";
    entries += cat("{\"", one.name, "\", &", one.name, "::spec},\n");
  }
  includes +=
      "#if !defined(__CUDACC__) && !defined(TESSERA_PUZZLE_ON_DEVICE)\n"
      "#include \"tessera/puzzle/array_bounds.hpp\"\n#endif\n";
  return cat(includes, bodies, "int main(int argc, char** argv) {\n",
             "  const tessera::puzzle::Entry entries[] = {\n", entries,
             "};\n  return tessera::puzzle::run_main(argc, argv, entries);\n}\n");
}

/// Seconds that a compiler may take for this many answers, if a kernel may take `time_limit_s`: by
/// default many times what a busy machine needs.
double compile_limit(double time_limit_s, std::size_t answers) {
  return 12 * time_limit_s + 10 * static_cast<double>(answers - 1);
}

/// Did it compile within this many seconds? The compiler's messages are in `said`.
bool compile_in(const fs::path& folder, double seconds, std::string& said) {
  const process::Installed at = process::installed();
  std::vector<std::string> words(std::begin(process::kCheckedPuzzleFlags),
                                 std::end(process::kCheckedPuzzleFlags));
  words.emplace_back("-ftemplate-backtrace-limit=0");  // it contains the learner's line
  for (auto& each : process::compiled_header(at, "tessera/puzzle/run.hpp"))
    words.push_back(std::move(each));
  for (const char* each : {"-c", kProgram, "-o", "puzzle.o"}) words.emplace_back(each);
  words.push_back("-I" + at.include.string());
  const std::string file = (folder / "said").string();
  // Linked by a separate call: with the option the linker would need the sanitizer's library.
  std::vector<std::string> link{"puzzle.o", "-o", "puzzle"};
  for (auto& each : process::link_words(at)) link.push_back(std::move(each));
  const process::ProgramEnd end = process::run_compiler(words, file, folder.string(), seconds);
  const bool good = end.good() && process::run_linker(link, file, folder.string());
  said = end.timed_out ? cat("the compiler was still at work after ", seconds,
                             " s and was ended: does a template or a constexpr function use itself "
                             "again and again? --time-limit gives it more")
                       : read_text(file);
  return good;
}

/// The same for a device whose kernels Clang compiles when they start.
bool compile_for_device(const process::Installed& at, const fs::path& folder, std::string& said) {
  std::vector<std::string> words{
      "-std=c++20", "-O1", "-w",    "-ffp-contract=off", kOnDevice, "-I" + at.include.string(),
      kProgram,     "-o",  "puzzle"};
  for (auto& each : process::link_words(at)) words.push_back(std::move(each));
  const std::string file = (folder / "said").string();
  const bool good = process::run_compiler(words, file, folder.string()).good();
  said = read_text(file);
  return good;
}

/// The same for a GPU. The library holds CUDA's runtime already.
bool compile_for(const PuzzleGpu& gpu, const fs::path& folder, std::string& said) {
  const process::Installed at = process::installed();
  if (gpu.nvcc.empty()) return compile_for_device(at, folder, said);
  std::vector<std::string> words{gpu.nvcc,
                                 "-std=c++20",
                                 "--expt-relaxed-constexpr",
                                 "-fmad=false",
                                 "-w",
                                 "-arch=" + gpu.arch,
                                 "--cudart=none",
                                 "-I" + at.include.string(),
                                 kProgramOfGpu,
                                 "-o",
                                 "puzzle"};
  for (const auto& each : process::link_words(at))
    words.push_back(each.starts_with("-Wl,") || each == "-pthread" ? "-Xcompiler=" + each : each);
  const std::string file = (folder / "said").string();
  const bool good =
      process::run_program({.words = words, .stderr_file = file, .folder = folder.string()}).good();
  said = read_text(file);
  return good;
}

/// `off`: for programs on a GPU, whose driver needs more than the sandbox allows.
enum class Sandbox { on, off };

void run_in(const fs::path& folder, const PuzzleTry& one, double time_limit_s, Sandbox sandbox,
            const std::string& device, const fs::path& cuda, PuzzleAttempt& out) {
  const std::string outcome = (folder / (one.name + ".json")).string(),
                    printed = (folder / "printed").string(),
                    source = (folder / (one.name + ".source")).string();
  std::ofstream(source) << one.source;
  const double patience = time_limit_s + (sandbox == Sandbox::on ? 3 : 30);
  process::ProgramRun run{
      .words = {(folder / "puzzle").string(), "puzzle=" + one.name, "variant=" + one.variant,
                "outcome=" + outcome, "source=" + source, "file=" + name_of(one),
                cat("time_limit_s=", time_limit_s), one.has_pictures ? "pictures=1" : "pictures=0"},
      .stderr_file = printed,
      .stdout_file = printed,
      .folder = folder.string(),
      .seconds = patience};
  if (!cuda.empty()) run.words.push_back("cuda=" + cuda.string());
  if (!device.empty())
    run.environment = {"TESSERA_DEVICE=" + device, cat("TESSERA_GPU_FLAGS=", kOnDevice)};
  if (sandbox == Sandbox::on)
    run.environment = {cat(puzzle::kFolderVariable, "=", folder.string())};
  const auto begin = process::Clock::now();
  const process::ProgramEnd end = process::run_program(run);
  out.run_s = process::seconds_since(begin);
  std::error_code none;
  out.printed_bytes = fs::file_size(printed, none);
  if (!none && out.printed_bytes > 0) out.printed = read_text(printed).substr(0, kMostPrintedBytes);
  else out.printed_bytes = 0;
  if (fs::exists(outcome)) out.outcome = read_outcome(read_text(outcome));
  if (out.outcome) return name_elements(out);
  out.timed_out = end.timed_out;
  out.end =
      end.timed_out ? cat("was still running after ", patience, " s and was ended") : end.text();
}

std::string without_comments(const std::string& source) {
  std::string out;
  for (const auto& line : lines_of(source))
    for (const char c : line.substr(0, line.find("//")))
      if (c != ' ' && c != '\t' && c != '\r') out += c;
  return out;
}

PuzzleAttempt fresh(const PuzzleTry& one) {
  PuzzleAttempt out;
  out.id = one.puzzle->id;
  out.source = one.source;
  out.file = name_of(one);
  out.variant = one.variant;
  out.variants = one.puzzle->variants;
  const std::string start = one.puzzle->start();
  // A file that only needs a change is complete: its mistake is the puzzle.
  out.is_unfilled = start.find("// FILL ME IN") != std::string::npos &&
                    without_comments(one.source) == without_comments(start);
  return out;
}

/// The program of each, in the folder; `said`: why there is none.
std::vector<PuzzleAttempt> run_all(const fs::path& folder, const std::vector<PuzzleTry>& tries,
                                   const std::string& said, double time_limit_s, Sandbox sandbox,
                                   const std::string& device = {}, const fs::path& cuda = {}) {
  std::vector<PuzzleAttempt> out;
  for (const auto& one : tries) {
    out.push_back(fresh(one));
    if (said.empty()) run_in(folder, one, time_limit_s, sandbox, device, cuda, out.back());
    else
      out.back().errors = compile_errors(said, out.back().file, one.source,
                                         one.puzzle->is_in_cuda ? Dialect::cuda : Dialect::tessera);
  }
  return out;
}

/// The program of kernels in plain CUDA; none, and `said`, if they do not compile.
fs::path cuda_program(const fs::path& folder, const std::vector<PuzzleTry>& tries,
                      CudaBuilder build, std::string& said) {
  if (build == nullptr)
    throw Error(Category::unavailable, "this build of the command has no plain CUDA", {}, {},
                "scripts/build makes the whole command");
  const fs::path source = folder / kProgramOfGpu;
  std::ofstream(source) << cuda_program_of(tries);
  return build(source, folder, said);
}

/// What a spec needs and a text in plain CUDA lacks, as a compiler says it; empty: nothing.
std::string missing_kernel(const PuzzleTry& one) {
  if (const BracketFault fault = wrong_bracket(tokens_of(one.source)); fault.line > 0)
    return cat(name_of(one), ":", fault.line, ":", fault.column, ": error: ", fault.says, "\n");
  const auto kernels = kernels_of(one.source);
  for (const auto& each : kernels_of(one.puzzle->solution()))
    if (std::find(kernels.begin(), kernels.end(), each) == kernels.end())
      return cat(name_of(one), ":0:0: error: there is no kernel '__global__ void ", each,
                 "(...)', which the puzzle launches\n");
  return {};
}

}  // namespace

std::string name_of(const PuzzleTry& one) {
  const bool is_plain = one.file.find_first_of("\"\\:(\n") == std::string::npos;
  const bool clashes = one.file == "spec.hpp" || one.file == kProgram || one.file == kProgramOfGpu;
  return one.file.empty() || !is_plain || clashes ? one.puzzle->file_name() : one.file;
}

PuzzleAttempt attempt(const PuzzleTry& one, double time_limit_s, CudaBuilder cuda) {
  return std::move(attempt_together({one}, time_limit_s, cuda).front());
}

std::vector<PuzzleAttempt> attempt_together(const std::vector<PuzzleTry>& tries,
                                            double time_limit_s, CudaBuilder cuda) {
  const process::TemporaryFolder folder;
  std::string said;
  fs::path kernels;
  const auto begin = process::Clock::now();
  if (tries.front().puzzle->is_in_cuda) {
    for (const auto& one : tries)
      if (said.empty()) said = missing_kernel(one);
    if (said.empty()) kernels = cuda_program(folder.path(), tries, cuda, said);
    if (!said.empty()) return run_all(folder.path(), tries, said, time_limit_s, Sandbox::on);
  }
  std::ofstream(folder.path() / kProgram) << program_of(tries);
  const bool compiled = compile_in(folder.path(), compile_limit(time_limit_s, tries.size()), said);
  const double compile_s = process::seconds_since(begin);
  auto out =
      run_all(folder.path(), tries, compiled ? "" : said, time_limit_s, Sandbox::on, {}, kernels);
  for (auto& each : out) each.compile_s = compile_s;
  return out;
}

namespace {
/// "sm_80"; sm_90a for Hopper, whose warpgroups and bulk copies sm_90 does not have.
std::string arch_of(const cuda::Device& device) {
  const std::string out = cat("sm_", device.major, device.minor);
  return out == "sm_90" ? out + "a" : out;
}
}  // namespace

PuzzleGpu named_gpu(const std::string& device) {
  const Device named = product_device(device);
  if (!has_gpu_code(named.kind()))
    throw Error(Category::argument, cat("puzzle: a device of '", device, "'"),
                device_names(has_gpu_code));
  return {"", describe(named).name, to_string(named)};
}

std::optional<PuzzleGpu> first_gpu(std::string& why_not) {
  const std::vector<cuda::Device> devices = cuda::devices();
  const std::string nvcc = shell::nvcc_path();
  if (devices.empty()) why_not = cuda::why_unavailable();
  else if (nvcc.empty()) why_not = "nvcc is not installed";
  else return PuzzleGpu{nvcc, devices.front().name, arch_of(devices.front())};
  return {};
}

std::vector<PuzzleAttempt> attempt_on(const PuzzleGpu& gpu, const std::vector<PuzzleTry>& tries,
                                      double time_limit_s) {
  static const std::regex place(R"(^([^(\n]+)\((\d+)\): )", std::regex::multiline);
  const process::TemporaryFolder folder;
  std::ofstream(folder.path() / (gpu.nvcc.empty() ? kProgram : kProgramOfGpu)) << program_of(tries);
  std::string said;
  const bool compiled = compile_for(gpu, folder.path(), said);
  said = compiled ? "" : std::regex_replace(said, place, "$1:$2: ");  // "p16.cpp(7): error: ..."
  return run_all(folder.path(), tries, said, time_limit_s, Sandbox::off,
                 gpu.nvcc.empty() ? gpu.arch : "");
}

std::string gpu_text(const PuzzleGpu& gpu, const PuzzleAttempt& attempt) {
  const std::string name = cat("the GPU (", gpu.device, ") ");
  if (!attempt.errors.empty())
    return cat(name, "was not asked: ", attempt.file, ":", attempt.errors.front().line,
               " does not compile for it: ", attempt.errors.front().message);
  if (!attempt.outcome) return cat(name, "gave no answer: the program ", attempt.end);
  if (attempt.outcome->solved) return name + "agrees";
  if (!attempt.outcome->error.empty())
    return cat(name, attempt.outcome->unavailable ? "cannot run it: " : "refuses: ",
               attempt.outcome->error);
  for (const auto& c : attempt.outcome->cases)
    for (const auto& m : c.outputs)
      if (m.wrong > 0) return cat(name, "disagrees: ", c.what, ": ", wrong_elements(m));
  return name + "disagrees";
}

}  // namespace tessera::course
