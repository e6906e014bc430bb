// References of `tessera judge`: see reference.hpp.
#include "reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>

#include "io/scratch_array.hpp"
#include "process/program.hpp"
#include "process/temporary_folder.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::inspect {

namespace {

namespace fs = std::filesystem;

constexpr const char* kData[] = {"random numbers", "other random numbers", "small numbers",
                                 "numbers with NaN and infinity"};

/// Runs the script on each launch: exact values and, from the inputs' magnitudes, the scale of
/// rounding errors. Arguments: the script, the folder, m=.. n=.. k=.. A failure is written to the
/// file "failed": a keyword, and on the next line what Python says.
constexpr const char* kDriver = R"(
import glob, inspect, os, runpy, sys, traceback
script, folder = sys.argv[1:3]
def fail(word, error=None):
    said = traceback.format_exception_only(type(error), error)[-1].strip() if error else ""
    lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == script] if error else []
    with open(folder + "/failed", "w") as to:
        to.write(word + "\n" + said + (f", in line {lines[-1]}" if lines else ""))
    sys.exit(3)
try:
    import numpy as np
except ImportError:
    fail("numpy")
shape = {name: int(value) for name, value in (word.split("=") for word in sys.argv[3:])}
try:
    names = runpy.run_path(script)
except (Exception, SystemExit) as error:
    fail("load", error)
if "reference" not in names:
    fail("nothing")
wanted = inspect.signature(names["reference"]).parameters
takes_all = any(each.kind is each.VAR_KEYWORD for each in wanted.values())
def outputs_of(arrays):
    arguments = {name: value for name, value in {**shape, **arrays}.items() if takes_all or name in wanted}
    with np.errstate(all="ignore"):
        out = names["reference"](**arguments)
    return out if isinstance(out, dict) else {"": out}
def run():
    for round in sorted({os.path.basename(each).split(".")[0] for each in glob.glob(folder + "/*.npy")}):
        arrays = {}
        for path in glob.glob(f"{folder}/{round}.*.npy"):
            arrays[os.path.basename(path).split(".")[1]] = np.load(path)
        sizes = {name: np.abs(value) for name, value in arrays.items()}
        terms = names["terms"](**arrays) if "terms" in names else max((max(v.shape, default=1) for v in arrays.values()), default=1)
        np.save(f"{folder}/terms.{round}", np.float64(terms).reshape(1))
        for word, given in (("exact", arrays), ("size", sizes)):
            for name, value in outputs_of(given).items():
                np.save(f"{folder}/{word}.{round}.{name}", np.asarray(value, dtype=np.float64))
try:
    run()
except (Exception, SystemExit) as error:
    fail("raised", error)
)";

double unit_roundoff(DType type) {
  switch (type) {
    case DType::f64: return 0x1p-53;
    case DType::f32: return 0x1p-24;
    case DType::f16: return 0x1p-11;
    case DType::bf16: return 0x1p-8;
    case DType::f8e4m3: return 0x1p-4;
    case DType::f8e5m2: return 0x1p-3;
    default: return 0;
  }
}
/// Above it the type overflows.
double largest(DType type) {
  switch (type) {
    case DType::f32: return 0x1.fffffep127;
    case DType::f16: return 65504;
    case DType::bf16: return 0x1.fep127;
    case DType::f8e4m3: return 448;
    case DType::f8e5m2: return 57344;
    default: return HUGE_VAL;
  }
}

Array numbers(const Array& array) { return contiguous(convert(array, DType::f64)); }
const double* values(const Array& array) { return static_cast<const double*>(array.data()); }

/// "(3, 5)" of element number i.
std::string element_text(const Array& array, index_t i) {
  std::vector<index_t> at(array.shape().size());
  for (std::size_t mode = at.size(); mode-- > 0; i /= array.shape()[mode])
    at[mode] = i % array.shape()[mode];
  return shape_text(at);
}

bool is_right(double got, double exact, double bound, DType type) {
  if (std::isnan(exact)) return std::isnan(got);
  if (std::isinf(exact)) return got == exact;
  if (std::isinf(got)) return std::abs(exact) + bound >= largest(type) && got * exact > 0;
  return std::abs(got - exact) <= bound;
}

/// Zeros everywhere although the reference has other values. It has its own name, since small
/// data make zeros look right to a fixed tolerance.
template <class IsZero>
std::optional<WrongResult> all_zero(const JudgedLaunch& launch, const NamedArray& out,
                                    const IsZero& is_right_to_be) {
  const Array got = numbers(out.array);
  const double* const first = values(got);
  if (!std::all_of(first, first + got.count(), [](double x) { return x == 0; }) || is_right_to_be())
    return {};
  return WrongResult{"all-zero", launch.data, cat("all elements of ", out.name, " are zero")};
}

