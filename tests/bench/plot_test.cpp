#include "bench/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "bench/support.hpp"

namespace tessera::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::xml_fault;

LinePlot one_line(std::vector<PlotPoint> points) {
  return {"Title", "x", "y", {{"curve", PlotRole::step, std::move(points)}}};
}

/// The number behind `attribute` of every element that has it, document-wide.
std::vector<double> numbers(const std::string& svg, const std::string& attribute) {
  std::vector<double> out;
  const std::regex pattern("[ ]" + attribute + "=\"([-0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at)
    out.push_back(std::stod((*at)[1]));
  return out;
}

/// The position of a series' name.
double label_height(const std::string& svg, const std::string& name) {
  std::smatch found;
  const std::regex label("<text x=\"741\" y=\"([-0-9.]+)\"[^>]*>" + name + "<");
  return std::regex_search(svg, found, label) ? std::stod(found[1]) : NAN;
}

TEST(Plot, CheckerOfXmlSeesFaults) {
  EXPECT_EQ(xml_fault("<a b=\"1>2\"><c/>x &amp; y</a>\n"), "");
  for (const char* bad :
       {"<a>", "</a>", "<a></b>", "<a>&</a>", "<a/>x", "<a b=\"1></a>", "", "<a></a><b></b>"})
    EXPECT_NE(xml_fault(bad), "") << bad;
}

TEST(Plot, NamesAreEscaped) {
  LinePlot plot = one_line({{1, 2, 1, 3}, {2, 3, 2, 4}});
  plot.title = "a < b & \"c\"";
  plot.series[0].name = "<script>";
  const std::string svg = svg_of(std::vector{plot}, "caption & more");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
}

TEST(Plot, HasColoursForBothBackgrounds) {
  EXPECT_THAT(svg_of(std::vector{one_line({{1, 2, 1, 3}})}, ""),
              HasSubstr("prefers-color-scheme: dark"));
}

TEST(Plot, TheAxisOfSpeedSaysHowItRises) {
  EXPECT_THAT(svg_of(std::vector{one_line({{1, 2, 1, 3}})}, ""), HasSubstr(", linear</text>"));
  EXPECT_THAT(svg_of(std::vector{one_line({{1, 1, 1, 1}, {2, 90, 90, 90}})}, ""),
              HasSubstr(", logarithmic</text>"));
}

TEST(Plot, LargerIsHigherAndFurtherRight) {
  const std::string svg =
      svg_of(std::vector{one_line({{64, 1, 1, 1}, {128, 2, 2, 2}, {256, 4, 4, 4}})}, "");
  auto x = numbers(svg, "cx"), y = numbers(svg, "cy");
  ASSERT_EQ(x.size(), 4u);  // three points and the one before the name
  EXPECT_LT(x[0], x[1]);
  EXPECT_LT(x[1], x[2]);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.2) << "the size axis is logarithmic";
  EXPECT_GT(y[0], y[1]);
  EXPECT_GT(y[1], y[2]);
}

TEST(Plot, EveryLineOfAColourHasItsOwnMark) {
  LinePlot plot{"Title", "x", "y", {}};
  for (int i = 0; i < 12; ++i)
    plot.series.push_back(
        {cat("s", i), PlotRole::step, {{64, 1.0 + i, 1, 1}, {128, 2.0 + i, 1, 1}}});
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_EQ(xml_fault(svg), "");
  std::set<std::string> marks;
  // The mark before each name, without its position and shade.
  const std::regex mark("<(circle|polygon)([^>]*)/>\n<text x=\"741\" y=\"([-0-9.]+)\"");
  const std::regex corner("([-0-9.]+),([-0-9.]+)");
  for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) {
    const std::string attributes = (*at)[2];
    std::string look = cat((*at)[1].str(), attributes.find("hollow") != std::string::npos);
    const double middle = std::stod((*at)[3]) - 4;
    for (std::sregex_iterator one(attributes.begin(), attributes.end(), corner); one != end; ++one)
      look += cat(" ", std::lround(std::stod((*one)[1]) - 732), ",",
                  std::lround(std::stod((*one)[2]) - middle));
    marks.insert(look);
  }
  EXPECT_EQ(marks.size(), 12u);
}

