#include "bench/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "bench/support.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {
namespace {

using testing::disturbed_throughout;
using ::testing::HasSubstr;
using testing::made_results;
using testing::made_row;
using ::testing::Not;
using testing::xml_fault;

/// The fields of each line, quotes resolved.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> out(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && quoted && i + 1 < text.size() && text[i + 1] == '"')
      out.back().back() += text[++i];
    else if (c == '"') quoted = !quoted;
    else if (c == ',' && !quoted) out.back().emplace_back();
    else if (c == '\n' && !quoted) out.push_back({""});
    else out.back().back() += c;
  }
  out.pop_back();
  return out;
}

TEST(BenchCsv, HasOneHeaderLineAndAsManyFieldsInEachLine) {
  const auto lines = read_csv(to_csv(made_results()));
  ASSERT_EQ(lines.size(), 10u);
  for (const auto& line : lines) EXPECT_EQ(line.size(), lines[0].size());
  const auto column = [&](const std::string& name) {
    const auto at = std::find(lines[0].begin(), lines[0].end(), name);
    EXPECT_NE(at, lines[0].end()) << name;
    return static_cast<std::size_t>(at - lines[0].begin());
  };
  EXPECT_EQ(lines[2][column("name")], "tiled");
  EXPECT_EQ(lines[2][column("status")], "verified");
  EXPECT_DOUBLE_EQ(std::stod(lines[2][column("seconds_median")]), 1e-4);
  EXPECT_NEAR(std::stod(lines[2][column("percent_of_peak")]), 10, 1e-6);
  EXPECT_NEAR(std::stod(lines[2][column("ratio_blas")]), 0.2, 1e-6);
  EXPECT_EQ(lines[2][column("repetitions")], "3");
  EXPECT_EQ(lines[9][column("status")], "refused");
  EXPECT_EQ(lines[9][column("remark")], "wrong at (0,0), \"quoted\"");
  EXPECT_EQ(lines[9][column("gflops")], "");
  EXPECT_EQ(lines[9][column("seconds_median")], "");
}

TEST(BenchMarkdown, NamesOfAFileGiveATerminalNoOrders) {
  BenchResults results = made_results();
  results.rows[0].name = "na\033[2Jive\r|";
  results.rows[0].message = "\033]0;title\a";
  results.context["peers"][0]["version"] = "1\033[31m";
  results.context["cpu_model"] = "chip\033[0m";
  std::vector<std::string> texts = {to_markdown(results),
                                    case_table(results, results.rows[0]).text};
  results.rows.erase(results.rows.begin() + 4, results.rows.end());  // one size: other tables
  results.rows[1].status = RowStatus::failed;
  results.rows[1].message = "because\033[2J";
  texts.push_back(to_markdown(results));
  texts.push_back(case_table(results, results.rows[0]).text);
  for (const auto& text : texts) {
    EXPECT_EQ(text.find('\033'), std::string::npos) << text;
    EXPECT_EQ(text.find('\r'), std::string::npos) << text;
  }
  EXPECT_THAT(texts[0], HasSubstr("| na\\x1b[2Jive\\x0d\\| |"));
}

TEST(BenchMarkdown, HasATableOfSizesAndTheBestAgainstEachPeer) {
  const std::string text = to_markdown(made_results());
  EXPECT_THAT(text, HasSubstr("### f32, 1 thread"));
  EXPECT_THAT(text, HasSubstr("| GFLOP/s (share of peak) | 64 | 128 |"));
  EXPECT_THAT(text, HasSubstr("| tiled | 5.24 (10.0 %) | 5.24 (10.0 %) |"));
  EXPECT_THAT(text, HasSubstr("| broken |  | refused |"));
  EXPECT_THAT(text, HasSubstr("| (algorithm) | tiled | tiled |"));
  EXPECT_THAT(text, HasSubstr("| blas | 0.20 | 0.20 |"));
  EXPECT_THAT(text, HasSubstr("blas: Blas 1.0"));
}

TEST(BenchMarkdown, WithoutAPeakThereIsNoShareOfIt) {
  BenchResults results = made_results();
  std::erase_if(results.rows,
                [](const BenchRow& row) { return row.kind == Contestant::Kind::peak; });
  EXPECT_THAT(to_markdown(results), HasSubstr("| tiled | 5.24 | 5.24 |"));
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  EXPECT_THAT(to_markdown(results), Not(HasSubstr("- %"))) << "one size";
}

