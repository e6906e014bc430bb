// Products of i8 and u8 into i32: exact, modulo 2^32, on every instruction set.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu/multiply.hpp"
#include "cpu/small_products.hpp"
#include "cpu/tables.hpp"
#include "support/guard_pages.hpp"
#include "support/thinned.hpp"
#include "tessera/cpu/packed_matrix.hpp"

namespace tessera {
namespace {

using testing::Against;
using testing::BetweenPages;
using testing::call_on;
using testing::describe;
using testing::difference;
using testing::Guarded;
using testing::kOrders;
using testing::kSmallProducts;
using testing::kThreads;
using testing::multiply;
using testing::Order;
using testing::RandomData;
using testing::Shape;
using testing::Thinned;

/// A product of bytes of every value, and its sums modulo 2^32; smaller ones are its corner.
template <class In>
class Bytes {
 public:
  using Sum = std::int32_t;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;

  Bytes(index_t M, index_t N, index_t K)
      : N_(N),
        K_(K),
        a_(random<InA>(M * K, 1)),
        b_(random<InB>(K * N, 2)),
        sums_(static_cast<std::size_t>(M * N)) {
    for (index_t i = 0; i < M; ++i) {
      for (index_t k = 0; k < K; ++k) {
        for (index_t j = 0; j < N; ++j)
          sums_[static_cast<std::size_t>(i * N + j)] +=
              static_cast<std::uint32_t>(a(i, k) * b(k, j));
      }
    }
  }

  /// padding: elements between the rows of A.
  void check(index_t M, index_t N, Order<InA> order_a, Order<InB> order_b, Order<Sum> order_c,
             int threads, index_t padding = 3) const {
    Guarded<InA> A(M, K_, order_a, padding);
    Guarded<InB> B(K_, N, order_b);
    Guarded<Sum> C(M, N, order_c);
    A.fill([&](index_t i, index_t k) { return a(i, k); });
    B.fill([&](index_t k, index_t j) { return b(k, j); });
    multiply<In, Sum>({.threads = threads}, A.view(), B.view(), C.view());
    const std::string wrong = difference(C, [&](index_t i, index_t j) { return sum(i, j); });
    if (wrong.empty() && C.guards_intact()) return;
    ADD_FAILURE() << describe(call_on<In, Sum>({.threads = threads}, A.view(), B.view(), C.view()))
                  << ": " << (wrong.empty() ? "wrote outside of C" : wrong);
  }

  int a(index_t i, index_t k) const { return a_[static_cast<std::size_t>(i * K_ + k)]; }
  int b(index_t k, index_t j) const { return b_[static_cast<std::size_t>(k * N_ + j)]; }
  Sum sum(index_t i, index_t j) const {
    return static_cast<Sum>(sums_[static_cast<std::size_t>(i * N_ + j)]);
  }