TEST(Plot, WithoutPointsItSaysSo) {
  const LinePlot empty{"Empty", "x", "y", {{"nothing", PlotRole::peer, {}}}};
  const std::string svg = svg_of(std::vector{empty}, "");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr("no verified result"));
  EXPECT_EQ(xml_fault(svg_of(std::vector<BarPlot>{{"t", "x", 100, "peak", {}}}, "")), "");
}

TEST(Plot, NamesDoNotCoverEachOther) {
  LinePlot plot = one_line({{64, 1, 1, 1}});
  for (int i = 0; i < 20; ++i)
    plot.series.push_back({cat("s", i), PlotRole::peer, {{64, 1 + i * 1e-3, 1, 1.1}}});
  const std::string svg = svg_of(std::vector{plot}, "");
  std::vector<double> heights;
  const std::regex label("<text x=\"741\" y=\"([-0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), label), end; at != end; ++at)
    heights.push_back(std::stod((*at)[1]));
  ASSERT_EQ(heights.size(), 21u);
  std::sort(heights.begin(), heights.end());
  for (std::size_t i = 1; i < heights.size(); ++i) EXPECT_GE(heights[i] - heights[i - 1], 10);
}

TEST(Plot, ACurveThatEndsEarlyIsNamedBesideItsLastPoint) {
  LinePlot plot = one_line({{64, 1, 1, 1}, {128, 2, 2, 2}});
  plot.series.push_back({"short", PlotRole::peer, {{64, 1.9, 1.9, 1.9}}});
  plot.series.push_back({"low", PlotRole::peer, {{64, 1, 1, 1}, {128, 0.5, 0.5, 0.5}}});
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_LT(label_height(svg, "curve"), label_height(svg, "low"));
  EXPECT_TRUE(std::isnan(label_height(svg, "short"))) << "not among the names at the right";
  std::smatch name;
  const std::regex text("<text x=\"([0-9.]+)\" y=\"([0-9.]+)\" class=\"halo\">short<");
  ASSERT_TRUE(std::regex_search(svg, name, text));
  const auto circles = numbers(svg, "cx");
  EXPECT_NEAR(std::stod(name[1]), circles[0], 60);
  const std::regex lead("<line [^>]*class=\"lead ");
  EXPECT_EQ(
      std::distance(std::sregex_iterator(svg.begin(), svg.end(), lead), std::sregex_iterator()), 3);
}

TEST(Plot, ANameInTheFieldCoversNoCurve) {
  LinePlot plot = one_line({{64, 5, 5, 5}, {128, 5, 5, 5}, {4096, 5, 5, 5}});
  plot.series.push_back({"above", PlotRole::step, {{64, 6, 6, 6}, {4096, 6, 6, 6}}});
  for (const char* name : {"early", "earlier"})
    plot.series.push_back({name, PlotRole::peer, {{64, 5.1, 5.1, 5.1}}});
  const std::string svg = svg_of(std::vector{plot}, "");
  const std::regex text("<text x=\"[0-9.]+\" y=\"([0-9.]+)\" class=\"halo\">(early|earlier)<");
  const std::regex path("<path d=\"M[0-9.]+ ([0-9.]+)");
  std::vector<double> names, curves;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at)
    names.push_back(std::stod((*at)[1]) - 4);
  for (std::sregex_iterator at(svg.begin(), svg.end(), path), end; at != end; ++at)
    curves.push_back(std::stod((*at)[1]));
  ASSERT_EQ(names.size(), 2u);
  ASSERT_EQ(curves.size(), 4u);
  for (double name : names) {
    for (double curve : {curves[0], curves[1]}) EXPECT_GT(std::abs(name - curve), 8);
  }
  EXPECT_GT(std::abs(names[0] - names[1]), 8) << "nor the other name";
}

