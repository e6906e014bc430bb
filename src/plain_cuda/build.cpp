// Builds programs in plain CUDA: see build.hpp.
#include "build.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "assembly.hpp"
#include "compiler_said.hpp"
#include "included.hpp"
#include "launch_source.hpp"
#include "missing_feature.hpp"
#include "process/compile.hpp"
#include "process/compiler_messages.hpp"
#include "process/cuda_text.hpp"
#include "refused_launch.hpp"
#include "rewrite.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string text_of(const fs::path& file) {
  std::ifstream text(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(text), {}};
}

/// Marks the ends of the variables in shared memory and of the code; the program's own files are
/// linked between them. The second mark has space for the dynamic ones: 227 KiB, the most that a
/// block may have.
constexpr const char* kFirst =
    ".section .tbss,\"awT\",@nobits\n.globl tessera_shared_begin\n.balign 1024\n"
    ".type tessera_shared_begin, @object\ntessera_shared_begin:\n"
    ".text\n.globl tessera_code_begin\ntessera_code_begin:\n"
    ".section .note.GNU-stack,\"\",@progbits\n";
constexpr const char* kLast =
    ".section .tbss,\"awT\",@nobits\n.zero 64\n.globl tessera_dynamic_shared\n.balign 1024\n"
    ".type tessera_dynamic_shared, @object\ntessera_dynamic_shared:\n.zero 233472\n"
    ".text\n.globl tessera_code_end\ntessera_code_end:\n"
    ".section .note.GNU-stack,\"\",@progbits\n";

/// The runtime finds out by it that blocks may carry out atomic updates in any order.
constexpr const char* kAnyOrder =
    ".section .rodata\n.globl tessera_in_any_order\n.type tessera_in_any_order, @object\n"
    "tessera_in_any_order:\n.byte 1\n";

/// The runtime finds out by it that the program just runs.
constexpr const char* kUnchecked =
    ".section .rodata\n.globl tessera_runs_unchecked\n.type tessera_runs_unchecked, @object\n"
    "tessera_runs_unchecked:\n.byte 1\n";

/// The same: that lanes of a warp keep in step.
constexpr const char* kInStep =
    ".section .rodata\n.globl tessera_keeps_step\n.type tessera_keeps_step, @object\n"
    "tessera_keeps_step:\n.byte 1\n";

/// What nvcc defines, for one device of compute capability 9.0.
const Words kDefinitions = {"-D__CUDACC__",
                            "-D__NVCC__",
                            "-D__CUDA_ARCH__=900",
                            "-D__CUDA_ARCH_LIST__=900",
                            "-D__CUDACC_VER_MAJOR__=13",
                            "-D__CUDACC_VER_MINOR__=0",
                            "-D__CUDACC_EXTENDED_LAMBDA__"};

/// Optimised like nvcc, but every load and store of the source remains: aggregates stay in memory,
/// loops stay scalar. GCC 12's -fipa-modref loses stores of functions that return structs by value.
const Words kOptimised = {"-O2", "-fno-tree-sra", "-fno-ipa-sra", "-fno-tree-vectorize",
                          "-fno-ipa-modref"};

/// Loads and stores are instrumented, except those of arguments and results that are structs:
/// functions of some size are inlined, as by nvcc. Entries and exits are not: they would give each
/// function a cleanup, and an impossible access may not unwind through it.
const Words kTold = {"-fsanitize=thread", "-Wno-tsan",
                     "--param",           "tsan-instrument-func-entry-exit=0",
                     "--param",           "tsan-distinguish-volatile=1",
                     "--param",           "max-inline-insns-auto=60"};

/// Lanes in step meet again at the lowest address: blocks of code remain in their order.
const Words kInOrder = {"-fno-reorder-blocks", "-fno-reorder-blocks-and-partition"};

class Builder {
 public:
  Builder(const Build& what, const fs::path& folder)
      : what_(what), folder_(folder), at_(process::installed()) {
    sort(process::split_words(what.flags));
  }

  fs::path run() {
    require_gcc();
    Words words{assembled("first", kFirst)};
    for (const fs::path& source : what_.sources) {
      const bool is_launched = !what_.launch.empty() && source == what_.sources.front();
      words.push_back(compiled(source, is_launched ? launched(source) : source));
    }
    words.push_back(assembled(
        "last", cat(kLast, keeps_order_ ? "" : kAnyOrder, what_.is_checked ? "" : kUnchecked,
                    what_.keeps_step ? kInStep : "")));
    return linked(std::move(words));
  }

