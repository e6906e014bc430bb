// Routes as text: the fields in one list, which writing and reading share.
#include "route.hpp"

#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <type_traits>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cpu {

namespace {

constexpr std::string_view kVariants[] = {"nothing", "scaled", "lanes", "chains",
                                          "tiny",    "small",  "packed"};
constexpr std::string_view kForms[] = {"no", "tiles", "dots", "column_dots", "panel"};
constexpr std::string_view kStreams[] = {"none", "axpy", "panels", "copied", "dots", "strips"};
constexpr std::string_view kPackings[] = {"none", "by_caller", "own", "shared"};
constexpr std::string_view kSums[] = {"tile", "c", "workspace"};
constexpr std::string_view kFinishes[] = {"never", "tiles", "after"};

std::span<const std::string_view> names(Variant) { return kVariants; }
std::span<const std::string_view> names(SmallForm) { return kForms; }
std::span<const std::string_view> names(Stream) { return kStreams; }
std::span<const std::string_view> names(Packing) { return kPackings; }
std::span<const std::string_view> names(SumsIn) { return kSums; }
std::span<const std::string_view> names(FinishAt) { return kFinishes; }

/// Calls field(name, member) for each member of a route, those of `packed` where it is one.
template <class Route, class Field>
void each_field(Route& route, const Field& field) {
  field("variant", route.variant), field("form", route.form);
  field("transposed", route.is_transposed), field("threads", route.threads);
  field("columns_apart", route.columns_apart), field("workspace", route.workspace);
  if (route.variant != Variant::packed) return;
  auto& p = route.packed;
  field("kc", p.blocks.kc), field("nc", p.blocks.nc), field("mc", p.blocks.mc);
  field("mr", p.mr), field("nr", p.blocks.nr), field("b_shareable", p.blocks.shares_b);
  field("stream", p.blocks.stream), field("stream_panels", p.blocks.stream_panels);
  field("k_groups", p.k_groups), field("kc_blocks", p.kc_blocks), field("axpy", p.axpy);
  field("pack_a", p.a), field("pack_b", p.b), field("fused", p.fuses_b), field("wide", p.is_wide);
  field("prefetch_b", p.prefetches_b), field("first_rows", p.first_rows);
  field("block_rows", p.block_rows), field("block_cols", p.most_cols);
  field("share_columns", p.share_columns), field("sums", p.sums), field("sums_row", p.sums_row);
  field("epilogue", p.finish), field("stream_c", p.streams_c);
  field("columns_before", p.columns_before);
  auto& w = p.workspace;
  field("a_shares", w.a_shares), field("b_shares", w.b_shares);
  field("a_kc_block", w.a_kc_block), field("b_kc_block", w.b_kc_block), field("sum_bytes", w.sums);
  field("states", w.states), field("a_own", w.a_own), field("b_own", w.b_own);
  field("packed_bytes", w.total);
}

/// Takes "name=" off the front of `text` and returns what follows, up to a space.
std::string_view take(std::string_view& text, std::string_view name) {
  const bool fits = text.starts_with(name) && text.substr(name.size()).starts_with('=');
  if (!fits)
    throw Error(Category::argument, "a route cannot be read", cat(name, "=..."),
                cat("'", text.substr(0, 40), "'"), "give it as to_text() wrote it");
  text.remove_prefix(name.size() + 1);
  const std::string_view value = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), value.size() + 1));
  return value;
}

[[noreturn]] void refuse(std::string_view name, std::string_view value) {
  throw Error(Category::argument, cat("a route cannot be read: ", name), "a value that it may have",
              cat("'", value, "'"), "give it as to_text() wrote it");
}

}  // namespace

std::string to_text(const Route& route) {
  std::string out;
  each_field(route, [&](std::string_view name, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    out += cat(out.empty() ? "" : " ", name, "=");
    if constexpr (std::is_enum_v<Value>) out += names(value)[static_cast<std::size_t>(value)];
    else out += cat(static_cast<std::int64_t>(value));
  });
  return out;
}

Route route_from(std::string_view text) {
  Route route{};
  each_field(route, [&](std::string_view name, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    const std::string_view said = take(text, name);
    if constexpr (std::is_enum_v<Value>) {
      const auto all = names(Value{});
      const auto found = std::find(all.begin(), all.end(), said);
      if (found == all.end()) refuse(name, said);
      value = static_cast<Value>(found - all.begin());
    } else {
      std::int64_t number = -1;
      const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), number);
      const bool fits = static_cast<std::int64_t>(static_cast<Value>(number)) == number;
      if (error != std::errc{} || end != said.data() + said.size() || number < 0 || !fits)
        refuse(name, said);
      value = static_cast<Value>(number);
    }
  });
  if (!text.empty()) refuse("the end", text);
  return route;
}

namespace {

GemmRoute report_of(const PackedPlan& plan, int threads, bool is_alone) {
  constexpr std::string_view blocks[] = {
      "blocks for the caches",
      "blocks for the caches; single-threaded: threading would not pay off"};
  constexpr std::string_view in_place[] = {
      "read in place, from the caches",
      "read in place, from the caches; single-threaded: threading would not pay off"};
  constexpr std::string_view once[] = {
      "the larger operand is read once",
      "the larger operand is read once; single-threaded: threading would not pay off"};
  switch (plan.blocks.stream) {
    case Stream::none: return {"packed", blocks[is_alone], threads};
    case Stream::strips: return {"strips", in_place[is_alone], threads};
    default: return {"few_rows", once[is_alone], threads};
  }
}

}  // namespace

GemmRoute report_of(const Route& route, int most_threads) {
  switch (route.variant) {
    case Variant::nothing: return {"nothing", "C is empty", 1};
    case Variant::scaled: return {"scaled", "there is nothing to sum", 1};
    case Variant::lanes:
      return {"lanes", "A and B contiguous along K: chains side by side", route.threads};
    case Variant::chains: return {"small", "few sums, each one chain of multiply-adds", 1};
    case Variant::tiny: return {"tiny", "not worth sharing", 1};
    case Variant::small: return {"small", "too little work to cut into tasks", 1};
    case Variant::packed: break;
  }
  return report_of(route.packed, route.threads, route.threads == 1 && most_threads > 1);
}

}  // namespace tessera::cpu