/// Compares with a script's exact values.
std::optional<WrongResult> compare(const JudgedLaunch& launch, const NamedArray& out,
                                   const Array& exact_values, const Array& sizes, double terms) {
  const Array got = numbers(out.array), exact = numbers(exact_values), size = numbers(sizes);
  if (exact.shape() != out.array.shape())
    throw Error(Category::argument, cat("the reference of ", out.name, " has another shape"),
                shape_text(out.array.shape()), shape_text(exact.shape()));
  const auto is_zero = [&] {
    return std::all_of(values(exact), values(exact) + exact.count(),
                       [](double x) { return x == 0; });
  };
  if (auto zero = all_zero(launch, out, is_zero)) return zero;
  const DType type = out.array.dtype();
  const double sum = type == DType::f64 ? 0x1p-53 : is_floating(type) ? 0x1p-24 : 0;
  index_t wrong = 0, first = -1;
  for (index_t i = 0; i < got.count(); ++i) {
    const double x = values(exact)[i], magnitude = values(size)[i];
    const double bound =
        std::isfinite(magnitude) ? ((terms + 2) * sum + 2 * unit_roundoff(type)) * magnitude : 0;
    if (is_right(values(got)[i], x, bound, type)) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return WrongResult{
      "wrong-result", launch.data,
      fmt::format(
          "{} of {} elements of {} are wrong, the first at {}: {:.9g}, where {:.9g} belongs", wrong,
          got.count(), out.name, element_text(out.array, first), values(got)[first],
          values(exact)[first])};
}

ConstMatrix matrix(const Array& a) {
  return {a.data(), a.dtype(), a.rows(), a.cols(), a.row_stride(), a.col_stride()};
}

std::optional<WrongResult> compare_product(const JudgedLaunch& launch) {
  const auto is_matrix = [](const NamedArray& each) { return each.array.rank() == 2; };
  std::vector<NamedArray> operands;
  for (const NamedArray& each : launch.inputs) {  // C of C = alpha * A * B + beta * C is no operand
    if (launch.outputs.size() != 1 || each.name != launch.outputs[0].name) operands.push_back(each);
  }
  if (operands.size() != 2 || launch.outputs.size() != 1 ||
      !std::all_of(operands.begin(), operands.end(), is_matrix) || !is_matrix(launch.outputs[0]))
    throw Error(
        Category::argument, "--reference naive: the launch is no product",
        "two matrices A: T[m,k] and B: T[k,n] for pointers to const, or as A: const T[m,k], one "
        "C: T[m,n] for another pointer",
        cat(operands.size(), " inputs, ", launch.outputs.size(), " outputs"));
  const Array &a = operands[0].array, &b = operands[1].array;
  const NamedArray& c = launch.outputs[0];
  const Array zeros = make_array(c.array.dtype(), c.array.shape());
  const Matrix result(zeros.writable(), zeros.dtype(), zeros.rows(), zeros.cols(),
                      zeros.row_stride(), zeros.col_stride());
  const Verifier verifier(make_problem(matrix(a), matrix(b), result), matrix(a), matrix(b), {});
  const auto is_zero = [&] { return verifier.check(matrix(zeros)).within_bound; };
  if (auto zero = all_zero(launch, c, is_zero)) return zero;
  const Verification found = verifier.check(matrix(c.array));
  if (found.within_bound) return {};
  return WrongResult{"wrong-result", launch.data,
                     fmt::format("{} of {} elements of {} are beyond the bound of rounding errors, "
                                 "the first at ({}, {}): {:.9g}, where {:.9g} belongs",
                                 found.outside, c.array.count(), c.name, found.row, found.col,
                                 found.got, found.expected)};
}

bool has_no_elements(const std::vector<JudgedLaunch>& launches) {
  const auto is_empty = [](const NamedArray& each) { return each.array.count() == 0; };
  return std::any_of(launches.begin(), launches.end(), [&](const JudgedLaunch& each) {
    return std::any_of(each.inputs.begin(), each.inputs.end(), is_empty) ||
           std::any_of(each.outputs.begin(), each.outputs.end(), is_empty);
  });
}

/// Why the script has no answer: the driver's file "failed".
[[noreturn]] void refuse(const std::string& script, const std::string& word,
                         const std::string& said, const std::map<std::string, index_t>& shape) {
  if (word == "numpy")
    throw Error(Category::unavailable,
                "judge: a reference needs NumPy, which python3 does not have", {}, {},
                "python3 -m pip install numpy, or put a python3 with NumPy first on the PATH");
  if (word == "nothing")
    throw Error(Category::unavailable, cat("judge: ", script, " defines no function reference"),
                "def reference(**arrays), which returns the outputs");
  std::string with;
  for (const auto& [name, extent] : shape) with += cat(" ", name, "=", extent);
  throw Error(Category::unavailable,
              cat("judge: ", script, " raises ", said, word == "load" ? "" : ", with" + with), {},
              {}, "fix the script: the kernel was not judged");
}

/// Sets why the script has no answer for arrays without elements, or that it was ended.
void run_script(JudgedCase& out, const std::string& script,
                const std::vector<JudgedLaunch>& launches,
                const std::map<std::string, index_t>& shape, const fs::path& folder,
                double seconds) {
  for (std::size_t i = 0; i < launches.size(); ++i) {
    for (const NamedArray& each : launches[i].inputs)
      io::write_scratch_array((folder / cat(i, ".", each.name, ".npy")).string(),
                              numbers(each.array));
  }
  std::vector<std::string> words = {"python3", "-c", kDriver, script, folder.string()};
  for (const auto& [name, extent] : shape) words.push_back(cat(name, "=", extent));
  const process::ProgramEnd end =
      process::run_program({.words = words, .prints_to_stderr = true, .seconds = seconds});
  if (!end.started)
    throw Error(Category::unavailable, "judge: python3 cannot be started", {}, {},
                "install Python with NumPy");
  out.timed_out = end.timed_out;
  if (end.good() || end.timed_out) return;
  std::ifstream failed(folder / "failed");
  std::string word, said;
  if (!std::getline(failed, word))
    throw Error(Category::unavailable, cat("judge: ", script, " ", end.text()), {}, {},
                "look at what it printed");
  std::getline(failed, said);
  if (word != "raised" || !has_no_elements(launches)) refuse(script, word, said, shape);
  out.why_not = said;
}

Array of_script(const fs::path& folder, const char* word, std::size_t round,
                const std::string& name) {
  for (const std::string& each : {name, std::string()}) {
    const fs::path file = folder / cat(word, ".", round, ".", each, ".npy");
    if (fs::exists(file)) return read_array(file.string());
  }
  throw Error(Category::argument, cat("the reference returns nothing for ", name),
              "one array, or a dict with the names of all outputs");
}

}  // namespace

