// matmul() of distributed matrices on ranks that are threads: the bits of one call for any
// distribution, and wrong arguments on one rank.
#include "tessera/scale/distributed.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "matrices.hpp"
#include "scale/shares.hpp"
#include "tessera/matmul/matmul.hpp"
#include "thread_ranks.hpp"

namespace tessera::scale {
namespace {

/// Numbers from 0 to `end` - 1, the same for the same seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  index_t operator()(index_t end) {
    return static_cast<index_t>(random_bits(seed_, n_++) % static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t seed_, n_ = 0;
};

struct Owned {
  Part part;
  int owner;
};

/// A matrix cut at random places, and each part given to a random rank.
void cut(const Part& part, int depth, int ranks, Dice& dice, std::vector<Owned>& out) {
  const bool by_rows = dice(2) == 0;
  const index_t extent = by_rows ? part.rows() : part.cols();
  if (depth == 0 || extent < 2) {
    out.push_back({part, static_cast<int>(dice(ranks))});
    return;
  }
  const index_t at = 1 + dice(extent - 1);
  Part before = part, after = part;
  if (by_rows) before.i1 = after.i0 = part.i0 + at;
  else before.j1 = after.j0 = part.j0 + at;
  cut(before, depth - 1, ranks, dice, out);
  cut(after, depth - 1, ranks, dice, out);
}

/// A grid of blocks, one for each rank.
std::vector<Owned> grid(index_t rows, index_t cols, int down, int across) {
  std::vector<Owned> out;
  for (int i = 0; i < down; ++i) {
    for (int j = 0; j < across; ++j)
      out.push_back(
          {{rows * i / down, rows * (i + 1) / down, cols * j / across, cols * (j + 1) / across},
           i * across + j});
  }
  return out;
}

/// A rank's parts of a matrix, each in memory of its own with its own strides.
template <class M>
Distributed<M> distributed(const Array& whole, const std::vector<Owned>& parts, int rank,
                           Dice& dice, std::vector<Array>& memory) {
  Distributed<M> out{whole.rows(), whole.cols(), whole.dtype(), {}};
  for (const Owned& each : parts) {
    if (each.owner != rank) continue;
    const Part& p = each.part;
    const index_t pad = dice(3);
    const Array own = dice(2) == 0
                          ? make_array(whole.dtype(), {p.rows(), p.cols() + pad}, Order::c)
                          : make_array(whole.dtype(), {p.rows() + pad, p.cols()}, Order::fortran);
    const index_t size = size_of(whole.dtype());
    const Array view(whole.dtype(), {p.rows(), p.cols()}, own.strides(), own.writable(), nullptr);
    const Array source(whole.dtype(), {p.rows(), p.cols()}, whole.strides(),
                       static_cast<std::byte*>(whole.writable()) +
                           (p.i0 * whole.row_stride() + p.j0 * whole.col_stride()) * size,
                       nullptr);
    convert_into(source, view);
    memory.push_back(own);
    if constexpr (std::is_same_v<M, Matrix>) out.parts.push_back({p.i0, p.j0, matrix_of(view)});
    else out.parts.push_back({p.i0, p.j0, const_matrix_of(view)});
  }
  return out;
}

struct Distribution {
  std::vector<Owned> a, b, c;
};

void check_product(const Shape& s, DType type, int ranks, const Distribution& d, double alpha,
                   double beta, std::uint64_t seed) {
  const DType out = types_of(type).out;
  const Array A = random_matrix(type, s.M, s.K, seed), B = random_matrix(type, s.K, s.N, seed + 1),
              C = random_matrix(out, s.M, s.N, seed + 2);
  const Array expected = make_array(out, {s.M, s.N});
  std::memcpy(expected.writable(), C.data(), static_cast<std::size_t>(C.bytes()));
  Options options;
  options.algorithm = "packed", options.threads = 1;
  tessera::matmul(const_matrix_of(A), const_matrix_of(B), matrix_of(expected), alpha, beta,
                  options);
  ThreadRanks all(ranks);
  const auto errors = all.run([&](Transport& transport) {
    Dice dice(seed + static_cast<std::uint64_t>(transport.rank()));
    std::vector<Array> memory;
    const auto own_a = distributed<ConstMatrix>(A, d.a, transport.rank(), dice, memory);
    const auto own_b = distributed<ConstMatrix>(B, d.b, transport.rank(), dice, memory);
    const auto own_c = distributed<Matrix>(C, d.c, transport.rank(), dice, memory);
    scale::matmul(transport, own_a, own_b, own_c, alpha, beta, options);
    for (const auto& each : own_c.parts) {
      const Matrix& m = each.data;
      for (index_t i = 0; i < m.rows; ++i) {
        for (index_t j = 0; j < m.cols; ++j) {
          const auto size = static_cast<std::size_t>(size_of(out));
          const auto* const got =
              static_cast<const std::byte*>(m.data) +
              static_cast<std::size_t>(i * m.row_stride + j * m.col_stride) * size;
          const auto* const wanted =
              static_cast<const std::byte*>(expected.data()) +
              static_cast<std::size_t>((each.row + i) * s.N + each.col + j) * size;
          ASSERT_EQ(std::memcmp(got, wanted, size), 0)
              << "element " << each.row + i << ", " << each.col + j << " on rank "
              << transport.rank();
        }
      }
    }
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  EXPECT_EQ(all.unmatched(), 0u);
}

TEST(Distributed, AnyDistributionHasTheBitsOfOneCall) {
  Dice dice(11);
  for (const DType type : {DType::f32, DType::f64, DType::i8, DType::bf16}) {
    for (const int ranks : {1, 2, 3, 5, 8}) {
      const Shape s{1 + dice(60), 1 + dice(60), 1 + dice(300)};
      Distribution d;
      cut({0, s.M, 0, s.K}, 3, ranks, dice, d.a);
      cut({0, s.K, 0, s.N}, 3, ranks, dice, d.b);
      cut({0, s.M, 0, s.N}, 3, ranks, dice, d.c);
      check_product(s, type, ranks, d, 1, 0, 5);
      check_product(s, type, ranks, d, -2, 3, 6);
    }
  }
}

TEST(Distributed, GridsStayWhereThatMovesLess) {
  for (const Shape& s : {Shape{120, 100, 20}, {20, 100, 300}, {110, 16, 200}, {64, 64, 64}})
    check_product(s, DType::f64, 6,
                  {grid(s.M, s.K, 3, 2), grid(s.K, s.N, 2, 3), grid(s.M, s.N, 2, 3)}, 1, 1, 3);
}

RC_GTEST_PROP(Distributed, AnyShapeAndDistribution, ()) {
  const Shape s{*rc::gen::inRange<index_t>(1, 50), *rc::gen::inRange<index_t>(1, 50),
                *rc::gen::inRange<index_t>(1, 50)};
  const int ranks = *rc::gen::inRange(1, 9);
  Dice dice(*rc::gen::inRange<std::uint64_t>(0, 1000000));
  Distribution d;
  cut({0, s.M, 0, s.K}, 4, ranks, dice, d.a);
  cut({0, s.K, 0, s.N}, 4, ranks, dice, d.b);
  cut({0, s.M, 0, s.N}, 4, ranks, dice, d.c);
  check_product(s, DType::f32, ranks, d, 1, *rc::gen::element(0.0, 1.0), 9);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Distributed, WrongArgumentsOfOneRankEndTheCallOnAll) {
  const Array A = random_matrix(DType::f32, 12, 12, 1);
  const auto parts = grid(12, 12, 2, 2);
  const auto errors_of = [&](const std::function<void(Distributed<ConstMatrix>&)>& spoil) {
    ThreadRanks all(4);
    return all.run([&](Transport& transport) {
      Dice dice(1);
      std::vector<Array> memory;
      auto a = distributed<ConstMatrix>(A, parts, transport.rank(), dice, memory);
      const auto b = distributed<ConstMatrix>(A, parts, transport.rank(), dice, memory);
      const auto c = distributed<Matrix>(A, parts, transport.rank(), dice, memory);
      if (transport.rank() == 2) spoil(a);
      scale::matmul(transport, a, b, c);
    });
  };
  const auto only_rank_2 = [&](const std::string& text,
                               const std::function<void(Distributed<ConstMatrix>&)>& spoil) {
    const auto errors = errors_of(spoil);
    for (std::size_t rank = 0; rank < 4; ++rank)
      EXPECT_NE(errors[rank].find(rank == 2 ? text : "rank 2 refuses"), std::string::npos)
          << errors[rank];
  };
  only_rank_2("outside the matrix", [](auto& a) { a.parts[0].row = 7; });
  only_rank_2("of another type", [](auto& a) { a.parts[0].data.dtype = DType::f64; });
  only_rank_2("no memory", [](auto& a) { a.parts[0].data.data = nullptr; });
  only_rank_2("columns", [](auto& a) { a.cols = 13; });
  for (const auto& [text, spoil] :
       {std::pair<std::string, std::function<void(Distributed<ConstMatrix>&)>>{
            "do not fill", [](auto& a) { a.parts.clear(); }},
        {"overlap", [](auto& a) { a.parts[0].row = 5; }}}) {
    for (const std::string& error : errors_of(spoil))
      EXPECT_NE(error.find(text), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace tessera::scale
