// Calls other BLAS libraries: see peer_library.hpp. The function types below are the public C
// interfaces of these libraries, written here so that none of their headers is needed.
#include "peer_library.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tessera/core/error.hpp"

namespace tessera::bench {

namespace {

constexpr shell::Types kF32{DType::f32, DType::f32}, kF64{DType::f64, DType::f64};
constexpr shell::Types kBf16{DType::bf16, DType::f32};
constexpr shell::Types kI8{DType::i8, DType::i32}, kU8{DType::u8, DType::i32};
constexpr shell::Types kU8I8{DType::u8, DType::i32, DType::i8};

struct Entry {
  PeerInterface interface;
  shell::Types types;
  const char* name;
};
/// A library is called through the first interface that it has.
constexpr std::array kEntries = {
    Entry{PeerInterface::onednn, kF32, "dnnl_sgemm"},
    Entry{PeerInterface::onednn, kBf16, "dnnl_gemm_bf16bf16f32"},
    Entry{PeerInterface::onednn, kI8, "dnnl_gemm_s8s8s32"},
    Entry{PeerInterface::onednn, kU8, "dnnl_gemm_u8s8s32"},
    Entry{PeerInterface::onednn, kU8I8, "dnnl_gemm_u8s8s32"},
    Entry{PeerInterface::cblas, kF32, "cblas_sgemm"},
    Entry{PeerInterface::cblas, kF64, "cblas_dgemm"},
    Entry{PeerInterface::cblas, kBf16, "cblas_sbgemm"},
    Entry{PeerInterface::cblas, kBf16, "cblas_gemm_bf16bf16f32"},
    Entry{PeerInterface::cblas, kF32, "scipy_cblas_sgemm"},
    Entry{PeerInterface::cblas, kF64, "scipy_cblas_dgemm"},
    Entry{PeerInterface::cblas, kBf16, "scipy_cblas_sbgemm"},
    Entry{PeerInterface::cblas, kU8I8, "cblas_gemm_s8u8s32"},
    Entry{PeerInterface::fortran, kF32, "libxsmm_sgemm"},
    Entry{PeerInterface::fortran, kF64, "libxsmm_dgemm"},
    Entry{PeerInterface::fortran, kF32, "sgemm_"},
    Entry{PeerInterface::fortran, kF64, "dgemm_"},
};

constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

/// A number of threads as every library reads it from the environment.
void set_thread_environment(int threads) {
  const std::string text = std::to_string(threads);
  for (const char* variable :
       {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"})
    setenv(variable, text.c_str(), 1);
}

/// A shape as BLAS sees it.
template <class Int>
struct BlasShape {
  Int m, n, k, lda, ldb, ldc;
  int trans_a, trans_b;
  char letter_a, letter_b;
  float alpha, beta;  // integers
};

template <class Int>
BlasShape<Int> blas_shape(const Shape& shape) {
  const auto as = [](index_t extent) {
    if constexpr (sizeof(Int) < sizeof(index_t)) return as_int(extent);
    else return extent;
  };
  const bool ta = shape.a_transposed, tb = shape.b_transposed;
  return {as(shape.M),
          as(shape.N),
          as(shape.K),
          as(ta ? shape.M : shape.K),
          as(tb ? shape.K : shape.N),
          as(shape.N),
          ta ? kTranspose : kNoTranspose,
          tb ? kTranspose : kNoTranspose,
          ta ? 'T' : 'N',
          tb ? 'T' : 'N',
          shape.updates ? -1.0f : 1.0f,
          shape.updates ? 1.0f : 0.0f};
}

template <class In, class Out>
Call cblas_call(void* function, const Shape& shape) {
  using Gemm =
      void(int, int, int, int, int, int, Out, const In*, int, const In*, int, Out, Out*, int);
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<int>(shape)](
             const void* A, const void* B, void* C) {
    gemm(kRowMajor, s.trans_a, s.trans_b, s.m, s.n, s.k, Out(s.alpha), static_cast<const In*>(A),
         s.lda, static_cast<const In*>(B), s.ldb, Out(s.beta), static_cast<Out*>(C), s.ldc);
  };
}

/// MKL's signature assumes column-major matrices; row-major, A is of u8 and B of i8.
Call cblas_bytes_call(void* function, const Shape& shape) {
  using Gemm = void(int, int, int, int, int, int, int, float, const void*, int, std::int8_t,
                    const void*, int, std::int8_t, float, std::int32_t*, int, const std::int32_t*);
  constexpr int fixed_offset = 173;
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<int>(shape)](
             const void* A, const void* B, void* C) {
    const std::int32_t zero = 0;
    gemm(kRowMajor, s.trans_a, s.trans_b, fixed_offset, s.m, s.n, s.k, s.alpha, A, s.lda, 0, B,
         s.ldb, 0, s.beta, static_cast<std::int32_t*>(C), s.ldc, &zero);
  };
}

/// Fortran is column-major: the same memory holds the transposed matrices, and C' = B' A'.
template <class T>
Call fortran_call(void* function, const Shape& shape) {
  using Gemm =
      void(const char*, const char*, const int*, const int*, const int*, const T*, const T*,
           const int*, const T*, const int*, const T*, T*, const int*, std::size_t, std::size_t);
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<int>(shape)](
             const void* A, const void* B, void* C) {
    const T alpha = s.alpha, beta = s.beta;
    gemm(&s.letter_b, &s.letter_a, &s.n, &s.m, &s.k, &alpha, static_cast<const T*>(B), &s.ldb,
         static_cast<const T*>(A), &s.lda, &beta, static_cast<T*>(C), &s.ldc, 1, 1);
  };
}

void require_success(int status) {
  if (status != 0) throw Error(Category::failed, cat("the peer reports status ", status));
}

template <class In, class Out>
Call onednn_call(void* function, const Shape& shape) {
  using Int = std::int64_t;
  using Gemm =
      int(char, char, Int, Int, Int, float, const In*, Int, const In*, Int, float, Out*, Int);
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<Int>(shape)](
             const void* A, const void* B, void* C) {
    require_success(gemm(s.letter_a, s.letter_b, s.m, s.n, s.k, s.alpha, static_cast<const In*>(A),
                         s.lda, static_cast<const In*>(B), s.ldb, s.beta, static_cast<Out*>(C),
                         s.ldc));
  };
}

