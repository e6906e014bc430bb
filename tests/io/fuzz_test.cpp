// Thousands of damaged files for every reader. Each must be read or refused with an Error: no
// crash, no other exception, no memory out of proportion. Meant to be run under the address and
// undefined-behaviour sanitizers too.
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "scratch.hpp"

namespace tessera::test {
namespace {

using Random = std::mt19937_64;

/// Numbers that break parsers.
const std::string kTokens[] = {"0",
                               "-1",
                               "1",
                               "18446744073709551615",
                               "9223372036854775807",
                               "-9223372036854775808",
                               "4294967296",
                               "1e400",
                               "nan",
                               "inf",
                               "{",
                               "}",
                               "[",
                               "(",
                               ")",
                               "'",
                               "\"",
                               ",",
                               ":",
                               "\n",
                               "\r\n",
                               "%",
                               "<f8",
                               "|O",
                               "True",
                               "(",
                               "999999999999",
                               "[[[[[[[[",
                               "\\u0000",
                               std::string(1, '\0'),
                               std::string(8, '\xff'),
                               std::string(8, '\0')};

std::string mutated(const std::string& valid, const std::string& other, Random& random) {
  std::string out = valid;
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  // Most damage near the start, where headers are.
  const auto place = [&] { return below(random() % 2 == 0 ? out.size() : out.size() / 4 + 1); };
  for (std::size_t step = 0, steps = 1 + below(6); step < steps; ++step) {
    const std::size_t at = place();
    switch (below(9)) {
      case 0:
        if (!out.empty()) out[below(out.size())] ^= static_cast<char>(1u << below(8));
        break;
      case 1:
        if (!out.empty()) out[below(out.size())] = static_cast<char>(random());
        break;
      case 2: out.resize(at); break;
      case 3: out.erase(at, below(9)); break;
      case 4: out.insert(at, std::string(1 + below(9), static_cast<char>(random()))); break;
      case 5: out.insert(at, kTokens[below(std::size(kTokens))]); break;
      case 6: {
        const auto& token = kTokens[below(std::size(kTokens))];
        out.replace(at, std::min(token.size(), out.size() - at), token);
        break;
      }
      case 7: out.insert(at, out.substr(below(out.size()), below(40))); break;
      default: out = out.substr(0, at) + other.substr(std::min(at, other.size()));
    }
  }
  return out;
}

/// Every element is touched, so that a sanitizer sees a view that reaches too far.
double touched(const Array& array) {
  if (array.count() == 0) return 0;
  const Array wide = contiguous(convert(array, DType::f64));
  double sum = 0;
  for (index_t i = 0; i < wide.count(); ++i) sum += static_cast<const double*>(wide.data())[i];
  return sum;
}

class Fuzz : public ::testing::TestWithParam<const char*> {};

TEST_P(Fuzz, DamagedFilesAreReadOrRefused) {
  const std::string extension = GetParam();
  const Scratch scratch;
  std::vector<std::string> seeds;
  for (const DType dtype : {DType::f64, DType::f32, DType::i64, DType::boolean}) {
    for (const Order order : {Order::c, Order::fortran}) {
      for (const auto compression : {Compression::stored, Compression::deflated}) {
        write_array(scratch / ("seed" + extension), counted(dtype, 4, 5, order),
                    {.overwrite = Overwrite::replace, .compression = compression});
        seeds.push_back(bytes_of(scratch / ("seed" + extension)));
      }
    }
  }
  if (extension == ".mtx") {
    seeds.insert(
        seeds.end(),
        {"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2e5\n3 3 -.1\n",
         "%%MatrixMarket matrix coordinate pattern general\n3 4 2\n1 4\n3 1\n",
         "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n"});
  }
  Random random(20260101);
  int read = 0, refused = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (int round = 0; round < 4000 && std::chrono::steady_clock::now() < end; ++round) {
    const std::string bytes =
        mutated(seeds[random() % seeds.size()], seeds[random() % seeds.size()], random);
    const std::string path = scratch.write("x" + extension, bytes);
    try {
      volatile double sum = touched(read_array(path, {.untyped = DType::bf16}));
      static_cast<void>(sum);
      ++read;
    } catch (const Error& error) {
      ++refused;
      ASSERT_THAT(error.what(), ::testing::HasSubstr(path));
      ASSERT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n")));
      ASSERT_LT(std::string(error.what()).size(), 1000u);
    } catch (const std::exception& error) {
      FAIL() << "round " << round << ": " << error.what();
    }
  }
  // Both ends of the coin must have been seen, or the damage is too weak or too strong.
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 500);
  RecordProperty("read", read);
  RecordProperty("refused", refused);
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, ::testing::Values(".npy", ".npz", ".mtx", ".safetensors"),
                         [](const auto& test) { return std::string(test.param + 1); });

}  // namespace
}  // namespace tessera::test
