// `tessera banks EXPRESSION`: which banks and sectors one access of a warp touches, and what that
// costs, by the rules of the checker.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "shell/algorithm_options.hpp"
#include "shell/caret_error.hpp"
#include "shell/json_text.hpp"
#include "shell/options.hpp"
#include "shell/write_file.hpp"
#include "tessera/check/html_report.hpp"
#include "tessera/check/warp_pattern.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

using check::WarpPattern;
using nlohmann::ordered_json;

struct BanksRequest {
  check::WarpPatternRequest pattern;
  std::string dtype = "f32", memory = "shared", svg;
  bool force = false;
};

const char* basis_name(check::Basis basis) {
  return basis == check::Basis::merging ? "merging" : "rule";
}

ordered_json to_json(const BanksRequest& request, const WarpPattern& pattern) {
  ordered_json out = shell::json_object();
  out["pattern"] = pattern.text;
  out["dtype"] = request.dtype;
  out["lane_bytes"] = pattern.bytes;
  out["elements"] = pattern.elements;
  out["global"] = {{"sectors", pattern.global.sectors}, {"ideal", pattern.global.ideal}};
  for (const auto& [name, cost] :
       {std::pair("shared_load", pattern.load), std::pair("shared_store", pattern.store)})
    out[name] = {{"wavefronts", cost.wavefronts},
                 {"ideal", cost.ideal},
                 {"ways", cost.ways},
                 {"basis", basis_name(cost.basis)}};
  return out;
}

/// "32 wavefronts, 1 without conflicts: 32-way bank conflict".
std::string wavefronts_text(const check::SharedCost& cost) {
  return cat(cost.wavefronts, cost.wavefronts == 1 ? " wavefront" : " wavefronts",
             cost.conflicts() > 0
                 ? cat(", ", cost.ideal, " without conflicts: ", cost.ways, "-way bank conflict")
                 : ", no bank conflict",
             cost.basis == check::Basis::merging ? ", merged" : "");
}

std::string counts_text(const BanksRequest& request, const WarpPattern& pattern) {
  return cat(pattern.text, ", ", request.dtype, ": ", pattern.elements.size(),
             pattern.elements.size() == 1 ? " lane, " : " lanes, ", pattern.bytes,
             pattern.bytes == 1 ? " byte each\n" : " bytes each\n",
             "shared memory, load:  ", wavefronts_text(pattern.load),
             "\nshared memory, store: ", wavefronts_text(pattern.store),
             "\nglobal memory:        ", pattern.global.sectors,
             pattern.global.sectors == 1 ? " sector, " : " sectors, ", pattern.global.ideal,
             " if dense\n\n");
}

/// As a file of its own: with the style that a page would give it.
std::string with_style(std::string picture) {
  constexpr std::string_view kStyle =
      " xmlns=\"http://www.w3.org/2000/svg\"><style>"
      ":root{--idle:#eef1f4;--wasted:#fbd9b5;--conflict:#ffb3a7}"
      "text{font:10px ui-monospace,'DejaVu Sans Mono',monospace;text-anchor:middle;fill:#14202e}"
      "rect{stroke:#b4bfca;stroke-width:.6}.axis{fill:#54626f}"
      ".sector{stroke:#54626f;stroke-width:2;fill:none}"
      "@media (prefers-color-scheme:dark){:root{--idle:#1d2731;--wasted:#7a4d1f}"
      ".axis{fill:#9aa8b6}}</style>";
  picture.replace(picture.find('>'), 1, kStyle);
  return picture;
}

int show_banks(const shell::Context& context, BanksRequest& request) {
  if (request.pattern.expression.empty())
    throw Error(Category::argument, "no pattern given",
                "a layout such as 'row_major(32,32)' or a formula such as '33*lane'");
  if (context.json && request.svg == "-")
    throw Error(Category::argument, "the picture and --json cannot both go to stdout",
                "--svg FILE beside --json");
  request.pattern.dtype = parse_dtype(request.dtype);
  const WarpPattern pattern =
      shell::with_caret(request.pattern.expression,
                        [&](const std::string&) { return check::warp_pattern(request.pattern); });
  const check::AccessSample sample =
      pattern.sample(request.memory == "shared" ? check::Memory::shared : check::Memory::global);
  if (!request.svg.empty()) {
    const std::string picture = with_style(check::access_picture(sample));
    if (request.svg == "-") {
      context.print(picture);
      return 0;
    }
    shell::write_file(context, request.svg, request.force, picture);
  }
  context.print(context.json
                    ? shell::json_text(to_json(request, pattern))
                    : counts_text(request, pattern) +
                          check::access_text(sample, shell::terminal_columns(shell::Stream::out)));
  return 0;
}

}  // namespace

void add_banks(CLI::App& root, shell::Context& context) {
  auto request = std::make_shared<BanksRequest>();
  check::WarpPatternRequest& pattern = request->pattern;
  CLI::App* app = shell::add_command(
      root, context, "banks", "Show the bank conflicts and sectors of one access of a warp",
      "  tessera banks 'row_major(32,32)'\n"
      "  tessera banks 'row_major(32,32)' --pad 1\n"
      "  tessera banks 'row_major(32,32)' --swizzle 5,0,5\n"
      "  tessera banks 'row_major(8,64)' --along 1 --vector 4 --memory global\n"
      "  tessera banks 'lane % 8 * 33 + lane / 8' --svg banks.svg");
  app->add_option("EXPRESSION", pattern.expression,
                  "A layout that the lanes walk, or a formula with the word 'lane' that gives the "
                  "element of each lane")
      ->type_name("EXPRESSION");
  shell::add_dtype(*app, "--dtype", request->dtype, "Element type; default f32",
                   shell::dtype_names());
  shell::add_count(*app, "--vector", pattern.vector,
                   "Elements of a lane, contiguous in memory; at most 16 bytes");
  shell::add_choice(*app, "--memory", request->memory, {"shared", "global"},
                    "Which memory the picture shows");
  shell::add_count(*app, "--lanes", pattern.lanes, "Active lanes, from lane 0; default 32");
  shell::add_extent(*app, "--along", pattern.along,
                    "Of a layout: the mode that the lanes walk first; default 0");
  shell::add_text(*app, "--at", "COORDINATE", pattern.at,
                  "Of a layout: where lane 0 is; default the first element");
  shell::add_extent(*app, "--pad", pattern.pad,
                    "Of a layout with two modes: elements added to each row");
  shell::add_swizzle(*app, pattern.swizzle, "Apply a swizzle to the elements");
  auto* svg_option =
      app->add_option("--svg", request->svg, "Draw an SVG picture, into FILE or on stdout");
  svg_option->expected(0, 1)->type_name("FILE");
  app->add_flag("--force", request->force, "Replace FILE if it exists");
  shell::add_json_option(*app, context, "One JSON document on stdout");
  shell::on_run(*app, context, [&context, request, svg_option] {
    if (svg_option->count() > 0 && request->svg.empty()) request->svg = "-";
    return show_banks(context, *request);
  });
}

}  // namespace tessera::cli