TEST(BenchMarkdown, WhatIsSlowerByLittleDoesNotShowAsADraw) {
  const std::vector<std::pair<double, std::string>> shown = {{1.0004e-4, "0.999"},
                                                             {1.003e-4, "0.997"},
                                                             {1.01e-4, "0.99"},
                                                             {1e-4, "1.00"},
                                                             {0.998e-4, "1.00"}};
  for (const auto& [seconds, text] : shown) {
    BenchResults results = made_results();
    results.rows = {made_row("tiled", Contestant::Kind::algorithm, 64, {seconds}),
                    made_row("blas", Contestant::Kind::peer, 64, {1e-4})};
    EXPECT_THAT(to_markdown(results), HasSubstr(cat("| ", text, " |")));
    EXPECT_THAT(case_table(results, results.rows[0]).text, HasSubstr(cat(" ", text, " ")));
  }
}

TEST(BenchMarkdown, EveryTableLineHasAsManyCellsAsItsHeader) {
  BenchResults one = made_results();
  std::erase_if(one.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  one.rows[0].name = "a|b";
  for (const BenchResults& results : {made_results(), one}) {
    std::istringstream lines(to_markdown(results));
    std::size_t cells = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("|")) {
        cells = 0;
        continue;
      }
      std::size_t bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i)
        bars += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
      if (cells == 0) cells = bars;
      EXPECT_EQ(bars, cells) << line;
    }
  }
}

TEST(BenchSvg, DrawsLinesForSizesAndTheLadderForOne) {
  BenchResults results = made_results();
  const std::string lines = to_svg(results);
  EXPECT_EQ(xml_fault(lines), "");
  EXPECT_THAT(lines, HasSubstr("Speed over size: f32, 1 thread"));
  EXPECT_THAT(lines, HasSubstr(">measured peak<"));
  EXPECT_THAT(lines, HasSubstr("Test &lt;CPU&gt; &amp;"));
  EXPECT_THAT(lines, Not(HasSubstr(">broken<"))) << "unverified rows are not drawn";
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  const std::string bars = to_svg(results);
  EXPECT_EQ(xml_fault(bars), "");
  EXPECT_THAT(bars, HasSubstr("Share of the peak at 128"));
  EXPECT_LT(bars.find(">naive<"), bars.find(">tiled<"));
  EXPECT_THAT(bars, Not(HasSubstr(">broken<")));
}

TEST(BenchSvg, CallsWithoutAShareAreDrawnByTheirTime) {
  BenchResults results = made_results();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  BenchResults idle = results;
  std::erase_if(idle.rows, [](const BenchRow& row) { return row.kind == Contestant::Kind::peak; });
  for (auto& row : idle.rows) row.on.readiness.idle_seconds = 0.05;
  results.rows.insert(results.rows.end(), idle.rows.begin(), idle.rows.end());
  const std::string svg = to_svg(results);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("no verified result")));
  EXPECT_THAT(svg, HasSubstr("1 thread, after 0.05 s of idleness"));
  EXPECT_THAT(svg, HasSubstr(">ms a call, median and quartiles; shorter is faster<"));
  EXPECT_THAT(svg, HasSubstr(">800 us<"));
  EXPECT_THAT(svg, HasSubstr("% of the measured multiply-add peak")) << "the calls in a row";
}

TEST(BenchSvg, NoBarIsDrawnBeyondADisturbedPeak) {
  BenchResults results = disturbed_throughout();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  const std::string svg = to_svg(results);
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">no share, 26.2 GFLOP/s<"));
  EXPECT_THAT(svg, HasSubstr("At 128 the peak was disturbed"));
  EXPECT_THAT(svg, Not(HasSubstr(">120</text>"))) << "the axis ends at the peak";
  EXPECT_THAT(to_svg(disturbed_throughout()), HasSubstr("At 64, 128 the peak was disturbed"));
}

TEST(BenchSvg, SaysWhatItsColoursMean) {
  BenchResults results = made_results();
  for (const char* words : {"Tessera's algorithms (solid)",
                            "other libraries, one colour each (dashed)", "the peak (dotted)"})
    EXPECT_THAT(to_svg(results), HasSubstr(words));
  std::erase_if(results.rows, [](const BenchRow& row) { return row.on.shape.M == 64; });
  EXPECT_THAT(to_svg(results), HasSubstr(">Tessera's algorithms<"));
  std::erase_if(results.rows,
                [](const BenchRow& row) { return row.kind == Contestant::Kind::peer; });
  EXPECT_THAT(to_svg(results), Not(HasSubstr("other libraries"))) << "none is drawn";
}

TEST(BenchSvg, APeerFarBehindIsNamedAndDoesNotStretchTheAxis) {
  BenchResults results = made_results();
  std::erase_if(results.rows, [](const BenchRow& row) { return row.name == "naive"; });
  for (index_t side : {64, 128})
    results.rows.push_back(made_row("reference", Contestant::Kind::peer, side,
                                    std::vector(3, side == 64 ? 1e-3 : 8e-3)));
  const std::string svg = to_svg(results);
  EXPECT_THAT(svg, Not(HasSubstr(">reference<")));
  EXPECT_THAT(svg, HasSubstr("Not drawn: reference, at most 0.524 GFLOP/s"));
  EXPECT_THAT(svg, HasSubstr(", linear</text>"));
  // Beside an algorithm as slow it takes no room, and an algorithm is never left out.
  for (index_t side : {64, 128})
    results.rows.push_back(made_row("naive", Contestant::Kind::algorithm, side,
                                    std::vector(3, side == 64 ? 1e-3 : 8e-3)));
  EXPECT_THAT(to_svg(results), HasSubstr(">reference<"));
  EXPECT_THAT(to_svg(results), HasSubstr(">naive<"));
}

