// Reports for editors, code scanning and CI: every finding with its places, nothing that breaks the
// line or the document that contains it.
#include "check/formats/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "check/reports.hpp"
#include "tessera/check/format.hpp"

namespace tessera::check {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A race with both places, and a note without any.
Report two_findings() {
  Report report = tiled_report(64);
  report.source = "mine.cpp";
  Finding race;
  race.memory = Memory::shared;
  race.tensor = "s.a";
  race.location = {"mine.cpp", 20, 12};
  race.other = {"mine.cpp", 22, 0};
  race.threads.resize(2);
  race.count = 7;
  race.problem = "thread (0,0,0) writes\nwhat thread (1,0,0) reads: 100% wrong";
  race.hint = "a barrier";
  race.also.push_back({"s.b", {"mine.cpp", 21, 5}, race.other});
  Finding unread;
  unread.kind = Kind::never_read;
  unread.severity = Severity::note;
  unread.memory = Memory::global;
  unread.tensor = "A";
  unread.block.linear = unread.other_block.linear = -1;
  unread.problem = "A: 1 of 2 elements were read";
  report.findings = {race, unread};
  report.summary.errors = report.summary.notes = 1;
  report.summary.clean = false;
  return report;
}

/// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_) setenv(name_, before_->c_str(), 1);
    else unsetenv(name_);
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

std::string here(const std::string& file) {
  return (std::filesystem::current_path() / file).string();
}

nlohmann::json sarif_run(const Report& report) {
  return nlohmann::json::parse(to_sarif(report)).at("runs").at(0);
}

TEST(Formats, AllAreFoundByNameAndSayWhatTheyAreFor) {
  std::vector<std::string> names;
  const Report report = two_findings();
  for (const Format& each : formats()) {
    names.emplace_back(each.name);
    EXPECT_EQ(find_format(each.name), &each);
    EXPECT_FALSE(each.meaning.empty());
    EXPECT_FALSE(each.text(report, device_model("h200"), read_source, 0).empty()) << each.name;
  }
  EXPECT_THAT(names,
              testing::ElementsAre("text", "json", "gcc", "sarif", "github", "junit", "html"));
  EXPECT_EQ(find_format("xml"), nullptr);
}

TEST(FormatGcc, EachFindingIsOneLineWithNotesForItsOtherPlaces) {
  const Report report = two_findings();
  EXPECT_EQ(to_gcc(report),
            "mine.cpp:20:12: error: thread (0,0,0) writes what thread (1,0,0) reads: 100% wrong; "
            "7 times in all [race]\n"
            "mine.cpp:22: note: the other access [race]\n"
            "mine.cpp:21:5: note: also in s.b [race]\n"
            "mine.cpp:20:12: note: try: a barrier [race]\n"
            "mine.cpp:1: note: A: 1 of 2 elements were read [never-read]\n"
            "tiled: NOT clean: 1 error, 1 note in 4 blocks\n");
}

TEST(FormatGcc, FilesBelowTheCurrentFolderAreNamedFromThere) {
  Report report = two_findings();
  report.findings.resize(1);
  report.findings[0].location.file = here("kernels/../kernels/a.cu");
  EXPECT_THAT(to_gcc(report), StartsWith("kernels/a.cu:20:12: error: "));
  report.findings[0].location.file = "/usr/include/a.cu";
  EXPECT_THAT(to_gcc(report), StartsWith("/usr/include/a.cu:20:12: error: "));
  report.findings[0].location.file = "../a.cu";
  EXPECT_THAT(to_gcc(report), StartsWith("/"));
}

TEST(FormatGcc, WhatHasNoPlaceAtAllIsOfTheTool) {
  Report report = two_findings();
  report.findings.erase(report.findings.begin());
  report.source.clear();
  report.by_line.clear();
  EXPECT_THAT(to_gcc(report), StartsWith("tessera: note: A: 1 of 2"));
}

TEST(FormatGcc, AKernelThatCouldNotBeCheckedIsAnError) {
  Report report = tiled_report(64);
  report.source = "mine.cpp";
  report.summary.clean = false;
  report.summary.incomplete = "time limit of 1 s reached";
  EXPECT_THAT(to_gcc(report),
              StartsWith("mine.cpp:1: error: could not check: time limit of 1 s reached "
                         "[incomplete]\n"));
  EXPECT_THAT(to_github(report), StartsWith("::error file="));
  EXPECT_FALSE(sarif_run(report).at("invocations").at(0).at("executionSuccessful"));
}

TEST(FormatGithub, PropertiesAndTextsAreEscaped) {
  const Variable root("GITHUB_WORKSPACE", std::filesystem::current_path().string());
  Report report = two_findings();
  report.kernel = "a<1,2>: 50%";
  report.findings[0].location.file = here("odd, name:1.cu");
  const std::string text = to_github(report);
  EXPECT_THAT(text, StartsWith("::error file=odd%2C name%3A1.cu,line=20,col=12,"
                               "title=a<1%2C2>%3A 50%25%3A race in shared memory::"
                               "thread (0,0,0) writes%0Awhat thread (1,0,0) reads: 100%25 wrong; "
                               "7 times in all%0Athe other access: mine.cpp:22%0A"));
  EXPECT_THAT(text, HasSubstr("\n::notice file=mine.cpp,line=1,title="));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << "two annotations and the summary";
}

TEST(FormatGithub, FilesAreNamedFromTheRootOfTheCheckout) {
  const Variable root("GITHUB_WORKSPACE", std::filesystem::current_path().parent_path().string());
  const std::string folder = std::filesystem::current_path().filename().string();
  EXPECT_THAT(to_github(two_findings()),
              StartsWith("::error file=" + folder + "/mine.cpp,line=20,"));
}

TEST(FormatSarif, BothPlacesOfARaceAreThere) {
  const Variable root("GITHUB_WORKSPACE", std::filesystem::current_path().string());
  Report report = two_findings();
  report.findings[0].location.file = here("a b%.cu");
  const auto run = sarif_run(report);
  const auto& race = run.at("results").at(0);
  EXPECT_EQ(race.at("ruleId"), "race");
  EXPECT_EQ(race.at("level"), "error");
  EXPECT_EQ(race.at("occurrenceCount"), 7);
  const auto& place = race.at("locations").at(0).at("physicalLocation");
  EXPECT_EQ(place.at("artifactLocation").at("uri"), "a%20b%25.cu");
  EXPECT_EQ(place.at("artifactLocation").at("uriBaseId"), "%SRCROOT%");
  EXPECT_EQ(place.at("region").dump(), R"({"startColumn":12,"startLine":20})");
  const auto& related = race.at("relatedLocations");
  ASSERT_EQ(related.size(), 2u);
  EXPECT_EQ(related[0].at("id"), 1);
  EXPECT_EQ(related[0].at("physicalLocation").at("region").dump(), R"({"startLine":22})");
  EXPECT_EQ(related[0].at("message").at("text"), "the other access");
  EXPECT_EQ(related[1].at("message").at("text"), "also in s.b");
  EXPECT_THAT(race.at("message").at("text").get<std::string>(),
              HasSubstr("See [the other access](1), [also in s.b](2)."));
  EXPECT_EQ(run.at("results").at(1).at("level"), "note");
}

TEST(FormatSarif, EveryKindIsARuleWithHelp) {
  const auto rules = sarif_run(two_findings()).at("tool").at("driver").at("rules");
  ASSERT_EQ(rules.size(), kKindNames.size());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(rules[i].at("id"), kKindNames[i]);
    EXPECT_THAT(rules[i].at("shortDescription").at("text").get<std::string>(), EndsWith("."));
    EXPECT_THAT(rules[i].at("help").at("text").get<std::string>(), HasSubstr("docs/checker.md"));
    EXPECT_EQ(rules[i].count("helpUri"), 0u) << "nobody has said where the documents are";
  }
  const Variable docs("TESSERA_DOCS", "https://example.com/docs");
  const auto linked = sarif_run(two_findings()).at("tool").at("driver").at("rules");
  EXPECT_EQ(linked[0].at("helpUri"), "https://example.com/docs/checker.md#what-it-finds");
  EXPECT_THAT(linked[0].at("help").at("markdown").get<std::string>(),
              HasSubstr("](https://example.com/docs/checker.md#what-it-finds)"));
}

