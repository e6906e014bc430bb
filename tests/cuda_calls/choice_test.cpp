// Which kernels a device gets: without bulk copies, and with operands that bulk copies cannot read,
// others take their place, and the plan says why. What batches, parts of K and packed matrices ask
// of CUDA. The runtime of these tests only counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "fake_cuda.hpp"
#include "support/child.hpp"
#include "support/refusal.hpp"
#include "tessera/core/text.hpp"
#include "tessera/matmul/cuda.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera::cuda {
namespace {

using tessera::testing::fake_cuda;
using tessera::testing::in_child;
using tessera::testing::refusal;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// body() with two such devices, in a process of its own: properties of a device are asked once.
template <class Body>
void with_devices(int major, const Body& body) {
  EXPECT_EQ(in_child(30,
                     [&]() -> std::string {
                       fake_cuda() = {.major = major, .generation = fake_cuda().generation + 1};
                       try {
                         body();
                       } catch (const Error& error) {
                         return error.what();
                       }
                       return "";
                     }),
            "");
}

Plan plan_of(const char* problem, const Options& options = {.device = "cuda:0"}) {
  return make_plan(parse_problem(problem), options);
}
std::string why_not(const Plan& plan, std::string_view algorithm) {
  for (const auto& each : plan.rejected)
    if (each.algorithm == algorithm) return each.reason;
  return "";
}

TEST(CudaChoice, HopperGetsBulkCopies) {
  with_devices(9, [] {
    EXPECT_EQ(plan_of("m=4096 n=4096 k=4096 in=bf16").algorithm, "warpgroup");
    EXPECT_EQ(plan_of("m=4 n=4096 k=4096 in=bf16").algorithm, "thin");
    EXPECT_EQ(plan_of("m=4096 n=4096 k=4096").algorithm, "bulk_tiled");
    EXPECT_EQ(plan_of("m=512 n=512 k=512 in=i8 out=i32 b=1:512").algorithm, "warpgroup");
    EXPECT_EQ(plan_of("m=512 n=512 k=512 in=i8 out=i32").algorithm, "tensor_core");
    EXPECT_EQ(plan_of("m=512 n=512 k=512 in=i32").algorithm, "block_tiled_vectorized");
  });
}

TEST(CudaChoice, ADeviceWithoutThemGetsOtherKernelsAndTheReason) {
  for (const int major : {8, 10, 12}) {
    with_devices(major, [&] {
      const auto why = cat("it needs compute capability 9.0, device 0 has ", major, ".0");
      const Plan wide = plan_of("m=4096 n=4096 k=4096 in=bf16");
      EXPECT_EQ(wide.algorithm, "tensor_core");
      for (const char* name : {"warpgroup", "thin"}) EXPECT_EQ(why_not(wide, name), why);
      const Plan f32 = plan_of("m=4096 n=4096 k=4096");
      EXPECT_EQ(f32.algorithm, "pipelined");
      for (const char* name : {"bulk_tiled", "three_bf16"}) EXPECT_EQ(why_not(f32, name), why);
      for (const char* name : {"warpgroup", "thin", "bulk_tiled", "three_bf16"})
        EXPECT_THAT(
            refusal([&] { plan_of("m=64 n=64 k=64", {.algorithm = name, .device = "cuda"}); },
                    Category::argument),
            HasSubstr(why));
      const Plan bytes = plan_of("m=64 n=64 k=64 in=i8 out=i32");
      EXPECT_EQ(bytes.algorithm, "tensor_core");
      EXPECT_EQ(why_not(bytes, "warpgroup"), why);
      for (const char* types : {"in=f8e4m3 out=f32", "in=i8 out=i32 in_b=u8"})
        EXPECT_THAT(
            refusal([&] { plan_of(cat("m=64 n=64 k=64 ", types).c_str()); }, Category::unavailable),
            HasSubstr(why));
    });
  }
}

/// Strides are known to the plan, addresses only to the call.
TEST(CudaChoice, WhatBulkCopiesCannotReadFallsBackWithTheReason) {
  with_devices(9, [] {
    const Plan odd = plan_of("m=256 n=250 k=512 in=f16");
    EXPECT_EQ(odd.algorithm, "tensor_core");
    EXPECT_THAT(why_not(odd, "warpgroup"), HasSubstr("B: its rows are 500 bytes apart"));
    const Plan asked =
        plan_of("m=256 n=250 k=512 in=f16", {.algorithm = "warpgroup", .device = "cuda"});
    EXPECT_THAT(asked.reason, HasSubstr("tensor_core takes its place. B: its rows are 500 bytes"));
    const Stream stream = Stream::create(0);
    const DeviceMatrix all(DType::f16, 65, 64, 0), b(DType::f16, 64, 64, 0),
        c(DType::f16, 64, 64, 0);
    Matrix a = all.view();
    a.rows = 64, a.data = static_cast<char*>(a.data) + 2;
    fake_cuda().calls.clear();
    matmul(a, b.view(), c.view(), stream);
    EXPECT_EQ(fake_cuda().calls_of("map"), 0);
    EXPECT_EQ(fake_cuda().calls_of("launch"), 1);
  });
}

TEST(CudaParts, AreChosenWhereCHasFewTiles) {
  with_devices(9, [] {
    const Plan few = plan_of("m=128 n=128 k=16384 in=bf16");
    EXPECT_EQ(few.algorithm, "warpgroup");
    EXPECT_GT(few.parts, 8);
    EXPECT_EQ(few.workspace_bytes, few.parts * 128 * 128 * 4);
    EXPECT_THAT(few.reason, HasSubstr(cat("K in ", few.parts, " parts, as C has few tiles")));
    EXPECT_EQ(parse_plan(to_string(few)).parts, few.parts);
    EXPECT_EQ(plan_of("m=128 n=128 k=16384 in=bf16", {.device = "cuda", .parts = 1}).parts, 1);
    for (const char* many : {"m=4096 n=4096 k=16384 in=bf16", "m=128 n=128 k=128 in=bf16",
                             "m=1024 n=1024 k=1024 in=f16"})
      EXPECT_EQ(plan_of(many).parts, 1) << many;
  });
}

TEST(CudaParts, AreChosenWhereAThinProductHasFewTiles) {
  with_devices(9, [] {
    const Plan few = plan_of("m=16 n=1024 k=4096 in=bf16");
    EXPECT_EQ(few.algorithm, "thin");
    EXPECT_EQ(few.parts, 4);
    EXPECT_EQ(few.workspace_bytes, few.parts * 16 * 1024 * 4);
    EXPECT_THAT(few.reason, HasSubstr("K in 4 parts, as C has few tiles"));
    EXPECT_EQ(plan_of("m=16 n=1024 k=4096 in=bf16", {.device = "cuda", .parts = 1}).parts, 1);
    for (const char* many :
         {"m=16 n=4096 k=4096 in=bf16", "m=1 n=28672 k=4096 in=bf16", "m=16 n=1024 k=256 in=bf16"})
      EXPECT_EQ(plan_of(many).parts, 1) << many;
  });
}

TEST(CudaParts, AreTwoLaunchesAndMemoryOfTheStream) {
  with_devices(9, [] {
    const Stream stream = Stream::create(0);
    const DeviceMatrix a(DType::bf16, 64, 8192, 0), b(DType::bf16, 8192, 64, 0),
        c(DType::bf16, 64, 64, 0);
    fake_cuda().calls.clear();
    const Plan plan = matmul(a.view(), b.view(), c.view(), stream);
    EXPECT_GT(plan.parts, 1);
    EXPECT_EQ(fake_cuda().calls_of("launch"), 2);
    EXPECT_EQ(fake_cuda().calls_of("malloc of stream"), 1);
    EXPECT_EQ(fake_cuda().calls_of("free of stream"), 1);
    EXPECT_EQ(fake_cuda().calls_of("malloc"), 0);
    fake_cuda().fails["malloc of stream"] = cudaErrorMemoryAllocation;
    EXPECT_THAT(
        refusal([&] { run(plan, a.view(), b.view(), c.view(), stream); }, Category::resource),
        HasSubstr("plan the product with parts = 1"));
    run(plan, a.view(), b.view(), c.view(), stream);  // the next one works
  });
}

struct Batch {
  std::deque<DeviceMatrix> matrices;
  std::vector<Product> products;
  void add(DType type, index_t M, index_t N, index_t K) {
    const auto make = [&](index_t rows, index_t cols) {
      return matrices.emplace_back(type, rows, cols, 0).view();
    };
    products.push_back({make(M, K), make(K, N), make(M, N)});
  }
};

TEST(CudaBatch, RunsTogether) {
  with_devices(9, [] {
    const Stream stream = Stream::create(0);
    Batch batch;
    for (int i = 0; i < 70; ++i) batch.add(DType::bf16, 17 + i, 64, 128);
    fake_cuda().calls.clear();
    const Plan plan = matmul_batch(batch.products, stream);
    EXPECT_EQ(plan.algorithm, "warpgroup");
    EXPECT_THAT(plan.reason, StartsWith("70 products in 3 launches"));
    EXPECT_EQ(fake_cuda().calls_of("launch"), 3);
    EXPECT_EQ(matmul_batch({}, stream).problem.M, 0);
    EXPECT_EQ(matmul_batch(std::span(batch.products).first(1), stream).reason.find("launch"),
              std::string::npos);
  });
}

TEST(CudaBatch, LeavesOutWhatBulkCopiesCannotRead) {
  with_devices(9, [] {
    const Stream stream = Stream::create(0);
    Batch batch;
    for (const index_t N : {64, 62, 128, 0, 72}) batch.add(DType::f16, 64, N, 64);
    fake_cuda().calls.clear();
    const Plan plan = matmul_batch(batch.products, stream);
    EXPECT_THAT(plan.reason, HasSubstr("1 alone: product 1: B: its rows are 124 bytes apart"));
    EXPECT_EQ(fake_cuda().calls_of("launch"), 2);
  });
}

TEST(CudaBatch, OfOtherTypesAndDevicesIsALaunchForEach) {
  const auto expect_each = [](DType type, const char* why) {
    const Stream stream = Stream::create(0);
    Batch batch;
    for (int i = 0; i < 5; ++i) batch.add(type, 64, 64, 64);
    fake_cuda().calls.clear();
    const Plan plan = matmul_batch(batch.products, stream);
    EXPECT_THAT(plan.reason, StartsWith(cat("a launch for each product: ", why)));
    EXPECT_EQ(fake_cuda().calls_of("launch"), 5);
  };
  with_devices(9, [&] {
    expect_each(DType::f32, "warpgroup rounds f32 inputs to TF32: only on request");
    expect_each(DType::f64, "warpgroup does not multiply f64");
  });
  with_devices(8, [&] { expect_each(DType::bf16, "it needs compute capability 9.0"); });
}

TEST(CudaBatch, StridedIsTheSame) {
  with_devices(9, [] {
    const Stream stream = Stream::create(0);
    const DeviceMatrix a(DType::bf16, 40 * 64, 64, 0), b(DType::bf16, 64, 64, 0),
        c(DType::bf16, 40 * 64, 64, 0);
    Matrix A = a.view(), C = c.view();
    A.rows = C.rows = 64;
    const BatchSteps steps{.a = 64 * 64, .b = 0, .c = 64 * 64};
    fake_cuda().calls.clear();
    EXPECT_THAT(matmul_strided(A, b.view(), C, 40, steps, stream).reason,
                StartsWith("40 products in 2 launches"));
    EXPECT_EQ(fake_cuda().calls_of("launch"), 2);
    EXPECT_THAT(
        refusal([&] { matmul_strided(A, b.view(), C, -1, steps, stream); }, Category::argument),
        HasSubstr("the count is negative"));
    EXPECT_THAT(
        refusal([&] { matmul_strided(A, b.view(), C, 2, {.a = 0, .b = 0, .c = 64}, stream); },
                Category::argument),
        HasSubstr("overlaps"));
    std::vector<bf16> host(64 * 64);
    EXPECT_THAT(
        refusal([&] { matmul_strided(A, matrix(host.data(), 64, 64), C, 2, steps, stream); },
                Category::argument),
        HasSubstr("B is in host memory"));
  });
}

TEST(CudaPacked, IsPackedOnce) {
  with_devices(9, [] {
    const Stream stream = Stream::create(0);
    const DeviceMatrix a(DType::f32, 64, 72, 0), b(DType::f32, 72, 50, 0), c(DType::f32, 64, 50, 0);
    const PackedMatrix planes(b.view(), stream, PackedAs::three_bf16), rows(b.view(), stream);
    EXPECT_EQ(planes.bytes(), 50u * 3 * 128 * 2);
    EXPECT_EQ(rows.bytes(), 50u * 96 * 4);
    fake_cuda().calls.clear();
    EXPECT_EQ(matmul(a.view(), planes, c.view(), stream).algorithm, "three_bf16");
    EXPECT_EQ(fake_cuda().calls_of("launch"), 2);  // A's planes, the product
    fake_cuda().calls.clear();
    EXPECT_EQ(
        matmul(a.view(), b.view(), c.view(), stream, 1, 0, {.algorithm = "three_bf16"}).algorithm,
        "three_bf16");
    EXPECT_EQ(fake_cuda().calls_of("launch"), 3);
    EXPECT_EQ(matmul(a.view(), rows, c.view(), stream).algorithm, "bulk_tiled");
    EXPECT_THAT(
        refusal(
            [&] { matmul(a.view(), rows, c.view(), stream, 1, 0, {.algorithm = "three_bf16"}); },
            Category::argument),
        HasSubstr("three_bf16 does not multiply a matrix packed in rows"));
    const DeviceMatrix half(DType::f16, 8, 8, 0);
    EXPECT_THAT(
        refusal([&] { PackedMatrix(half.view(), stream, PackedAs::three_bf16); }, Category::type),
        HasSubstr("f16 is not three bf16"));
  });
}

}  // namespace
}  // namespace tessera::cuda
