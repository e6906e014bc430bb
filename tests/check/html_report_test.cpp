// The page of a report: well-formed, self-contained, escaped, and with what the report says.
#include "tessera/check/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "check/reports.hpp"
#include "support/xml.hpp"

using namespace tessera;
using namespace tessera::check;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A source of sixty numbered lines.
std::optional<std::string> sixty_lines(const std::string&) {
  std::string out;
  for (int i = 1; i <= 60; ++i) out += "line " + std::to_string(i) + " <of> & \"text\"\n";
  return out;
}

Finding race() {
  Finding f;
  f.kind = Kind::race;
  f.memory = Memory::shared;
  f.location = {"tiled.hpp", 46, 3};
  f.other = {"tiled.hpp", 41, 3};
  f.threads = {position_of(3, {32, 32}), position_of(40, {32, 32})};
  f.other_block.linear = -1;
  f.superstep = "multiply";
  f.count = 512;
  f.problem = "thread (3,0,0) reads <script>alert('x')</script>";
  f.hint = "put a barrier between";
  return f;
}

Report with_findings() {
  Report r = tiled_report(256, true);
  r.findings = {race()};
  r.summary.clean = false;
  r.summary.errors = 1;
  return r;
}

/// "" or what is wrong with the page as XML: the doctype is no part of that.
std::string fault(const std::string& page) {
  return page.starts_with("<!DOCTYPE html>\n") ? xml_fault(page.substr(16)) : "no doctype";
}

std::set<std::string> all_of(const std::string& page, const char* pattern) {
  std::set<std::string> out;
  const std::regex what(pattern);
  for (std::sregex_iterator at(page.begin(), page.end(), what), end; at != end; ++at)
    out.insert((*at)[1]);
  return out;
}

std::vector<std::string> pages() {
  return {html_report(naive_report(256), h200(), sixty_lines),
          html_report(with_findings(), h200(), sixty_lines),
          html_report(Report{}, h200(), sixty_lines),
          html_comparison(naive_report(256), with_findings(), h200(), sixty_lines)};
}

TEST(HtmlReport, IsWellFormedAndFetchesNothing) {
  for (const std::string& page : pages()) {
    EXPECT_EQ(fault(page), "");
    EXPECT_THAT(page, Not(HasSubstr("<script")));
    EXPECT_THAT(page, Not(HasSubstr("src=")));
    EXPECT_THAT(page, Not(HasSubstr("http:")));
    EXPECT_THAT(page, Not(HasSubstr("https:")));
    EXPECT_THAT(page, Not(HasSubstr("url(")));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    EXPECT_THAT(page, HasSubstr("prefers-color-scheme:dark"));
  }
}

TEST(HtmlReport, EveryLinkHasItsTargetAndEveryTargetIsThereOnce) {
  for (const std::string& page : pages()) {
    const std::regex id("[ ]id=\"([^\"]*)\"");
    std::set<std::string> ids;
    for (std::sregex_iterator at(page.begin(), page.end(), id), end; at != end; ++at)
      EXPECT_TRUE(ids.insert((*at)[1]).second) << (*at)[1];
    for (const std::string& link : all_of(page, "href=\"#([^\"]*)\""))
      EXPECT_TRUE(ids.count(link)) << link;
  }
}

TEST(HtmlReport, TwoFilesOfOneNameAreToldApart) {
  Report r = with_findings();
  r.findings[0].other = {"ops/tiled.hpp", 46, 3};
  const std::string page = html_report(r, h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("<tr id=\"ops/tiled.hpp-46\""));
  EXPECT_THAT(page, HasSubstr("href=\"#ops/tiled.hpp-46\""));
  EXPECT_THAT(page, HasSubstr("<tr id=\"tiled.hpp-46\""));
}

