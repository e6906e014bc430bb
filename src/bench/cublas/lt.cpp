// See lt.hpp. The function types and constants are copied from cublasLt.h, cublas_api.h and
// library_types.h, so that no header of CUDA is needed.
#include "lt.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "bench/statistics.hpp"

namespace tessera::bench {

namespace {

constexpr int kNotSupported = 15;               // cublasStatus_t
constexpr int kBatchCount = 5, kBatchStep = 6;  // cublasLtMatrixLayoutAttribute_t
constexpr int kTransposeA = 3, kTransposeB = 4, kScaleA = 17, kScaleB = 18, kFastSums = 25;
constexpr int kWorkspace = 1;  // cublasLtMatmulPreferenceAttributes_t

/// The least time of one of the five samples of a choice.
constexpr double kTimedSeconds = 2e-3;
/// A choice this many times slower than the best is not timed further.
constexpr double kMuchSlower = 2;

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

/// cublasLtMatmulHeuristicResult_t
struct Found {
  std::array<std::uint64_t, 8> algorithm;
  std::size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Found) == 96);

using Create = int(void** handle);
using Destroy = int(void* made);
using CreateProduct = int(void** made, int compute, int scale_type);
using CreateLayout = int(void** made, int type, std::uint64_t rows, std::uint64_t cols,
                         std::int64_t leading);
using Set = int(void* made, int attribute, const void* value, std::size_t bytes);
using Heuristic = int(void* handle, void* product, void* a, void* b, void* c, void* d,
                      void* preference, int wanted, Found* found, int* count);
using Matmul = int(void* handle, void* product, const void* alpha, const void* A, void* a,
                   const void* B, void* b, const void* beta, const void* C, void* c, void* D,
                   void* d, const void* algorithm, void* workspace, std::size_t bytes,
                   CUstream_st* stream);

/// An object of the library, and its attributes.
class Made {
 public:
  template <class Function, class... Arguments>
  Made(const CublasLibrary& library, const std::string& name, Function*, Arguments... arguments)
      : library_(library),
        name_(name),
        destroy_(library.function<Destroy>(cat("cublasLt", name, "Destroy").c_str())) {
    auto* create = library.function<Function>(cat("cublasLt", name, "Create").c_str());
    library.require(create(&made_, arguments...), "preparing");
  }
  ~Made() { (void)destroy_(made_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  void* get() const { return made_; }
  template <class T>
  void set(int attribute, T value) {
    auto* set = library_.function<Set>(cat("cublasLt", name_, "SetAttribute").c_str());
    library_.require(set(made_, attribute, &value, sizeof value), "preparing");
  }

 private:
  const CublasLibrary& library_;
  std::string name_;
  Destroy* destroy_;
  void* made_ = nullptr;
};

/// (rows, cols) of a column-major matrix, one for each product of the batch, one after the other.
struct Layout : Made {
  Layout(const CublasLibrary& library, DType type, index_t rows, index_t cols, index_t batch)
      : Made(library, "MatrixLayout", static_cast<CreateLayout*>(nullptr), cuda_data_type(type),
             static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(cols),
             static_cast<std::int64_t>(rows)) {
    if (batch == 1) return;
    set(kBatchCount, static_cast<std::int32_t>(as_int(batch)));
    set(kBatchStep, static_cast<std::int64_t>(rows * cols));
  }
};

int compute_type(const shell::Types& types, Cublas::F32 f32) {
  if (types.in == DType::f64) return kComputeF64;
  if (types.in == DType::i8) return kComputeI32;
  return f32 == Cublas::F32::tf32 ? kComputeF32AsTf32 : kComputeF32;
}

/// The type of alpha and beta.
DType scale_type(const shell::Types& types) {
  return types.in == DType::f64 ? DType::f64 : types.in == DType::i8 ? DType::i32 : DType::f32;
}

}  // namespace

/// cuBLAS is column-major: the same memory holds the transposed matrices, and C' = B' A'.
struct CublasLt::Choice::Product {
  Product(const CublasLibrary& library, const BenchCase& now, Cublas::F32 f32, const Room& room)
      : scale(scale_type(now.types)),
        product(library, "MatmulDesc", static_cast<CreateProduct*>(nullptr),
                compute_type(now.types, f32), cuda_data_type(scale)),
        b(now.shape.b_transposed
              ? Layout(library, now.types.in_b, now.shape.K, now.shape.N, now.shape.batch)
              : Layout(library, now.types.in_b, now.shape.N, now.shape.K, now.shape.batch)),
        a(now.shape.a_transposed
              ? Layout(library, now.types.in, now.shape.M, now.shape.K, now.shape.batch)
              : Layout(library, now.types.in, now.shape.K, now.shape.M, now.shape.batch)),
        c(library, now.types.out, now.shape.N, now.shape.M, now.shape.batch) {
    product.set(kTransposeA, std::int32_t{now.shape.b_transposed ? kTransposed : kPlain});
    product.set(kTransposeB, std::int32_t{now.shape.a_transposed ? kTransposed : kPlain});
    if (!is_f8(now.types.in)) return;
    product.set(kScaleA, room.one);
    product.set(kScaleB, room.one);
    product.set(kFastSums, std::int8_t{1});
  }