/// One factor of bytes with either sign, one of signed bytes, and offsets, here 0.
template <class In>
Call onednn_bytes_call(void* function, const Shape& shape) {
  using Int = std::int64_t;
  using Gemm = int(char, char, char, Int, Int, Int, float, const In*, Int, In, const std::int8_t*,
                   Int, std::int8_t, float, std::int32_t*, Int, const std::int32_t*);
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<Int>(shape)](
             const void* A, const void* B, void* C) {
    const std::int32_t zero = 0;
    require_success(gemm(s.letter_a, s.letter_b, 'F', s.m, s.n, s.k, s.alpha,
                         static_cast<const In*>(A), s.lda, 0, static_cast<const std::int8_t*>(B),
                         s.ldb, 0, s.beta, static_cast<std::int32_t*>(C), s.ldc, &zero));
  };
}

/// libxsmm multiplies small matrices itself and passes others to a BLAS, which is not loaded here.
void require_small(const Entry& entry, const Shape& shape) {
  constexpr index_t most = 64 * 64 * 64;
  const bool xsmm = std::string_view(entry.name).starts_with("libxsmm");
  const bool more = shape.a_transposed || shape.b_transposed || shape.updates;
  if (xsmm && (more || shape.M * shape.N * shape.K > most))
    throw Error(Category::unavailable, cat("libxsmm has no product of ", to_string(shape)),
                "C = A B, at most 64^3 multiplications, nothing transposed");
}

Call call_of(const Entry& entry, void* function, const Shape& shape) {
  require_small(entry, shape);
  switch (entry.interface) {
    case PeerInterface::cblas:
      if (entry.types == kF32) return cblas_call<float, float>(function, shape);
      if (entry.types == kF64) return cblas_call<double, double>(function, shape);
      if (entry.types == kU8I8) return cblas_bytes_call(function, shape);
      return cblas_call<bf16, float>(function, shape);
    case PeerInterface::fortran:
      if (entry.types == kF32) return fortran_call<float>(function, shape);
      return fortran_call<double>(function, shape);
    case PeerInterface::onednn:
      if (entry.types == kF32) return onednn_call<float, float>(function, shape);
      if (entry.types == kBf16) return onednn_call<bf16, float>(function, shape);
      if (entry.types == kI8) return onednn_bytes_call<std::int8_t>(function, shape);
      return onednn_bytes_call<std::uint8_t>(function, shape);
  }
  return {};
}

// ---- batches ------------------------------------------------------------------------------------

/// The distance in bytes from one product's operands to the next one's.
struct Steps {
  index_t a, b, c;
  Steps(const shell::Types& types, const Shape& shape)
      : a(shape.M * shape.K * size_of(types.in)),
        b(shape.K * shape.N * size_of(types.in_b)),
        c(shape.M * shape.N * size_of(types.out)) {}
};

template <class T>
Call cblas_strided_call(void* function, const Shape& shape) {
  using Gemm = void(int, int, int, int, int, int, T, const T*, int, int, const T*, int, int, T, T*,
                    int, int, int);
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<int>(shape),
          a_step = as_int(shape.M * shape.K), b_step = as_int(shape.K * shape.N),
          c_step = as_int(shape.M * shape.N),
          batch = as_int(shape.batch)](const void* A, const void* B, void* C) {
    gemm(kRowMajor, s.trans_a, s.trans_b, s.m, s.n, s.k, T(s.alpha), static_cast<const T*>(A),
         s.lda, a_step, static_cast<const T*>(B), s.ldb, b_step, T(s.beta), static_cast<T*>(C),
         s.ldc, c_step, batch);
  };
}

