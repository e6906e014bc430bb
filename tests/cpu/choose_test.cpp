// The one decision of the packed path, without running a product: routes of 200 shapes on three
// machines as routes.txt has them, and what every route keeps to. After a change that is meant,
// TESSERA_WRITE_ROUTES=1 in the environment of this test writes routes.txt again.
#include "choose.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cpu {
namespace {

#if defined(__x86_64__)

/// Caches, kernels and the routes of a machine.
struct Machine {
  const char* name;
  Caches caches;
  const KernelSet& set;
};
const Machine kMachines[] = {{"epyc", {48 << 10, 1 << 20, 32 << 20, 16}, kAvx512},
                             {"xeon", {48 << 10, 2 << 20, 105 << 20, 16}, kAvx512},
                             {"laptop", {32 << 10, 512 << 10, 8 << 20, 8}, kAvx2}};

bool joins_if_asked(int threads, std::int64_t) { return threads > 1; }

/// A row of the table: extents, orders of A and B, threads.
struct Row {
  index_t M, N, K;
  bool a_transposed, b_transposed;
  int threads;
};

std::vector<Row> rows() {
  std::vector<Row> out;
  const auto add = [&](index_t M, index_t N, index_t K, int orders) {
    out.push_back(
        {M, N, K, orders % 2 != 0, orders / 2 % 2 != 0, 1 + static_cast<int>(out.size()) % 2});
  };
  int turn = 0;
  for (const index_t n :
       {1,   2,   3,   4,   8,   12,  16,  24,  31,  32,   48,   49,   64,   96,
        100, 120, 121, 128, 192, 256, 384, 512, 768, 1000, 1024, 2048, 4096, 5000})
    for (int orders = 0; orders < 2; ++orders) add(n, n, n, turn++);
  for (const index_t thin : {1, 2, 4, 6, 8, 12, 16, 32, 64, 100, 200}) {
    for (const index_t n : {256, 1000, 4096}) {
      add(thin, n, n, turn++);
      add(n, thin, n, turn++);
      add(n, n, thin, turn++);
    }
  }
  for (const index_t K : {17, 500, 4000, 65536}) {
    add(1, 1, K, 2), add(4, 4, K, 2), add(4, 4, K, 0), add(9, 1, K, 3);
    add(33, 2, K, 2), add(48, 1, K, 0), add(6, 16, K, 2), add(64, 64, K, turn++);
  }
  for (const index_t M : {1, 16, 64}) add(M, 28672, 4096, turn++), add(M, 4096, 14336, turn++);
  add(8192, 8192, 32, 0), add(1023, 1025, 1027, 3), add(20000, 3, 3, 0), add(3, 20000, 3, 1);
  add(1000, 1000, 32, 0), add(257, 17, 4097, 1), add(640, 640, 96, 2);
  return out;
}

template <class T>
Gemm<T> call_of(const Row& row, std::uintptr_t address = 4096) {
  Gemm<T> call{.M = row.M, .N = row.N, .K = row.K};
  (row.a_transposed ? call.a_col : call.a_row) = row.a_transposed ? row.M : row.K;
  if (row.a_transposed) call.a_row = 1;
  (row.b_transposed ? call.b_col : call.b_row) = row.b_transposed ? row.K : row.N;
  if (row.b_transposed) call.b_row = 1;
  call.c_row = row.N, call.threads = row.threads;
  call.A = call.B = reinterpret_cast<const T*>(address);  // never read
  call.C = reinterpret_cast<T*>(address);
  return call;
}

/// What matters of a route, in a line.
std::string summary(const Route& route) {
  const std::string all = to_text(route);
  const auto field = [&](std::string_view name) {
    const auto at = all.find(cat(" ", name, "=")) + name.size() + 2;
    return all.substr(at, all.find(' ', at) - at);
  };
  std::string out = all.substr(8, all.find(' ') - 8);
  if (route.form != SmallForm::no) out += cat("/", field("form"));
  if (route.is_transposed) out += " transposed";
  if (route.columns_apart > 0) out += cat(" apart=", route.columns_apart);
  out += cat(" threads=", route.threads);
  if (route.variant == Variant::packed) {
    const PackedPlan& p = route.packed;
    if (p.blocks.stream != Stream::none) out += cat(" ", field("stream"));
    out += cat(" ", p.blocks.mc, "x", p.blocks.nc, "x", p.blocks.kc, "/", p.mr, "x", p.blocks.nr,
               " a=", field("pack_a"), " b=", field("pack_b"), p.fuses_b ? "+fused" : "",
               " sums=", field("sums"), p.streams_c ? " streams" : "");
  }
  if (route.workspace > 0) out += cat(" bytes=", route.workspace);
  return out;
}

template <class T>
Route route_on(const Machine& machine, const Row& row) {
  if constexpr (std::is_same_v<T, float>)
    return choose(call_of<T>(row), machine.set.f32, joins_if_asked);
  else return choose(call_of<T>(row), machine.set.f64, joins_if_asked);
}

std::string table() {
  std::string out;
  const Caches before = caches();
  int turn = 0;
  for (const Machine& machine : kMachines) {
    assume_caches(machine.caches);
    for (const Row& row : rows()) {
      const bool is_f64 = turn++ % 4 == 3;
      const Route route = is_f64 ? route_on<double>(machine, row) : route_on<float>(machine, row);
      out += cat(machine.name, " ", is_f64 ? "f64" : "f32", " ", row.M, "x", row.N, "x", row.K, "-",
                 row.a_transposed ? "T" : "N", row.b_transposed ? "T" : "N", ": ", summary(route),
                 "\n");
    }
  }
  assume_caches(before);
  return out;
}

TEST(Choose, IsAsTheTableSays) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "routes.txt";
  const std::string now = table();
  if (std::getenv("TESSERA_WRITE_ROUTES") != nullptr) std::ofstream(path) << now;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::istringstream lines(now);
  std::string want, is;
  int count = 0;
  for (; std::getline(file, want); ++count) {
    ASSERT_TRUE(std::getline(lines, is)) << "no row for " << want;
    EXPECT_EQ(is, want);
  }
  EXPECT_FALSE(std::getline(lines, is)) << "routes.txt has no row for " << is;
  EXPECT_GE(count, 600);
}

