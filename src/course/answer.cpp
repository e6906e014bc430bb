// The text and the JSON: see answer.hpp.
#include "answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "consequences.hpp"
#include "puzzle/limits.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/text.hpp"

namespace tessera::course {

namespace {

using nlohmann::ordered_json;

/// Elements of a matrix. The puzzles with flags print as much as their originals do.
constexpr std::size_t kMostPrinted = 16, kMostOfOriginals = 100;
constexpr index_t kMostCells = 48;
constexpr std::ptrdiff_t kOneScreen = 20;     ///< lines that a terminal shows without scrolling
constexpr std::size_t kLongestMessage = 240;  ///< of a compiler, and a line of the source

/// "3672.0", as the puzzles that this course contains print it.
std::string element_text(double x) {
  if (std::isfinite(x) && x == std::floor(x) && std::abs(x) < 1e9) return fmt::format("{:.1f}", x);
  return fmt::format("{:g}", x);
}
std::string short_text(double x) { return fmt::format("{:g}", x); }

std::string buffer_text(const std::vector<double>& values) {
  std::string out;
  for (const double x : values) out += (out.empty() ? "" : ", ") + element_text(x);
  return "HostBuffer([" + out + "])";
}

/// `most`: the largest number of elements that are printed one by one.
std::string out_and_expected(const PuzzleMatrix& m, std::size_t most) {
  if (m.got.size() > most)
    return cat("out: ", m.name, " (", m.rows, ",", m.cols, "), ",
               m.got.size() - static_cast<std::size_t>(m.wrong), " of ", m.got.size(),
               " elements as expected\n");
  return cat("out: ", buffer_text(m.got), "\nexpected: ", buffer_text(m.expected), "\n");
}

std::string goals_text(const shell::Context& context, const PuzzleCase& c) {
  std::string out;
  for (const auto& goal : c.goals) {
    const std::string line =
        fmt::format("{}: {:.4g}, goal: at most {:.4g}", goal.what, goal.got, goal.limit);
    out += goal.reached ? context.paint("  ✓ " + line, shell::Ink::green) + "\n"
                        : context.paint("  ✗ " + line, shell::Ink::red) + "\n";
  }
  return out;
}

/// `said`: the previous sentence.
std::string finding_text(const shell::Context& context, const PuzzleAttempt& attempt,
                         const PuzzleFinding& f, std::string_view said) {
  std::string out =
      cat("  ", context.paint(f.kind, shell::Ink::bold), place_text(attempt, f), "\n");
  const auto lines = lines_of_finding(attempt, f);
  const bool is_said = said.starts_with(f.problem);
  if (is_said && lines.empty()) return {};
  if (!is_said) out += "    " + f.problem + "\n";
  for (const int line : lines) out += source_line(attempt.source, line);
  return out;
}

std::string findings_text(const shell::Context& context, const PuzzleAttempt& attempt,
                          const PuzzleFindings& findings, const Cause& cause, Shown shown) {
  const bool is_all = shown == Shown::all;
  const std::size_t most = is_all ? findings.own.size() : 3;
  std::string out;
  for (std::size_t i = 0; i < findings.own.size() && i < most; ++i)
    out += finding_text(context, attempt, *findings.own[i], cause.sentence);
  if (findings.own.size() > most)
    out += cat("  and ", findings.own.size() - most, " more: --all shows them\n");
  if (!findings.following.empty())
    out += cat("  ", following_text(findings), is_all ? ":\n" : ": --all shows them\n");
  if (is_all)
    for (const auto* f : findings.following) out += finding_text(context, attempt, *f, {});
  if (cat(cause.sentence, out).find("thread (") != std::string::npos)
    out += context.paint("  threads and blocks are (x, y, z), elements (row, column)\n",
                         shell::Ink::dim);
  return out;
}

/// Rows of cells, with a gap at the end of a block's tile.
std::string picture_text(const shell::Context& context, const PuzzleMatrix& m,
                         const PuzzleCase& c) {
  const Picture p = picture_of(m, kMostCells);
  const auto begins = [&](index_t i, index_t tile) {
    return p.step == 1 && tile > 1 && i > 0 && i % tile == 0;
  };
  std::string out = cat("  ", m.name, ", ", m.rows, " x ", m.cols);
  if (p.step > 1)
    out +=
        cat(", each cell ", std::min(p.step, m.rows), " x ", std::min(p.step, m.cols), " elements");
  out += cat(":  ", context.paint("·", shell::Ink::dim), " right  ",
             context.paint("x", shell::Ink::red), " wrong");
  if (std::find(p.cells.begin(), p.cells.end(), Cell::mixed) != p.cells.end())
    out += "  " + context.paint("+", shell::Ink::red) + " some of them wrong";
  out += "\n";
  for (index_t i = 0; i < p.rows; ++i) {
    if (begins(i, c.block[1])) out += "\n";
    out += fmt::format("  {:>4} ", i * p.step);
    for (index_t j = 0; j < p.cols; ++j) {
      const Cell cell = p.cells[static_cast<std::size_t>(i * p.cols + j)];
      out += begins(j, c.block[0]) ? "  " : " ";
      out += cell == Cell::right ? context.paint("·", shell::Ink::dim)
                                 : context.paint(cell == Cell::wrong ? "x" : "+", shell::Ink::red);
    }
    out += "\n";
  }
  return out;
}

/// Those with a known cause, and the first of the others, since the rest probably follows from it.
std::string errors_text(const shell::Context& context, const PuzzleAttempt& attempt) {
  constexpr std::size_t most = 3;
  std::string out;
  std::size_t shown = 0;
  for (const CompileError& e : attempt.errors) {
    if (shown == most || (shown > 0 && e.cause.empty())) continue;
    out += context.paint(e.line > 0 ? cat(e.file, ":", e.line, ": ") : cat(e.file, ": "),
                         shell::Ink::bold) +
           (e.message.size() > kLongestMessage ? e.message.substr(0, kLongestMessage) + " ..."
                                               : e.message) +
           "\n";
    if (e.line > 0) out += source_line(attempt.source, e.line, e.column);
    // the first one's cause follows
    if (shown > 0) out += cat("    ", e.why, ": ", e.advice, "\n");
    ++shown;
  }
  if (attempt.errors.size() > shown)
    out += cat("and ", attempt.errors.size() - shown, " more, which may follow from ",
               shown == 1 ? "it" : "them", "\n");
  return out;
}

/// A number that is missing, as a word.
std::string nan_text(const PuzzleCase& c) {
  for (const auto& m : c.outputs)
    if (std::any_of(m.got.begin(), m.got.end(), [](const double x) { return std::isnan(x); }))
      return "  nan is not a number: 0 / 0 and inf / inf give it, and so does shared memory that "
             "is not written yet\n";
  return {};
}

std::string printed_text(const PuzzleAttempt& attempt) {
  if (attempt.printed.empty()) return {};
  std::string out = "your program printed:\n";
  const auto lines = lines_of(attempt.printed);
  for (std::size_t i = 0; i < lines.size() && i < 10; ++i)
    out += "  | " + lines[i].substr(0, 100) + "\n";
  if (attempt.printed_bytes >= puzzle::kMostFileBytes)
    out += cat("  ... this is its beginning; more than ", puzzle::kMostFileBytes >> 20,
               " MiB in all, of which the rest is lost\n");
  else if (lines.size() > 10 || attempt.printed_bytes > attempt.printed.size())
    out += cat("  ... this is its beginning; ", attempt.printed_bytes, " bytes in all\n");
  return out;
}

std::string cause_text(const shell::Context& context, const Cause& cause) {
  std::string out = context.paint("likely cause: " + cause.title, shell::Ink::yellow) + "\n";
  if (!cause.sentence.empty()) out += "  " + cause.sentence + ".\n";
  if (!cause.advice.empty()) out += "  try: " + cause.advice + "\n";
  return out;
}

ordered_json json_of(const PuzzleFinding& f, bool follows) {
  const auto number = [](int line) {
    return line > 0 ? ordered_json(line) : ordered_json(nullptr);
  };
  return {{"kind", f.kind},         {"severity", f.severity},
          {"line", number(f.line)}, {"other_line", number(f.other_line)},
          {"problem", f.problem},   {"count", f.count},
          {"follows", follows}};
}

ordered_json json_of(const PuzzleAttempt& attempt, const PuzzleCase& c, const Cause& cause) {
  ordered_json out = {{"what", c.what}, {"right", c.is_right()}};
  for (const auto& m : c.outputs) {
    ordered_json each = {{"name", m.name}, {"rows", m.rows}, {"cols", m.cols}, {"wrong", m.wrong}};
    for (index_t i = 0; i < m.rows * m.cols && m.wrong > 0; ++i) {
      if (!m.is_wrong(i)) continue;
      const auto at = static_cast<std::size_t>(i);
      each["first"] = {{"row", i / m.cols},
                       {"column", i % m.cols},
                       {"expected", m.expected[at]},
                       {"got", m.got[at]}};
      break;
    }
    out["outputs"].push_back(each);
  }
  if (c.block[0] > 0)
    out["launch"] = {{"grid", c.grid}, {"block", c.block}, {"shared_bytes", c.shared_bytes}};
  for (const auto& each : c.coverage)
    out["tensors"].push_back(
        {{"name", each.tensor}, {"shape", {each.rows, each.cols}}, {"is_output", each.is_output}});
  for (const auto& p : c.pictures)
    out["pictures"].push_back({{"tensor", p.tensor},
                               {"memory", p.memory},
                               {"is_store", p.is_store},
                               {"title", p.title()},
                               {"svg", p.svg}});
  if (!c.stages.empty()) out["stages"] = c.stages;
  const PuzzleFindings findings = findings_of(attempt, c, cause);
  for (const auto* f : findings.own) out["findings"].push_back(json_of(*f, false));
  for (const auto* f : findings.following) out["findings"].push_back(json_of(*f, true));
  for (const auto& g : c.goals)
    out["goals"].push_back(
        {{"what", g.what}, {"got", g.got}, {"limit", g.limit}, {"reached", g.reached}});
  return out;
}

}  // namespace

bool is_solved(const PuzzleAttempt& attempt) {
  return attempt.errors.empty() && attempt.outcome && attempt.outcome->solved;
}

std::string source_line(const std::string& source, int line, int column) {
  const auto lines = lines_of(source);
  if (line < 1 || line > static_cast<int>(lines.size())) return {};
  const std::string text = lines[static_cast<std::size_t>(line - 1)].substr(0, kLongestMessage);
  std::string out = fmt::format("    {:>4} | {}\n", line, text);
  if (column > 0 && column <= static_cast<int>(text.size()) + 1)
    out += fmt::format("         | {:>{}}\n", "^", column);
  return out;
}

std::string place_text(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  const bool is_behind = f.problem.find("last seen at ") != std::string::npos && f.other_line == 0;
  const std::string at = f.line == 0 ? ""
                         : f.file == attempt.file
                             ? cat(is_behind ? ", last seen" : "", " at ", f.file, ":", f.line)
                             : " at the library";
  return f.count > 1 ? cat(at, ", ", f.count, " times") : at;
}

std::vector<int> lines_of_finding(const PuzzleAttempt& attempt, const PuzzleFinding& f) {
  std::vector<int> out;
  if (f.file == attempt.file && f.line > 0) out.push_back(f.line);
  if (f.other_file == attempt.file && f.other_line > 0 && f.other_line != f.line)
    out.push_back(f.other_line);
  return out;
}

std::string wrong_elements(const PuzzleMatrix& m) {
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    if (!m.is_wrong(i)) continue;
    const auto at = static_cast<std::size_t>(i);
    return cat(m.wrong, " of ", m.rows * m.cols, " elements of ", m.name,
               m.wrong == 1 ? " is" : " are", " wrong. The first: row ", i / m.cols, ", column ",
               i % m.cols, ": expected ", short_text(m.expected[at]), ", got ",
               short_text(m.got[at]), ".");
  }
  if (m.rows * m.cols == 1) return cat("the element of ", m.name, " is right.");
  return cat("all ", m.rows * m.cols, " elements of ", m.name, " are right.");
}