  DType scale;
  Made product;
  Layout b, a, c;
};

CublasLt::CublasLt(CUstream_st* stream, const Room& room,
                   const std::vector<std::string>& candidates)
    : library_("cublasLt", candidates), stream_(stream), room_(room) {
  (void)library_.function<Matmul>("cublasLtMatmul");
  (void)library_.function<Heuristic>("cublasLtMatmulAlgoGetHeuristic");
  (void)library_.function<Destroy>("cublasLtDestroy");
  library_.require(library_.function<Create>("cublasLtCreate")(&handle_), "starting");
}

CublasLt::~CublasLt() { (void)library_.function<Destroy>("cublasLtDestroy")(handle_); }

bool CublasLt::multiplies(const shell::Types& types, Cublas::F32 f32) {
  const DType in = types.in, out = types.out;
  if (f32 == Cublas::F32::tf32) return Cublas::multiplies(types, f32);
  if (is_f8(in))  // it does not accept two e5m2 operands
    return (in == DType::f8e4m3 || types.in_b == DType::f8e4m3) && is_f8(types.in_b) &&
           (out == DType::f32 || is_half(out));
  if (in != types.in_b) return false;
  return (in == DType::i8 && out == DType::i32) || Cublas::multiplies(types, f32);
}

std::vector<CublasLt::Choice> CublasLt::choices(const BenchCase& now, Cublas::F32 f32) const {
  const auto product = std::make_shared<const Choice::Product>(library_, now, f32, room_);
  Made preference(library_, "MatmulPreference", static_cast<Create*>(nullptr));
  preference.set(kWorkspace, kWorkspaceBytes);
  std::array<Found, kMostChoices> found{};
  int count = 0;
  const int status = library_.function<Heuristic>("cublasLtMatmulAlgoGetHeuristic")(
      handle_, product->product.get(), product->b.get(), product->a.get(), product->c.get(),
      product->c.get(), preference.get(), kMostChoices, found.data(), &count);
  if (status != kNotSupported) library_.require(status, "looking for an algorithm");
  else count = 0;
  std::vector<Choice> out;
  for (int i = 0; i < std::clamp(count, 0, kMostChoices); ++i) {
    const Found& each = found[static_cast<std::size_t>(i)];
    if (each.status == 0) out.push_back({product, each.algorithm, i + 1});
  }
  if (out.empty())
    throw Error(Category::unavailable,
                cat("cuBLASLt offers no algorithm for ", to_string(now.types), " of ",
                    to_string(now.shape)),
                is_f8(now.types.in) ? "a row-major A and a transposed B, as in 512-NT" : "");
  return out;
}

void CublasLt::multiply(const Choice& choice, const void* A, const void* B, void* C) const {
  constexpr float one_f32 = 1, zero_f32 = 0;
  constexpr double one_f64 = 1, zero_f64 = 0;
  constexpr std::int32_t one_i32 = 1, zero_i32 = 0;
  const Choice::Product& p = *choice.product;
  const void* const one = p.scale == DType::f64   ? static_cast<const void*>(&one_f64)
                          : p.scale == DType::i32 ? static_cast<const void*>(&one_i32)
                                                  : &one_f32;
  const void* const zero = p.scale == DType::f64   ? static_cast<const void*>(&zero_f64)
                           : p.scale == DType::i32 ? static_cast<const void*>(&zero_i32)
                                                   : &zero_f32;
  library_.require(
      library_.function<Matmul>("cublasLtMatmul")(
          handle_, p.product.get(), one, B, p.b.get(), A, p.a.get(), zero, C, p.c.get(), C,
          p.c.get(), choice.algorithm.data(), room_.workspace, kWorkspaceBytes, stream_),
      "multiplying");
}

std::vector<CublasLt::Choice> fastest_first(
    const std::vector<CublasLt::Choice>& choices,
    const std::function<double(const CublasLt::Choice&, index_t calls)>& seconds) {
  struct Timed {
    CublasLt::Choice choice;
    double seconds;  ///< of one call
    std::vector<double> samples = {};
  };
  std::vector<Timed> timed;
  std::exception_ptr first_fault;
  double best = HUGE_VAL;
  for (const auto& choice : choices) {
    try {
      (void)seconds(choice, 1);  // also loads code
      timed.push_back({choice, seconds(choice, 1)});
      best = std::min(best, timed.back().seconds);
    } catch (const Error&) {
      if (!first_fault) first_fault = std::current_exception();
    }
  }
  if (timed.empty() && first_fault) std::rethrow_exception(first_fault);
  // In rounds, because clocks change.
  for (int round = 0; round < 5; ++round) {
    for (Timed& each : timed) {
      if (each.seconds > kMuchSlower * best) continue;
      const auto calls = static_cast<index_t>(std::clamp(kTimedSeconds / each.seconds, 1.0, 1e4));
      each.samples.push_back(seconds(each.choice, calls) / static_cast<double>(calls));
    }
  }
  for (Timed& each : timed) {
    if (!each.samples.empty()) each.seconds = summarize(each.samples).median;
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Timed& a, const Timed& b) { return a.seconds < b.seconds; });
  std::vector<CublasLt::Choice> out;
  for (auto& each : timed) out.push_back(std::move(each.choice));
  return out;
}

}  // namespace tessera::bench
