// Reading ranges and lists of sizes: see sizes.hpp.
#include "sizes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

constexpr std::size_t kMostSizes = 1000;

/// The kind of a list: the names of an entry and its number in messages, and the allowed syntax.
struct Wording {
  std::string_view entry, number, forms;
  index_t largest;
};
constexpr index_t kLargest = index_t{1} << 20;  // an f32 square takes 4 TiB
constexpr Wording kSizes = {
    "size", "a size",
    "512, 64:1024:x2, 64:1024:+64, 4096x16x4096, 1000x8x8x8, 1024-TN or 1024-update, joined by "
    "commas",
    kLargest};
constexpr Wording kExtents = {"extent", "an extent",
                              "512, 64:1024:x2 or 64:1024:+64, joined by commas", kLargest};
constexpr Wording kThreads = {"number of threads", "it", "1, 1,2 or 1:16:x2", 4096};

struct Suite {
  std::string_view name, sizes;
};
constexpr std::array kSuites = {
    Suite{"square", "64,96,128,192,256,384,512,768,1024,1536,2048,3072,4096"},
    Suite{"skinny",
          "1x4096x4096,2x4096x4096,4x4096x4096,8x4096x4096,16x4096x4096,32x4096x4096,"
          "64x4096x4096,128x4096x4096,4096x1x4096"},
    Suite{"small_k", "4096x4096x64,8192x8192x32,1024x1024x32,256x1024x16"},
    Suite{"long_k", "4096x64x4096,64x64x65536"},
    Suite{"odd", "1000,1023x1025x1027,1024"},
    Suite{"transposed", "1024,1024-TN,1024-NT,1024-TT"},
    Suite{"tiny", "4,8,16,32"},
    Suite{"small",
          "1x64x64,1x128x128,1x256x256,2x256x256,16x64x64,16x128x128,16x256x256,64x64x16,"
          "128x128x16,256x1x256,10x100x100,64x64x256"},
    Suite{"few_rows",
          "1x512x512,2x512x512,4x512x512,8x512x512,16x512x512,1x1024x1024,4x1024x1024,8x1024x1024,"
          "16x1024x1024,1x2000x2000,4x2000x2000,16x2000x2000"},
    Suite{"thin",
          "1000x4x16,64x4x64,1000x8x100,1000x3x1000,4096x8x4096,4096x8x4096-TN,4x128x128-NT,"
          "8x128x128-NT,1x1000x1000-NT,3x1000x1000-NT,8x1000x1000-NT,8x4096x4096-NT,48x1x48,"
          "16x4x300,12x3x128-NT,16x6x128-NT,33x2x512-NT"},
    Suite{"uneven",
          "17,33,50,65,97,100,130,33-TN,100-TN,24-TT,33-TT,64-TT,100-TT,64-NT,65-NT,256-TN"},
    Suite{"update",
          "16-update,64-update,256x256x32-update,512x512x64-update,1000x1000x32-update,"
          "2048x2048x128-update,4096x4096x64-update,1024-update"},
    Suite{"batched", "1000x8x8x8,1000x16x16x16,1000x32x32x32,100x64x64x64"}};

[[noreturn]] void refuse(const Wording& list, std::string_view part, const std::string& why) {
  throw Error(Category::argument, cat("cannot read the ", list.entry, " '", part, "': ", why), {},
              {}, cat("write ", list.forms));
}

index_t number(const Wording& list, std::string_view text, std::string_view part,
               std::string_view what, index_t least = 1) {
  index_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range || (error == std::errc{} && value > list.largest))
    refuse(list, part, cat("'", text, "' is larger than ", list.largest));
  if (text.empty()) refuse(list, part, "a number is missing");
  if (error != std::errc{} || stop != end)
    refuse(list, part, cat("'", text, "' is not a whole number"));
  if (value < least) refuse(list, part, cat(what, " is at least ", least, ", not ", value));
  return value;
}

std::vector<index_t> range(const Wording& list, std::string_view part) {
  if (part.empty()) refuse(list, part, "a number is missing");
  const auto fields = shell::split(part, ':');
  if (fields.size() == 1) return {number(list, part, part, list.number)};
  if (fields.size() != 3)
    refuse(list, part, "a range has three fields, FIRST:LAST:xFACTOR or FIRST:LAST:+STEP");
  const index_t first = number(list, fields[0], part, list.number);
  const index_t last = number(list, fields[1], part, list.number);
  if (last < first)
    refuse(list, part, cat("the range ends at ", last, ", before it begins at ", first));
  const std::string& step = fields[2];
  const bool times = step.starts_with('x');
  if (!times && !step.starts_with('+'))
    refuse(list, part,
           cat("the third field is a factor such as x2 or a step such as +64, not '", step, "'"));
  const index_t by = number(list, std::string_view(step).substr(1), part,
                            times ? "a factor" : "a step", times ? 2 : 1);
  std::vector<index_t> out;
  for (index_t at = first; at <= last; at = times ? at * by : at + by) {
    if (out.size() == kMostSizes) refuse(list, part, cat("more than ", kMostSizes, " sizes"));
    out.push_back(at);
  }
  return out;
}

