// The command itself, on sizes that take milliseconds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "bench/support.hpp"
#include "shell/algorithm_options.hpp"
#include "tessera/core/error.hpp"

namespace tessera::bench {
namespace {

using nlohmann::json;
using testing::content_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Ran;
using testing::run_bench;
using testing::Scratch;
using ::testing::StartsWith;

/// Short samples: figures do not matter here.
std::vector<std::string> quick(std::vector<std::string> more) {
  std::vector<std::string> out = {"--repetitions", "2", "--min-time", "0.001", "--quiet"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

std::vector<json> entries_of(const json& document, const std::string& contestant) {
  std::vector<json> out;
  for (const auto& entry : document.at("benchmarks")) {
    if (entry.at("contestant") == contestant && entry.at("run_type") == "iteration")
      out.push_back(entry);
  }
  return out;
}

TEST(Bench, MeasuresEveryAlgorithmAndThePeakOnTinySizes) {
  const auto start = std::chrono::steady_clock::now();
  const Ran ran = run_bench(
      quick({"--sizes", "8:16:x2,5x7x3", "--threads", "1,2", "--peers", "none", "--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const json document = json::parse(ran.out);
  for (const auto& name : shell::algorithm_names()) {
    const auto entries = entries_of(document, name);
    ASSERT_EQ(entries.size(), 3 * 2 * 2u) << name;  // sizes, threads, repetitions
    for (const auto& entry : entries) {
      EXPECT_EQ(entry.at("status"), "verified") << name;
      EXPECT_LE(entry.at("max_error_ratio").get<double>(), 1.0);
      EXPECT_GT(entry.at("percent_of_peak").get<double>(), 0.0);
    }
  }
  EXPECT_EQ(entries_of(document, "peak").size(), 12u);
  // Not a measure of speed: a run that hangs or ignores --min-time is a defect.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
}

TEST(Bench, TransposedMatricesAndBatchesAreVerifiedAndNamed) {
  const Ran ran =
      run_bench(quick({"--sizes", "9x5x7-TN,9-NT,9-TT,20x4x4x4,3x5x6x7-TT", "--threads", "1",
                       "--algorithms", "naive,packed", "--peers", "none", "--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json document = json::parse(ran.out);
  for (const char* name : {"naive", "packed"}) {
    const auto entries = entries_of(document, name);
    ASSERT_EQ(entries.size(), 5 * 2u) << name;
    for (const auto& entry : entries) EXPECT_EQ(entry.at("status"), "verified") << entry;
    EXPECT_EQ(entries[0].at("transposition"), "TN");
    EXPECT_EQ(entries[0].at("run_name"), cat(name, "/f32/9x5x7-TN/threads:1"));
    EXPECT_EQ(entries[6].at("batch"), 20);
    EXPECT_EQ(entries[6].at("run_name"), cat(name, "/f32/20x4x4x4/threads:1"));
  }
}

TEST(Bench, TypesOfResultsMayDiffer) {
  const Ran ran = run_bench(quick({"--sizes", "9,7x9x9x9", "--dtype", "bf16:f32", "--algorithms",
                                   "packed", "--peers", "none", "--json"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  for (const auto& entry : entries_of(json::parse(ran.out), "packed")) {
    EXPECT_EQ(entry.at("status"), "verified");
    EXPECT_EQ(entry.at("dtype"), "bf16:f32");
  }
}

TEST(Bench, CallsAfterIdlenessAndFirstCallsHaveRowsOfTheirOwn) {
  const Scratch scratch;
  const Ran ran =
      run_bench(quick({"--sizes", "8", "--algorithms", "packed", "--peers", WRONG_PEER, "--threads",
                       "1", "--idle", "0.001", "--first-call", "-o", scratch / "r.json"}),
                {{"WRONG_PEER", "right"}});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("f32, 1 thread, after 0.001 s of idleness, 8x8x8"));
  const json document = json::parse(content_of(scratch / "r.json"));
  for (const char* name : {"packed", "wrong_peer"}) {
    int steady = 0, idle = 0, first = 0;
    for (const auto& entry : entries_of(document, name)) {
      EXPECT_EQ(entry.at("status"), "verified");
      if (entry.at("first_call") == true) ++first;
      else if (entry.at("idle_seconds") == 0.001) ++idle;
      else ++steady;
      if (entry.at("first_call") == true || entry.at("idle_seconds") != 0.0) {
        EXPECT_EQ(entry.at("iterations"), 1);
      }
    }
    EXPECT_EQ(steady, 2) << name;
    EXPECT_EQ(idle, 21) << name;
    EXPECT_EQ(first, 21) << name;
  }
  EXPECT_EQ(run_bench({"--from", scratch / "r.json"}).out, ran.out);
}

TEST(Bench, WhatAProductTakesByItselfIsMeasuredWhereItIsNamed) {
  for (const char* type : {"f32", "bf16:f32"}) {
    const Ran ran = run_bench(quick(
        {"--sizes", "8", "--algorithms", "auto", "--dtype", type, "--peers", "none", "--json"}));
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto entries = entries_of(json::parse(ran.out), "auto");
    ASSERT_FALSE(entries.empty());
    for (const auto& entry : entries) EXPECT_EQ(entry.at("status"), "verified");
  }
}

TEST(Bench, OurOwnBlasIsAnAlgorithm) {
  const Ran ran = run_bench(
      quick({"--sizes", "8,9-TT,20x4x4x4", "--algorithms", "blas", "--peers", "none", "--json"}));
  const auto build = std::filesystem::path(TESSERA_COMMAND).parent_path().parent_path();
  if (!std::filesystem::exists(build / "libtessera_blas.so"))
    GTEST_SKIP() << "NOT tested: libtessera_blas is not part of this build";
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto entries = entries_of(json::parse(ran.out), "blas");
  ASSERT_EQ(entries.size(), 6u);
  for (const auto& entry : entries) {
    EXPECT_EQ(entry.at("kind"), "algorithm");
    EXPECT_EQ(entry.at("status"), "verified");
  }
}

TEST(Bench, APlanIsMadeOnceForEachShape) {
  for (const char* types : {"f32", "f64", "f16", "f16:f32", "bf16", "bf16:f32", "i8:i32", "u8:i32",
                            "u8:i8:i32", "i8:u8:f32"}) {
    const Ran ran = run_bench(quick({"--sizes", "8,9-TT,20x4x4x4,70", "--algorithms", "plan",
                                     "--peers", "none", "--json", "--dtype", types}));
    ASSERT_EQ(ran.code, 0) << types << ran.err;
    const auto entries = entries_of(json::parse(ran.out), "plan");
    ASSERT_FALSE(entries.empty());
    for (const auto& entry : entries) EXPECT_EQ(entry.at("status"), "verified") << types;
  }
}

TEST(Bench, ContextTellsMachineCompilerMethodAndTime) {
  const Ran ran =
      run_bench(quick({"--sizes", "8", "--algorithms", "naive", "--peers", "none", "--json",
                       "--context", "commit=abc", "--context", "why=a = b", "--no-host"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json context = json::parse(ran.out).at("context");
  for (const char* key : {"date", "num_cpus", "mhz_per_cpu", "cpu_scaling_enabled", "caches",
                          "load_avg", "others_busy", "library_build_type", "version", "compiler",
                          "flags", "cpu_model", "cpu_stepping", "method", "peers", "peak"})
    EXPECT_TRUE(context.contains(key)) << key;
  EXPECT_FALSE(context.contains("host_name"));
  EXPECT_EQ(context.at("commit"), "abc");
  EXPECT_EQ(context.at("why"), "a = b");
}

TEST(Bench, RefusesAWrongPeerAndFails) {
  const Ran ran = run_bench(quick({"--sizes", "8", "--algorithms", "naive", "--json"}),
                            {{"TESSERA_PEERS", WRONG_PEER}});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("wrong_peer"));
  EXPECT_THAT(ran.err, HasSubstr("wrong at (7,7) of product 0"));
  const json document = json::parse(ran.out);
  const auto wrong = entries_of(document, "wrong_peer");
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0].at("status"), "refused");
  EXPECT_EQ(wrong[0].at("error_occurred"), true);
  EXPECT_GT(wrong[0].at("max_error_ratio").get<double>(), 1.0);
  for (const auto& entry : document.at("benchmarks"))
    EXPECT_FALSE(entry.contains("ratio_wrong_peer"));
  for (const auto& entry : entries_of(document, "naive")) EXPECT_EQ(entry.at("status"), "verified");
}

TEST(Bench, ARefusedPeerIsNeitherInThePlotNorInTheRatios) {
  const Scratch scratch;
  const Ran ran = run_bench(quick({"--sizes", "8", "--algorithms", "naive", "--peers", WRONG_PEER,
                                   "--csv", "--plot", scratch / "p.svg"}));
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(testing::xml_fault(content_of(scratch / "p.svg")), "");
  EXPECT_THAT(content_of(scratch / "p.svg"), Not(HasSubstr("wrong_peer")));
  EXPECT_THAT(content_of(scratch / "p.svg"), HasSubstr("naive"));
}

TEST(Bench, APeerThatCrashesCostsOnlyItsOwnRow) {
  const Ran ran = run_bench(
      quick({"--sizes", "8,12", "--algorithms", "naive", "--peers", WRONG_PEER, "--json"}),
      {{"WRONG_PEER", "crash"}});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("crashed"));
  const json document = json::parse(ran.out);
  EXPECT_EQ(entries_of(document, "naive").size(), 4u);
  for (const auto& entry : entries_of(document, "wrong_peer"))
    EXPECT_EQ(entry.at("status"), "failed");
}

TEST(Bench, ARightPeerGivesRatios) {
  for (const char* dtype : {"f32", "f64"}) {
    const Ran ran = run_bench(quick({"--sizes", "8", "--algorithms", "naive", "--peers", WRONG_PEER,
                                     "--json", "--dtype", dtype}),
                              {{"WRONG_PEER", "right"}});
    EXPECT_EQ(ran.code, 0) << ran.err;
    for (const auto& entry : entries_of(json::parse(ran.out), "naive"))
      EXPECT_GT(entry.at("ratio_wrong_peer").get<double>(), 0.0);
  }
}

/// The peer computes C = A B only.
TEST(Bench, UpdatesSubtractFromWhatIsThere) {
  const Scratch scratch;
  for (const char* dtype : {"f32", "f64"}) {
    const Ran ran = run_bench(
        quick({"--sizes", "8-update,20x30x9-TT-update", "--algorithms", "naive,packed,plan,blas",
               "--peers", WRONG_PEER, "--dtype", dtype, "--force", "-o", scratch / "u.json"}),
        {{"WRONG_PEER", "right"}});
    EXPECT_EQ(ran.code, 1);
    const json document = json::parse(content_of(scratch / "u.json"));
    int verified = 0;
    for (const auto& entry : document.at("benchmarks")) {
      if (entry.at("kind") == "peak") continue;
      EXPECT_EQ(entry.at("update"), true);
      const bool ours = entry.at("contestant") != "wrong_peer";
      const std::string status = entry.at("status");
      verified += status == "verified";
      if (ours) EXPECT_NE(status, "refused") << entry.dump();
      else EXPECT_NE(status, "verified");
    }
    EXPECT_GT(verified, 0) << dtype;
    const Ran again = run_bench({"--from", scratch / "u.json"});
    EXPECT_THAT(again.out, HasSubstr("20x30x9-TT-update"));
  }
  const Ran csv = run_bench({"--from", scratch / "u.json", "--csv"});
  EXPECT_THAT(csv.out, HasSubstr(",TT,1,cpu,"));
}

TEST(Bench, WritesEveryFormAndReadsItsJsonBack) {
  const Scratch scratch;
  const Ran ran = run_bench(quick({"--sizes", "8,16", "--algorithms", "naive,tiled", "--peers",
                                   "none", "-o", scratch / "r.json", "--plot", scratch / "p.svg"}));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("16x16x16"));
  EXPECT_EQ(testing::xml_fault(content_of(scratch / "p.svg")), "");
  EXPECT_NO_THROW(parse_bench_json(content_of(scratch / "r.json"), "r.json"));
  const Ran csv = run_bench({"--from", scratch / "r.json", "--csv"});
  EXPECT_EQ(csv.code, 0) << csv.err;
  EXPECT_THAT(csv.out, StartsWith("name,kind,"));
  const Ran markdown =
      run_bench({"--from", scratch / "r.json", "--markdown", "-o", scratch / "t.md"});
  EXPECT_EQ(markdown.code, 0) << markdown.err;
  EXPECT_EQ(markdown.out, content_of(scratch / "t.md"));
  EXPECT_EQ(run_bench({"--from", scratch / "r.json"}).out, ran.out);
  EXPECT_EQ(run_bench({"--from", scratch / "r.json", "--json"}).code, 0);
}

TEST(Bench, KeepsFilesThatExistUnlessForced) {
  const Scratch scratch;
  std::ofstream(scratch / "r.json") << "precious";
  const auto arguments =
      quick({"--sizes", "8", "--algorithms", "naive", "--peers", "none", "-o", scratch / "r.json"});
  const Ran refused = run_bench(arguments);
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_EQ(content_of(scratch / "r.json"), "precious");
  auto forced = arguments;
  forced.emplace_back("--force");
  EXPECT_EQ(run_bench(forced).code, 0);
  EXPECT_THAT(content_of(scratch / "r.json"), StartsWith("{"));
}

TEST(Bench, SlowContestantsGetFewerSamplesAndSayingSo) {
  const Ran ran =
      run_bench({"--sizes", "16", "--algorithms", "naive", "--peers", "none", "--repetitions", "5",
                 "--min-time", "0.01", "--max-time", "0.025", "--json", "--quiet"});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto entries = entries_of(json::parse(ran.out), "naive");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_THAT(entries[0].at("remark").get<std::string>(), HasSubstr("2 of 5 repetitions"));
}

TEST(Bench, ProductsThatWouldTakeTooLongAreSkipped) {
  const Ran ran =
      run_bench({"--sizes", "16,160", "--algorithms", "naive", "--peers", "none", "--repetitions",
                 "1", "--min-time", "1e-6", "--max-time", "1e-6", "--json", "--quiet"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto entries = entries_of(json::parse(ran.out), "naive");
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(entries.back().at("status"), "skipped");
}

TEST(Bench, WrongUsageIsOneLineAndExitCode2) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--sizes", "64:32:x2"},
      {"--sizes", ""},
      {"--threads", "0"},
      {"--threads", "5000"},
      {"--repetitions", "0"},
      {"--min-time", "-1"},
      {"--min-time", "nan"},
      {"--max-time", "x"},
      {"--algorithms", "naiv"},
      {"--algorithms", "naive,tensor_core", "--dtype", "i32"},
      {"--dtype", "i8:i8"},
      {"--dtype", "f31"},
      {"--json", "--csv"},
      {"-m", "8"},
      {"--sizes", "8", "-m", "8", "-n", "8", "-k", "8"},
      {"--sizes", "8", "--suite", "tiny"},
      {"--suite", "tinny"},
      {"--sizes", "8-TX"},
      {"--idle", "0"},
      {"--dtype", "bf16:f99"},
      {"--dtype", "f64:bf16"},
      {"--algorithms", "blas", "--dtype", "i32"},
      {"--algorithms", "plan", "--dtype", "i32"},
      {"--sizes", "8", "-o", "results.txt"},
      {"--sizes", "8", "--plot", "plot.png"},
      {"--sizes", "8", "--context", "novalue"},
      {"--sizes", "8", "--context", "date=never"},
      {"--from"},
      {"--compare", "one.json"},
      {"--threshold", "0"},
      {"8"},
  };
  for (const auto& arguments : wrong) {
    const Ran ran = run_bench(arguments);
    EXPECT_EQ(ran.code, 2) << ::testing::PrintToString(arguments) << ran.err;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, StartsWith("tessera bench: "));
  }
}

TEST(Bench, WhatIsNamedMustRunAndWhatIsNotMayBeLeftOut) {
  const Ran named = run_bench(quick(
      {"--sizes", "8", "--algorithms", "naive,tensor_core", "--dtype", "i32", "--peers", "none"}));
  EXPECT_THAT(named.err, HasSubstr("tensor_core cannot run this product: it has no i32 product"));
  const Ran all = run_bench(quick({"--sizes", "8", "--dtype", "i32", "--peers", "none", "--json"}));
  EXPECT_EQ(all.code, 0) << all.err;
  for (const auto& entry : entries_of(json::parse(all.out), "tensor_core"))
    EXPECT_EQ(entry.at("status"), "unsupported");
}

TEST(Bench, MisspeltNamesAreSuggested) {
  EXPECT_THAT(run_bench({"--algorithms", "naiv"}).err, HasSubstr("did you mean 'naive'"));
  EXPECT_THAT(run_bench({"--size", "8"}).err, HasSubstr("--sizes"));
  EXPECT_THAT(run_bench({"--suite", "tinny"}).err, HasSubstr("did you mean 'tiny'"));
}

TEST(Bench, MissingPeersAndFilesHaveTheirExitCodes) {
  const Ran peer = run_bench(quick({"--sizes", "8", "--peers", "nosuchblas"}));
  EXPECT_EQ(peer.code, 4);
  EXPECT_THAT(peer.err, HasSubstr("nosuchblas"));
  EXPECT_EQ(run_bench(quick({"--sizes", "8", "--peers", "/nowhere/lib.so"})).code, 4);
  EXPECT_EQ(run_bench({"--from", "/nowhere/r.json"}).code, 3);
  EXPECT_EQ(run_bench({"--from", "/dev/null"}).code, 3);
}

TEST(Bench, SizesBeyondMemoryAreRefusedAtOnce) {
  const Ran ran = run_bench(quick({"--sizes", "1048576", "--peers", "none"}));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("of memory"));
}

TEST(Bench, AnnouncesHowLongItWillTake) {
  const Ran ran = run_bench({"--sizes", "8", "--algorithms", "naive", "--peers", "none",
                             "--repetitions", "1", "--min-time", "0.001"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("1 size on "));
  EXPECT_THAT(ran.err, HasSubstr("about "));
}

TEST(Bench, CompareOfGoogleBenchmarkReadsIt) {
  const char* tool = "/usr/share/benchmark/compare.py";
  const bool runs = std::filesystem::exists(tool) &&
                    std::system("/usr/bin/python3 -c 'import scipy' >/dev/null 2>&1") == 0;
  if (!runs) GTEST_SKIP() << "compare.py is not installed: apt-get install libbenchmark-tools";
  const Scratch scratch;
  const Ran ran =
      run_bench(quick({"--sizes", "8", "--peers", WRONG_PEER, "-o", scratch / "r.json"}));
  EXPECT_EQ(ran.code, 1) << "the wrong peer stays in the file as an error";
  const std::string command =
      cat("/usr/bin/python3 ", tool, " --no-color benchmarks ", scratch / "r.json", " ",
          scratch / "r.json", " > ", scratch / "out", " 2>&1");
  EXPECT_EQ(std::system(command.c_str()), 0) << content_of(scratch / "out");
  EXPECT_THAT(content_of(scratch / "out"), HasSubstr("naive/f32/8x8x8"));
}

}  // namespace
}  // namespace tessera::bench