Picture picture_of(const PuzzleMatrix& m, index_t most) {
  Picture out;
  while ((std::max(m.rows, m.cols) + out.step - 1) / out.step > most) out.step *= 2;
  out.rows = (m.rows + out.step - 1) / out.step;
  out.cols = (m.cols + out.step - 1) / out.step;
  std::vector<int> right(static_cast<std::size_t>(out.rows * out.cols)), wrong = right;
  for (index_t i = 0; i < m.rows * m.cols; ++i) {
    const index_t cell = i / m.cols / out.step * out.cols + i % m.cols / out.step;
    ++(m.is_wrong(i) ? wrong : right)[static_cast<std::size_t>(cell)];
  }
  for (std::size_t i = 0; i < right.size(); ++i)
    out.cells.push_back(wrong[i] == 0 ? Cell::right : right[i] == 0 ? Cell::wrong : Cell::mixed);
  return out;
}

std::string answer_text(const shell::Context& context, const Puzzle& puzzle,
                        const PuzzleAttempt& attempt, const std::vector<std::string>& open,
                        Shown shown) {
  std::string out = printed_text(attempt) + errors_text(context, attempt);
  const PuzzleCase* const wrong = wrong_case(attempt);
  const Cause cause = is_solved(attempt) ? Cause{} : cause_of(attempt);
  const bool is_unfilled = cause.id == "unfilled";  // all numbers are 0
  if (!is_solved(attempt)) out += cause_text(context, cause) + "\n";
  const bool is_original = !puzzle.variants.empty() && !(is_unfilled && attempt.variant.empty());
  if (attempt.outcome)
    for (const auto& c : attempt.outcome->cases) {
      out += context.paint(cat(&c == wrong ? "✗ " : "✓ ", c.what),
                           &c == wrong ? shell::Ink::red : shell::Ink::green) +
             "\n";
      // On a terminal, lists of right numbers would hide everything else.
      const bool is_short = shown == Shown::few && shell::is_terminal(shell::Stream::out);
      const std::size_t most = is_original && !is_short ? kMostOfOriginals : kMostPrinted;
      if (!c.is_brief || &c == wrong)
        for (const auto& m : c.outputs) out += out_and_expected(m, most);
      out += goals_text(context, c);
    }
  if (is_solved(attempt) && !open.empty())
    return out + cat("right ✅; puzzle ", puzzle.number, " still needs --",
                     shell::join(open, " and --"), "\n");
  if (is_solved(attempt)) return out + cat("Puzzle ", puzzle.number, " complete ✅\n");
  if (wrong != nullptr) {
    out += "\n";
    for (const auto& m : wrong->outputs) out += "  " + wrong_elements(m) + "\n";
    out += nan_text(*wrong);
  }
  if (wrong != nullptr && (!is_unfilled || shown == Shown::all)) {
    const std::string findings =
        findings_text(context, attempt, findings_of(attempt, *wrong, cause), cause, shown);
    if (!findings.empty()) out += "\n" + findings;
  }
  if (wrong != nullptr && !is_unfilled)
    for (const auto& m : wrong->outputs)
      if (m.wrong > 0) out += "\n" + picture_text(context, m, *wrong);
  if (std::count(out.begin(), out.end(), '\n') > kOneScreen)
    out += "\n" + context.paint("likely cause: " + cause.title, shell::Ink::yellow) +
           ", as said above";
  return out + cat("\nPuzzle ", puzzle.number, " is not solved yet; 'tessera puzzle hint ",
                   puzzle.id, puzzle.form_flag(), "' helps\n");
}

ordered_json answer_json(const Puzzle& puzzle, const std::string& variant,
                         const PuzzleAttempt& attempt) {
  ordered_json out = {{"puzzle", puzzle.id}, {"variant", variant}, {"solved", is_solved(attempt)}};
  out["cases"] = ordered_json::array();
  const Cause cause = is_solved(attempt) ? Cause{} : cause_of(attempt);
  if (attempt.outcome)
    for (const auto& c : attempt.outcome->cases) out["cases"].push_back(json_of(attempt, c, cause));
  out["errors"] = ordered_json::array();
  for (const auto& e : attempt.errors)
    out["errors"].push_back({{"line", e.line},
                             {"column", e.column},
                             {"message", e.message},
                             {"cause", e.cause},
                             {"why", e.why},
                             {"advice", e.advice}});
  out["printed"] = attempt.printed;
  if (is_solved(attempt)) return out;
  out["cause"] = {{"id", cause.id},
                  {"title", cause.title},
                  {"sentence", cause.sentence},
                  {"try", cause.advice}};
  return out;
}

}  // namespace tessera::course