template <class T>
void append_once(std::vector<T>& out, const T& value) {
  if (std::find(out.begin(), out.end(), value) == out.end()) out.push_back(value);
}

template <class T, class Each>
std::vector<T> parse_list(const Wording& list, std::string_view text, Each&& each) {
  std::vector<T> out;
  if (text.empty()) refuse(list, text, "the list is empty");
  for (const auto& part : shell::split(text, ',')) {
    for (const T& value : each(part)) append_once(out, value);
    if (out.size() > kMostSizes)
      throw Error(Category::argument, "too many sizes", cat("at most ", kMostSizes),
                  std::to_string(out.size()));
  }
  return out;
}

/// Removes "-TN", "-update" and the like from the end of `part` and applies it to the shape.
Shape without_suffix(std::string& part) {
  Shape out;
  constexpr std::string_view update = "-update";
  out.updates = part.ends_with(update);
  if (out.updates) part.resize(part.size() - update.size());
  for (const char a : {'N', 'T'}) {
    for (const char b : {'N', 'T'}) {
      if (!part.ends_with(std::string{'-', a, b})) continue;
      part.resize(part.size() - 3);
      out.a_transposed = a == 'T', out.b_transposed = b == 'T';
      return out;
    }
  }
  return out;
}

/// MxNxK or BATCHxMxNxK.
Shape rectangle(std::string_view part) {
  const auto fields = shell::split(part, 'x');
  std::vector<index_t> sides;
  for (const auto& field : fields) sides.push_back(number(kSizes, field, part, kSizes.number));
  if (sides.size() == 3) return {sides[0], sides[1], sides[2]};
  if (sides.size() == 4) return {sides[1], sides[2], sides[3], sides[0]};
  refuse(kSizes, part,
         "a rectangle has three extents, MxNxK, or four with those of a batch, BATCHxMxNxK");
}

}  // namespace

std::vector<index_t> parse_extents(std::string_view text) {
  return parse_list<index_t>(kExtents, text,
                             [](const std::string& part) { return range(kExtents, part); });
}

std::vector<index_t> parse_thread_counts(std::string_view text) {
  return parse_list<index_t>(kThreads, text,
                             [](const std::string& part) { return range(kThreads, part); });
}

std::vector<Shape> parse_sizes(std::string_view text) {
  return parse_list<Shape>(kSizes, text, [](const std::string& part) {
    std::string sides = part;
    const Shape like = without_suffix(sides);
    const auto dash = sides.find('-');
    if (dash != std::string::npos && dash > 0 && sides[dash - 1] >= '0' && sides[dash - 1] <= '9')
      refuse(kSizes, part,
             cat("'", part.substr(dash),
                 "' is none of the suffixes -NN, -NT, -TN and -TT, optionally with -update"));
    std::vector<Shape> out;
    if (sides.find('x') != std::string::npos && sides.find(':') == std::string::npos) {
      out.push_back(rectangle(sides));
    } else {
      for (index_t side : range(kSizes, sides)) out.push_back({side, side, side});
    }
    for (Shape& each : out) {
      each.a_transposed = like.a_transposed, each.b_transposed = like.b_transposed;
      each.updates = like.updates;
    }
    return out;
  });
}

std::vector<Shape> all_combinations(const std::vector<index_t>& M, const std::vector<index_t>& N,
                                    const std::vector<index_t>& K) {
  // Each list is bounded by parse_extents, so the product of the lengths cannot overflow.
  const std::size_t count = M.size() * N.size() * K.size();
  if (count > kMostSizes)
    throw Error(Category::argument, "-m, -n and -k give too many combinations",
                cat("at most ", kMostSizes), std::to_string(count));
  std::vector<Shape> out;
  for (index_t m : M) {
    for (index_t n : N) {
      for (index_t k : K) out.push_back({m, n, k});
    }
  }
  return out;
}

std::vector<std::string> suite_names() {
  std::vector<std::string> out;
  for (const Suite& each : kSuites) out.emplace_back(each.name);
  out.emplace_back("all");
  return out;
}

std::vector<Shape> suite_shapes(std::string_view text) {
  std::vector<Shape> out;
  for (const auto& name : shell::split(text, ',')) {
    bool known = false;
    for (const Suite& suite : kSuites) {
      if (name != suite.name && name != "all") continue;
      known = true;
      for (const Shape& shape : parse_sizes(suite.sizes)) append_once(out, shape);
    }
    if (known) continue;
    const std::string near = shell::nearest(name, suite_names());
    throw Error(Category::argument, cat("unknown suite '", name, "'"),
                "one of " + shell::join(suite_names()), {},
                near.empty() ? "" : cat("did you mean '", near, "'?"));
  }
  if (out.empty()) throw Error(Category::argument, "no suite named", shell::join(suite_names()));
  return out;
}

}  // namespace tessera::bench