std::vector<JudgedLaunch> read_launches(const fs::path& folder) {
  std::map<std::string, fs::path> files;  // by round and number of the argument
  for (const auto& each : fs::directory_iterator(folder))
    files[each.path().filename().string()] = each.path();
  std::map<std::size_t, JudgedLaunch> launches;
  for (const auto& [name, path] : files) {
    const auto dot = name.find('.'), side = name.find('.', dot + 1),
               begin = name.find('.', side + 1);
    const std::size_t round = std::stoul(name);
    JudgedLaunch& launch = launches[round];
    launch.data = kData[round];
    const bool is_input = name.substr(side + 1, begin - side - 1) == "in";
    NamedArray array{name.substr(begin + 1, name.size() - begin - 5), read_array(path.string())};
    (is_input ? launch.inputs : launch.outputs).push_back(std::move(array));
  }
  std::vector<JudgedLaunch> out;
  for (auto& [round, launch] : launches) out.push_back(std::move(launch));
  return out;
}

Reference::Reference(std::string name) : name_(std::move(name)) {
  if (name_ != "naive" && !fs::is_regular_file(name_))
    throw Error(Category::file, cat("--reference: there is no file ", name_),
                "naive, or a Python script that defines reference(**arrays)");
}

JudgedCase Reference::judge(const std::vector<JudgedLaunch>& launches,
                            const std::map<std::string, index_t>& shape, const fs::path& folder,
                            double seconds) const {
  JudgedCase out;
  const auto add = [&](std::optional<WrongResult> wrong) {
    if (wrong) out.wrong.push_back(std::move(*wrong));
  };
  if (name_ == "naive") {
    for (const JudgedLaunch& each : launches) add(compare_product(each));
    return out;
  }
  run_script(out, name_, launches, shape, folder, seconds);
  if (out.timed_out || !out.why_not.empty()) return out;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const double terms = values(read_array((folder / cat("terms.", i, ".npy")).string()))[0];
    for (const NamedArray& each : launches[i].outputs)
      add(compare(launches[i], each, of_script(folder, "exact", i, each.name),
                  of_script(folder, "size", i, each.name), terms));
  }
  return out;
}

}  // namespace tessera::inspect