/// The first class of the mark before this name, after `from`: the colour, and the mark's kind.
std::string look_of(const std::string& svg, const std::string& name, std::size_t from) {
  const std::string rest = svg.substr(from);
  std::smatch found;
  const std::regex mark("<(circle|polygon)[^>]*class=\"([a-z]+[0-9]+( hollow)?)\"/>\n<text[^>]*>" +
                        name + "<");
  return std::regex_search(rest, found, mark) ? cat(found[1].str(), " ", found[2].str()) : "";
}

TEST(Plot, ANameLooksTheSameInAllPlotsOfAPicture) {
  const std::vector<PlotPoint> points = {{64, 2, 2, 2}, {128, 2, 2, 2}};
  const LinePlot first{"First",
                       "x",
                       "y",
                       {{"naive", PlotRole::step, points},
                        {"packed", PlotRole::step, points},
                        {"one", PlotRole::peer, points},
                        {"two", PlotRole::peer, points}}};
  const LinePlot second{"Second",
                        "x",
                        "y",
                        {{"two", PlotRole::peer, points},
                         {"three", PlotRole::peer, points},
                         {"packed", PlotRole::step, points}}};
  const std::string svg = svg_of(std::vector{first, second}, "");
  const std::size_t below = svg.find(">Second<");
  for (const char* name : {"packed", "two"}) {
    EXPECT_NE(look_of(svg, name, 0), "");
    EXPECT_EQ(look_of(svg, name, 0), look_of(svg, name, below)) << name;
  }
  EXPECT_THAT(look_of(svg, "two", below), HasSubstr("peer1"));
  EXPECT_THAT(look_of(svg, "three", below), HasSubstr("peer2"));
}

TEST(Plot, PeersHaveHuesOfTheirOwn) {
  LinePlot plot{"Title", "x", "y", {}};
  for (int i = 0; i < 8; ++i)
    plot.series.push_back({cat("s", i), PlotRole::peer, {{64, 1.0 + i, 1, 1}}});
  const std::string svg = svg_of(std::vector{plot}, "");
  std::set<std::string> hues;
  for (int i = 0; i < 8; ++i) {
    EXPECT_THAT(svg, HasSubstr(cat("class=\"curve peer", i, " dashed")));
    const std::string rule = cat(".peer", i, "{stroke:");
    hues.insert(svg.substr(svg.find(rule) + rule.size(), 7));
  }
  EXPECT_EQ(hues.size(), 8u);
}

TEST(Plot, NotesAndTheKeyStandBetweenTitleAndField) {
  LinePlot plot = one_line({{64, 1, 1, 1}, {128, 2, 2, 2}});
  const double plain = numbers(svg_of(std::vector{plot}, ""), "height")[0];
  plot.key = {"steps are blue", "nobody", "nothing"};
  plot.notes = {std::string(100, 'a') + " " + std::string(100, 'b'), "<short>"};
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">steps are blue<"));
  EXPECT_THAT(svg, Not(HasSubstr("nobody"))) << "no peer is there";
  EXPECT_THAT(svg, HasSubstr(cat(">", std::string(100, 'a'), "<"))) << "broken where it fits";
  EXPECT_THAT(svg, HasSubstr(">&lt;short&gt;<"));
  EXPECT_GT(numbers(svg, "height")[0], plain + 3 * 12);
}

/// `count` cells with long names and six series of one speed.
LinePlot cells(std::size_t count) {
  LinePlot plot{"Title", "x", "y", {}, {}};
  for (std::size_t i = 0; i < count; ++i) plot.cells.push_back(cat("cell", i, "x4096x4096<"));
  for (int s = 0; s < 6; ++s) {
    plot.series.push_back({cat("s", s), static_cast<PlotRole>(s % 3), {}});
    for (std::size_t i = 0; i < count; ++i)
      plot.series.back().points.push_back({static_cast<double>(i), 5, 4, 6});
  }
  return plot;
}

