// A fake of cuBLASLt, for machines without a GPU: products by columns in host memory, by as many
// algorithms as a test requests, some of which fail or multiply wrongly.
#include <cstdint>
#include <cstring>

#include "tessera/core/small_float.hpp"

namespace {

struct Desc {
  int compute, scale_type;
  std::int32_t op_a = 0, op_b = 0;
  const float* scale_a = nullptr;
  const float* scale_b = nullptr;
  std::int8_t fast_sums = 0;
};
struct Layout {
  int type;
  std::uint64_t rows, cols;
  std::int64_t leading;
  std::int32_t batch = 1;
  std::int64_t step = 0;
};
struct Preference {
  std::uint64_t workspace = 0;
};
struct Found {
  std::uint64_t algorithm[8];
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

int live = 0;
int offered = 3, looking_status = 0;
std::uint64_t refuses = 0, wrong = 0, unusable = 0;  // bits of algorithms

template <class T>
double at(const void* data, long long i) {
  return static_cast<double>(static_cast<const T*>(data)[i]);
}
double value(const void* data, int type, long long i) {
  switch (type) {
    case 0: return at<float>(data, i);
    case 1: return at<double>(data, i);
    case 3: return at<std::int8_t>(data, i);
    case 10: return at<std::int32_t>(data, i);
    default: return static_cast<float>(static_cast<const tessera::f8e4m3*>(data)[i]);
  }
}
void put(void* data, int type, long long i, double value) {
  if (type == 0) static_cast<float*>(data)[i] = static_cast<float>(value);
  if (type == 1) static_cast<double*>(data)[i] = value;
  if (type == 10) static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(value);
}

/// The only combinations that it multiplies, as the real one.
bool is_known(const Desc& p, const Layout& a, const Layout& b, const Layout& c) {
  if (a.type == 28)
    return b.type == 28 && c.type == 0 && p.compute == 68 && p.scale_type == 0 && p.op_a == 1 &&
           p.op_b == 0;
  if (a.type != b.type) return false;
  if (a.type == 3) return c.type == 10 && p.compute == 72 && p.scale_type == 10;
  if (a.type == 1) return c.type == 1 && p.compute == 70 && p.scale_type == 1;
  return a.type == 0 && c.type == 0 && (p.compute == 68 || p.compute == 77) && p.scale_type == 0;
}

template <class T>
int made(void** out, T* object) {
  *out = object;
  ++live;
  return 0;
}
template <class T>
int gone(void* object) {
  delete static_cast<T*>(object);
  --live;
  return 0;
}
template <class T>
bool take(T& to, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) return false;
  std::memcpy(&to, value, bytes);
  return true;
}

}  // namespace

extern "C" {

int fake_lt_live() { return live; }
void fake_lt_offers(int algorithms, int status, std::uint64_t refused, std::uint64_t wrong_ones,
                    std::uint64_t unusable_ones) {
  offered = algorithms, looking_status = status, refuses = refused, wrong = wrong_ones;
  unusable = unusable_ones;
}

int cublasLtCreate(void** handle) { return made(handle, new int(0)); }
int cublasLtDestroy(void* handle) { return gone<int>(handle); }
int cublasLtGetProperty(int which, int* out) {
  *out = 13 - which;
  return 0;
}
const char* cublasLtGetStatusString(int) { return "a fake status"; }

int cublasLtMatmulDescCreate(void** out, int compute, int scale_type) {
  return made(out, new Desc{compute, scale_type});
}
int cublasLtMatmulDescDestroy(void* desc) { return gone<Desc>(desc); }
int cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value,
                                   std::size_t bytes) {
  Desc& d = *static_cast<Desc*>(desc);
  const bool good = attribute == 3    ? take(d.op_a, value, bytes)
                    : attribute == 4  ? take(d.op_b, value, bytes)
                    : attribute == 17 ? take(d.scale_a, value, bytes)
                    : attribute == 18 ? take(d.scale_b, value, bytes)
                    : attribute == 25 ? take(d.fast_sums, value, bytes)
                                      : false;
  return good ? 0 : 7;
}
int cublasLtMatrixLayoutCreate(void** out, int type, std::uint64_t rows, std::uint64_t cols,
                               std::int64_t leading) {
  return made(out, new Layout{type, rows, cols, leading});
}
int cublasLtMatrixLayoutDestroy(void* layout) { return gone<Layout>(layout); }
int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                     std::size_t bytes) {
  Layout& l = *static_cast<Layout*>(layout);
  const bool good = attribute == 5   ? take(l.batch, value, bytes)
                    : attribute == 6 ? take(l.step, value, bytes)
                                     : false;
  return good ? 0 : 7;
}
int cublasLtMatmulPreferenceCreate(void** out) { return made(out, new Preference); }
int cublasLtMatmulPreferenceDestroy(void* preference) { return gone<Preference>(preference); }
int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value,
                                         std::size_t bytes) {
  return attribute == 1 && take(static_cast<Preference*>(preference)->workspace, value, bytes) ? 0
                                                                                               : 7;
}

