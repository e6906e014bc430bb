// The answer as one page: what is wrong, the lines, the cause, and the matrix with a tooltip for
// every element. See answer.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "answer.hpp"
#include "base/markup.hpp"
#include "consequences.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ground:#fff;--card:#f5f7f9;--ink:#14202e;--dim:#54626f;--rule:#d5dce3;
--good:#1a7f37;--bad:#b42318;--right:#e3f2e6;--wrong:#e5484d;--mixed:#f2b8a0;
--idle:#eef1f4;--wasted:#fbd9b5;--conflict:#ffb3a7}
@media (prefers-color-scheme:dark){:root{--ground:#10161d;--card:#18212b;--ink:#e6edf3;--dim:#9aa8b6;
--rule:#2b3743;--good:#56d17a;--bad:#ff8a7d;--right:#1d3a28;--wrong:#e5484d;--mixed:#8a4a35;
--idle:#1d2731;--wasted:#7a4d1f;--conflict:#ff9c8c}}
*{box-sizing:border-box}body{margin:0;overflow-wrap:anywhere;background:var(--ground);color:var(--ink);
font:16px/1.5 system-ui,'DejaVu Sans',Arial,sans-serif}main{max-width:860px;margin:0 auto;padding:20px}
h1{font-size:24px;margin:0 0 6px}h2{font-size:18px;margin:28px 0 8px}.dim{color:var(--dim)}
pre{background:var(--card);border:1px solid var(--rule);border-radius:6px;padding:8px 12px;overflow-x:auto;
font:13px/1.5 ui-monospace,'DejaVu Sans Mono',monospace}
pre code{display:block;font:inherit;white-space:pre-wrap;padding-left:6ch;text-indent:-4ch;margin-left:-2ch}
mark{background:var(--wrong);color:#fff}summary{cursor:pointer}.good{color:var(--good)}.bad{color:var(--bad)}
.cause{background:var(--card);border:1px solid var(--rule);border-left:4px solid var(--bad);border-radius:6px;
padding:8px 16px;margin:14px 0}svg{display:block;max-width:100%;height:auto;max-height:80vh}
svg text{font:11px ui-monospace,'DejaVu Sans Mono',monospace;fill:var(--dim);text-anchor:end}
.right{fill:var(--right)}.wrong{fill:var(--wrong)}.mixed{fill:var(--mixed)}
.key{display:inline-block;width:12px;height:12px;border-radius:2px;margin:0 5px 0 14px;vertical-align:-1px}
.scroll{overflow-x:auto;max-width:100%;border:1px solid var(--rule);border-radius:6px;padding:6px;margin:6px 0}
svg.cells{max-width:none;max-height:none}svg.cells text{font-size:10px;text-anchor:middle;fill:#14202e}
svg.cells .axis{fill:var(--dim)}svg.cells rect{stroke:var(--rule);stroke-width:.6}
.sector{stroke:var(--dim);stroke-width:2;fill:none}
svg.timeline{max-width:none}svg.timeline .tick{text-anchor:start}
.global{fill:#3b78d8}.multiply{fill:#2f9e5b}.key.global{background:#3b78d8}.key.multiply{background:#2f9e5b}
.key.right{background:var(--right)}.key.wrong{background:var(--wrong)}.key.mixed{background:var(--mixed)}
)";

constexpr index_t kMostOfPage = 64;
constexpr std::size_t kLongestShown = 240;

/// Cells of 16 units; there is a gap between the tiles of two blocks.
std::string picture_svg(const PuzzleMatrix& m, const PuzzleCase& c) {
  constexpr index_t size = 16, gap = 5, margin = 30;
  const Picture p = picture_of(m, kMostOfPage);
  const auto place = [&](index_t i, index_t tile) {
    return margin + i * size + (p.step == 1 && tile > 1 ? i / tile * gap : 0);
  };
  const index_t width = place(p.cols, c.block[0]), height = place(p.rows, c.block[1]);
  std::string out =
      cat("<svg viewBox=\"0 0 ", width, " ", height, "\" width=\"", width, "\" height=\"", height,
          "\" role=\"img\" aria-label=\"", escaped(wrong_elements(m)), "\">\n");
  for (index_t i = 0; i < p.rows; ++i)
    out += cat("<text x=\"", margin - 5, "\" y=\"", place(i, c.block[1]) + 12, "\">", i * p.step,
               "</text>\n");
  for (index_t j = 0; j < p.cols; ++j)
    if (p.cols <= 20 || j % 8 == 0)
      out += cat("<text x=\"", place(j, c.block[0]) + 13, "\" y=\"", margin - 6, "\">", j * p.step,
                 "</text>\n");
  for (index_t i = 0; i < p.rows; ++i)
    for (index_t j = 0; j < p.cols; ++j) {
      const Cell cell = p.cells[static_cast<std::size_t>(i * p.cols + j)];
      const auto at = static_cast<std::size_t>(i * p.step * m.cols + j * p.step);
      out +=
          cat("<rect class=\"",
              cell == Cell::right   ? "right"
              : cell == Cell::wrong ? "wrong"
                                    : "mixed",
              "\" x=\"", place(j, c.block[0]), "\" y=\"", place(i, c.block[1]),
              "\" width=\"14\" height=\"14\" rx=\"2\"><title>", m.name, "(", i * p.step, ",",
              j * p.step, "): expected ", m.expected[at], ", got ", m.got[at], "</title></rect>\n");
    }
  return out + "</svg>\n";
}

/// Lines of the source with their numbers, without their common indentation; a narrow window wraps
/// them. `column`: marked, 0: none.
std::string lines_html(const std::string& source, const std::vector<int>& numbers, int column = 0) {
  const auto lines = lines_of(source);
  std::size_t indent = std::string::npos;
  const auto text_of = [&](int number) { return lines[static_cast<std::size_t>(number - 1)]; };
  std::vector<int> shown;
  for (const int number : numbers)
    if (number > 0 && number <= static_cast<int>(lines.size())) shown.push_back(number);
  for (const int number : shown)
    indent = std::min(indent, std::min(text_of(number).find_first_not_of(' '), kLongestShown));
  std::string out;
  for (const int number : shown) {
    const std::string line = text_of(number).substr(indent, kLongestShown);
    const auto at = static_cast<std::size_t>(column - 1) - indent;
    const std::string code =
        column > 0 && at < line.size()
            ? cat(escaped(line.substr(0, at)), "<mark>", escaped(line.substr(at, 1)), "</mark>",
                  escaped(line.substr(at + 1)))
            : escaped(line);
    out += fmt::format("<code>{:>3} {}</code>", number, code);
  }
  return out.empty() ? "" : "<pre>" + out + "</pre>\n";
}

std::string finding_html(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  return cat("<p><b>", f.kind, escaped(place_text(attempt, f)), "</b><br/>", escaped(f.problem),
             "</p>\n", lines_html(attempt.source, lines_of_finding(attempt, f)));
}

/// The lines that cost more than they must; the others are folded.
std::string pictures_html(const PuzzleCase& c) {
  std::string dear, cheap;
  int count = 0;
  for (const auto& p : c.pictures) {
    const std::string one =
        cat("<p>", escaped(p.title()), "</p>\n<div class=\"scroll\">", p.svg, "</div>\n");
    if (p.transfers > p.ideal) dear += one;
    else cheap += one, ++count;
  }
  if (c.pictures.empty()) return {};
  if (count > 0)
    cheap = cat("<details><summary>", count, count == 1 ? " access costs" : " accesses cost",
                " no more than needed</summary>\n", cheap, "</details>\n");
  return cat(
      "<p class=\"dim\">Which lane of a warp touches which bytes, where it was worst. Global "
      "memory: a row is a line of 128 bytes, thick rules part its sectors. Shared memory: a "
      "column is a bank, a row a pass.</p>\n",
      dear, cheap);
}

std::string stages_html(const PuzzleCase& c) {
  if (c.stages.empty()) return {};
  return cat(
      "<p class=\"dim\">Stages over time.<span class=\"key global\"></span>in flight<span "
      "class=\"key multiply\"></span>in use or free</p>\n<div class=\"scroll\">",
      c.stages, "</div>\n");
}

std::string case_html(const PuzzleAttempt& attempt, const PuzzleCase& c, const Cause& cause) {
  std::string out = cat("<h2 class=\"", c.is_right() ? "good" : "bad", "\">",
                        c.is_right() ? "✓ " : "✗ ", escaped(c.what), "</h2>\n");
  for (const auto& m : c.outputs) out += cat("<p>", escaped(wrong_elements(m)), "</p>\n");
  for (const auto& goal : c.goals)
    out += fmt::format("<p class=\"{}\">{}: {:.4g}, goal: at most {:.4g}</p>\n",
                       goal.reached ? "good" : "bad", escaped(goal.what), goal.got, goal.limit);
  const PuzzleFindings findings = findings_of(attempt, c, cause);
  for (const auto* f : findings.own) out += finding_html(attempt, *f);
  if (!findings.following.empty()) {
    out += cat("<details><summary>", following_text(findings), "</summary>\n");
    for (const auto* f : findings.following) out += finding_html(attempt, *f);
    out += "</details>\n";
  }
  for (const auto& m : c.outputs)
    if (m.wrong > 0)
      out += cat("<p class=\"dim\">", m.name, ", ", m.rows, " x ", m.cols,
                 "<span class=\"key right\"></span>right<span class=\"key wrong\"></span>wrong",
                 picture_of(m, kMostOfPage).step > 1
                     ? "<span class=\"key mixed\"></span>some of several</p>\n"
                     : "</p>\n",
                 picture_svg(m, c));
  return out + stages_html(c) + pictures_html(c);
}

}  // namespace

std::string answer_html(const Puzzle& puzzle, const PuzzleAttempt& attempt) {
  const std::string title = cat("Puzzle ", puzzle.number, ": ", puzzle.title);
  std::string body = cat("<h1>", escaped(title), "</h1>\n");
  for (const auto& e : attempt.errors)
    body += cat("<p class=\"bad\">", escaped(e.message), "</p>\n",
                lines_html(attempt.source, {e.line}, e.column),
                e.advice.empty() ? "" : cat("<p>", escaped(e.advice), "</p>\n"));
  const Cause cause = is_solved(attempt) ? Cause{} : cause_of(attempt);
  if (is_solved(attempt)) {
    body += "<p class=\"good\">Solved.</p>\n";
  } else {
    body += cat("<div class=\"cause\"><p>Likely cause: <b>", escaped(cause.title), "</b></p>\n<p>",
                escaped(cause.sentence), "</p>\n<p>Try: ", escaped(cause.advice), "</p></div>\n");
  }
  if (attempt.outcome)
    for (const auto& c : attempt.outcome->cases) body += case_html(attempt, c, cause);
  return cat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
      "name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
      "'none'; style-src 'unsafe-inline'\"/>\n"
      "<title>",
      escaped(title), "</title>\n<style>", kStyle, "</style>\n</head>\n<body><main>\n", body,
      "</main></body>\n</html>\n");
}

}  // namespace tessera::course