/// The places of the cells' tilted names.
std::vector<double> names_at(const std::string& svg) {
  std::vector<double> out;
  const std::regex name("translate\\(([0-9.]+) [0-9.]+\\) rotate\\(-60\\)");
  for (std::sregex_iterator at(svg.begin(), svg.end(), name), end; at != end; ++at)
    out.push_back(std::stod((*at)[1]));
  return out;
}

TEST(Plot, CellsStandSideBySideWithTheirPoints) {
  const std::string svg = svg_of(std::vector{cells(4)}, "");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">cell3x4096x4096&lt;<"));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"curve ")));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"lead ")));
  const auto names = names_at(svg);
  ASSERT_EQ(names.size(), 4u);
  for (std::size_t i = 2; i < 4; ++i)
    EXPECT_NEAR(names[i] - names[i - 1], names[1] - names[0], 0.2);
  const std::regex spread("<line x1=\"([0-9.]+)\"[^>]*class=\"spread ");
  std::set<double> places;
  for (std::sregex_iterator at(svg.begin(), svg.end(), spread), end; at != end; ++at)
    places.insert(std::stod((*at)[1]));
  EXPECT_EQ(places.size(), 24u) << "equal speeds beside one another";
}

TEST(Plot, EveryOtherCellHasAGroundOfItsOwnWhereThatShows) {
  const auto bands = [](const std::string& svg) {
    const std::regex band("<rect x=\"([0-9.]+)\"[^>]*width=\"([0-9.]+)\"[^>]*class=\"band\"");
    std::vector<std::pair<double, double>> out;
    for (std::sregex_iterator at(svg.begin(), svg.end(), band), end; at != end; ++at)
      out.emplace_back(std::stod((*at)[1]), std::stod((*at)[1]) + std::stod((*at)[2]));
    return out;
  };
  const std::string svg = svg_of(std::vector{cells(5)}, "");
  const auto found = bands(svg);
  ASSERT_EQ(found.size(), 2u);
  // Each cell's marks are inside its band, or outside all.
  const std::regex spread("<line x1=\"([0-9.]+)\"[^>]*class=\"spread ");
  int inside = 0;
  for (std::sregex_iterator at(svg.begin(), svg.end(), spread), end; at != end; ++at) {
    for (const auto& [from, to] : found)
      inside += std::stod((*at)[1]) > from && std::stod((*at)[1]) < to;
  }
  EXPECT_EQ(inside, 2 * 6);
  EXPECT_TRUE(bands(svg_of(std::vector{cells(1000)}, "")).empty());
  EXPECT_TRUE(bands(svg_of(std::vector{one_line({{64, 1, 1, 1}})}, "")).empty());
}

TEST(Plot, NamesOfManyCellsDoNotCoverEachOther) {
  for (std::size_t count : {1u, 2u, 38u, 60u, 1000u}) {
    const std::string svg = svg_of(std::vector{cells(count)}, "");
    const auto names = names_at(svg);
    ASSERT_GE(names.size(), std::min<std::size_t>(count, 20));
    for (std::size_t i = 1; i < names.size(); ++i) EXPECT_GE(names[i] - names[i - 1], 15.9);
    for (double x : numbers(svg, "cx")) EXPECT_TRUE(x >= 74 && x <= 740) << count;
  }
}

TEST(Plot, BarsAreAsLongAsTheirValues) {
  BarPlot plot{"Ladder", "%", 100, "peak", {}};
  for (double value : {10.0, 20.0, 80.0})
    plot.bars.push_back({"bar", "text", PlotRole::step, value, value, value});
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_EQ(xml_fault(svg), "");
  const auto widths = numbers(svg, "width");  // of the document, of the page, of three bars
  ASSERT_EQ(widths.size(), 5u);
  EXPECT_NEAR(widths[3], 2 * widths[2], 0.3);
  EXPECT_NEAR(widths[4], 8 * widths[2], 0.9);
}

