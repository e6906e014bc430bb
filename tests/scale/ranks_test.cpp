// Products on many ranks, which here are threads: the same bits as one call, the bytes of the plan,
// errors on one rank.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <filesystem>

#include "matrices.hpp"
#include "scale/rank_product.hpp"
#include "scale/shares.hpp"
#include "scale/sums_exchange.hpp"
#include "tessera/io/io.hpp"
#include "tessera/matmul/matmul.hpp"
#include "thread_ranks.hpp"

namespace tessera::scale {
namespace {

/// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-ranks-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Case {
  Shape shape;
  DType type = DType::f32;
  int ranks = 1;
  index_t memory = index_t{1} << 40;
  double alpha = 1, beta = 0;
  Order order_a = Order::c, order_b = Order::c;
  int finished = 0;  ///< percentage of the blocks of C that an earlier run has computed
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.shape.M << " x " << c.shape.N << " x " << c.shape.K << " " << name(c.type)
             << ", ranks " << c.ranks << ", memory " << c.memory << ", beta " << c.beta;
}

/// What the ranks compute of a case, and what they moved.
struct Ran {
  Array C, expected;
  ScalePlan plan;
  std::vector<Traffic> traffic;
  std::vector<std::string> errors;
  Finished finished;              ///< the blocks of C
  std::vector<index_t> computed;  ///< by rank: reported blocks
  std::size_t unmatched = 0;
  index_t read_a = 0, read_b = 0;
};

/// The parts of C that are blocks of the ranks at the end of K, and whether each was finished.
template <class Found>
void each_block_of_c(const ScalePlan& plan, const Found& found) {
  for (std::size_t rank = 0; rank < plan.ranks.size(); ++rank) {
    const RankPart& own = plan.ranks[rank];
    const Schedule& s = own.schedule;
    for (index_t n = 0; n < s.blocks_down() * s.blocks_across(); ++n) {
      const BlockPlace at = place_of(s, n);
      if (own.box.k1 == plan.request.shape.K) found(rank, n, block_in_c(own, at.i, at.j));
    }
  }
}

Finished some_blocks(const ScalePlan& plan, int percentage) {
  Finished out;
  for (const RankPart& own : plan.ranks)
    out.emplace_back(
        static_cast<std::size_t>(own.schedule.blocks_down() * own.schedule.blocks_across()));
  each_block_of_c(plan, [&](std::size_t rank, index_t n, const Part&) {
    const double random = random_unit(9, static_cast<std::uint64_t>(n) * 64 + rank);
    out[rank][static_cast<std::size_t>(n)] = 100 * random < percentage;
  });
  return out;
}

Ran ran(const Case& c) {
  const Folder folder;
  Ran out;
  const Types types = types_of(c.type);
  const Array A = random_matrix(c.type, c.shape.M, c.shape.K, 1, c.order_a),
              B = random_matrix(c.type, c.shape.K, c.shape.N, 2, c.order_b),
              C0 = random_matrix(types.out, c.shape.M, c.shape.N, 3);
  write_array(folder.file("a.npy"), A);
  write_array(folder.file("b.npy"), B);
  write_array(folder.file("c0.npy"), C0);
  out.C = make_array(types.out, {c.shape.M, c.shape.N});
  std::memset(out.C.writable(), 0xff, static_cast<std::size_t>(out.C.bytes()));

  Request request;
  request.shape = c.shape, request.types = types, request.ranks = c.ranks;
  request.memory = c.memory, request.reads_c0 = c.beta != 0;
  out.plan = make_scale_plan(request);
  const Problem problem =
      make_problem(const_matrix_of(A), const_matrix_of(B), matrix_of(out.C), c.alpha, c.beta);
  Options options;
  options.algorithm = "packed", options.threads = 1;
  const Plan plan = make_plan(problem, options);

  ReadOptions read;
  if (c.type == DType::bf16) read.untyped = c.type;  // .npy files do not name it
  const MatrixFile a(folder.file("a.npy"), read), b(folder.file("b.npy"), read),
      c0(folder.file("c0.npy"), read);
  out.traffic.resize(static_cast<std::size_t>(c.ranks));
  out.computed.resize(static_cast<std::size_t>(c.ranks));
  out.finished = some_blocks(out.plan, c.finished);
  ThreadRanks ranks(c.ranks);
  out.errors = ranks.run([&](Transport& transport) {
    RankProduct product{&out.plan, plan, {&a, {}}, {&b, {}}, {&c0, {}}, {}};
    product.write = [&](const Array& part, index_t row, index_t col) {
      const auto size = static_cast<std::size_t>(size_of(types.out));
      for (index_t i = 0; i < part.rows(); ++i)
        std::memcpy(static_cast<std::byte*>(out.C.writable()) +
                        static_cast<std::size_t>((row + i) * c.shape.N + col) * size,
                    static_cast<const std::byte*>(part.data()) +
                        static_cast<std::size_t>(i * part.row_stride()) * size,
                    static_cast<std::size_t>(part.cols()) * size);
    };
    if (c.finished > 0) product.is_finished = with_predecessors(out.plan, out.finished);
    product.finished = [&](index_t) { ++out.computed[static_cast<std::size_t>(transport.rank())]; };
    out.traffic[static_cast<std::size_t>(transport.rank())] = run_rank(product, transport);
  });
  out.unmatched = ranks.unmatched();
  out.read_a = a.bytes_read(), out.read_b = b.bytes_read();
  out.expected = C0;
  run(plan, const_matrix_of(A), const_matrix_of(B), matrix_of(out.expected));
  return out;
}

void check_case(const Case& c) {
  const Ran r = ran(c);
  for (const std::string& error : r.errors) ASSERT_EQ(error, "") << c;
  EXPECT_EQ(std::memcmp(r.C.data(), r.expected.data(), static_cast<std::size_t>(r.C.bytes())), 0)
      << c;
  EXPECT_EQ(r.unmatched, 0u) << c;
  for (std::size_t rank = 0; rank < r.traffic.size(); ++rank) {
    const RankPart& part = r.plan.ranks[rank];
    EXPECT_EQ(static_cast<double>(r.traffic[rank].sent), part.sent) << c << ": rank " << rank;
    EXPECT_EQ(static_cast<double>(r.traffic[rank].received), part.received) << c;
    EXPECT_EQ(r.traffic[rank].messages, part.messages) << c << ": rank " << rank;
  }
  // Each element of A and B is read once by all ranks together.
  const index_t element = size_of(c.type);
  if (c.shape.M > 0 && c.shape.N > 0) {
    EXPECT_EQ(r.read_a, c.shape.M * c.shape.K * element) << c;
    EXPECT_EQ(r.read_b, c.shape.K * c.shape.N * element) << c;
  }
}

TEST(Ranks, HaveTheBitsOfOneCall) {
  for (const DType type : {DType::f32, DType::f64, DType::i8, DType::bf16, DType::f16}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      for (const Shape& shape : {Shape{70, 53, 200}, {31, 29, 640}, {150, 3, 5}, {4, 90, 7}})
        check_case({shape, type, ranks});
    }
  }
}

