// `tessera layout SPEC`: a layout as a table, a picture or JSON; `tessera layout eval EXPR`: the
// layout algebra on the command line. An error in an expression is shown with a caret below it.
#include "tessera/layout/layout.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "layout/parse.hpp"
#include "shell/caret_error.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/suggest.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/composed.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/layout/print.hpp"
#include "tessera/layout/svg.hpp"
#include "tessera/layout/table.hpp"

namespace tessera::cli {

namespace {

using nlohmann::ordered_json;

/// Of shared memory, four bytes wide.
constexpr int kBanks = 32;

struct LayoutRequest {
  std::string spec, tile, at, swizzle, thread_values, svg;
  bool wants_svg = false, force = false;
  int banks = 0;  // 0: kBanks
};

/// What to draw. A plain layout, without a swizzle, has a simpler picture.
struct Drawn {
  ComposedLayout composed;
  bool plain;
};

/// Accepts both "2,2" and "(2,2)".
IntTuple tuple_of(const std::string& text) {
  return shell::with_caret(bracketed(text), [](const std::string& t) { return parse_tuple(t); });
}

Drawn layout_of(const LayoutRequest& request) {
  Drawn out = shell::with_caret(request.spec, [](const std::string& text) {
    const LayoutValue value = eval_expression(text);
    return Drawn{composed_of(value, text), std::holds_alternative<Layout>(value)};
  });
  if (request.swizzle.empty()) return out;
  if (!out.plain)
    throw Error(Category::argument, "--swizzle needs a plain layout", "shape:stride", request.spec);
  return {ComposedLayout(parse_swizzle(request.swizzle), 0, out.composed.inner), false};
}

/// The tile to mark: --tile at --at, the first one by default.
std::optional<TileMark> mark_of(const LayoutRequest& request) {
  if (request.tile.empty()) return {};
  TileMark out{tuple_of(request.tile), {}};
  if (!request.at.empty()) {
    out.at = tuple_of(request.at);
    return out;
  }
  out.at = out.tile;
  for (int i = 0; i < out.at.count; ++i) out.at.numbers.set(i, 0);
  return out;
}

/// The index of a coordinate inside the shape.
index_t index_at(const ComposedLayout& layout, const IntTuple& at) {
  const IntTuple shape = layout.shape();
  const bool linear = at.is_leaf();
  const bool fits = linear ? at.value() >= 0 && at.value() < shape.product() : [&] {
    if (at.rank() != shape.rank()) return false;
    for (int m = 0; m < at.rank(); ++m) {
      const IntTuple c = at.mode(m), s = shape.mode(m);
      if (c.is_leaf() ? c.value() < 0 || c.value() >= s.product() : !congruent(c, s)) return false;
      for (int i = 0; !c.is_leaf() && i < c.count; ++i) {
        if (c.leaf(i) < 0 || c.leaf(i) >= s.leaf(i)) return false;
      }
    }
    return true;
  }();
  if (!fits) {
    throw Error(Category::argument, "--at is outside the layout",
                cat("a coordinate below ", to_string(shape)), to_string(at));
  }
  return layout(at);
}

std::string table_of(const Drawn& layout, const std::optional<TileMark>& mark) {
  return layout.plain ? format_table(layout.composed.inner, mark)
                      : format_table(layout.composed, mark);
}

std::string picture_of(const LayoutRequest& request, const Drawn& layout,
                       const std::optional<TileMark>& mark) {
  if (!request.thread_values.empty()) {
    if (!layout.plain) throw Error(Category::argument, "--thread-values needs a plain layout");
    return svg_thread_values(layout.composed.inner, tuple_of(request.thread_values));
  }
  if (!request.swizzle.empty())
    return svg_swizzle(layout.composed, 1, request.banks > 0 ? request.banks : kBanks);
  return layout.plain ? svg(layout.composed.inner, mark) : svg(layout.composed, mark);
}

ordered_json to_json(const LayoutRequest& request, const Drawn& layout,
                     const std::optional<TileMark>& mark) {
  const ComposedLayout& composed = layout.composed;
  ordered_json out = shell::json_object();
  out["layout"] = layout.plain ? to_string(composed.inner) : to_string(composed);
  out["shape"] = to_string(composed.shape());
  out["stride"] = to_string(composed.inner.stride);
  out["rank"] = composed.rank();
  out["size"] = composed.size();
  out["cosize"] = composed.cosize();
  if (mark) {
    out["tile"] = to_string(mark->tile);
    out["at"] = to_string(mark->at);
    out["tile_indices"] = tile_indices(composed, *mark);
  } else if (!request.at.empty()) {
    out["at"] = to_string(tuple_of(request.at));
    out["index"] = index_at(composed, tuple_of(request.at));
  }
  if (composed.size() > kMaxPictureCells) return out;
  out["indices"] = ordered_json::array();  // first mode fastest, in all lists
  for (index_t i = 0; i < composed.size(); ++i) out["indices"].push_back(composed(i));
  return out;
}

/// Options that need another one, or contradict one, are errors.
void check_request(const LayoutRequest& request) {
  const auto refuse = [](const char* problem, const char* advice) {
    throw Error(Category::argument, problem, {}, {}, advice);
  };
  if (request.spec.empty()) {
    throw Error(Category::argument, "no layout given",
                "one such as '(4,2):(2,1)' or 'row_major(4,2)'", {}, "see 'tessera help layouts'");
  }
  if (const std::string hint = shell::did_you_mean(request.spec, {"eval"}); !hint.empty())
    throw Error(Category::argument,
                cat("there is no layout or command '", request.spec, "'", hint));
  if (!request.thread_values.empty() && !request.wants_svg)
    refuse("--thread-values is a picture", "add --svg");
  if (!request.thread_values.empty() && (!request.tile.empty() || !request.at.empty()))
    refuse("--thread-values marks no tile", "omit --tile and --at");
  if (request.wants_svg && !request.swizzle.empty() && !request.tile.empty())
    refuse("the picture of a swizzle marks no tile", "omit --tile or --svg");
  if (request.wants_svg && !request.at.empty() && request.tile.empty())
    refuse("--at is a number without --tile, not a picture", "omit --svg, or add --tile");
  if (request.banks > 0 && (!request.wants_svg || request.swizzle.empty()))
    refuse("--banks colours the picture of a swizzle", "add --swizzle and --svg");
}

int show_layout(const shell::Context& context, const LayoutRequest& request) {
  check_request(request);
  const Drawn layout = layout_of(request);
  if (!layout.composed.inner.is_static())
    throw Error(Category::argument, "a layout with '?' cannot be shown", "numbers", request.spec);
  const auto mark = mark_of(request);
  if (request.wants_svg) {
    const std::string picture = picture_of(request, layout, mark);
    if (request.svg.empty() || request.svg == "-") {
      if (context.json)
        throw Error(Category::argument, "the picture and --json cannot both go to stdout",
                    "--svg FILE beside --json");
      context.print(picture);
      return 0;
    }
    shell::write_file(context, request.svg, request.force, picture);
    if (!context.json) return 0;
  }
  if (context.json) context.print(shell::json_text(to_json(request, layout, mark)));
  else if (!request.at.empty() && request.tile.empty())
    context.print(cat(index_at(layout.composed, tuple_of(request.at)), "\n"));
  else context.print(table_of(layout, mark));
  return 0;
}

int evaluate(const shell::Context& context, const std::string& text) {
  const std::string value =
      shell::with_caret(text, [](const std::string& t) { return to_string(eval_expression(t)); });
  if (context.json) context.print(shell::json_text({{"expression", text}, {"value", value}}));
  else context.print(value + "\n");
  return 0;
}

void add_eval(CLI::App& parent, shell::Context& context) {
  auto text = std::make_shared<std::string>();
  CLI::App* app = shell::add_command(
      parent, context, "eval", "Evaluate an expression of the layout algebra",
      "  tessera layout eval 'composition((6,2):(8,2),(4,3):(3,1))'\n"
      "  tessera layout eval 'logical_divide((9,(4,8)):(59,(13,1)),<3:3,(2,4):(1,8)>)'\n"
      "  tessera layout eval 'row_major(4,2)(3,1)'");
  app->add_option("EXPR", *text, "See 'tessera help layouts'")->required()->type_name("EXPR");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  app->callback(
      [&context, text] { context.action = [&context, text] { return evaluate(context, *text); }; });
}

}  // namespace

void add_layout(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<LayoutRequest>();
  CLI::App* app = shell::add_command(
      root, context, "layout", "Show a layout as a table or a picture; evaluate layout algebra",
      "  tessera layout '(4,2):(2,1)'\n"
      "  tessera layout '(4,2):(2,1)' --at 3,1\n"
      "  tessera layout 'row_major(2,6)' --tile 2,2 --at 0,1 --svg tile.svg\n"
      "  tessera layout 'row_major(8,8)' --swizzle 3,0,3\n"
      "  tessera layout eval 'complement(4:2,24)'");
  app->require_subcommand(0, 1);
  app->add_option(
         "SPEC", request->spec,
         "A layout, such as (4,2):(2,1) or row_major(4,2), or any expression of layout eval")
      ->type_name("SPEC");
  app->add_option("--tile", request->tile, "Mark a tile of this shape, such as 2,2")
      ->type_name("SHAPE");
  app->add_option("--at", request->at,
                  "Which tile to mark (default the first); without --tile: print the index of this "
                  "coordinate")
      ->type_name("COORDINATE");
  shell::add_swizzle(*app, request->swizzle, "Apply a swizzle after the layout");
  app->add_option("--thread-values", request->thread_values,
                  "With --svg: SPEC maps (thread,value) into a tile of this shape; draw which "
                  "thread owns which value")
      ->type_name("SHAPE");
  auto* svg_option =
      app->add_option("--svg", request->svg, "Draw an SVG picture, into FILE or on stdout");
  svg_option->expected(0, 1)->type_name("FILE");
  shell::add_count(*app, "--banks", request->banks,
                   "Banks that a picture of a swizzle colours (default 32)");
  app->add_flag("--force", request->force, "Replace FILE if it exists");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  add_eval(*app, context);
  app->callback([&context, request, app, svg_option] {
    if (!app->get_subcommands().empty()) return;  // eval does the work
    request->wants_svg = svg_option->count() > 0;
    context.action = [&context, request] { return show_layout(context, *request); };
  });
}

}  // namespace tessera::cli