TEST(FormatSarif, AcceptedFindingsAreSuppressedWithTheirReason) {
  Report report = two_findings();
  report.suppressed.push_back({report.findings[0], "looked at"});
  report.findings.erase(report.findings.begin());
  report.unused_suppressions = {"known.txt:2: kind=race reason=\"old\""};
  const auto run = sarif_run(report);
  EXPECT_TRUE(run.at("results").at(0).at("suppressions").empty());
  EXPECT_EQ(run.at("results").at(1).at("suppressions").dump(),
            R"([{"justification":"looked at","kind":"external","status":"accepted"}])");
  EXPECT_THAT(run.at("invocations").at(0).at("toolConfigurationNotifications").dump(),
              HasSubstr("unused suppression: known.txt:2"));
  EXPECT_EQ(sarif_run(two_findings()).at("results").at(0).count("suppressions"), 0u);
  EXPECT_THAT(to_gcc(report), Not(HasSubstr("[race]")));
  EXPECT_THAT(to_github(report), HasSubstr("unused suppression: known.txt:2"));
}

TEST(FormatSarif, BracketsOfATextMakeNoLink) {
  Report report = two_findings();
  report.findings[0].problem = "reads a[3](1)";
  EXPECT_THAT(sarif_run(report).at("results").at(0).at("message").at("text").get<std::string>(),
              StartsWith("reads a\\[3\\](1); 7 times in all."));
}

}  // namespace
}  // namespace tessera::check
