// The microkernel and the packing of tile units, over an emulation of the unit: every entry of each
// table in every extent, against sums that are written down element by element, and whole products.
// On a CPU with AMX the same over its tile unit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "cpu/emulated_tiles.hpp"
#include "cpu/multiply.hpp"
#include "packed/product.hpp"
#include "small/k_groups.hpp"
#include "support/guard_pages.hpp"
#include "tessera/core/cpu.hpp"

namespace tessera {
namespace {

using testing::Against;
using testing::BetweenPages;
using testing::Guarded;
using testing::kOrders;
using testing::Order;
using testing::RandomData;
using testing::same;
using testing::Shape;

/// The emulated table of each type, the real one, and whether this CPU runs it.
template <class In>
const auto& emulated() {
  if constexpr (std::is_same_v<In, bf16>) return testing::kEmulatedBf16;
  else if constexpr (std::is_same_v<In, f16>) return testing::kEmulatedF16;
  else if constexpr (std::is_same_v<In, std::int8_t>) return testing::kEmulatedI8;
  else if constexpr (std::is_same_v<In, cpu::U8I8>) return testing::kEmulatedU8I8;
  else if constexpr (std::is_same_v<In, cpu::I8U8>) return testing::kEmulatedI8U8;
  else return testing::kEmulatedU8;
}
#if defined(__x86_64__)
template <class In>
const auto& real() {
  if constexpr (std::is_same_v<In, bf16>) return cpu::kAmxBf16;
  else if constexpr (std::is_same_v<In, f16>) return cpu::kAmxF16;
  else if constexpr (std::is_same_v<In, std::int8_t>) return cpu::kAmxBytes.i8;
  else if constexpr (std::is_same_v<In, cpu::U8I8>) return cpu::kAmxBytes.u8i8;
  else if constexpr (std::is_same_v<In, cpu::I8U8>) return cpu::kAmxBytes.i8u8;
  else return cpu::kAmxBytes.u8;
}
template <class In>
bool runs_real() {
  const CpuFeatures has = cpu_features();
  return std::is_same_v<In, bf16>  ? has.amx_bf16
         : std::is_same_v<In, f16> ? has.amx_fp16
                                   : has.amx_int8;
}
#endif

/// A (32,K) and B (K,32) of all kinds of values, and what the unit makes of them.
template <class In>
class Data {
 public:
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  using Sum = Accumulator<InA>;
  static constexpr int kSide = 32;
  const index_t K;

  explicit Data(index_t K_) : K(K_), A(make<InA>(kSide * K, 1)), B(make<InB>(K * kSide, 2)) {
    if constexpr (std::is_same_v<Sum, float>) {
      // Products that are subnormal, in row 0 times column 0; subnormal elements in row 1.
      for (index_t k = 0; k < K; ++k) {
        A[at(k)] = convert<In>(A[at(k)] * 0x1p-70f),
        B[at(k * kSide)] = convert<In>(B[at(k * kSide)] * 0x1p-60f);
        A[at(K + k)] = convert<In>(static_cast<float>(k % 7) *
                                   (std::is_same_v<In, bf16> ? 0x1p-131f : 0x1p-22f));
      }
    }
  }

  /// C(i, j) that began with `from`.
  Sum sum(int i, int j, Sum from) const {
    constexpr index_t deep = 64 / sizeof(In);  // elements in a row of a tile
    for (index_t k0 = 0; k0 < K; k0 += deep) {
      if constexpr (std::is_same_v<Sum, float>) {
        float sums[2] = {0, 0};
        for (index_t k = k0; k < k0 + deep; ++k)
          sums[k % 2] = testing::flushed(std::fma(a(i, k), b(k, j), sums[k % 2]));
        from = testing::flushed(testing::flushed(from) + testing::flushed(sums[0] + sums[1]));
      } else {
        for (index_t k = k0; k < std::min(K, k0 + deep); ++k)
          from =
              static_cast<Sum>(static_cast<std::uint32_t>(from) +
                               static_cast<std::uint32_t>(A[at(i * K + k)] * B[at(k * kSide + j)]));
      }
    }
    return from;
  }

