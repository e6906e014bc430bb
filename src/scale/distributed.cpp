// Distributed matrices: see distributed.hpp. The ranks learn who has which part, choose the boxes
// for which least is sent, and run them.
#include "tessera/scale/distributed.hpp"

#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <thread>

#include "distributed_parts.hpp"
#include "tessera/core/text.hpp"
#include "transport.hpp"

namespace tessera::scale {

namespace {

/// Runs checks of this rank alone. All ranks go on, or all throw: see distributed.hpp.
template <class Work>
void together(Transport& ranks, const Work& work) {
  constexpr index_t kFine = std::numeric_limits<index_t>::max();
  std::optional<Error> error;
  try {
    work();
  } catch (const Error& each) {
    error.emplace(each);
  }
  const index_t first = ranks.least(error ? ranks.rank() : kFine);
  if (error) throw Error(*error);
  if (first != kFine)
    throw Error(Category::failed, cat("matmul: rank ", first, " refuses its arguments"));
}

/// Waits for all.
void finish(Transport& ranks, const std::vector<Transport::Ticket>& tickets) {
  for (const auto ticket : tickets) {
    while (!ranks.is_done(ticket)) ranks.watch(), std::this_thread::yield();
  }
}

template <class T>
Lines bytes_of(std::vector<T>& values) {
  const auto size = static_cast<index_t>(values.size() * sizeof(T));
  return {reinterpret_cast<std::byte*>(values.data()), 1, size, size};
}

/// The parts of all ranks, in order of the ranks.
std::vector<Named> gathered(Transport& ranks, std::vector<Named> own) {
  std::vector<index_t> counts{static_cast<index_t>(own.size())};
  std::vector<Named> all = own;
  if (ranks.rank() != 0) {
    finish(ranks, {ranks.send(bytes_of(counts), 0, Kind::result)});
    if (!own.empty()) finish(ranks, {ranks.send(bytes_of(own), 0, Kind::result)});
  } else {
    for (int rank = 1; rank < ranks.ranks(); ++rank) {
      finish(ranks, {ranks.receive(bytes_of(counts), rank, Kind::result)});
      std::vector<Named> more(static_cast<std::size_t>(counts[0]));
      if (!more.empty()) finish(ranks, {ranks.receive(bytes_of(more), rank, Kind::result)});
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  auto count = static_cast<index_t>(all.size());
  ranks.broadcast(&count, sizeof count);
  all.resize(static_cast<std::size_t>(count));
  if (count > 0) ranks.broadcast(all.data(), count * static_cast<index_t>(sizeof(Named)));
  return all;
}

template <class M>
std::vector<Named> named(const Distributed<M>& matrix, int rank) {
  std::vector<Named> out;
  for (const auto& each : matrix.parts) {
    if (each.data.rows > 0 && each.data.cols > 0)
      out.push_back(
          {{each.row, each.row + each.data.rows, each.col, each.col + each.data.cols}, rank});
  }
  return out;
}

template <class M>
void check_local(const Distributed<M>& matrix, const char* what) {
  if (matrix.rows < 0 || matrix.cols < 0)
    throw Error(Category::shape, cat("matmul: ", what, " has a negative extent"));
  for (const auto& each : matrix.parts) {
    const auto& m = each.data;
    if (m.dtype != matrix.dtype)
      throw Error(Category::type, cat("matmul: a part of ", what, " is of another type"),
                  std::string(name(matrix.dtype)), std::string(name(m.dtype)));
    if (each.row < 0 || each.col < 0 || m.rows < 0 || m.cols < 0 ||
        each.row + m.rows > matrix.rows || each.col + m.cols > matrix.cols)
      throw Error(Category::shape, cat("matmul: a part of ", what, " is outside the matrix"),
                  cat("within (", matrix.rows, ",", matrix.cols, ")"),
                  cat("(", m.rows, ",", m.cols, ") at (", each.row, ",", each.col, ")"));
    if (m.data == nullptr && m.rows > 0 && m.cols > 0)
      throw Error(Category::argument, cat("matmul: a part of ", what, " has no memory"));
  }
}

/// Each element once: the parts fill the matrix and do not overlap.
void check_cover(const std::vector<Named>& parts, index_t rows, index_t cols, const char* what) {
  double elements = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& p = parts[i].part;
    elements += static_cast<double>(p.rows()) * static_cast<double>(p.cols());
    for (std::size_t j = 0; j < i; ++j) {
      if (!common(p, parts[j].part).is_empty())
        throw Error(Category::argument, cat("matmul: two parts of ", what, " overlap"),
                    "each element once",
                    cat("element (", std::max(p.i0, parts[j].part.i0), ",",
                        std::max(p.j0, parts[j].part.j0), ") on ranks ", parts[j].owner, " and ",
                        parts[i].owner));
    }
  }
  const double wanted = static_cast<double>(rows) * static_cast<double>(cols);
  if (elements != wanted)
    throw Error(Category::argument, cat("matmul: the parts of ", what, " do not fill it"),
                cat(wanted, " elements"), cat(elements));
}

/// The order that most matrices of this kind have: that of rank 0's first part.
Order agreed_order(Transport& ranks, const Distributed<ConstMatrix>& matrix) {
  int order = 0;
  for (const auto& each : matrix.parts) {
    if (each.data.rows > 0 && each.data.cols > 0) {
      order = each.data.col_stride == 1 ? 0 : 1;
      break;
    }
  }
  ranks.broadcast(&order, sizeof order);
  return order == 0 ? Order::c : Order::fortran;
}

}  // namespace

void matmul(Transport& ranks, const Distributed<ConstMatrix>& A, const Distributed<ConstMatrix>& B,
            const Distributed<Matrix>& C, double alpha, double beta, const Options& options) {
  std::optional<Plan> plan;
  together(ranks, [&] {
    check_local(A, "A"), check_local(B, "B"), check_local(C, "C");
    if (A.cols != B.rows)
      throw Error(Category::shape,
                  cat("matmul: A has ", A.cols, " columns but B has ", B.rows, " rows"));
    if (C.rows != A.rows || C.cols != B.cols)
      throw Error(Category::shape, "matmul: C does not have the shape of the product",
                  cat("(", A.rows, ",", B.cols, ")"), cat("(", C.rows, ",", C.cols, ")"));
    plan.emplace(plan_of_parts(A, B, C, alpha, beta, options));
  });
  // Differences between the ranks would end in messages that nobody expects.
  const std::array<std::int64_t, 8> here{C.rows,
                                         C.cols,
                                         A.cols,
                                         static_cast<std::int64_t>(A.dtype),
                                         static_cast<std::int64_t>(B.dtype),
                                         static_cast<std::int64_t>(C.dtype),
                                         std::bit_cast<std::int64_t>(alpha),
                                         std::bit_cast<std::int64_t>(beta)};
  auto first = here;
  ranks.broadcast(first.data(), sizeof first);
  together(ranks, [&] {
    if (first != here)
      throw Error(Category::argument,
                  "matmul: extents, types, alpha or beta differ from those of rank 0");
  });
  const Owners owners{gathered(ranks, named(A, ranks.rank())),
                      gathered(ranks, named(B, ranks.rank())),
                      gathered(ranks, named(C, ranks.rank()))};
  check_cover(owners.a, A.rows, A.cols, "A");
  check_cover(owners.b, B.rows, B.cols, "B");
  check_cover(owners.c, C.rows, C.cols, "C");

  const Order order_a = agreed_order(ranks, A), order_b = agreed_order(ranks, B);
  multiply_parts(ranks, *plan, owners, A, order_a, B, order_b, C);
}

}  // namespace tessera::scale