/// One algorithm and a peer on each of these shapes.
BenchResults results_on(const std::vector<Shape>& shapes) {
  BenchResults out;
  for (const Shape& shape : shapes) {
    for (const auto kind : {Contestant::Kind::algorithm, Contestant::Kind::peer}) {
      const bool ours = kind == Contestant::Kind::algorithm;
      out.rows.push_back(made_row(ours ? "tiled" : "blas", kind, 64, {ours ? 1e-4 : 2e-4}));
      out.rows.back().on.shape = shape;
    }
  }
  return out;
}

TEST(BenchSvg, ShapesThatDifferInOneSizeStandAtThatSize) {
  EXPECT_THAT(to_svg(results_on({{64, 64, 64}, {128, 128, 128}})), HasSubstr(">M = N = K<"));
  EXPECT_THAT(to_svg(results_on({{64, 64, 64, 1, true}, {128, 128, 128, 1, true}})),
              HasSubstr(">M = N = K, with TN<"));
  const std::string rows = to_svg(results_on({{1, 4096, 512}, {16, 4096, 512}}));
  EXPECT_THAT(rows, HasSubstr(">M, with N = 4096, K = 512<"));
  EXPECT_THAT(rows, HasSubstr("class=\"curve "));
  EXPECT_THAT(to_svg(results_on({{8, 8, 8, 10}, {8, 8, 8, 100}})),
              HasSubstr(">batch, with M = 8, N = 8, K = 8<"));
}

TEST(BenchSvg, OtherShapesStandSideBySideUnderTheirNames) {
  const std::vector<Shape> shapes = {
      {64, 64, 64}, {64, 64, 64, 1, true}, {1, 4096, 4096}, {8, 8, 8, 1000}};
  const std::string svg = to_svg(results_on(shapes));
  EXPECT_EQ(xml_fault(svg), "");
  std::size_t before = 0;
  for (const Shape& shape : shapes) {
    const std::size_t at = svg.find(cat(">", to_string(shape), "</text>"));
    ASSERT_NE(at, std::string::npos) << to_string(shape);
    EXPECT_GT(at, before) << "in the order given";
    before = at;
  }
  EXPECT_THAT(svg, Not(HasSubstr("class=\"curve "))) << "nothing joins different products";
}

TEST(BenchTable, ManyPeersStandInSeveralTablesThatFitATerminal) {
  BenchResults results;
  results.rows.push_back(
      made_row("block_tiled_vectorized", Contestant::Kind::algorithm, 64, {1e-4}));
  for (int i = 0; i < 15; ++i)
    results.rows.push_back(
        made_row(cat("openblas-new-", i), Contestant::Kind::peer, 64, {1e-4 * (i + 2)}));
  results.rows.push_back(made_row("peak", Contestant::Kind::peak, 64, {1e-5}));
  const std::string text = case_table(results, results.rows[0]).text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  for (int i = 0; i < 15; ++i) EXPECT_THAT(text, HasSubstr(cat("x openblas-new-", i)));
  EXPECT_THAT(text, HasSubstr("16.00")) << "times the speed of the last peer";
}

TEST(BenchTable, AReasonIsGivenOnceBelow) {
  BenchResults results = made_results();
  for (const char* name : {"xsmm", "xsmm-new"}) {
    BenchRow row = made_row(name, Contestant::Kind::peer, 128, {});
    row.status = RowStatus::unsupported;
    row.message = "libxsmm has no product of 128";
    results.rows.push_back(row);
  }
  const std::string text = case_table(results, results.rows.back()).text;
  EXPECT_THAT(text, HasSubstr("\nxsmm, xsmm-new: unsupported: libxsmm has no product of 128\n"));
  EXPECT_EQ(text.find("libxsmm"), text.rfind("libxsmm"));
  EXPECT_THAT(text, Not(HasSubstr("x xsmm"))) << "there is no ratio to it";
}

TEST(BenchTable, ShowsEveryRowOfItsCase) {
  const BenchResults results = made_results();
  const CaseTable table = case_table(results, results.rows.back());
  EXPECT_EQ(table.title, "f32, 1 thread, 128x128x128");
  for (const char* word :
       {"naive", "tiled", "blas", "measured peak", "refused: wrong at (0,0)", "x blas"})
    EXPECT_THAT(table.text, HasSubstr(word));
}

}  // namespace
}  // namespace tessera::bench
