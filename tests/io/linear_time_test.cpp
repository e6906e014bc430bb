// The CPU time that a file takes grows with its size, and no faster, for files made to be slow.
// Wide margins: four times the file may take ten times as long, where quadratic time is sixteen.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>

#include "scratch.hpp"

namespace tessera::test {
namespace {

using Text = std::function<std::string(std::size_t)>;

/// Of this process: other processes on the machine do not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// CPU seconds to read the file, or to refuse it; the least of three.
double seconds_of(const std::string& path, const std::string& member) {
  double least = 1e9;
  for (int round = 0; round < 3; ++round) {
    const double start = cpu_seconds();
    try {
      read_array(path, {.member = member});
    } catch (const Error& error) {
      EXPECT_LT(std::string(error.what()).size(), 2000u);
    }
    least = std::min(least, cpu_seconds() - start);
  }
  return least;
}

void expect_linear(const std::string& what, const std::string& name, const std::string& member,
                   std::size_t size, const Text& text) {
  const Scratch scratch;
  const double small = seconds_of(scratch.write(name, text(size)), member);
  const double large = seconds_of(scratch.write(name, text(4 * size)), member);
  // Where all is done in no time, nothing is quadratic.
  EXPECT_LT(large, std::max(10 * small, 0.1)) << what << ": " << small << " s, then " << large;
}

std::string repeated(std::size_t times, const std::function<std::string(std::size_t)>& text) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text(i);
  return out;
}

std::string repeated(std::size_t times, std::string_view text) {
  return repeated(times, [&](std::size_t) { return std::string(text); });
}

std::string safetensors(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return raw({length}) + header + data;
}

const std::string kTensor = R"("t":{"dtype":"U8","shape":[1],"data_offsets":[0,1])";

TEST(LinearTime, ManyTensors) {
  expect_linear("tensors", "x.safetensors", "t7", 10000, [](std::size_t n) {
    const auto entry = [](std::size_t i) {
      return cat(i == 0 ? "" : ",", "\"t", i, R"(":{"dtype":"U8","shape":[1],"data_offsets":[)", i,
                 ",", i + 1, "]}");
    };
    return safetensors("{" + repeated(n, entry) + "}", std::string(n, 'x'));
  });
}

TEST(LinearTime, HostileSafetensorsHeaders) {
  const std::pair<const char*, Text> cases[] = {
      {"metadata",
       [](std::size_t n) {
         return R"({"__metadata__":{"k":"v")" +
                repeated(n, [](std::size_t i) { return cat(",\"k", i, "\":\"v\""); }) + "}," +
                kTensor + "}}";
       }},
      {"open brackets", [](std::size_t n) { return std::string(10 * n, '['); }},
      {"nested arrays",
       [](std::size_t n) {
         return "{" + kTensor + R"(,"x":)" + std::string(5 * n, '[') + std::string(5 * n, ']') +
                "}}";
       }},
      {"nested objects",
       [](std::size_t n) {
         return "{" + kTensor + R"(,"x":)" + repeated(n, "{\"a\":") + "1" + std::string(n, '}') +
                "}}";
       }},
      {"extents",
       [](std::size_t n) {
         return R"({"t":{"dtype":"U8","data_offsets":[0,1],"shape":[)" + repeated(n, "1,") + "1]}}";
       }},
      {"a long name", [](std::size_t n) { return "{\"" + std::string(10 * n, 'n') + "\":1}"; }},
      {"a long number",
       [](std::size_t n) { return R"({"t":{"shape":[)" + std::string(10 * n, '9') + "]}}"; }},
      {"more keys",
       [](std::size_t n) {
         return "{" + kTensor + repeated(n, [](std::size_t i) { return cat(",\"k", i, "\":1"); }) +
                "}}";
       }},
      {"one key again and again",
       [](std::size_t n) { return "{" + repeated(n, "\"k\":1,") + "\"k\":1}"; }},
      {"objects in a list",
       [](std::size_t n) { return "{" + kTensor + R"(,"x":[)" + repeated(n, "{},") + "{}]}}"; }},
  };
  for (const auto& [what, header] : cases) {
    expect_linear(what, "x.safetensors", "t", 20000,
                  [&, &text = header](std::size_t n) { return safetensors(text(n), "x"); });
  }
}

std::string second_npy(const std::string& header, std::string_view data) {
  std::string out = "\x93NUMPY\x02";
  out += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  return out + raw({length}) + header + std::string(data);
}

TEST(LinearTime, HostileNpyHeaders) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)";
  const std::pair<const char*, Text> cases[] = {
      {"blanks", [&](std::size_t n) { return good + std::string(n, ' ') + "}"; }},
      {"line ends", [&](std::size_t n) { return good + "}" + std::string(n, '\n'); }},
      {"an open text", [&](std::size_t n) { return "{'" + std::string(n, 'x'); }},
      {"extents", [&](std::size_t n) { return "{'shape': (" + repeated(n / 2, "1,") + ")}"; }},
      {"brackets", [&](std::size_t n) { return "{'shape': " + std::string(n, '('); }},
      {"a long type", [&](std::size_t n) { return "{'descr': '" + std::string(n, '<') + "'}"; }},
  };
  for (const auto& [what, header] : cases) {
    expect_linear(what, "x.npy", "", 15000,
                  [&, &text = header](std::size_t n) { return second_npy(text(n), "1234"); });
  }
}

