#include <gtest/gtest.h>
#include <locale.h>

#include "scratch.hpp"

namespace tessera::test {
namespace {

class MatrixMarket : public ::testing::Test {
 protected:
  Array read(std::string_view text) { return read_array(scratch.write("x.mtx", text)); }
  void refused(std::string_view text, std::vector<std::string> words) {
    words.push_back("x.mtx: line ");
    expect_error(Category::file, words, [&] { read(text); });
  }
  /// As `refused`, with a good banner before `text`, whose first line is therefore line 2.
  void refused_coordinate(const std::string& text, const std::vector<std::string>& words) {
    refused("%%MatrixMarket matrix coordinate real general\n" + text, words);
  }
  void refused_array(const std::string& text, const std::vector<std::string>& words) {
    refused("%%MatrixMarket matrix array real general\n" + text, words);
  }
  Scratch scratch;
};

std::vector<double> rows_of(const Array& a) {
  std::vector<double> out;
  for (index_t i = 0; i < a.rows(); ++i) {
    for (index_t j = 0; j < a.cols(); ++j) out.push_back(element(a, i, j));
  }
  return out;
}
using Values = std::vector<double>;

TEST_F(MatrixMarket, ArrayIsColumnByColumn) {
  const Array a = read("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(a.dtype(), DType::f64);
  EXPECT_EQ(rows_of(a), (Values{1, 3, 5, 2, 4, 6}));
}

TEST_F(MatrixMarket, CoordinateInAnyOrderDuplicatesAreSummed) {
  const Array a = read(
      "%%MatrixMarket matrix coordinate real general\n2 2 4\n2 2 4\n1 1 1\n2 2 0.5\n1 2 -3e0\n");
  EXPECT_EQ(rows_of(a), (Values{1, -3, 0, 4.5}));
}

TEST_F(MatrixMarket, CommentsBlanksLineEndsAndLetterCase) {
  const Array a = read(
      "%%mAtRiXmArKeT MATRIX Coordinate REAL General\r\n% a comment\r\n%\r\n\r\n  \t\r\n"
      "\t 2  2\t 2 \r\n% between\r\n\r\n  1 1   +1.5\r\n 2\t2 -.5e+1 \r\n\r\n  % the end");
  EXPECT_EQ(rows_of(a), (Values{1.5, 0, 0, -5}));
}

TEST_F(MatrixMarket, NoLineEndAfterTheLastEntry) {
  EXPECT_EQ(rows_of(read("%%MatrixMarket matrix array real general\n1 2\n1\n2")), (Values{1, 2}));
}

TEST_F(MatrixMarket, PatternsAreOnes) {
  const Array a = read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n");
  EXPECT_EQ(rows_of(a), (Values{1, 1, 1, 0}));
}

TEST_F(MatrixMarket, IntegersAreExact) {
  const Array a = read(
      "%%MatrixMarket matrix array integer general\n1 "
      "2\n9223372036854775807\n-9223372036854775808\n");
  EXPECT_EQ(a.dtype(), DType::i64);
  EXPECT_EQ(static_cast<const index_t*>(a.data())[0], INT64_MAX);
  EXPECT_EQ(static_cast<const index_t*>(a.data())[1], INT64_MIN);
  const Array u =
      read("%%MatrixMarket matrix array unsigned-integer general\n1 1\n18446744073709551615\n");
  EXPECT_EQ(*static_cast<const std::uint64_t*>(u.data()), UINT64_MAX);
}

TEST_F(MatrixMarket, SymmetricAndSkew) {
  EXPECT_EQ(rows_of(read("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")),
            (Values{1, 2, 2, 3}));
  EXPECT_EQ(rows_of(read("%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n")),
            (Values{0, -5, 5, 0}));
  EXPECT_EQ(rows_of(read("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 7\n2 2 1\n")),
            (Values{0, 7, 7, 1}));
  EXPECT_EQ(
      rows_of(read("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 7\n")),
      (Values{0, -7, 7, 0}));
}

TEST_F(MatrixMarket, EmptyMatrices) {
  EXPECT_EQ(read("%%MatrixMarket matrix array real general\n0 5\n").shape(),
            (std::vector<index_t>{0, 5}));
  EXPECT_EQ(read("%%MatrixMarket matrix coordinate real general\n3 0 0\n").count(), 0);
  EXPECT_EQ(rows_of(read("%%MatrixMarket matrix coordinate real general\n1 1 0\n")), Values{0});
}

TEST_F(MatrixMarket, NanInfinityAndTinyValues) {
  const auto v = rows_of(
      read("%%MatrixMarket matrix array real general\n7 1\nnan\ninf\n-inf\n1e-400\n-1e-400\n"
           "5e-324\nInfinity\n"));
  EXPECT_NE(v[0], v[0]);
  EXPECT_EQ(v[1], INFINITY);
  EXPECT_EQ(v[2], -INFINITY);
  EXPECT_EQ(v[3], 0);
  EXPECT_TRUE(std::signbit(v[4]));
  EXPECT_EQ(v[5], 5e-324);
  EXPECT_EQ(v[6], INFINITY);
}

TEST_F(MatrixMarket, TheLocaleDoesNotMatter) {
  for (const char* locale : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"}) {
    if (setlocale(LC_ALL, locale) != nullptr) break;
  }
  const Array a = read("%%MatrixMarket matrix array real general\n1 1\n1.5\n");
  write_array(scratch / "y.mtx", a);
  setlocale(LC_ALL, "C");
  EXPECT_EQ(element(a, 0, 0), 1.5);
  EXPECT_THAT(bytes_of(scratch / "y.mtx"), ::testing::HasSubstr("\n1.5\n"));
  refused_array("1 1\n1,5\n", {"line 3", "not a number", "'1,5'", "with a point"});
}

TEST_F(MatrixMarket, Banners) {
  refused("2 2\n1\n2\n3\n4\n", {"line 1", "no Matrix Market banner", "'2'"});
  refused("%MatrixMarket matrix array real general\n1 1\n1\n",
          {"line 1", "no Matrix Market banner"});
  refused("%%MatrixMarket\n", {"line 1", "not a matrix"});
  refused("%%MatrixMarket vector array real general\n", {"line 1", "'vector'"});
  refused("%%MatrixMarket matrix dense real general\n", {"line 1", "array, coordinate", "'dense'"});
  refused("%%MatrixMarket matrix array quaternion general\n", {"line 1", "field", "'quaternion'"});
  refused("%%MatrixMarket matrix array complex general\n1 1\n1 0\n", {"line 1", "complex"});
  refused("%%MatrixMarket matrix array real hermitian\n", {"line 1", "hermitian"});
  refused("%%MatrixMarket matrix array real\n", {"line 1", "symmetry", "nothing"});
  refused("%%MatrixMarket matrix array real upper\n", {"line 1", "'upper'"});
  refused("%%MatrixMarket matrix array real general extra\n", {"line 1", "'extra'"});
  refused("%%MatrixMarket matrix array pattern general\n", {"line 1", "pattern"});
  refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", {"line 1", "pattern"});
}

TEST_F(MatrixMarket, Sizes) {
  refused_array("", {"line 1", "ends before the line of sizes"});
  refused_array("% only a comment", {"line 2", "ends before the line of sizes"});
  refused_array("2\n", {"line 2", "number of columns is missing"});
  refused_array("2 2 4\n1\n2\n3\n4\n", {"line 2", "more on the line", "'4'"});
  refused_coordinate("2 2\n", {"line 2", "number of entries is missing"});
  refused_array("-2 2\n", {"line 2", "rows is negative", "-2"});
  refused_array("a b\n", {"line 2", "not an integer", "'a'"});
  refused_array("2.5 2\n", {"line 2", "not an integer", "'2.5'"});
  refused_array("9223372036854775808 1\n", {"line 2", "64 bits"});
  refused_array("99999999999999999999999 1\n", {"line 2", "64 bits"});
  refused_array("4294967296 4294967296\n", {"line 2", "too large"});
  refused_coordinate("4294967296 4294967296 0\n", {"line 2", "too large"});
  refused_array("1000000 1000000\n1\n", {"line 2", "more entries declared", "1000000000000"});
  refused_coordinate("2 2 9223372036854775807\n1 1 1\n", {"line 2", "more entries declared"});
  refused("%%MatrixMarket matrix array real symmetric\n2 3\n", {"line 2", "square", "2 x 3"});
}

TEST_F(MatrixMarket, SizesBeyondMemoryAreRefusedBeforeAllocation) {
  expect_error(Category::resource, {"x.mtx", "not enough memory", "(1000000000, 1000000000)"}, [&] {
    read("%%MatrixMarket matrix coordinate real general\n1000000000 1000000000 1\n1 1 1\n");
  });
}

TEST_F(MatrixMarket, TooFewOrTooManyEntries) {
  refused_array("2 2\n1.00\n2.00\n3.00\n", {"line 5", "ends too early", "4 entries", "got 3"});
  refused_array("2 2\n1\n2\n3\n4\n5\n", {"line 7", "more entries than declared"});
  refused_coordinate("2 2 2\n1 1 1.00000\n", {"line 3", "ends too early"});
  refused_coordinate("2 2 1\n1 1 1\n2 2 2\n", {"line 4", "more entries than declared"});
}

TEST_F(MatrixMarket, Positions) {
  refused_coordinate("2 2 1\n0 1 1\n", {"line 3", "row is outside", "1 to 2", "count from 1"});
  refused_coordinate("2 2 1\n3 1 1\n", {"line 3", "row is outside", "got 3"});
  refused_coordinate("2 2 1\n1 3 1\n", {"line 3", "column is outside", "got 3"});
  refused_coordinate("2 2 1\n-1 1 1\n", {"line 3", "outside", "-1"});
  refused_coordinate("2 2 1\n1.0 1 1\n", {"line 3", "not an integer", "'1.0'"});
  refused_coordinate("2 2 1\n99999999999999999999 1 1\n", {"line 3", "64 bits"});
}

TEST_F(MatrixMarket, Values) {
  refused_coordinate("2 2 1\n1 1\n1", {"line 3", "value is missing"});
  refused_coordinate("2 2 1\n1 1 x\n", {"line 3", "not a number", "'x'"});
  refused_coordinate("2 2 1\n1 1 1 0\n", {"line 3", "more on the line", "'0'"});
  refused_coordinate("2 2 1\n1 1 1e400\n", {"line 3", "range of f64", "'1e400'"});
  refused_coordinate("2 2 1\n1 1 1.0D+05\n", {"line 3", "not a number"});
  refused_coordinate("2 2 1\n1 1 0x10\n", {"line 3", "not a number"});
  refused_coordinate("2 2 1\n1 1 +-1\n", {"line 3", "not a number"});
  refused_array("1 2\n1 2\n", {"line 3", "more on the line", "'2'"});
  refused_coordinate(std::string("2 2 1\n1 1 1\0 1\n", 15), {"line 3", "not a number", "\\x00"});
  refused("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n", {"line 3", "'5'"});
  refused("%%MatrixMarket matrix array integer general\n1 1\n1.5\n", {"line 3", "not an integer"});
  refused("%%MatrixMarket matrix array integer general\n1 1\n9223372036854775808\n",
          {"line 3", "64 bits"});
  refused("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n",
          {"line 3", "diagonal"});
}

TEST_F(MatrixMarket, OneEnormousLine) {
  std::string text = "%%MatrixMarket matrix array real general\n%";
  text.append(20'000'000, 'x');
  EXPECT_EQ(element(read(text + "\n1 1\n7\n"), 0, 0), 7);
  expect_error(Category::file, {"line 2", "xxx..."}, [&] {
    read("%%MatrixMarket matrix array real general\n" + std::string(20'000'000, 'x'));
  });
}

TEST_F(MatrixMarket, WritesWhatItReads) {
  for (const DType dtype : kAllTypes) {
    for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 3}, {3, 0}, {1, 1}, {67, 33}}) {
      const Array a = counted(dtype, m, n, Order::c);
      write_array(scratch / "a.mtx", a, {.overwrite = Overwrite::replace});
      expect_same(convert(read_array(scratch / "a.mtx"), dtype), a);
    }
  }
}

TEST_F(MatrixMarket, EveryBitOfF64AndF32Survives) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    Array a = make_array(dtype, {300, 300});
    std::uint64_t state = 1;
    const auto bytes = static_cast<std::size_t>(a.bytes());
    for (std::size_t i = 0; i < bytes; i += 4) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto word = static_cast<std::uint32_t>(state >> 32);
      std::memcpy(static_cast<char*>(a.writable()) + i, &word, 4);
    }
    // NaN payloads are not kept by text: make every NaN the same.
    visit_dtype(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      auto* x = static_cast<T*>(a.writable());
      for (index_t i = 0; i < a.count(); ++i) {
        if (x[i] != x[i]) x[i] = T(1);
      }
    });
    write_array(scratch / "a.mtx", a, {.overwrite = Overwrite::replace});
    expect_same(convert(read_array(scratch / "a.mtx"), dtype), a);
  }
}

TEST_F(MatrixMarket, OnlyMatricesAreWritten) {
  expect_error(Category::shape, {"two dimensions", "(3,)"},
               [&] { write_array(scratch / "a.mtx", make_array(DType::f32, {3})); });
  EXPECT_TRUE(scratch.names().empty());
}

}  // namespace
}  // namespace tessera::test
