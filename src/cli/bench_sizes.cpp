// Reading ranges and lists of sizes: see bench_sizes.hpp.
#include "bench_sizes.hpp"

#include <algorithm>
#include <charconv>

#include "options.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

constexpr index_t kLargest = index_t{1} << 20;  // 4 TiB for one f32 square: nobody's memory
constexpr std::size_t kMostSizes = 1000;
constexpr const char* kForms = "512, 64:1024:x2, 64:1024:+64 or 4096x16x4096, joined by commas";

[[noreturn]] void refuse(std::string_view part, const std::string& why) {
  throw Error(Category::argument, cat("cannot read the size '", part, "': ", why), {}, {},
              cat("write ", kForms));
}

index_t number(std::string_view text, std::string_view part) {
  index_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && value > kLargest))
    refuse(part, cat("'", text, "' is larger than ", kLargest));
  if (text.empty()) refuse(part, "a number is missing");
  if (error != std::errc{} || stop != end) refuse(part, cat("'", text, "' is not a whole number"));
  if (value < 1) refuse(part, cat("a size is at least 1, not ", value));
  return value;
}

std::vector<index_t> range(std::string_view part) {
  if (part.empty()) refuse(part, "a number is missing");
  const auto fields = split(part, ':');
  if (fields.size() == 1) return {number(part, part)};
  if (fields.size() != 3)
    refuse(part, "a range has three fields, FIRST:LAST:xFACTOR or FIRST:LAST:+STEP");
  const index_t first = number(fields[0], part);
  const index_t last = number(fields[1], part);
  if (last < first) refuse(part, cat("it ends at ", last, ", before it begins at ", first));
  const std::string& step = fields[2];
  const bool times = step.starts_with('x');
  if (!times && !step.starts_with('+'))
    refuse(part,
           cat("the third field is a factor such as x2 or a step such as +64, not '", step, "'"));
  const index_t by = number(std::string_view(step).substr(1), part);
  if (times && by < 2) refuse(part, "a factor is at least 2");
  std::vector<index_t> out;
  for (index_t at = first; at <= last; at = times ? at * by : at + by) {
    if (out.size() == kMostSizes) refuse(part, cat("more than ", kMostSizes, " sizes"));
    out.push_back(at);
  }
  return out;
}

template <class T>
void append_once(std::vector<T>& out, const T& value) {
  if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
}

template <class T, class Each>
std::vector<T> parse_list(std::string_view text, Each&& each) {
  std::vector<T> out;
  if (text.empty()) refuse(text, "nothing is there");
  for (const auto& part : split(text, ',')) {
    for (const T& value : each(part)) append_once(out, value);
    if (out.size() > kMostSizes)
      throw Error(Category::argument, "too many sizes", cat("at most ", kMostSizes),
                  std::to_string(out.size()));
  }
  return out;
}

}  // namespace

std::string to_string(const Extents& extents) {
  if (extents.M == extents.N && extents.N == extents.K) return std::to_string(extents.M);
  return cat(extents.M, "x", extents.N, "x", extents.K);
}

std::vector<index_t> parse_extents(std::string_view text) {
  return parse_list<index_t>(text, [](const std::string& part) { return range(part); });
}

std::vector<Extents> parse_sizes(std::string_view text) {
  return parse_list<Extents>(text, [](const std::string& part) {
    std::vector<Extents> out;
    if (part.find('x') != std::string::npos && part.find(':') == std::string::npos) {
      const auto sides = split(part, 'x');
      if (sides.size() != 3) refuse(part, "a rectangle has three extents, MxNxK");
      out.push_back({number(sides[0], part), number(sides[1], part), number(sides[2], part)});
    } else {
      for (index_t side : range(part)) out.push_back({side, side, side});
    }
    return out;
  });
}

std::vector<Extents> all_combinations(const std::vector<index_t>& M, const std::vector<index_t>& N,
                                      const std::vector<index_t>& K) {
  // Each list is bounded by parse_extents, so the product of the lengths cannot overflow.
  const std::size_t count = M.size() * N.size() * K.size();
  if (count > kMostSizes)
    throw Error(Category::argument, "-m, -n and -k together give too many sizes",
                cat("at most ", kMostSizes), std::to_string(count));
  std::vector<Extents> out;
  for (index_t m : M) {
    for (index_t n : N) {
      for (index_t k : K) out.push_back({m, n, k});
    }
  }
  return out;
}

}  // namespace tessera::cli
