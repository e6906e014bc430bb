// Fakes of cuBLAS and of NVIDIA's management library, for machines without a GPU: products by
// columns in host memory, as cuBLAS defines them, and a device with made-up figures.
#include <cstring>

namespace {

template <class T>
double at(const void* data, long long i) {
  return static_cast<double>(static_cast<const T*>(data)[i]);
}
double value(const void* data, int type, long long i) {
  return type == 1 ? at<double>(data, i) : at<float>(data, i);
}

int handles = 0;

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  *handle = &handles;
  ++handles;
  return 0;
}
int cublasDestroy_v2(void*) {
  --handles;
  return 0;
}
int fake_cublas_handles() { return handles; }
int cublasSetStream_v2(void*, void*) { return 0; }
int cublasGetProperty(int which, int* out) {
  *out = 13 - which;
  return 0;
}
const char* cublasGetStatusString(int) { return "a fake status"; }

int cublasGemmStridedBatchedEx(void* handle, int op_a, int op_b, int m, int n, int k,
                               const void* alpha, const void* A, int a_type, int lda,
                               long long a_step, const void* B, int b_type, int ldb,
                               long long b_step, const void* beta, void* C, int c_type, int ldc,
                               long long c_step, int count, int compute, int algorithm) {
  const bool known = (a_type == 0 && (compute == 68 || compute == 77)) ||  // CUDA_R_32F
                     (a_type == 1 && compute == 70);                       // CUDA_R_64F
  if (handle != &handles || b_type != a_type || c_type != a_type || !known || algorithm != -1)
    return 7;
  const double one = value(alpha, a_type, 0);
  if (one != 1 || value(beta, a_type, 0) != 0) return 7;
  for (int batch = 0; batch < count; ++batch) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int l = 0; l < k; ++l) {
          const long long a =
              op_a == 0 ? i + static_cast<long long>(l) * lda : l + static_cast<long long>(i) * lda;
          const long long b =
              op_b == 0 ? l + static_cast<long long>(j) * ldb : j + static_cast<long long>(l) * ldb;
          sum += value(A, a_type, batch * a_step + a) * value(B, b_type, batch * b_step + b);
        }
        const long long c = batch * c_step + i + static_cast<long long>(j) * ldc;
        if (c_type == 1) static_cast<double*>(C)[c] = sum;
        else static_cast<float*>(C)[c] = static_cast<float>(sum);
      }
    }
  }
  return 0;
}

int cublasGemmEx(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                 const void* A, int a_type, int lda, const void* B, int b_type, int ldb,
                 const void* beta, void* C, int c_type, int ldc, int compute, int algorithm) {
  return cublasGemmStridedBatchedEx(handle, op_a, op_b, m, n, k, alpha, A, a_type, lda, 0, B,
                                    b_type, ldb, 0, beta, C, c_type, ldc, 0, 1, compute, algorithm);
}

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  *device = &handles;
  return std::strcmp(bus, "0000:19:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, unsigned clock, unsigned* mhz) {
  *mhz = clock == 1 ? 1980 : 1;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 650500;
  return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* celsius) {
  *celsius = 55;
  return sensor == 0 ? 0 : 2;
}
}  // extern "C"
