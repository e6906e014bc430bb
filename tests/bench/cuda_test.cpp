// What the benchmark of a GPU needs beside one: cuBLAS called by rows, NVML, peaks, how many copies
// of the operands. fake_cublas.cpp replaces both libraries.
#include "bench/cuda.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "bench/cublas/cublas.hpp"
#include "bench/nvml.hpp"
#include "bench/support.hpp"
#include "support/refusal.hpp"
#include "tessera/matmul/verify.hpp"

namespace tessera::bench {
namespace {

using tessera::testing::refusal;
using ::testing::HasSubstr;
using testing::Ran;
using testing::run_bench;

template <class T>
void expect_right(const Cublas& cublas, const Shape& shape, Cublas::F32 f32) {
  const DType type = dtype_of<T>();
  const BenchCase now{{type, type}, shape};
  const OperandPlaces places(now);
  std::vector<char> memory(places.end, static_cast<char>(0xff));
  SharedOperands shared;
  shared.prepare(now, 1);
  std::memcpy(memory.data(), shared.A(0).data, places.c);
  cublas.multiply(now, f32, memory.data() + places.a, memory.data() + places.b,
                  memory.data() + places.c);
  for (index_t i = 0; i < shape.batch; ++i) {
    const Verifier verifier(make_problem(shared.A(i), shared.B(i), shared.C(i)), shared.A(i),
                            shared.B(i), shared.C(i));
    Matrix C = shared.C(i);
    C.data = memory.data() + places.c + static_cast<std::size_t>(i) * places.c_step;
    EXPECT_TRUE(verifier.check(C).within_bound) << to_string(shape) << " product " << i;
  }
}

TEST(CublasPeer, MultipliesRowsTransposedMatricesAndBatches) {
  const Cublas cublas(nullptr, {"no such file", FAKE_CUBLAS});
  EXPECT_EQ(cublas.path(), FAKE_CUBLAS);
  EXPECT_EQ(cublas.version(), "cuBLAS 13.12.11");
  for (const index_t batch : {1, 3}) {
    for (const bool ta : {false, true}) {
      for (const bool tb : {false, true}) {
        expect_right<float>(cublas, {5, 7, 3, batch, ta, tb}, Cublas::F32::exact);
        expect_right<float>(cublas, {5, 7, 3, batch, ta, tb}, Cublas::F32::tf32);
        expect_right<double>(cublas, {2, 9, 4, batch, ta, tb}, Cublas::F32::exact);
      }
    }
  }
}

TEST(CublasPeer, RefusalsAreToldInItsOwnWords) {
  const Cublas cublas(nullptr, {FAKE_CUBLAS});
  const BenchCase halves{{DType::f16, DType::f16}, {4, 4, 4}};
  const std::string said =
      refusal([&] { cublas.multiply(halves, Cublas::F32::exact, nullptr, nullptr, nullptr); },
              Category::failed);
  EXPECT_THAT(said, HasSubstr("cuBLAS, multiplying: a fake status"));
  const BenchCase large{{}, {index_t{1} << 31, 1, 1}};
  refusal([&] { cublas.multiply(large, Cublas::F32::exact, nullptr, nullptr, nullptr); },
          Category::argument);
}

TEST(CublasPeer, ItsHandleIsGivenBack) {
  void* const library = dlopen(FAKE_CUBLAS, RTLD_NOW);
  const auto handles = reinterpret_cast<int (*)()>(dlsym(library, "fake_cublas_handles"));
  const int before = handles();
  {
    const Cublas cublas(nullptr, {FAKE_CUBLAS});
    EXPECT_EQ(handles(), before + 1);
  }
  EXPECT_EQ(handles(), before);
  dlclose(library);
}

TEST(CublasPeer, WhereItIsNotThereOneSentenceSaysWhatToDo) {
  const auto told = [](const std::string& file) {
    return refusal([&] { Cublas cublas(nullptr, {file}); }, Category::unavailable);
  };
  EXPECT_THAT(told("/nowhere/libcublas.so.13"), HasSubstr("/nowhere/libcublas.so.13"));
  EXPECT_THAT(told("/nowhere/libcublas.so.13"), HasSubstr("LD_LIBRARY_PATH"));
  EXPECT_THAT(told("libc.so.6"), HasSubstr("has no cublasGemmEx"));
}

TEST(CublasPeer, TypesThatItMultiplies) {
  using F32 = Cublas::F32;
  const auto types = [](const char* text) { return shell::parse_types(text); };
  for (const char* text : {"f64", "f32", "f16", "bf16", "f16:f32", "bf16:f32"})
    EXPECT_TRUE(Cublas::multiplies(types(text), F32::exact)) << text;
  for (const char* text : {"i32", "i8:i32"})
    EXPECT_FALSE(Cublas::multiplies(types(text), F32::exact)) << text;
  EXPECT_TRUE(Cublas::multiplies(types("f32"), F32::tf32));
  EXPECT_FALSE(Cublas::multiplies(types("f64"), F32::tf32));
  EXPECT_FALSE(Cublas::multiplies(types("f16:f32"), F32::tf32));
}

TEST(NvmlDevice, TellsWhatTheLibraryKnowsAndZeroForTheRest) {
  const auto device = Nvml::open("0000:19:00.0", FAKE_CUBLAS);
  ASSERT_NE(device, nullptr);
  EXPECT_EQ(device->sm_clock_hz(), 1980e6);
  EXPECT_NEAR(device->power_watts(), 650.5, 1e-9);
  EXPECT_EQ(device->temperature_celsius(), 55);
  EXPECT_EQ(device->power_limit_watts(), 0);  // the fake has no such function
  EXPECT_EQ(device->throttle_reasons(), 0u);
  EXPECT_EQ(Nvml::open("0000:20:00.0", FAKE_CUBLAS), nullptr);
  EXPECT_EQ(Nvml::open("0000:19:00.0", "/nowhere/libnvidia-ml.so.1"), nullptr);
  EXPECT_EQ(Nvml::open("0000:19:00.0", "libc.so.6"), nullptr);
}

TEST(CudaPeak, IsThatOfTheDataSheets) {
  const auto tflops = [](int major, int sms, double clock, std::string_view units, DType type) {
    return 2e-12 * multiply_adds_per_clock(major, 0, units, type) * sms * clock;
  };
  EXPECT_NEAR(tflops(9, 132, 1.98e9, kCores, DType::f32), 66.9, 0.1);
  EXPECT_NEAR(tflops(9, 132, 1.98e9, kCores, DType::bf16), 66.9, 0.1);
  EXPECT_NEAR(tflops(9, 132, 1.98e9, kCores, DType::f64), 33.5, 0.1);
  EXPECT_NEAR(tflops(9, 132, 1.98e9, kMatrixUnits, DType::f64), 66.9, 0.1);
  EXPECT_NEAR(tflops(9, 132, 1.83e9, kMatrixUnits, DType::f32), 494.7, 0.1);
  EXPECT_NEAR(tflops(9, 132, 1.83e9, kMatrixUnits, DType::bf16), 989.5, 0.2);
  EXPECT_NEAR(tflops(9, 132, 1.83e9, kMatrixUnits, DType::i8), 1979, 1);
  EXPECT_NEAR(tflops(9, 132, 1.83e9, kMatrixUnits, DType::f8e4m3), 1979, 1);
  EXPECT_NEAR(tflops(8, 108, 1.41e9, kMatrixUnits, DType::i8), 624, 1);
  EXPECT_NEAR(tflops(8, 108, 1.41e9, kCores, DType::f32), 19.5, 0.1);
  EXPECT_NEAR(tflops(8, 108, 1.41e9, kMatrixUnits, DType::f32), 156, 0.1);
  EXPECT_NEAR(tflops(8, 108, 1.41e9, kMatrixUnits, DType::f16), 312, 0.2);
  EXPECT_NEAR(tflops(8, 108, 1.41e9, kMatrixUnits, DType::f64), 19.5, 0.1);
  EXPECT_EQ(multiply_adds_per_clock(12, 0, kMatrixUnits, DType::f16), 0);
  EXPECT_EQ(multiply_adds_per_clock(9, 0, kMatrixUnits, DType::i32), 0);
  EXPECT_EQ(multiply_adds_per_clock(8, 0, kMatrixUnits, DType::f8e4m3), 0);
}

TEST(CudaPeak, CopiesOfOperandsExceedTheCacheThreeTimes) {
  EXPECT_EQ(sets_beyond_cache(4096, 0), 1);
  EXPECT_EQ(sets_beyond_cache(std::size_t{192} << 20, index_t{50} << 20), 1);
  EXPECT_EQ(sets_beyond_cache(std::size_t{12} << 20, index_t{50} << 20), 13);
  EXPECT_GE(sets_beyond_cache(12288, index_t{50} << 20) * 12288, 3 * (index_t{50} << 20));
}

TEST(CudaBench, WhereNoDeviceIsOneSentenceSaysSo) {
  for (const char* device : {"cuda", "cuda:0", "cuda:7"}) {
    const Ran ran = run_bench({"--device", device, "--sizes", "8"}, {{"CUDA_VISIBLE_DEVICES", ""}});
    EXPECT_EQ(ran.code, 4) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(cat("device '", device, "' is not available")));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST(CudaBench, WhatIsForTheProcessorIsRefusedBeforeADeviceIsLookedFor) {
  const std::vector<std::string> wrong[] = {
      {"--threads", "2"}, {"--idle", "0.01"}, {"--first-call"}, {"--algorithms", "naive,blas"}};
  for (const auto& options : wrong) {
    std::vector<std::string> all = {"--device", "cuda", "--sizes", "8"};
    all.insert(all.end(), options.begin(), options.end());
    const Ran ran = run_bench(all);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("applies to the CPU, not to a GPU"));
  }
  const Ran ran = run_bench({"--device", "gpu", "--sizes", "8"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("cpu, cuda:N, opencl:N or hip:N"));
}

}  // namespace
}  // namespace tessera::bench