TEST(Plot, OneLongBarLeavesTheOthersTheirLength) {
  BarPlot plot{"Time", "ms", 0, "", {}};
  for (double value : {0.05, 0.1, 112.0})
    plot.bars.push_back({"bar", "text", PlotRole::peer, value, value, value});
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, HasSubstr(">ms; logarithmic<"));
  const auto widths = numbers(svg, "width");
  ASSERT_EQ(widths.size(), 5u);
  EXPECT_GT(widths[2], 20);
  EXPECT_GT(widths[3], widths[2] + 20);
  EXPECT_GT(widths[4], widths[3] + 200);
  plot.bars[2] = {"bar", "text", PlotRole::peer, 0.2, 0.2, 0.2};
  EXPECT_THAT(svg_of(std::vector{plot}, ""), Not(HasSubstr("logarithmic")));
}

TEST(Plot, TheLimitCrossesNoText) {
  BarPlot plot{"Ladder", "%", 100, "peak", {}};
  for (int value = 2; value <= 100; value += 7) {
    const double at = value;
    plot.bars.push_back({"bar", "97.3 %, 114 GFLOP/s", PlotRole::step, at, at, at + 1});
  }
  const std::string svg = svg_of(std::vector{plot}, "");
  std::smatch limit;
  ASSERT_TRUE(std::regex_search(svg, limit, std::regex("<line x1=\"([0-9.]+)\"[^>]*limit dotted")));
  const double at = std::stod(limit[1]);
  const std::regex text("<text x=\"([0-9.]+)\"[^>]*class=\"halo\">([^<]*)<");
  int texts = 0;
  for (std::sregex_iterator one(svg.begin(), svg.end(), text), end; one != end; ++one, ++texts) {
    const double begin = std::stod((*one)[1]);
    const double width = 6 * static_cast<double>((*one)[2].length());
    EXPECT_TRUE(begin > at || begin + width < at) << (*one)[0];
    EXPECT_LT(begin + width, 900);
  }
  EXPECT_EQ(texts, 15);
}

TEST(Plot, ABarWithoutAValueIsOnlyItsText) {
  BarPlot plot{"Ladder", "%", 100, "peak", {{"bar", "no share", PlotRole::step}}};
  const std::string svg = svg_of(std::vector{plot}, "");
  EXPECT_EQ(numbers(svg, "width").size(), 2u) << "of the document and of the page";
  EXPECT_THAT(svg, HasSubstr(">no share<"));
  plot.limit = 0;
  plot.bars[0] = {"bar", "3 us", PlotRole::step, 3, 2, 4};
  const std::string times = svg_of(std::vector{plot}, "");
  EXPECT_EQ(xml_fault(times), "");
  EXPECT_THAT(times, Not(HasSubstr("limit dotted"))) << "no limit, no rule";
}

RC_GTEST_PROP(Plot, AnyDataGivesAWellFormedDocumentInsideItsFrame, ()) {
  LinePlot plot{*rc::gen::arbitrary<std::string>(), "x", "y", {}};
  for (char& c : plot.title) c = static_cast<char>(c & 0x7f);
  const int series = *rc::gen::inRange(0, 6);
  for (int s = 0; s < series; ++s) {
    PlotSeries each{cat("s", s), static_cast<PlotRole>(s % 3), {}};
    const int points = *rc::gen::inRange(0, 5);
    double x = 0;
    for (int p = 0; p < points; ++p) {
      x += *rc::gen::inRange(1, 1000);
      const double y = std::ldexp(*rc::gen::inRange(1, 1000), *rc::gen::inRange(-20, 20));
      each.points.push_back({x, y, y / 2, y * 2});
    }
    plot.series.push_back(each);
  }
  const std::string svg = svg_of(std::vector{plot}, "caption");
  RC_ASSERT(xml_fault(svg) == "");
  RC_ASSERT(svg.find("nan") == std::string::npos);
  RC_ASSERT(svg.find("inf") == std::string::npos);
  for (double x : numbers(svg, "cx")) RC_ASSERT(x >= 0 && x <= 900);
  for (double y : numbers(svg, "cy")) RC_ASSERT(y >= 0 && y <= 600);
}

}  // namespace
}  // namespace tessera::bench