 private:
  /// Macros are defined after our headers, so that they may have any name.
  void sort(const Words& flags) {
    static constexpr const char* kOfPreprocessor[] = {"-I", "-D", "-U", "-isystem", "-include"};
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if (is_older_standard(flags[i])) {
        std::fprintf(stderr, "%s is not used: plain CUDA is compiled as C++20 or later\n",
                     flags[i].c_str());
        continue;
      }
      const auto is_begin = [&](const char* each) { return flags[i].starts_with(each); };
      const auto found =
          std::find_if(std::begin(kOfPreprocessor), std::end(kOfPreprocessor), is_begin);
      if (found == std::end(kOfPreprocessor)) {
        flags_.push_back(flags[i]);
        continue;
      }
      Words option = {flags[i]};
      if (flags[i] == *found && i + 1 < flags.size()) option.push_back(flags[++i]);
      const std::string value = option.size() == 2 ? option[1] : option[0].substr(2);
      if (option[0].starts_with("-D") && !value.starts_with('_')) macros_ += definition(value);
      else preprocessor_flags_.insert(preprocessor_flags_.end(), option.begin(), option.end());
    }
  }
  /// Our headers are C++20.
  static bool is_older_standard(const std::string& flag) {
    static constexpr std::string_view kRecent[] = {"++20", "++2a", "++23", "++2b", "++26", "++2c"};
    return flag == "-ansi" || ((flag.starts_with("-std=") || flag.starts_with("--std=")) &&
                               std::none_of(std::begin(kRecent), std::end(kRecent),
                                            [&](auto each) { return flag.ends_with(each); }));
  }
  static std::string definition(const std::string& macro) {
    const std::size_t equals = macro.find('=');
    return equals == macro.npos
               ? cat("#define ", macro, " 1\n")
               : cat("#define ", macro.substr(0, equals), " ", macro.substr(equals + 1), "\n");
  }

  /// Clang needs other options to keep loads and stores unchanged, and calls additional hooks.
  void require_gcc() const {
    run_compiler({"--version"});
    const std::string said = text_of(folder_ / "said");
    if (said.find("clang version") == said.npos) return;
    throw Error(Category::unavailable, "plain CUDA is not compiled with Clang", "GCC 12 or newer",
                said.substr(0, said.find('\n')), "name g++ in the environment variable CXX");
  }

  bool run_compiler(const Words& words) const {
    return process::run_compiler(words, (folder_ / "said").string()).good();
  }
  std::string our_headers() const { return (at_.include / "tessera/plain_cuda").string(); }
  std::string messages() const {
    return for_author(text_of(folder_ / "said"), folder_.string(), our_headers());
  }
  void print_messages(const std::string& source) const {
    if (what_.prints) std::fputs(process::readable_messages(messages(), source).c_str(), stderr);
  }
  [[noreturn]] void refuse(const fs::path& source) const {
    throw CompileRefused(Error(Category::unavailable, cat(source.string(), " does not compile"), {},
                               {}, "see the compiler's messages above"),
                         messages());
  }

  std::string assembled(const std::string& name, const std::string& text) const {
    const std::string source = (folder_ / name).string() + ".s", object = source + ".o";
    std::ofstream(source) << text;
    if (!run_compiler({"-c", source, "-o", object})) {
      print_messages(source);
      refuse(source);
    }
    return object;
  }

  /// Throws if the compiler has not found a header of CUDA's libraries.
  void require_headers(const fs::path& source) const {
    auto missing = missing_header(text_of(folder_ / "said"));
    if (!missing || !is_of_toolkit(missing->header)) return;
    // the code that launches a kernel of the source
    std::erase_if(missing->from,
                  [&](const auto& each) { return each.first.starts_with(folder_.string()); });
    refuse_header(source, *missing);
  }
  /// A toolkit's own headers may be in the compiler's path: they cannot be mixed with ours.
  void refuse_toolkit(const fs::path& source, std::string_view preprocessed) const {
    if (const auto other = toolkit_header(preprocessed, our_headers()))
      refuse_header(source, *other);
  }
  /// Names files as the command line does.
  static std::string place_text(const fs::path& source, const std::string& file, long line) {
    const bool is_source = file == fs::absolute(source).string() ||
                           file == fs::absolute(source).lexically_normal().string();
    return cat(is_source ? source.string() : file, ":", line);
  }
  /// As a compiler writes it.
  static std::string message_text(const CompilerError& error) {
    return cat(error.file, ":", error.line, ":", error.column, ": error: ", error.text, "\n");
  }
  [[noreturn]] static void refuse_header(const fs::path& source, const HeaderInclude& included) {
    std::string way;
    for (const auto& [file, line] : included.from)
      way += cat(way.empty() ? "" : ", from ", place_text(source, file, line));
    const std::string what = cat(included.header, ", which is not offered"),
                      advice = "docs/plain_cuda.md lists the headers that are";
    throw CompileRefused(
        Error(Category::unavailable,
              cat(place_text(source, included.file, included.line), " needs ", what), {},
              way.empty() ? way : "included from " + way, advice),
        message_text({included.file, included.line, 1, cat("it needs ", what, "; ", advice), {}}));
  }

  /// Throws what is to blame for the compiler's errors, where that is known: a name of CUDA, or the
  /// launch.
  void require_sense(const fs::path& source, const fs::path& text,
                     const std::string& preprocessed) const {
    const std::vector<CompilerError> errors = errors_in(text_of(folder_ / "said"));
    std::string problem, said;
    std::set<std::string> named;
    bool has_others = false;
    for (CompilerError error : errors) {
      const auto missing = missing_feature(error);
      if (missing && missing->is_known)
        error.text = cat(missing->name, " is ", missing->what, "; ", missing->advice);
      error.text = in_cuda_words(std::move(error.text));
      said += message_text(error);
      if (!missing || (!missing->is_known && has_others)) {  // the others may be the cause
        has_others = true;
        continue;
      }
      if (!named.insert(missing->is_known ? missing->what : missing->name).second) continue;
      problem += cat(problem.empty() ? "" : ". ", place_text(source, error.file, error.line),
                     " uses ", missing->name, ", ", missing->what, "; ", missing->advice);
    }
    if (!problem.empty()) throw CompileRefused(Error(Category::unavailable, problem), said);
    if (text == source) return;
    if (const auto refused = refused_launch(what_.launch, preprocessed, errors)) throw *refused;
  }

  /// The program that launches a kernel of the source.
  fs::path launched(const fs::path& source) const {
    fs::path out = folder_ / "launch.cu";
    std::ofstream(out) << launch_source(what_.launch, fs::absolute(source).lexically_normal());
    return out;
  }

  /// The options of the preprocessor, and the headers that come first.
  Words preprocessing(bool is_host) {
    Words words{"-std=gnu++20", "-E"};
    if (!is_host) words.insert(words.end(), kDefinitions.begin(), kDefinitions.end());
    words.insert(words.end(), {"-isystem", our_headers(), "-include", "parts/host_functions.h"});
    if (!is_host) words.insert(words.end(), {"-include", "cuda_runtime.h"});
    if (!macros_.empty()) {
      const std::string macros = (folder_ / "macros.h").string();
      std::ofstream(macros) << macros_;
      words.insert(words.end(), {"-include", macros});
    }
    words.insert(words.end(), preprocessor_flags_.begin(), preprocessor_flags_.end());
    words.insert(words.end(), flags_.begin(), flags_.end());
    return words;
  }
  bool preprocess(const fs::path& text, const std::string& out, bool is_host) {
    Words words = preprocessing(is_host);
    words.insert(words.end(), {"-x", "c++", fs::absolute(text).string(), "-o", out});
    return run_compiler(words);
  }
  /// nvcc gives a C++ file to the host's compiler as it is. One that uses CUDA is a `.cu` here.
  bool preprocess_host(const fs::path& text, const std::string& out) {
    constexpr const char* kExtensions[] = {".c", ".C", ".cc", ".cpp", ".cxx", ".c++"};
    return std::count(std::begin(kExtensions), std::end(kExtensions), text.extension()) > 0 &&
           preprocess(text, out, true) && !process::cuda_word(text_of(out));
  }

  /// The rewritten text to assembly. Instrumented functions of thousands of lines take the
  /// optimizer minutes: it gives up, and they are compiled without it.
  void compile(const fs::path& source, const fs::path& text, const std::string& base,
               const std::string& preprocessed) {
    constexpr double kPatience = 30;
    const auto has = [&](const char* part) { return preprocessed.find(part) != preprocessed.npos; };
    const bool has_fragments = has("tessera/plain_cuda/mma.h\"") || has("mma.sync");
    Words words = {"-std=gnu++20",         "-g",
                   "-ffp-contract=off",    "-fstack-clash-protection",
                   "-fno-strict-aliasing", "-Wno-unknown-pragmas",
                   "-Wno-volatile"};
    if (what_.for_debugger) words.emplace_back("-O0");
    else words.insert(words.end(), kOptimised.begin(), kOptimised.end());
    if (what_.is_checked || what_.keeps_step) words.insert(words.end(), kTold.begin(), kTold.end());
    if (what_.keeps_step) words.insert(words.end(), kInOrder.begin(), kInOrder.end());
    if (what_.is_checked && has_fragments) words.emplace_back("-ftrivial-auto-var-init=pattern");
    words.insert(words.end(), flags_.begin(), flags_.end());
    words.insert(words.end(), {"-x", "c++-cpp-output", "-S", base + ".cuda.ii", "-o", base + ".s"});
    const std::string said = (folder_ / "said").string();
    process::ProgramEnd end = process::run_compiler(words, said, {}, kPatience);
    if (end.timed_out) {
      std::fprintf(
          stderr,
          "%s: the compiler was not done after %g s, and compiles it without optimization: "
          "there are more accesses than on a GPU\n",
          source.c_str(), kPatience);
      words.emplace_back("-O0");
      end = process::run_compiler(words, said, {}, 2 * kPatience);
    }
    if (!end.good() && !end.timed_out) require_sense(source, text, preprocessed);
    print_messages(fs::absolute(source).lexically_normal().string());
    if (end.timed_out)
      throw Error(Category::unavailable, cat(source.string(), ": the compiler was not done"),
                  cat("without optimization at most ", 2 * kPatience, " s"), {},
                  "give fewer kernels at once, or smaller ones");
    if (!end.good()) refuse(source);
  }

  /// `text`: the source, or a file that includes it.
  std::string compiled(const fs::path& source, const fs::path& text) {
    process::require_file(source, source.string());
    const std::string name = fs::absolute(source).lexically_normal().string();
    const std::string base = (folder_ / cat("unit", number_++)).string();
    const bool is_read =
        preprocess_host(text, base + ".ii") || preprocess(text, base + ".ii", false);
    if (!is_read) require_headers(source);
    print_messages(name);
    if (!is_read) refuse(source);
    const std::string preprocessed = text_of(base + ".ii");
    refuse_toolkit(source, preprocessed);
    std::ofstream(base + ".cuda.ii", std::ios::binary) << rewritten(preprocessed);
    compile(source, text, base, preprocessed);
    const std::string assembly = text_of(base + ".s");
    keeps_order_ = keeps_order_ || keeps_order(assembly);
    return assembled(fs::path(base).filename().string(), as_checked(assembly));
  }

  /// What cannot be rewritten does not compile.
  std::string rewritten(const std::string& preprocessed) {
    try {
      return rewrite(preprocessed, [&](const std::string& file) { return original(file); });
    } catch (const Error& error) {
      throw Error(Category::unavailable, error.problem(), error.expected(), error.got(),
                  error.advice());
    }
  }
  const std::string* original(const std::string& file) {
    const auto [found, is_new] = originals_.try_emplace(file);
    if (is_new) found->second = text_of(file);
    return found->second.empty() ? nullptr : &found->second;
  }

  fs::path linked(Words objects) const {
    const fs::path runtime = at_.library.parent_path() / "libtessera_cuda_runtime.a";
    if (!fs::exists(runtime))
      throw Error(Category::unavailable, "the runtime for plain CUDA is not found",
                  runtime.string(), {}, "install Tessera with its development files and libdw-dev");
    const fs::path program = folder_ / "program";
    Words words{"-Wl,--wrap=main"};
    words.insert(words.end(), objects.begin(), objects.end());
    words.push_back(runtime.string());
    for (auto& each : process::link_words(at_)) words.push_back(std::move(each));
    words.emplace_back("-ldw");
    words.emplace_back("-o");
    words.push_back(program.string());
    if (process::run_linker(words, (folder_ / "said").string())) {
      if (fs::exists(program)) return program;
      throw Error(Category::unavailable, "the compiler has written no program", "GCC 12 or newer",
                  {}, "name g++ in the environment variable CXX");
    }
    const std::string said = text_of(folder_ / "said");
    const std::string what = what_.sources.front().string();
    if (said.find("reference to `main'") != said.npos)  // of what --wrap=main calls
      throw Error(Category::unavailable, cat(what, " defines no main()"), "a whole program", {},
                  cat("give the file that has main() as well",
                      what_.is_checked ? ", or launch a kernel: --launch 'kernel<<<grid, "
                                         "block>>>(A: f32[m,k], n: n)'"
                                       : ""));
    if (const std::string twice = defined_twice(said, what_.sources); !twice.empty())
      throw Error(Category::unavailable, twice, {}, {}, "keep one definition, or make them static");
    std::fputs(said.c_str(), stderr);
    throw Error(Category::unavailable, cat(what, " does not link"), {}, {},
                "see the linker's messages above; give all files of the program");
  }

  const Build& what_;
  const fs::path& folder_;
  process::Installed at_;
  Words flags_, preprocessor_flags_;
  std::string macros_;
  std::map<std::string, std::string> originals_;
  int number_ = 0;
  bool keeps_order_ = false;
};

}  // namespace

fs::path build(const Build& what, const fs::path& folder) { return Builder(what, folder).run(); }

}  // namespace tessera::plain_cuda
