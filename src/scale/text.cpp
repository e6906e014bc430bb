// A plan for people: lines of text, and a picture of its boxes.
#include "tessera/core/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "plan.hpp"

namespace tessera::scale {

namespace {

template <class... Values>
std::string printed(const char* format, Values... values) {
  char buffer[200];
  const int length = std::snprintf(buffer, sizeof buffer, format, values...);
  return {buffer, static_cast<std::size_t>(std::clamp(length, 0, 199))};
}

std::string bytes(double count) {
  return bytes_text(static_cast<index_t>(std::min(count, 0x1p62)));
}

std::string operations(double count) {
  constexpr const char* units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
  int unit = 0;
  for (; count >= 1000 && unit < 6; ++unit) count /= 1000;
  return printed("%.3g %s", count, units[unit]);
}

std::string seconds(double count) {
  if (count <= 0) return "not known";
  if (count < 1) return printed("%.0f ms", std::max(1.0, count * 1000));
  if (count < 600) return printed("%.1f s", count);
  return count < 36000 ? printed("%.0f min", count / 60) : printed("%.1f h", count / 3600);
}

std::string shape(index_t rows, index_t cols) { return cat("(", rows, ",", cols, ")"); }

/// The extents of the boxes: "25000", or "23400 to 25000".
template <class Extent>
std::string range(const ScalePlan& plan, Extent extent) {
  index_t least = -1, most = 0;
  for (const RankPart& part : plan.ranks) {
    if (part.box == Box{}) continue;
    const index_t length = extent(part.box);
    least = least < 0 ? length : std::min(least, length);
    most = std::max(most, length);
  }
  return least == most ? cat(most) : cat(std::max<index_t>(0, least), " to ", most);
}

std::string split_line(const ScalePlan& plan) {
  if (plan.request.ranks == 1) return "one rank";
  return cat(plan.request.ranks, " boxes of ", range(plan, [](const Box& b) { return b.m(); }),
             " x ", range(plan, [](const Box& b) { return b.n(); }), " x ",
             range(plan, [](const Box& b) { return b.k(); }), " (M x N x K)");
}

std::string blocks_line(const Schedule& s) {
  const std::string grid =
      cat(s.blocks_down(), " x ", s.blocks_across(), " blocks of ", s.block_m, " x ", s.block_n);
  const std::string half = s.symmetric ? "; half of C is computed" : "";
  if (s.resident == Resident::sums)
    return cat(grid, " sums; A and B stream in ", s.slices(), " slices of ", s.depth, " along K",
               half);
  return cat(grid, "; ", name(s.resident), " stay, ",
             s.resident == Resident::rows_of_a ? "columns of B" : "rows of A", " stream", half);
}

/// Boxes with elements, back to front, so that nearer ones cover the others.
std::vector<const RankPart*> back_to_front(const ScalePlan& plan) {
  std::vector<const RankPart*> order;
  for (const RankPart& part : plan.ranks) {
    if (part.box.m() > 0 && part.box.n() > 0) order.push_back(&part);
  }
  std::stable_sort(order.begin(), order.end(), [](const RankPart* a, const RankPart* b) {
    if (a->box.k1 <= b->box.k0 || b->box.k1 <= a->box.k0) return a->box.k0 > b->box.k0;
    if (a->box.m1 <= b->box.m0 || b->box.m1 <= a->box.m0) return a->box.m0 > b->box.m0;
    return a->box.n0 < b->box.n0;
  });
  return order;
}

}  // namespace

std::string to_string(const ScalePlan& plan) {
  const Request& r = plan.request;
  const Schedule& s = plan.schedule;
  std::string out =
      cat(shape(r.shape.M, r.shape.N), " = ", shape(r.shape.M, r.shape.K), " * ",
          shape(r.shape.K, r.shape.N), ", ", r.types.out, ": ", operations(plan.flops()), "\n");
  out += cat("split      ", split_line(plan), "\n");
  out += cat("blocks     ", blocks_line(s), "\n");
  out += cat("memory     ", bytes(static_cast<double>(plan.memory)), r.ranks > 1 ? " a rank" : "",
             " of ", bytes(static_cast<double>(r.memory)), "\n");
  if (r.ranks > 1) {
    out += cat("network    ", bytes(plan.worst_received), " a rank at most, ", bytes(plan.sent),
               " in all, ", printed("%.2f", plan.ratio_to_bound()), " x the lower bound; ",
               plan.messages, " messages\n");
  }
  const double ratio = s.bound > 0 ? s.moved() / s.bound : 1;
  out += cat("files      ", bytes(plan.read), " read, ", bytes(plan.written), " written",
             r.ranks == 1 ? printed(", %.2f x the lower bound\n", ratio) : std::string("\n"));
  out += cat("time       arithmetic ", seconds(plan.time.arithmetic),
             r.ranks > 1 ? cat(", network ", seconds(plan.time.network)) : std::string(), ", disk ",
             seconds(plan.time.disk), ": about ", seconds(plan.time.total), "\n");
  if (!plan.limit.empty()) out += cat("limited by ", plan.limit, "\n");
  return out;
}

std::string picture(const ScalePlan& plan) {
  const Shape& whole = plan.request.shape;
  // An oblique view: N to the right, M downwards, K to the upper right, half as long.
  constexpr double side = 360, margin = 40, slant = 0.4;
  const double longest = static_cast<double>(std::max({whole.M, whole.N, whole.K, index_t{1}}));
  // Thin sides remain visible.
  const auto scaled = [&](index_t extent, index_t of) {
    const double length = std::max(0.08, static_cast<double>(of) / longest) * side;
    return of > 0 ? static_cast<double>(extent) / static_cast<double>(of) * length : 0.0;
  };
  const double width = scaled(whole.N, whole.N), height = scaled(whole.M, whole.M),
               depth = scaled(whole.K, whole.K) * slant;
  struct Point {
    double x, y;
  };
  const auto at = [&](index_t m, index_t n, index_t k) {
    const double into = scaled(k, whole.K) * slant;
    return Point{margin + scaled(n, whole.N) + into, margin + depth + scaled(m, whole.M) - into};
  };
  std::string out = printed(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n",
      2 * margin + width + depth, 2 * margin + height + depth);
  for (const RankPart* part : back_to_front(plan)) {
    const Box& b = part->box;
    const int number = static_cast<int>(part - plan.ranks.data());
    const double hue = std::fmod(137.508 * number, 360.0);
    const auto face = [&](Point p, Point q, Point r, Point s, int light) {
      out += printed(
          "<polygon points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f\" "
          "fill=\"hsl(%.0f,45%%,%d%%)\" stroke=\"#333\" stroke-width=\"0.5\"/>\n",
          p.x, p.y, q.x, q.y, r.x, r.y, s.x, s.y, hue, light);
    };
    face(at(b.m0, b.n0, b.k0), at(b.m0, b.n1, b.k0), at(b.m0, b.n1, b.k1), at(b.m0, b.n0, b.k1),
         80);  // top
    face(at(b.m0, b.n1, b.k0), at(b.m1, b.n1, b.k0), at(b.m1, b.n1, b.k1), at(b.m0, b.n1, b.k1),
         55);  // right
    face(at(b.m0, b.n0, b.k0), at(b.m0, b.n1, b.k0), at(b.m1, b.n1, b.k0), at(b.m1, b.n0, b.k0),
         68);  // front
    const Point corner = at(b.m0, b.n0, b.k0), end = at(b.m1, b.n1, b.k0);
    if (end.x - corner.x > 24 && end.y - corner.y > 14)
      out +=
          printed("<text x=\"%.1f\" y=\"%.1f\">%d</text>\n", corner.x + 4, corner.y + 13, number);
  }
  out += printed("<text x=\"%.0f\" y=\"%.0f\">M = %lld</text>\n", 2.0, margin + depth - 4,
                 static_cast<long long>(whole.M));
  out += printed("<text x=\"%.0f\" y=\"%.0f\">N = %lld, K = %lld in depth</text>\n", margin,
                 margin + depth + height + 18, static_cast<long long>(whole.N),
                 static_cast<long long>(whole.K));
  return out + "</svg>\n";
}

}  // namespace tessera::scale
