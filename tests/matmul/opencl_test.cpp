// Products on an OpenCL device: the same bits as on the CPU engine, and nothing written beside C.
#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

#include "support/refusal.hpp"
#include "tessera/device/device.hpp"
#include "tessera/kernels/tiled.hpp"
#include "tessera/matmul/matmul.hpp"

namespace tessera {
namespace {

using testing::refusal;

class OpenClProducts : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const DeviceInfo& each : devices())
      if (each.device == Device::opencl(0)) return;
    GTEST_SKIP() << "products on an OpenCL device are NOT TESTED: there is none";
  }
  std::mt19937 random_{4};

  int up_to(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }

  /// A matrix in memory of its own, with gaps, of any direction.
  struct Operand {
    std::vector<char> memory;
    Matrix view;
  };
  Operand operand(DType type, index_t rows, index_t cols) {
    const index_t size = size_of(type), gap = up_to(3), step = 1 + up_to(1);
    const bool by_columns = up_to(1) == 1;
    const index_t inner = by_columns ? rows : cols, outer = by_columns ? cols : rows;
    index_t along = step, across = inner * step + gap;
    Operand out;
    out.memory.resize(static_cast<std::size_t>((outer + 1) * (across + 1) * size));
    fill(out.memory, type);
    index_t first = 0;
    if (up_to(3) == 0 && outer > 0) first += (outer - 1) * across, across = -across;
    if (up_to(3) == 0 && inner > 0) first += (inner - 1) * along, along = -along;
    out.view = Matrix(out.memory.data() + first * size, type, rows, cols,
                      by_columns ? along : across, by_columns ? across : along);
    return out;
  }
  void fill(std::vector<char>& memory, DType type) {
    const auto write = [&]<class T>(T) {
      for (std::size_t at = 0; at + sizeof(T) <= memory.size(); at += sizeof(T)) {
        const T value = convert<T>(static_cast<float>(up_to(2000) - 1000) / 64);
        std::memcpy(memory.data() + at, &value, sizeof value);
      }
    };
    if (type == DType::f64) write(0.0);
    else if (type == DType::f32) write(0.0f);
    else if (type == DType::i32) write(0);
    else if (type == DType::f16) write(f16());
    else write(bf16());
  }

  /// A matrix without gaps.
  Operand contiguous(DType type, index_t rows, index_t cols) {
    Operand out;
    out.memory.resize(static_cast<std::size_t>(rows * cols * size_of(type)));
    fill(out.memory, type);
    out.view = Matrix(out.memory.data(), type, rows, cols, cols, 1);
    return out;
  }

  void compare(const Algorithm& algorithm, DType type) {
    const index_t m = up_to(70), n = up_to(70), k = up_to(50);
    compare(algorithm, type, operand(type, m, k), operand(type, k, n), operand(type, m, n));
  }
  /// One product by both; the bytes of C's memory are compared.
  void compare(const Algorithm& algorithm, DType type, const Operand& a, const Operand& b,
               Operand c) {
    const auto tiles = algorithm.tiles_of(type);
    const auto built = type == DType::f32 ? std::ssize(tiles) : 1;
    Operand d = c;
    d.view.data = d.memory.data() + (static_cast<char*>(c.view.data) - c.memory.data());
    Epilogue epilogue;
    if (up_to(3) == 0) epilogue.activation = Activation::relu;
    if (up_to(3) == 0) epilogue.bias = up_to(1) == 0 ? Bias::per_row : Bias::per_column;
    const double scalars[] = {1, 0, -2, 3};
    const Problem problem =
        make_problem(a.view, b.view, c.view, scalars[up_to(3)], scalars[up_to(3)], epilogue);
    std::vector<char> bias(static_cast<std::size_t>(std::max(c.view.rows, c.view.cols)) *
                           sizeof(double));
    fill(bias, size_of(type) < 4 ? DType::f32 : type);
    Options options{.algorithm = std::string(algorithm.name),
                    .tile = tiles[static_cast<std::size_t>(up_to(static_cast<int>(built) - 1))],
                    .device = "opencl:0"};
    std::optional<Plan> there;
    try {
      there = make_plan(problem, options);
    } catch (const Error&) {  // a device without f64, or with small blocks
      return;
    }
    run(*there, a.view, b.view, c.view, bias.data());
    options.device = "cpu";
    run(make_plan(problem, options), a.view, b.view, d.view, bias.data());
    ASSERT_EQ(c.memory, d.memory) << to_string(*there);
    ++compared_;
  }
  int compared_ = 0;
};

std::vector<const Algorithm*> on_opencl(DType type) {
  std::vector<const Algorithm*> out;
  for (const Algorithm& each : algorithms()) {
    try {
      make_plan(Problem{.in = type, .out = type},
                {.algorithm = std::string(each.name), .device = "opencl:0"});
      out.push_back(&each);
    } catch (const Error&) {
    }
  }
  return out;
}

TEST_F(OpenClProducts, HaveTheBitsOfTheCpuEngine) {
  const DType types[] = {DType::f32, DType::f32, DType::f64, DType::i32};
  for (int i = 0; i < 1000; ++i) {
    const DType type = types[i % 4];
    const auto all = on_opencl(type);
    if (type != DType::f64) {
      ASSERT_GE(all.size(), 10u);
    }
    if (all.empty()) continue;
    compare(*all[static_cast<std::size_t>(i / 4) % all.size()], type);
    if (HasFatalFailure()) return;
  }
  EXPECT_GE(compared_, 500);
}

TEST_F(OpenClProducts, NarrowTypesHaveThemToo) {
  for (const DType type : {DType::f16, DType::bf16})
    for (const Algorithm* each : on_opencl(type)) compare(*each, type);
  EXPECT_GT(compared_, 0);
}

TEST_F(OpenClProducts, RowsOfWholeVectorsReadNothingPastTheLastRow) {
  for (const DType type : {DType::f32, DType::f64, DType::i32, DType::f16, DType::bf16})
    for (const Algorithm* each : on_opencl(type))
      for (const index_t k : {60, 72})
        compare(*each, type, contiguous(type, 40, k), contiguous(type, k, 128),
                contiguous(type, 40, 128));
  EXPECT_GT(compared_, 0);
}

TEST_F(OpenClProducts, APlanSaysWhyOthersDoNotRunThere) {
  const Plan plan = make_plan(Problem{.M = 64, .N = 64, .K = 64}, {.device = "opencl:0"});
  EXPECT_EQ(parse_plan(to_string(plan)).algorithm, plan.algorithm);
  EXPECT_EQ(
      refusal([] { make_plan(Problem{}, {.algorithm = "tensor_core", .device = "opencl:0"}); },
              Category::argument),
      "tensor_core cannot run this product: it does not run on OpenCL and AMD devices; choose "
      "another algorithm");
  refusal([] { make_plan(Problem{}, {.device = "opencl:777"}); }, Category::unavailable);
  refusal([] { make_plan(Problem{}, {.device = "checked"}); }, Category::argument);
}

}  // namespace
}  // namespace tessera