TEST(Choose, GivesRoutesThatTheirTextHolds) {
  const Caches before = caches();
  for (const Machine& machine : kMachines) {
    assume_caches(machine.caches);
    for (const Row& row : rows()) {
      const Route route = route_on<float>(machine, row);
      EXPECT_TRUE(route_from(to_text(route)) == route) << to_text(route);
    }
  }
  assume_caches(before);
}

TEST(Choose, KeepsWithinBounds) {
  std::mt19937_64 random(3);
  const Caches before = caches();
  for (int turn = 0; turn < 20'000; ++turn) {
    const Machine& machine = kMachines[turn % 3];
    assume_caches(machine.caches);
    const auto extent = [&] { return static_cast<index_t>(1 + random() % (1u << random() % 14)); };
    const Row row{extent(),          extent(),          extent(),
                  random() % 2 != 0, random() % 2 != 0, static_cast<int>(1 + random() % 2)};
    const Route route = route_on<float>(machine, row);
    const std::string text = to_text(route);
    ASSERT_LE(route.threads, row.threads) << text;
    ASSERT_GE(route.threads, 1) << text;
    ASSERT_LE(route.columns_apart, row.N) << text;
    if (route.variant != Variant::packed) continue;
    const PackedPlan& p = route.packed;
    ASSERT_GE(p.blocks.kc, 1) << text;
    ASSERT_GE(p.blocks.nc, 1) << text;
    ASSERT_GE(p.blocks.mc, 1) << text;
    ASSERT_EQ(p.blocks.nr % machine.set.f32.lanes, 0) << text;
    ASSERT_GE(p.kc_blocks * p.blocks.kc, p.k_groups) << text;
    ASSERT_EQ(p.first_rows % p.mr, 0) << text;
    ASSERT_EQ(p.block_rows % p.mr, 0) << text;
    // Shared parts need their memory, and a block of C bounds it all.
    ASSERT_EQ(p.shares_a(), p.workspace.a_kc_block > 0) << text;
    ASSERT_EQ(p.shares_b(), p.workspace.b_kc_block > 0) << text;
    ASSERT_LT(route.workspace, std::size_t{400} << 20) << text;
  }
  assume_caches(before);
}

TEST(Choose, AsksForHelpOnlyWhereItMayPay) {
  static int asked;
  const auto count = [](int, std::int64_t ns) {
    ++asked;
    EXPECT_GT(ns, 0);
    return false;
  };
  asked = 0;
  (void)choose(call_of<float>({48, 48, 48, false, false, 2}), kAvx512.f32, count);
  EXPECT_EQ(asked, 0) << "tiny";
  (void)choose(call_of<float>({500, 500, 500, false, false, 2}), kAvx512.f32, count);
  EXPECT_EQ(asked, 1);
}

#endif

TEST(Choose, RefusesOtherTextThanItsOwn) {
  const Route route{};
  const std::string text = to_text(route);
  EXPECT_TRUE(route_from(text) == route);
  for (const std::string& bad :
       {std::string(), std::string("variant=fast"), text + " kc=3", text.substr(0, text.size() / 2),
        std::string("variant=packed ") + text.substr(text.find(' ') + 1), "x" + text})
    EXPECT_THROW((void)route_from(bad), Error) << bad;
}

}  // namespace
}  // namespace tessera::cpu