/// One group: the lists of pointers are built once, as a program would.
template <class T>
Call cblas_pointers_call(void* function, const Shape& shape) {
  using Gemm =
      void(int, const int*, const int*, const int*, const int*, const int*, const T*, const T**,
           const int*, const T**, const int*, const T*, T**, const int*, int, const int*);
  struct Lists {
    std::vector<const T*> A, B;
    std::vector<T*> C;
  };
  return [gemm = reinterpret_cast<Gemm*>(function), s = blas_shape<int>(shape), shape,
          batch = as_int(shape.batch),
          lists = Lists{}](const void* A, const void* B, void* C) mutable {
    if (lists.A.empty() || lists.A[0] != A) {
      lists = {};
      for (index_t i = 0; i < batch; ++i) {
        lists.A.push_back(static_cast<const T*>(A) + i * shape.M * shape.K);
        lists.B.push_back(static_cast<const T*>(B) + i * shape.K * shape.N);
        lists.C.push_back(static_cast<T*>(C) + i * shape.M * shape.N);
      }
    }
    const T alpha = s.alpha, beta = s.beta;
    gemm(kRowMajor, &s.trans_a, &s.trans_b, &s.m, &s.n, &s.k, &alpha, lists.A.data(), &s.lda,
         lists.B.data(), &s.ldb, &beta, lists.C.data(), &s.ldc, 1, &batch);
  };
}

Call one_by_one(Call each, const shell::Types& types, const Shape& shape) {
  return [each = std::move(each), steps = Steps(types, shape), batch = shape.batch](
             const void* A, const void* B, void* C) {
    for (index_t i = 0; i < batch; ++i)
      each(static_cast<const char*>(A) + i * steps.a, static_cast<const char*>(B) + i * steps.b,
           static_cast<char*>(C) + i * steps.c);
  };
}

/// The products of a batch in one call; none if the library has no such call.
Call batch_call(void* library, const Entry& entry, const Shape& shape) {
  if (entry.interface != PeerInterface::cblas) return {};
  const std::string name = entry.name;
  const bool f32 = entry.types == kF32;
  if (!f32 && entry.types != kF64) return {};
  if (void* strided = dlsym(library, (name + "_batch_strided").c_str()))
    return f32 ? cblas_strided_call<float>(strided, shape)
               : cblas_strided_call<double>(strided, shape);
  if (void* pointers = dlsym(library, (name + "_batch").c_str()))
    return f32 ? cblas_pointers_call<float>(pointers, shape)
               : cblas_pointers_call<double>(pointers, shape);
  return {};
}

}  // namespace

void* load_library(const std::string& path) {
  dlerror();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  throw Error(Category::unavailable,
              cat("cannot load '", path, "': ", reason == nullptr ? "unknown reason" : reason));
}

Offer offer_of(void* library) {
  Offer out;
  for (const Entry& entry : kEntries) {
    if (dlsym(library, entry.name) == nullptr) continue;
    if (out.types.empty()) out.interface = entry.interface;
    const bool known =
        std::find(out.types.begin(), out.types.end(), entry.types) != out.types.end();
    if (entry.interface == out.interface && !known) out.types.push_back(entry.types);
  }
  return out;
}

void set_environment(const Peer& peer) {
  for (const auto& [variable, value] : peer.environment) setenv(variable.c_str(), value.c_str(), 1);
}

PeerLibrary::PeerLibrary(const Peer& peer, int threads)
    : name_(peer.name), interface_(peer.interface) {
  set_environment(peer);
  set_thread_environment(threads);
  library_ = load_library(peer.path);
  // The environment is not enough for libraries that count the cores themselves.
  for (const char* setter :
       {"openblas_set_num_threads", "scipy_openblas_set_num_threads", "MKL_Set_Num_Threads",
        "omp_set_num_threads", "tessera_set_num_threads"}) {
    if (auto* set = symbol<void(int)>(library_, setter)) set(threads);
  }
  // BLIS takes the widest integer; the register holds both widths.
  if (auto* set = symbol<void(long)>(library_, "bli_thread_set_num_threads")) set(threads);
}

Call PeerLibrary::call_for(const shell::Types& types, const Shape& shape) const {
  for (const Entry& entry : kEntries) {
    if (entry.interface != interface_ || entry.types != types) continue;
    void* const function = dlsym(library_, entry.name);
    if (function == nullptr) continue;
    Shape each = shape;
    each.batch = 1;
    if (shape.batch == 1) return call_of(entry, function, each);
    if (Call whole = batch_call(library_, entry, shape)) return whole;
    return one_by_one(call_of(entry, function, each), types, shape);
  }
  throw Error(Category::type, cat(name_, " has no product of ", to_string(types), " matrices"));
}

}  // namespace tessera::bench