 private:
  template <class Byte>
  static std::vector<Byte> random(index_t count, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::vector<Byte> out(static_cast<std::size_t>(count));
    for (Byte& x : out) {
      const std::uint64_t bits = engine();
      // The extremes often: that is where signs and saturation go wrong.
      x = bits % 4 == 0   ? std::numeric_limits<Byte>::min()
          : bits % 4 == 1 ? std::numeric_limits<Byte>::max()
                          : static_cast<Byte>(bits >> 8);
    }
    return out;
  }
  index_t N_, K_;
  std::vector<InA> a_;
  std::vector<InB> b_;
  std::vector<std::uint32_t> sums_;
};

template <class In>
class Integers : public ::testing::Test {};
using ByteTypes = ::testing::Types<std::int8_t, std::uint8_t, cpu::U8I8, cpu::I8U8>;
TYPED_TEST_SUITE(Integers, ByteTypes, testing::TypeNames);

TYPED_TEST(Integers, AreExactForEveryRemainder) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  Thinned thinned(7);
  std::size_t turn = 0;
  for (const index_t K : {1, 2, 3, 4, 5, 7, 8, 9, 50}) {
    const Bytes<In> bytes(17, 99, K);
    for (index_t M = 1; M <= 17; ++M) {
      for (index_t N = 1; N <= 99; N == 50 ? N = 95 : ++N) {
        if (thinned.takes(K, M, N))
          bytes.check(M, N, kOrders<InA>[turn % 5], kOrders<InB>[turn / 5 % 5],
                      kOrders<std::int32_t>[turn / 25 % 5], 1);
        ++turn;
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Integers, AreExactForDeepAndLongShapesAndAnyThreads) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  std::size_t turn = 0;
  for (const Shape s : {Shape{9, 55, 1023},
                        {9, 55, 1024},
                        {10, 60, 2047},
                        {20, 110, 4101},
                        {1, 997, 61},
                        {997, 1, 61},
                        {3, 5, 20011},
                        {131, 257, 521},
                        {131, 257, 520},
                        {4099, 37, 9},
                        {37, 4099, 9},
                        {700, 300, 77}}) {
    const Bytes<In> bytes(s.M, s.N, s.K);
    for (const int threads : kThreads) {
      bytes.check(s.M, s.N, kOrders<InA>[turn % 2], kOrders<InB>[turn / 2 % 2],
                  kOrders<std::int32_t>[turn % 5], threads);
      ++turn;
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(Integers, AreExactForSmallProductsOfOneThread) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  std::size_t turn = 0;
  for (const Shape s : kSmallProducts) {
    const Bytes<In> bytes(s.M, s.N, s.K);
    for (const auto a : kOrders<InA>) {
      for (const auto b : kOrders<InB>) {
        bytes.check(s.M, s.N, a, b, kOrders<std::int32_t>[turn++ % 5], 1);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Whole K-groups, on any address: A is read unpacked, and B is packed in passing or before.
TYPED_TEST(Integers, AreExactWhereAIsReadAsItLies) {
  using In = TypeParam;
  Thinned thinned(3);
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  for (const Shape s : {Shape{9, 250, 520}, {131, 257, 520}, {300, 500, 64}, {70, 250, 8200}}) {
    const Bytes<In> bytes(s.M, s.N, s.K);
    for (const auto order : {Order<InA>::row_major, Order<InA>::reversed_rows}) {
      for (const int threads : {1, 3}) {
        if (thinned.takes(s.K, order, threads))
          bytes.check(s.M, s.N, order, Order<InB>::row_major, Order<std::int32_t>::row_major,
                      threads, 4);
        if (this->HasFailure()) return;
      }
    }
    Guarded<InA> A(s.M, s.K, Order<InA>::row_major, 4);
    Guarded<InB> B(s.K, s.N);
    Guarded<std::int32_t> C(s.M, s.N);
    A.fill([&](index_t i, index_t k) { return bytes.a(i, k); });
    B.fill([&](index_t k, index_t j) { return bytes.b(k, j); });
    const auto call = call_on<In, std::int32_t>({}, A.view(), B.view(), C.view());
    cpu::gemm(call, cpu::PackedMatrix<In>(call.B, s.K, s.N, call.b_row));
    ASSERT_EQ(difference(C, [&](index_t i, index_t j) { return bytes.sum(i, j); }), "");
  }
}

TYPED_TEST(Integers, SumsWrapModuloTwoToThe32) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  constexpr index_t K = 140'001;
  Guarded<InA> A(2, K);
  Guarded<InB> B(K, 3);
  Guarded<std::int32_t> C(2, 3);
  const auto largest = []<class Byte>(Byte) -> int {
    return std::is_signed_v<Byte> ? std::numeric_limits<Byte>::min()
                                  : std::numeric_limits<Byte>::max();
  };
  A.fill([&](index_t, index_t) { return largest(InA{}); });
  B.fill([&](index_t, index_t) { return largest(InB{}); });
  multiply<In, std::int32_t>({}, A.view(), B.view(), C.view());
  const auto square = static_cast<std::uint32_t>(largest(InA{}) * largest(InB{}));
  const auto sum = static_cast<std::int32_t>(square * std::uint32_t{K});
  EXPECT_EQ(difference(C, [&](index_t, index_t) { return sum; }), "");
}

TYPED_TEST(Integers, EpiloguesAreExact) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  const Shape s{19, 50, 60};
  const Bytes<In> bytes(s.M, s.N, s.K);
  Guarded<InA> A(s.M, s.K);
  Guarded<InB> B(s.K, s.N);
  A.fill([&](index_t i, index_t k) { return bytes.a(i, k); });
  B.fill([&](index_t k, index_t j) { return bytes.b(k, j); });
  std::vector<std::int32_t> rows(static_cast<std::size_t>(s.M)),
      cols(static_cast<std::size_t>(s.N));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i * 1000);
  for (std::size_t j = 0; j < cols.size(); ++j) cols[j] = -static_cast<std::int32_t>(j * 1000);
  for (const std::int32_t alpha : {0, 1, -1, 7}) {
    for (const std::int32_t beta : {0, 1, -1, 5}) {
      for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
        for (const Activation activation : {Activation::none, Activation::relu}) {
          for (const auto order : kOrders<std::int32_t>) {
            Guarded<std::int32_t> C(s.M, s.N, order);
            const auto before = [](index_t i, index_t j) { return i * 7 - j * 13; };
            C.fill(before);
            multiply<In, std::int32_t>(
                {.alpha = alpha,
                 .beta = beta,
                 .bias = {bias, bias == Bias::per_row ? rows.data() : cols.data()},
                 .last = {activation}},
                A.view(), B.view(), C.view());
            ASSERT_EQ(difference(C,
                                 [&](index_t i, index_t j) {
                                   const index_t value =
                                       alpha * index_t{bytes.sum(i, j)} + beta * before(i, j) +
                                       (bias == Bias::per_row ? rows[static_cast<std::size_t>(i)]
                                        : bias == Bias::per_column
                                            ? cols[static_cast<std::size_t>(j)]
                                            : 0);
                                   return static_cast<std::int32_t>(
                                       activation == Activation::relu && value < 0 ? 0 : value);
                                 }),
                      "")
                << "alpha " << alpha << " beta " << beta;
            ASSERT_TRUE(C.guards_intact());
          }
        }
      }
    }
  }
}

/// Quantized products: what was whole is scaled, and the rest of the epilogue is f32's.
TYPED_TEST(Integers, BecomeFloatsByOneRounding) {
  using In = TypeParam;
  using InA = cpu::ElementA<In>;
  using InB = cpu::ElementB<In>;
  Thinned thinned(7);
  std::size_t turns = 0;
  for (const Shape s : {Shape{1, 1, 1}, {19, 50, 60}, {5, 300, 200}, {61, 97, 1301}, {1, 7, 0}}) {
    const Bytes<In> bytes(s.M, s.N, s.K);
    std::vector<float> rows(static_cast<std::size_t>(s.M)), cols(static_cast<std::size_t>(s.N));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 0.3f * static_cast<float>(i) - 2;
    for (std::size_t j = 0; j < cols.size(); ++j) cols[j] = 0.7f * static_cast<float>(j) - 9;
    for (const auto& [alpha, beta] : {std::pair{1.f, 0.f}, {1e-4f, 0.f}, {-3e-5f, 0.25f}}) {
      for (const Bias bias : {Bias::none, Bias::per_row, Bias::per_column}) {
        for (const LastStep<float> last :
             {LastStep<float>{}, {Activation::gelu}, {Activation::silu, -1, 1}}) {
          const std::size_t turn = turns++;
          if (!thinned.takes(s.K, 1e6f * alpha, bias, last.activation)) continue;
          Guarded<InA> A(s.M, s.K, kOrders<InA>[turn % 5]);
          Guarded<InB> B(s.K, s.N, kOrders<InB>[turn / 5 % 5]);
          Guarded<float> C(s.M, s.N, kOrders<float>[turn / 3 % 5]);
          A.fill([&](index_t i, index_t k) { return bytes.a(i, k); });
          B.fill([&](index_t k, index_t j) { return bytes.b(k, j); });
          if (beta != 0) C.fill(RandomData(turn));
          Guarded<float> want = C;
          const cpu::Gemm<In, float> call{
              .alpha = alpha,
              .beta = beta,
              .bias = {bias, bias == Bias::per_row ? rows.data() : cols.data()},
              .last = last,
              .threads = kThreads[turn % kThreads.size()]};
          testing::reference(call, A.view(), B.view(), want.view());
          multiply(call, A.view(), B.view(), C.view());
          ASSERT_EQ(difference(C, want), "") << describe(call);
          ASSERT_TRUE(C.guards_intact());
        }
      }
    }
  }
}

/// Every packed entry of a table of bytes, with the panels that its own `pack` makes.
template <class In, class Table>
void expect_every_entry_exact(const Table& table) {
  const BetweenPages<std::int32_t> c_place(8 * 53);
  for (const index_t K : {1, 2, 3, 4, 5, 7, 8, 100, 101}) {
    const Bytes<In> bytes(table.rows, table.nr(), K);
    const index_t k_groups = (K + table.group - 1) / table.group;
    for (int rows = 1; rows <= table.rows; ++rows) {
      for (int cols = 1; cols <= table.nr(); ++cols) {
        const int vectors = (cols + table.lanes - 1) / table.lanes, width = vectors * table.lanes;
        using Source = typename Table::Source;
        std::vector<Source> a, b;
        for (int r = 0; r < rows; ++r)
          for (index_t k = 0; k < K; ++k) a.push_back(static_cast<Source>(bytes.a(r, k)));
        for (index_t k = 0; k < K; ++k)
          for (int j = 0; j < cols; ++j) b.push_back(static_cast<Source>(bytes.b(k, j)));
        std::vector<std::uint32_t> panel_a(
            static_cast<std::size_t>((k_groups + table.a_extra) * table.rows)),
            panel_b(static_cast<std::size_t>((k_groups + table.b_extra) * width));
        table.pack_a(panel_a.data(), table.rows, a.data(), rows, K, K, 1);
        table.pack_b(panel_b.data(), width, b.data(), cols, K, 1, cols);
        for (const bool resume : {false, true}) {
          std::int32_t* c = c_place.place((rows - 1) * 53 + cols, Against::page_behind);
          for (int i = 0; i < (rows - 1) * 53 + cols; ++i) c[i] = 1'000'000;
          table.packed[rows - 1][vectors - 1]({k_groups, panel_a.data(), 1, table.rows,
                                               panel_b.data(), width, c, 53, cols, c, resume,
                                               false});
          for (int i = 0; i < (rows - 1) * 53 + cols; ++i) {
            const int r = i / 53, j = i % 53;
            const std::int32_t want =
                j >= cols ? 1'000'000 : bytes.sum(r, j) + (resume ? 1'000'000 : 0);
            ASSERT_EQ(c[i], want) << table.isa << " (" << r << "," << j << ") of " << rows << "x"
                                  << cols << "x" << K;
          }
        }
      }
    }
  }
}

TEST(IntegerKernels, EveryEntryIsExact) {
  for (const cpu::KernelSet* set : testing::runnable_sets()) {
    expect_every_entry_exact<std::int8_t>(set->i8);
    expect_every_entry_exact<std::uint8_t>(set->u8);
    expect_every_entry_exact<cpu::U8I8>(set->u8i8);
    expect_every_entry_exact<cpu::I8U8>(set->i8u8);
  }
}

#if defined(__x86_64__)
TEST(IntegerKernels, EveryVnniEntryIsExact) {
  if (!cpu_features().vnni) GTEST_SKIP() << "this CPU has no AVX512_VNNI";
  expect_every_entry_exact<std::int8_t>(cpu::kAvx512Vnni.i8);
  expect_every_entry_exact<std::uint8_t>(cpu::kAvx512Vnni.u8);
  expect_every_entry_exact<cpu::U8I8>(cpu::kAvx512Vnni.u8i8);
  expect_every_entry_exact<cpu::I8U8>(cpu::kAvx512Vnni.i8u8);
}
#endif

/// B(k, j) = line[k + j]: rows and columns both are contiguous.
template <class In>
void expect_overlapping_lines_right() {
  for (const index_t N : {1, 16, 48, 100}) {
    for (const index_t K : {3, 32, 77, 300}) {
      constexpr index_t M = 9;
      std::vector<In> A(static_cast<std::size_t>(M * K)), line(static_cast<std::size_t>(K + N));
      for (std::size_t i = 0; i < A.size(); ++i) A[i] = static_cast<In>(i * 37 + 11);
      for (std::size_t i = 0; i < line.size(); ++i) line[i] = static_cast<In>(i * 91 + 5);
      std::vector<std::int32_t> C(static_cast<std::size_t>(M * N));
      cpu::gemm<In, std::int32_t>({.M = M,
                                   .N = N,
                                   .K = K,
                                   .A = A.data(),
                                   .a_row = K,
                                   .B = line.data(),
                                   .b_row = 1,
                                   .b_col = 1,
                                   .C = C.data(),
                                   .c_row = N});
      for (index_t i = 0; i < M; ++i) {
        for (index_t j = 0; j < N; ++j) {
          std::int32_t sum = 0;
          for (index_t k = 0; k < K; ++k)
            sum += A[static_cast<std::size_t>(i * K + k)] * line[static_cast<std::size_t>(k + j)];
          ASSERT_EQ(C[static_cast<std::size_t>(i * N + j)], sum) << N << " " << K << " " << j;
        }
      }
    }
  }
}

TEST(GemmOfBytes, BothStridesOfBMayBeOne) {
  expect_overlapping_lines_right<std::int8_t>();
  expect_overlapping_lines_right<std::uint8_t>();
}

}  // namespace
}  // namespace tessera
