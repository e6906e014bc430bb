// Which boxes for which distribution: see distributed_parts.hpp.
#include "distributed_parts.hpp"

#include <optional>

#include "boxes.hpp"
#include "depth_unit.hpp"
#include "rank_product.hpp"

namespace tessera::scale {

namespace {

/// The parts as shares; their users are the ranks whose boxes need some of them.
Shares shares_of(const std::vector<Named>& parts, const std::vector<Part>& needed) {
  Shares out;
  for (const Named& each : parts) {
    out.all.push_back(
        {each.part, static_cast<int>(each.owner), static_cast<index_t>(out.users.size())});
    std::vector<int>& users = out.users.emplace_back();
    for (std::size_t rank = 0; rank < needed.size(); ++rank)
      if (!common(each.part, needed[rank]).is_empty()) users.push_back(static_cast<int>(rank));
  }
  return out;
}

/// For each rank its only part of a matrix, or nothing if a rank has several.
std::optional<std::vector<Part>> only_parts(const std::vector<Named>& parts, int ranks) {
  std::vector<Part> out(static_cast<std::size_t>(ranks));
  for (const Named& each : parts) {
    Part& of_rank = out[static_cast<std::size_t>(each.owner)];
    if (!of_rank.is_empty()) return std::nullopt;
    of_rank = each.part;
  }
  return out;
}

/// Boxes for which one of the matrices stays where it is, and those of the best volume.
std::vector<std::vector<Box>> candidates(const Shape& s, const Owners& owners, int ranks,
                                         index_t unit) {
  std::vector<std::vector<Box>> out{cut_into_boxes(s, ranks, unit)};
  const auto add = [&](const std::vector<Named>& parts, const auto& box_of) {
    const auto only = only_parts(parts, ranks);
    if (!only) return;
    std::vector<Box> boxes;
    for (const Part& part : *only) {
      boxes.push_back(part.is_empty() ? Box{} : box_of(part));
      if (boxes.back().k0 % unit != 0) return;
    }
    out.push_back(boxes);
  };
  if (s.K == 0) return out;
  add(owners.c, [&](const Part& p) { return Box{p.i0, p.i1, p.j0, p.j1, 0, s.K}; });
  add(owners.a, [&](const Part& p) { return Box{p.i0, p.i1, 0, s.N, p.j0, p.j1}; });
  add(owners.b, [&](const Part& p) { return Box{0, s.M, p.j0, p.j1, p.i0, p.i1}; });
  return out;
}

/// Does each element of C have one box after another in order of k, so that sums can be passed on?
bool are_chains(const std::vector<Box>& boxes, const Shape& s) {
  for (const Box& box : boxes) {
    if (box.k() == 0 || box.k0 == 0) continue;
    double continued = 0;
    for (const Box& before : boxes) {
      const Part shared = common(part_of_c(box), part_of_c(before));
      if (before.k1 == box.k0 && before.k() > 0 && !shared.is_empty())
        continued += static_cast<double>(shared.rows()) * static_cast<double>(shared.cols());
    }
    if (continued != static_cast<double>(box.m()) * static_cast<double>(box.n())) return false;
  }
  double multiply_adds = 0;
  for (const Box& box : boxes)
    multiply_adds +=
        static_cast<double>(box.m()) * static_cast<double>(box.n()) * static_cast<double>(box.k());
  return multiply_adds ==
         static_cast<double>(s.M) * static_cast<double>(s.N) * static_cast<double>(s.K);
}

struct Chosen {
  ScalePlan plan;
  Shares a, b, c;
};

Chosen chosen(const Request& request, const Owners& owners, index_t unit) {
  Chosen best;
  for (const auto& boxes : candidates(request.shape, owners, request.ranks, unit)) {
    if (!are_chains(boxes, request.shape)) continue;
    std::vector<Part> a, b;
    for (const Box& box : boxes) a.push_back(part_of_a(box)), b.push_back(part_of_b(box));
    Chosen now;
    now.a = shares_of(owners.a, a), now.b = shares_of(owners.b, b), now.c = shares_of(owners.c, {});
    now.plan = plan_of_boxes(request, boxes, now.a, now.b, now.c);
    if (best.plan.ranks.empty() || now.plan.sent < best.plan.sent) std::swap(best, now);
  }
  return best;
}

/// The elements of this rank in one order, which is that of all ranks.
Held held(Shares shares, const Distributed<ConstMatrix>& matrix, int rank, Order order) {
  Held out{std::move(shares), {}, order};
  out.data.resize(out.shares.all.size());
  std::size_t next = 0;
  for (std::size_t n = 0; n < out.shares.all.size(); ++n) {
    if (out.shares.all[n].owner != rank) continue;
    while (matrix.parts[next].data.rows == 0 || matrix.parts[next].data.cols == 0) ++next;
    const ConstMatrix& m = matrix.parts[next++].data;
    const Array view =
        Array::read_only(m.dtype, {m.rows, m.cols}, {m.row_stride, m.col_stride}, m.data, nullptr);
    const bool fits = order == Order::c ? m.col_stride == 1 : m.row_stride == 1;
    out.data[n] = fits ? view : contiguous(view, order);
  }
  return out;
}

}  // namespace

Plan plan_of_parts(const Distributed<ConstMatrix>& A, const Distributed<ConstMatrix>& B,
                   const Distributed<Matrix>& C, double alpha, double beta,
                   const Options& options) {
  Problem problem;
  problem.M = C.rows, problem.N = C.cols, problem.K = A.cols;
  problem.in = A.dtype, problem.out = C.dtype;
  if (B.dtype != A.dtype) problem.in_b = B.dtype;
  problem.a = {problem.K, 1}, problem.b = {problem.N, 1}, problem.c = {problem.N, 1};
  problem.alpha = alpha, problem.beta = beta;
  Options packed = options;
  packed.algorithm = "packed";
  return make_plan(problem, packed);
}

bool multiply_parts(Transport& ranks, const Plan& plan, const Owners& owners,
                    const Distributed<ConstMatrix>& A, Order order_a,
                    const Distributed<ConstMatrix>& B, Order order_b, const Distributed<Matrix>& C,
                    double most_sent) {
  Request request;
  request.shape = {C.rows, C.cols, A.cols};
  request.types = types_of(A.dtype);
  request.types.b = request.types.in_b = B.dtype;
  request.types.out = C.dtype;
  request.ranks = ranks.ranks();
  request.memory = index_t{1} << 60;
  const bool is_paired = A.dtype == DType::bf16 || B.dtype == DType::bf16;
  const Chosen best = chosen(request, owners, is_paired ? kDepthUnit : 1);
  if (best.plan.sent > most_sent) return false;
  const Held a = held(best.a, A, ranks.rank(), order_a), b = held(best.b, B, ranks.rank(), order_b);

  std::vector<const LocalPart<Matrix>*> own(best.c.all.size());
  std::size_t next = 0;
  for (std::size_t n = 0; n < own.size(); ++n) {
    if (best.c.all[n].owner != ranks.rank()) continue;
    while (C.parts[next].data.rows == 0 || C.parts[next].data.cols == 0) ++next;
    own[n] = &C.parts[next++];
  }
  const Gathered c{
      best.c, [&](std::size_t n, const Part& part, const Array& sums) {
        const Matrix& m = own[n]->data;
        const index_t at =
            (part.i0 - own[n]->row) * m.row_stride + (part.j0 - own[n]->col) * m.col_stride;
        finish_in_place(plan, sums,
                        {static_cast<std::byte*>(m.data) + at * size_of(m.dtype), m.dtype,
                         part.rows(), part.cols(), m.row_stride, m.col_stride});
      }};
  RankProduct product{&best.plan, plan, {}, {}, {}, {}};
  product.held_a = &a, product.held_b = &b, product.c = &c;
  run_rank(product, ranks);
  return true;
}

}  // namespace tessera::scale