TEST(HtmlReport, FindingsAreEscapedAndLinkedToTheirLines) {
  const std::string page = html_report(with_findings(), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("error: race"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert"));
  EXPECT_THAT(page, HasSubstr("href=\"#tiled.hpp-46\""));
  EXPECT_THAT(page, HasSubstr("href=\"#tiled.hpp-41\""));
  EXPECT_THAT(page, HasSubstr("512 times"));
  EXPECT_THAT(page, HasSubstr("put a barrier between"));
  EXPECT_THAT(page, HasSubstr("<tr id=\"tiled.hpp-46\""));
  EXPECT_EQ(all_of(page, "href=\"#(finding-[0-9]+)\" title=\"race\"").size(), 1u);
  EXPECT_THAT(page, HasSubstr("1 error"));
}

TEST(HtmlReport, TheSourceHasItsCountersBesideIt) {
  const std::string page = html_report(with_findings(), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("line 46 &lt;of&gt; &amp; &quot;text&quot;"));
  const std::size_t at = page.find("<tr id=\"tiled.hpp-46\"");
  const std::string row = page.substr(at, page.find("</tr>", at) - at);
  EXPECT_THAT(row, HasSubstr("<b class=\"bad\">16.5</b>"));
  EXPECT_THAT(row, HasSubstr("\"shared requests\">1.05 M</td>"));  // 2^20 shared loads
  EXPECT_THAT(row, HasSubstr("\"multiply-adds\">16.8 M</td>"));    // 2^24 multiply-adds
  EXPECT_THAT(row, HasSubstr("background:rgba("));                 // the hottest line
}

TEST(HtmlReport, ALongSourceIsShownNearWhatDidSomething) {
  const auto lines = [](const std::string&) {
    std::string out;
    for (int i = 1; i <= 500; ++i) out += "text of line " + std::to_string(i) + "\n";
    return std::optional(out);
  };
  const std::string page = html_report(naive_report(256), h200(), lines);
  EXPECT_THAT(page, HasSubstr("text of line 27<"));
  EXPECT_THAT(page, HasSubstr("text of line 32<"));
  EXPECT_THAT(page, Not(HasSubstr("text of line 22<")));
  EXPECT_THAT(page, Not(HasSubstr("text of line 33<")));
}

TEST(HtmlReport, WithoutTheSourceTheCountersStay) {
  const auto none = [](const std::string&) { return std::optional<std::string>(); };
  const std::string page = html_report(naive_report(256), h200(), none);
  EXPECT_EQ(fault(page), "");
  EXPECT_THAT(page, HasSubstr("The source is not on this machine"));
  EXPECT_THAT(page, HasSubstr("<tr id=\"naive.hpp-27\""));
}

TEST(HtmlReport, TheWorstWarpIsAPictureOfLanesAndSectors) {
  const std::string page = html_report(naive_report(256), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("<b class=\"bad\">32 sectors</b>, ideal 4"));
  EXPECT_THAT(page, HasSubstr("lane 7, byte 7168"));
  EXPECT_THAT(page, HasSubstr("byte 7172: not used"));
  EXPECT_THAT(page, HasSubstr(">+31744</text>"));
  EXPECT_THAT(page, HasSubstr(">0-31</text>"));  // B is broadcast
}

TEST(HtmlReport, TheWorstWarpIsAPictureOfLanesAndBanks) {
  const std::string page = html_report(tiled_report(256, true), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("lanes of a warp to banks in 32 wavefronts"));
  EXPECT_THAT(page, HasSubstr("lane 31, bank 0, byte 3968"));
  EXPECT_THAT(page, HasSubstr(">pass 32</text>"));
  const std::string good = html_report(tiled_report(256), h200(), sixty_lines);
  EXPECT_THAT(good, HasSubstr("lanes 0,1,2,3,4,5,6,7"));
  EXPECT_THAT(good, HasSubstr("lanes of a warp to banks in 1 wavefronts"));
  EXPECT_THAT(good, Not(HasSubstr(">pass 2</text>")));
}

/// The picture draws as many rows as the rule counts, for any width and pattern.
TEST(HtmlReport, PicturesOfBanksHaveARowForEachWavefront) {
  for (const int bytes : {1, 2, 4, 8, 16})
    for (const int stride : {0, 1, 2, 3, 8, 17, 33})
      for (const bool store : {false, true}) {
        ReportMaker m = square_product("k", 32, {32, 1}, {1, 1});
        m.access({"k.hpp", 1, 1}, Memory::shared, store, "t", bytes, 1,
                 [=](int t) { return std::int64_t{bytes} * stride * t; });
        const int wavefronts = m.report.samples[0].transfers;
        EXPECT_THAT(html_report(m.report, h200(), sixty_lines),
                    HasSubstr("to banks in " + std::to_string(wavefronts) + " wavefronts"))
            << bytes << " bytes, stride " << stride << (store ? ", store" : ", load");
      }
}

TEST(HtmlReport, WhatTheRuleOfMergingDecidedIsMarked) {
  const char* mark = "by the rule of merging";
  for (const bool neighbours : {true, false}) {
    ReportMaker m = square_product("wide", 32, {32}, {1});
    m.access({"wide.hpp", 3, 4}, Memory::shared, false, "tile", 16, 1,
             [=](int t) { return std::int64_t{16} * (neighbours ? t / 2 : t); });
    m.report.total.merged_load_requests = neighbours ? 1 : 0;
    const std::string html = html_report(m.report, device_model("h200"));
    EXPECT_EQ(html.find(mark) != std::string::npos, neighbours);
  }
}

TEST(HtmlReport, SaysWhatBoundsAndWhatWasNotChecked) {
  Report r = naive_report(256);
  r.summary.blocks *= 10;
  const std::string page = html_report(r, h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("Only 64 of 640 blocks were checked"));
  EXPECT_THAT(page, HasSubstr("bound by"));
  EXPECT_THAT(page, HasSubstr("class=\"roofline\""));
  EXPECT_THAT(page, HasSubstr("NVIDIA H200 SXM"));
}

TEST(HtmlReport, WhatCouldNotBeCheckedIsNeitherCleanNorWithoutAWord) {
  Report r = naive_report(256);
  r.summary.clean = false;
  r.summary.timed_out = true;
  r.summary.incomplete = "time limit of 1 s reached after 2 of 64 blocks: <raise it>";
  const std::string page = html_report(r, h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("<span class=\"badge warn\">could not check</span>"));
  EXPECT_THAT(page, HasSubstr("incomplete; time limit of 1 s reached"));
  EXPECT_EQ(fault(page), "");
}

TEST(HtmlReport, OperationsThatNobodySawAreNoIntensityOfZero) {
  Report r = naive_report(256);
  EXPECT_THAT(html_report(r, h200(), sixty_lines), HasSubstr("<b>42.7 flop/B</b>"));
  r.total.flops = r.total.fma_threads = 0;
  const std::string page = html_report(r, h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("<b>unknown</b>"));
  EXPECT_THAT(page, Not(HasSubstr("<b>0 flop/B</b>")));
}

TEST(HtmlReport, SuppressionsThatMetNothingAreNamed) {
  Report r = with_findings();
  r.unused_suppressions = {"known.txt:3: kind=<race>"};
  EXPECT_THAT(html_report(r, h200(), sixty_lines),
              HasSubstr("Unused suppression: known.txt:3: kind=&lt;race&gt;"));
}

TEST(HtmlReport, SourcesOfWindowsLookLikeOthers) {
  const auto windows = [](const std::string& file) {
    return std::optional(std::regex_replace(*sixty_lines(file), std::regex("\n"), "\r\n"));
  };
  EXPECT_EQ(html_report(with_findings(), h200(), windows),
            html_report(with_findings(), h200(), sixty_lines));
}

TEST(HtmlReport, SuperstepsAreATimeline) {
  const std::string page = html_report(tiled_report(256), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("class=\"timeline\""));
  EXPECT_THAT(page, HasSubstr(">multiply</text>"));
  EXPECT_THAT(page, HasSubstr("8 times in a block"));
  EXPECT_THAT(html_report(naive_report(256), h200(), sixty_lines),
              Not(HasSubstr("class=\"timeline\"")));
}

TEST(HtmlReport, AComparisonShowsBothWithTheirRatio) {
  const std::string page =
      html_comparison(naive_report(256), tiled_report(256), h200(), sixty_lines);
  EXPECT_THAT(page, HasSubstr("<tr id=\"a-naive.hpp-27\""));
  EXPECT_THAT(page, HasSubstr("<tr id=\"b-tiled.hpp-46\""));
  EXPECT_THAT(page, HasSubstr("<div class=\"pair wide\">\n<div>\n<h3 class=\"which\">naive</h3>"));
  EXPECT_THAT(page, HasSubstr("<h3 class=\"which\">tiled</h3>"));
  EXPECT_THAT(page, HasSubstr("global_load_requests</code></td><td>1048576</td><td>32768</td>"
                              "<td>0.03</td>"));
}

TEST(HtmlReport, TheSameReportGivesTheSameBytes) {
  EXPECT_EQ(html_report(with_findings(), h200(), sixty_lines),
            html_report(with_findings(), h200(), sixty_lines));
}

}  // namespace