TEST(LinearTime, HostileMatrixMarket) {
  const std::string array = "%%MatrixMarket matrix array real general\n";
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
  const std::pair<const char*, Text> cases[] = {
      {"comments", [&](std::size_t n) { return array + repeated(n, "% c\n") + "1 1\n1\n"; }},
      {"empty lines",
       [&](std::size_t n) { return array + "1 1\n" + std::string(n, '\n') + "1\n"; }},
      {"blanks", [&](std::size_t n) { return array + "1 1\n" + std::string(n, ' ') + "1\n"; }},
      {"a long number",
       [&](std::size_t n) { return array + "1 1\n" + std::string(n, '1') + "\n"; }},
      {"digits after the point",
       [&](std::size_t n) { return array + "1 1\n0." + std::string(n, '1') + "\n"; }},
      {"one place again and again",
       [&](std::size_t n) { return coordinate + cat("1 1 ", n, "\n") + repeated(n, "1 1 1\n"); }},
      {"a long banner", [&](std::size_t n) { return "%%MatrixMarket " + std::string(n, 'x'); }},
  };
  for (const auto& [what, text] : cases) expect_linear(what, "x.mtx", "", 100000, text);
}

/// A zip archive of empty members with these names; its directory is named `ends` times.
std::string archive(const std::vector<std::string>& names, std::size_t ends = 1) {
  const auto zeros = [](std::size_t count) { return std::string(count, '\0'); };
  std::string out = "PK\x03\x04" + zeros(26), directory;
  for (const std::string& name : names)
    directory += "PK\x01\x02" + zeros(24) + raw({static_cast<std::uint16_t>(name.size())}) +
                 zeros(16) + name;
  const auto count = static_cast<std::uint16_t>(names.size());
  const std::string end =
      "PK\x05\x06" + zeros(4) + raw({count, count}) +
      raw({static_cast<std::uint32_t>(directory.size()), static_cast<std::uint32_t>(out.size())}) +
      zeros(2);
  return out + directory + repeated(ends, end);
}

std::vector<std::string> names(std::size_t count,
                               const std::function<std::string(std::size_t)>& name) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(name(i) + ".npy");
  return out;
}

TEST(LinearTime, HostileArchives) {
  const auto numbered = [](std::size_t i) { return cat("arr_", i); };
  const std::pair<const char*, Text> cases[] = {
      {"members", [&](std::size_t n) { return archive(names(n, numbered)); }},
      {"one name",
       [](std::size_t n) {
         return archive(names(n, [](std::size_t) { return std::string("a"); }));
       }},
      {"names in the letters of DOS",
       [&](std::size_t n) {
         return archive(names(n, [](std::size_t i) { return "\x80" + cat(i); }));
       }},
      {"ends", [&](std::size_t n) { return archive(names(n, numbered), n / 10); }},
  };
  for (const auto& [what, text] : cases) expect_linear(what, "x.npz", "t", 4000, text);
}

TEST(LinearTime, AHostileArchiveGetsNoMember) {
  const Scratch scratch;
  // All members have the same header: a copy of each would make the file longer without limit.
  const std::string path =
      scratch.write("x.npz", archive(names(4000, [](std::size_t i) { return cat(i); })));
  const std::string before = bytes_of(path);
  expect_error(Category::file, {"x.npz", "member", "has no room of its own"}, [&] {
    write_array(path + ":w", make_array(DType::f32, {1, 1}));
  });
  EXPECT_EQ(bytes_of(path), before);
}

TEST(LinearTime, SizesThatAreOnlyDeclared) {
  const Scratch scratch;
  const std::string cases[] = {
      "%%MatrixMarket matrix array real general\n0 9223372036854775807\n",
      "%%MatrixMarket matrix array integer general\n9223372036854775807 0\n",
      "%%MatrixMarket matrix coordinate real general\n0 9223372036854775807 0\n",
      "%%MatrixMarket matrix array real general\n3037000499 3037000499\n"};
  for (const std::string& text : cases) {
    const auto start = std::chrono::steady_clock::now();
    seconds_of(scratch.write("x.mtx", text), "");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << text;
  }
}

}  // namespace
}  // namespace tessera::test