  std::vector<InA> A;
  std::vector<InB> B;

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  float a(int i, index_t k) const { return k < K ? read(A[at(i * K + k)]) : 0.f; }
  float b(index_t k, int j) const { return k < K ? read(B[at(k * kSide + j)]) : 0.f; }
  static float read(InA x) {
    const auto value = static_cast<float>(x);
    return std::is_same_v<In, bf16> ? testing::flushed(value) : value;
  }
  template <class Element>
  static std::vector<Element> make(index_t count, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::vector<Element> out(at(count));
    for (Element& x : out) {
      const auto bits = static_cast<int>(engine() % 4096);
      if constexpr (sizeof(In) == 1)
        x = static_cast<Element>(bits % 3 == 0 ? 0x80 : bits % 3 == 1 ? 0x7F : bits >> 4);
      else x = convert<Element>(std::ldexp(static_cast<float>(bits - 2048), bits % 9 - 12));
    }
    return out;
  }
};

/// One entry: the first `rows` of A times the first `cols` of B, packed by the table.
template <class In, class Table>
std::string entry(const Table& table, const Data<In>& data, int rows, int cols, bool resume) {
  using Source = typename Table::Source;
  using Sum = typename Data<In>::Sum;
  constexpr index_t c_row = 37;
  const int width = (cols + table.lanes - 1) / table.lanes * table.lanes;
  const index_t k_groups = (data.K + table.group - 1) / table.group,
                depth = k_groups + table.b_extra;
  static const BetweenPages<std::uint32_t> a_place(1 << 14), b_place(1 << 14);
  static const BetweenPages<Sum> c_place(32 * c_row);
  std::uint32_t* a = a_place.place(table.rows * depth, Against::page_behind);
  std::uint32_t* b = b_place.place(width * depth, Against::page_behind);
  std::fill_n(a, table.rows * depth, 0xFFFFFFFFu), std::fill_n(b, width * depth, 0xFFFFFFFFu);
  table.pack_a(a, table.rows, reinterpret_cast<const Source*>(data.A.data()), rows, data.K, data.K,
               1);
  table.pack_b(b, width, reinterpret_cast<const Source*>(data.B.data()), cols, data.K, 1,
               Data<In>::kSide);
  const index_t size = (rows - 1) * c_row + cols;
  Sum* c = c_place.place(size, Against::page_behind);
  for (index_t i = 0; i < size; ++i) c[i] = static_cast<Sum>(1000 + i);
  const cpu::Prepared unit(table);
  table.packed[table.entry(rows)][table.vectors_of(cols) - 1](
      {k_groups, a, 1, table.rows, b, width, c, c_row, cols, c, resume, false, rows});
  for (index_t i = 0; i < size; ++i) {
    const int r = static_cast<int>(i / c_row), j = static_cast<int>(i % c_row);
    const auto before = static_cast<Sum>(1000 + i);
    const Sum want = j >= cols ? before : data.sum(r, j, resume ? before : Sum{0});
    if (!same(c[i], want)) return cat("(", r, ",", j, ") is ", c[i], ", not ", want);
  }
  return "";
}

template <class In, class Table>
void expect_every_entry(const Table& table) {
  const auto masked = [](int extent) { return extent % 16 < 2 || extent % 16 == 15; };
  constexpr index_t deep = 64 / sizeof(In);
  for (const index_t K : {index_t{1}, index_t{3}, deep - 1, deep, deep + 1, 2 * deep + 3}) {
    const Data<In> data(K);
    for (int rows = 1; rows <= table.rows; ++rows) {
      for (int cols = 1; cols <= table.nr(); ++cols) {
        if (!masked(rows) && !masked(cols)) continue;
        for (const bool resume : {false, true}) {
          ASSERT_EQ(entry(table, data, rows, cols, resume), "")
              << table.isa << " " << rows << "x" << cols << "x" << K << (resume ? " resumed" : "");
        }
      }
    }
  }
}

/// Whole products of small integers, which are exact, and so the same bits as the reference.
template <class In, class Out, class Table>
void expect_products(const Table& table) {
  std::size_t turn = 0;
  for (const Shape s : {Shape{1, 1, 1},
                        {1, 97, 3},
                        {97, 1, 5},
                        {31, 33, 63},
                        {32, 32, 64},
                        {33, 65, 130},
                        {33, 48, 48},
                        {48, 40, 47},
                        {70, 50, 1301},
                        {5, 300, 200}}) {
    for (const auto a : kOrders<cpu::ElementA<In>>) {
      for (const auto b : kOrders<cpu::ElementB<In>>) {
        const auto order = kOrders<Out>[turn % 5];
        Guarded<cpu::ElementA<In>> A(s.M, s.K, a);
        Guarded<cpu::ElementB<In>> B(s.K, s.N, b);
        Guarded<Out> C(s.M, s.N, order);
        const RandomData values(turn, true);
        A.fill(values), B.fill(values), C.fill(values);
        Guarded<Out> want = C;
        cpu::Gemm<In, Out> call{.beta = static_cast<typename cpu::Gemm<In, Out>::Scalar>(turn % 3),
                                .threads = static_cast<int>(1 + turn % 3)};
        testing::reference(call, A.view(), B.view(), want.view());
        call = testing::call_on(call, A.view(), B.view(), C.view());
        const cpu::PackedPlan plan = cpu::plan_packed(call, table);
        ASSERT_TRUE((cpu::Product<In, Out, Table>(call, table, plan).run()));
        ASSERT_EQ(testing::difference(C, want), "") << testing::describe(call);
        ASSERT_TRUE(C.guards_intact()) << testing::describe(call);
        if (cpu::is_tiny(call)) {
          C.fill(values);
          cpu::multiply_tiny_k_groups(call, table, cpu::k_group_form(call, table), call.A, call.B,
                                      call.C);
          ASSERT_EQ(testing::difference(C, want), "") << "tiny " << testing::describe(call);
          ASSERT_TRUE(C.guards_intact()) << "tiny " << testing::describe(call);
        }
        ++turn;
      }
    }
  }
}

template <class In>
class TileKernels : public ::testing::Test {};
using TileTypes = ::testing::Types<bf16, f16, std::int8_t, std::uint8_t, cpu::U8I8, cpu::I8U8>;
TYPED_TEST_SUITE(TileKernels, TileTypes, testing::TypeNames);

TYPED_TEST(TileKernels, EveryEntryIsWhatTheUnitMakes) {
  expect_every_entry<TypeParam>(emulated<TypeParam>());
}

TYPED_TEST(TileKernels, ProductsAreRightForEveryShapeAndOrder) {
  using In = TypeParam;
  expect_products<In, typename Data<In>::Sum>(emulated<In>());
  if constexpr (sizeof(In) == 2) expect_products<In, In>(emulated<In>());
}

TEST(TileConfig, AShapeThatTheUnitRefusesIsAFault) {
  cpu::TileConfig config;
  config.rows[0] = 17, config.row_bytes[0] = 64;
  EXPECT_THROW(testing::Tiles::configure(config), std::logic_error);
  config.rows[0] = 16, config.row_bytes[0] = 0;
  EXPECT_THROW(testing::Tiles::configure(config), std::logic_error);
  EXPECT_THROW(testing::Tiles::zero<0>(), std::logic_error);
}

#if defined(__x86_64__)
TYPED_TEST(TileKernels, ThePackingOfTheRealTableIsTheSame) {
  using In = TypeParam;
  if (best_vector_path() != VectorPath::avx512) GTEST_SKIP() << "this CPU has no AVX-512";
  using Source = typename std::remove_cvref_t<decltype(real<In>())>::Source;
  for (const index_t K : {1, 5, 31, 32, 64, 128, 131, 300}) {
    for (const index_t lines : {1, 15, 16, 31, 32, 33, 70}) {
      using Element = cpu::ElementA<In>;  // to packing, bytes are bytes
      const std::vector<Element> from = [&] {
        std::vector<Element> out(static_cast<std::size_t>(lines * K));
        std::mt19937 engine(3);
        for (Element& x : out) x = convert<Element>(static_cast<float>(engine() % 101));
        return out;
      }();
      const auto* source = reinterpret_cast<const Source*>(from.data());
      for (const bool along : {false, true}) {
        for (const int width : {16, 32}) {
          const index_t group = real<In>().group, k_groups = (K + group - 1) / group;
          const auto size =
              static_cast<std::size_t>((lines + width - 1) / width * width * (k_groups + 15));
          std::vector<std::uint32_t> got(size), want(size);
          const index_t s_line = along ? K : 1, s_k = along ? 1 : lines;
          real<In>().pack_b(got.data(), width, source, lines, K, s_line, s_k);
          emulated<In>().pack_b(want.data(), width, source, lines, K, s_line, s_k);
          ASSERT_EQ(got, want) << "B " << lines << "x" << K << " width " << width;
          if (width != real<In>().rows) continue;
          real<In>().pack_a(got.data(), width, source, lines, K, s_line, s_k);
          emulated<In>().pack_a(want.data(), width, source, lines, K, s_line, s_k);
          ASSERT_EQ(got, want) << "A " << lines << "x" << K;
        }
      }
    }
  }
}

TYPED_TEST(TileKernels, TheRealUnitMakesTheSame) {
  if (!runs_real<TypeParam>())
    GTEST_SKIP() << "this CPU has no AMX for " << testing::TypeNames::GetName<TypeParam>(0);
  expect_every_entry<TypeParam>(real<TypeParam>());
  expect_products<TypeParam, typename Data<TypeParam>::Sum>(real<TypeParam>());
}
#endif

}  // namespace
}  // namespace tessera