TEST(Ranks, HaveTheSameBitsInAnyMemory) {
  for (const DType type : {DType::f32, DType::f64, DType::i8}) {
    for (const Shape& shape : {Shape{80, 75, 85}, {40, 30, 450}}) {
      for (int ranks = 1; ranks <= 8; ++ranks) {
        const Types types = types_of(type);
        const index_t data = (shape.M * shape.K + shape.K * shape.N) * size_of(types.in_a) +
                             shape.M * shape.N * size_of(types.sum);
        for (const int part : {1, 2, 4}) {
          try {
            check_case({shape, type, ranks, data / part});
          } catch (const Error& error) {
            EXPECT_EQ(error.category(), Category::resource);
          }
        }
      }
    }
  }
}

TEST(Ranks, ApplyTheEpilogueOnceAtTheEndOfEachChain) {
  for (const int ranks : {2, 5, 8}) {
    for (const DType type : {DType::f32, DType::f64, DType::bf16}) {
      Case c{{48, 40, 256}, type, ranks};
      c.alpha = 0.5, c.beta = -2;
      check_case(c);
    }
  }
}

TEST(Ranks, TakeFilesOfAnyOrder) {
  for (const Order a : {Order::c, Order::fortran}) {
    for (const Order b : {Order::c, Order::fortran}) {
      Case c{{60, 70, 80}, DType::f32, 7};
      c.order_a = a, c.order_b = b;
      check_case(c);
    }
  }
}

TEST(Ranks, MayOutnumberTheElements) {
  for (const Shape& shape : {Shape{1, 1, 1}, {2, 1, 3}, {3, 2, 0}, {0, 3, 4}, {1, 1, 500}})
    check_case({shape, DType::f32, 8});
}