int cublasLtMatmulAlgoGetHeuristic(void*, void* desc, void* a, void* b, void* c, void* d,
                                   void* preference, int wanted, Found* found, int* count) {
  if (looking_status != 0) return looking_status;
  if (static_cast<Preference*>(preference)->workspace != 64u << 20 || c != d) return 7;
  if (!is_known(*static_cast<Desc*>(desc), *static_cast<Layout*>(a), *static_cast<Layout*>(b),
                *static_cast<Layout*>(c)))
    return 15;
  *count = 0;
  for (int i = 0; i < offered && i < wanted; ++i, ++*count) {
    found[i].algorithm[0] = static_cast<std::uint64_t>(i);
    found[i].status = (unusable >> i & 1) != 0 ? 15 : 0;
  }
  return 0;
}

int cublasLtMatmul(void*, void* desc, const void* alpha, const void* A, void* a, const void* B,
                   void* b, const void* beta, const void* C, void* c, void* D, void* d,
                   const void* algorithm, void* workspace, std::size_t bytes, void*) {
  const Desc& p = *static_cast<Desc*>(desc);
  const Layout &la = *static_cast<Layout*>(a), &lb = *static_cast<Layout*>(b),
               &lc = *static_cast<Layout*>(c);
  const std::uint64_t which = *static_cast<const std::uint64_t*>(algorithm);
  if (!is_known(p, la, lb, lc) || C != D || c != d || (refuses >> which & 1) != 0) return 15;
  if (value(alpha, p.scale_type, 0) != 1 || value(beta, p.scale_type, 0) != 0 ||
      workspace == nullptr || bytes != 64u << 20)
    return 7;
  double scale = 1;
  if (la.type == 28) {
    if (p.scale_a == nullptr || p.scale_b == nullptr || p.fast_sums != 1) return 7;
    scale = static_cast<double>(*p.scale_a) * static_cast<double>(*p.scale_b);
  }
  const auto k = static_cast<long long>(p.op_a == 0 ? la.cols : la.rows);
  for (int batch = 0; batch < lc.batch; ++batch) {
    for (long long j = 0; j < static_cast<long long>(lc.cols); ++j) {
      for (long long i = 0; i < static_cast<long long>(lc.rows); ++i) {
        double sum = 0;
        for (long long l = 0; l < k; ++l) {
          const long long at_a = p.op_a == 0 ? i + l * la.leading : l + i * la.leading;
          const long long at_b = p.op_b == 0 ? l + j * lb.leading : j + l * lb.leading;
          sum +=
              value(A, la.type, batch * la.step + at_a) * value(B, lb.type, batch * lb.step + at_b);
        }
        if ((wrong >> which & 1) != 0) sum += 100;
        put(D, lc.type, batch * lc.step + i + j * lc.leading, sum * scale);
      }
    }
  }
  return 0;
}

}  // extern "C"