TEST(Ranks, ComputeOnlyUnfinishedBlocks) {
  for (const Shape& shape : {Shape{60, 70, 80}, {31, 29, 640}, {20, 90, 300}}) {
    for (int ranks = 2; ranks <= 8; ++ranks) {
      for (const int finished : {10, 50, 90, 100}) {
        Case c{shape, DType::f32, ranks};
        c.finished = finished;
        const Ran r = ran(c);
        for (const std::string& error : r.errors) ASSERT_EQ(error, "") << c;
        EXPECT_EQ(r.unmatched, 0u) << c;
        std::vector<index_t> left(static_cast<std::size_t>(ranks));
        each_block_of_c(r.plan, [&](std::size_t rank, index_t n, const Part& part) {
          const bool is_finished = r.finished[rank][static_cast<std::size_t>(n)];
          left[rank] += is_finished ? 0 : 1;
          for (index_t i = part.i0; i < part.i1; ++i) {
            for (index_t j = part.j0; j < part.j1; ++j) {
              const auto at = static_cast<std::size_t>(i * shape.N + j);
              const auto bits = static_cast<const std::uint32_t*>(r.C.data())[at];
              const auto wanted = static_cast<const std::uint32_t*>(r.expected.data())[at];
              ASSERT_EQ(bits, is_finished ? 0xffffffffu : wanted) << c << ": " << i << ", " << j;
            }
          }
        });
        EXPECT_EQ(r.computed, left) << c;
        for (std::size_t rank = 0; rank < r.traffic.size(); ++rank)
          EXPECT_LE(static_cast<double>(r.traffic[rank].sent),
                    finished == 100 ? 0 : r.plan.ranks[rank].sent)
              << c;
      }
    }
  }
}

RC_GTEST_PROP(Ranks, MultiplyAnyShape, ()) {
  Case c;
  c.shape = {*rc::gen::inRange<index_t>(1, 71), *rc::gen::inRange<index_t>(1, 71),
             *rc::gen::inRange<index_t>(1, 71)};
  c.ranks = *rc::gen::inRange(1, 9);
  c.type = *rc::gen::element(DType::f32, DType::f64, DType::i8);
  c.beta = *rc::gen::element(0.0, 0.0, 1.0);
  check_case(c);
  RC_ASSERT(!testing::Test::HasFailure());
}

// An element is owned by one of the ranks that use it, and its users are those whose box has it.
TEST(Shares, ArePartsOfEachElementsUsers) {
  const Shape shape{12, 9, 10};
  for (const int ranks : {1, 2, 3, 5, 7, 8, 11}) {
    Request request;
    request.shape = shape, request.ranks = ranks, request.memory = index_t{1} << 40;
    const ScalePlan plan = make_scale_plan(request);
    for (const bool is_a : {true, false}) {
      const Shares shares = is_a ? shares_of_a(plan) : shares_of_b(plan);
      const index_t rows = is_a ? shape.M : shape.K, cols = is_a ? shape.K : shape.N;
      for (index_t i = 0; i < rows; ++i) {
        for (index_t j = 0; j < cols; ++j) {
          std::vector<int> users, found;
          for (int rank = 0; rank < ranks; ++rank) {
            const Box& box = plan.ranks[static_cast<std::size_t>(rank)].box;
            if (!common(is_a ? part_of_a(box) : part_of_b(box), {i, i + 1, j, j + 1}).is_empty())
              users.push_back(rank);
          }
          int owners = 0;
          for (const Share& share : shares.all) {
            if (common(share.part, {i, i + 1, j, j + 1}).is_empty()) continue;
            ++owners, found = shares.users[static_cast<std::size_t>(share.cell)];
            EXPECT_TRUE(std::count(users.begin(), users.end(), share.owner));
          }
          EXPECT_EQ(owners, 1);
          EXPECT_EQ(found, users);
        }
      }
    }
  }
}

TEST(Ranks, EndWhenOneOfThemFails) {
  const Folder folder;
  const Array A = random_matrix(DType::f32, 64, 64, 1);
  write_array(folder.file("a.npy"), A);
  Request request;
  request.shape = {64, 64, 64}, request.ranks = 8, request.memory = index_t{1} << 40;
  const ScalePlan scale = make_scale_plan(request);
  const Array C = make_array(DType::f32, {64, 64});
  Options options;
  options.algorithm = "packed", options.threads = 1;
  const Plan plan =
      make_plan(make_problem(const_matrix_of(A), const_matrix_of(A), matrix_of(C)), options);
  for (int failing = 0; failing < 8; ++failing) {
    for (const bool reads : {true, false}) {
      const MatrixFile a(folder.file("a.npy"));
      ThreadRanks ranks(8);
      const auto errors = ranks.run([&](Transport& transport) {
        RankProduct product{&scale, plan, {&a, {}}, {&a, {}}, {}, {}};
        const auto fail = [&] {
          if (transport.rank() == failing) throw Error(Category::file, "the disk is gone");
        };
        if (reads) product.a.examine = [&](const Array&) { fail(); };
        product.write = [&](const Array&, index_t, index_t) {};
        product.progress = [&](double) {
          if (!reads) fail();
        };
        run_rank(product, transport);
      });
      for (int rank = 0; rank < 8; ++rank)
        EXPECT_EQ(errors[static_cast<std::size_t>(rank)],
                  rank == failing ? "the disk is gone" : "another rank has failed");
    }
  }
}

}  // namespace
}  // namespace tessera::scale
