#include <gtest/gtest.h>

#include "scratch.hpp"

namespace tessera::test {
namespace {

/// A .npy file of version `major` with this header text and these data bytes; the header is not
/// padded unless `text` is.
std::string npy(std::string_view text, std::string_view data, int major = 1) {
  std::string out = "\x93NUMPY";
  out += {static_cast<char>(major), '\0', static_cast<char>(text.size() & 0xff),
          static_cast<char>(text.size() >> 8 & 0xff)};
  if (major > 1) out += {static_cast<char>(text.size() >> 16 & 0xff), '\0'};
  return out + std::string(text) + std::string(data);
}

std::string header(std::string_view descr, std::string_view shape,
                   std::string_view order = "False") {
  return cat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }\n");
}

class Npy : public ::testing::Test {
 protected:
  void refused(std::string_view bytes, std::vector<std::string> words,
               Category category = Category::file) {
    const std::string path = scratch.write("x.npy", bytes);
    words.push_back(path);
    expect_error(category, words, [&] { read_array(path); });
  }
  Array read(std::string_view bytes, ReadOptions options = {}) {
    return read_array(scratch.write("x.npy", bytes), options);
  }
  Scratch scratch;
};

const std::string kData = raw<float>({1, 2, 3, 4, 5, 6});

TEST_F(Npy, ReadsVersions123) {
  for (const int version : {1, 2, 3}) {
    const Array a = read(npy(header("<f4", "(2, 3)"), kData, version));
    ASSERT_EQ(a.rows(), 2);
    ASSERT_EQ(a.cols(), 3);
    for (index_t i = 0; i < 2; ++i) {
      for (index_t j = 0; j < 3; ++j) EXPECT_EQ(element(a, i, j), 1.0 + double(3 * i + j));
    }
  }
}

TEST_F(Npy, FortranOrderIsHonouredAsStrides) {
  const Array a = read(npy(header("<f4", "(2, 3)", "True"), kData));
  EXPECT_EQ(a.row_stride(), 1);
  EXPECT_EQ(a.col_stride(), 2);
  EXPECT_EQ(element(a, 1, 0), 2);
  EXPECT_EQ(element(a, 0, 1), 3);
}

TEST_F(Npy, OtherByteOrderIsSwapped) {
  const Array f = read(npy(header(">f4", "(1, 2)"), std::string("\x3f\x80\0\0\xc0\0\0\0", 8)));
  EXPECT_EQ(element(f, 0, 0), 1);
  EXPECT_EQ(element(f, 0, 1), -2);
  const Array i = read(npy(header(">i2", "(1, 1)"), std::string("\x01\x02", 2)));
  EXPECT_EQ(element(i, 0, 0), 0x102);
  const Array d = read(npy(header(">f8", "(1, 1)"), std::string("\x3f\xf0\0\0\0\0\0\0", 8)));
  EXPECT_EQ(element(d, 0, 0), 1);
}

TEST_F(Npy, KeysInAnyOrderAndEitherQuotes) {
  const Array a = read(npy("{\"shape\": (2,3), \"fortran_order\":False,'descr':\"<f4\"}", kData));
  EXPECT_EQ(element(a, 1, 2), 6);
}

TEST_F(Npy, OtherNamesOfTypesAndIntegers) {
  const std::string bytes(16, '\x01');
  const std::tuple<const char*, DType, index_t> cases[] = {
      {"?", DType::boolean, 1},   {"bool", DType::boolean, 1}, {"d", DType::f64, 8},
      {"float64", DType::f64, 8}, {"int64", DType::i64, 8},    {"=f8", DType::f64, 8},
      {"<d", DType::f64, 8},      {"|i1", DType::i8, 1},       {"uint16", DType::u16, 2}};
  for (const auto& [descr, dtype, size] : cases) {
    const std::string shape = cat("(1, ", 16 / size, ")");
    EXPECT_EQ(read(npy(header(descr, shape), bytes)).dtype(), dtype) << descr;
  }
  for (const char* shape : {"(np.int64(2), 3)", "(2, np.intp(3))", "(2L, 3L)", "( 2,\t3 ,)"}) {
    EXPECT_EQ(read(npy(header("<f4", shape), kData)).shape(), (std::vector<index_t>{2, 3}));
  }
  for (const char* shape : {"(np.float64(2), 3)", "(np.int64(2, 3)", "(np.int64, 3)", "(np., 3)"}) {
    refused(npy(header("<f4", shape), kData), {"header"});
  }
  refused(npy(header("<int64", "(1, 2)"), bytes), {"'<int64'", "does not know"});
}

TEST_F(Npy, RanksZeroOneAndThreeAreReadAsSuch) {
  EXPECT_EQ(read(npy(header("<f4", "()"), kData.substr(0, 4))).rank(), 0);
  EXPECT_EQ(read(npy(header("<f4", "(6,)"), kData)).shape(), std::vector<index_t>{6});
  const Array cube = read(npy(header("<f4", "(1, 2, 3)"), kData));
  EXPECT_EQ(cube.rank(), 3);
  expect_error(Category::shape, {"a.npy is not a matrix", "two dimensions", "(1, 2, 3)"},
               [&] { cube.require_matrix("a.npy"); });
  expect_error(Category::shape, {"two dimensions"}, [&] { return cube.rows(); });
}

TEST_F(Npy, EmptyExtentsAreLegal) {
  for (const char* shape : {"(0, 5)", "(5, 0)", "(0, 0)", "(0, 9223372036854775807)"}) {
    EXPECT_EQ(read(npy(header("<f8", shape), "")).count(), 0) << shape;
  }
}

TEST_F(Npy, NanAndInfinityAreLegal) {
  const Array a = read(npy(header("<f4", "(1, 3)"), raw<float>({NAN, INFINITY, -INFINITY})));
  EXPECT_FALSE(is_finite(a));
  EXPECT_NE(element(a, 0, 0), element(a, 0, 0));
}

TEST_F(Npy, NativeAlignedFilesAreMappedAndReadOnly) {
  write_array(scratch / "a.npy", counted(DType::f32, 30, 40));
  const Array a = read_array(scratch / "a.npy");
  EXPECT_FALSE(a.is_writable());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  EXPECT_EQ(mapped_file_at(a.data()), scratch / "a.npy");
  expect_error(Category::argument, {"mapped input file"}, [&] { return a.writable(); });
}

TEST_F(Npy, MappingEndsWithTheLastArray) {
  write_array(scratch / "a.npy", counted(DType::f32, 3, 4));
  const void* at = nullptr;
  {
    const Array a = read_array(scratch / "a.npy");
    at = a.data();
    const Array view = transposed(a);
    EXPECT_NE(mapped_file_at(at), nullptr);
  }
  EXPECT_EQ(mapped_file_at(at), nullptr);
}

TEST_F(Npy, MisalignedElementsAreCopied) {
  const Array a = read(npy(header("<f4", "(2, 3)") + " ", kData));
  const Array b = read(npy(header("<f4", "(2, 3)") + "  ", kData));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 4, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data()) % 4, 0u);
  expect_same(a, b);
}

TEST_F(Npy, AnyNonZeroByteIsTrue) {
  const Array a = read(npy(header("|b1", "(1, 4)"), std::string("\0\x01\x02\xff", 4)));
  EXPECT_EQ(element(a, 0, 0), 0);
  for (index_t j = 1; j < 4; ++j) EXPECT_EQ(element(a, 0, j), 1);
}

TEST_F(Npy, HostileHeaderLengths) {
  refused(std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12),
          {"header is longer than the file", "at most 0 bytes", "4294967295 bytes"});
  refused(npy(header("<f4", "(2, 3)"), kData).substr(0, 40), {"header is longer than the file"});
  std::string longest = header("<f4", "(2, 3)");
  longest.insert(longest.size() - 1, 60000, ' ');
  EXPECT_EQ(read(npy(longest, kData)).rows(), 2);
  longest.insert(longest.size() - 1, 10000, ' ');
  refused(npy(longest, kData, 2), {"header is too long", "65536", "7"});
}

TEST_F(Npy, TruncatedAtEveryByte) {
  const std::string whole = npy(header("<f4", "(2, 3)"), kData);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused(whole.substr(0, size), {size == 0 ? "is empty" : ""});
  }
  refused(whole.substr(0, whole.size() - 1),
          {"is truncated", "6 elements (24 bytes)", "(2, 3)", "only 5 elements (23 bytes)"});
}

TEST_F(Npy, ExtraBytesAreRefused) {
  refused(npy(header("<f4", "(2, 3)"), kData) + "x",
          {"bytes after the last element", "24 bytes", "25 bytes"});
}

TEST_F(Npy, BadMagicAndVersion) {
  refused("hello world, this is text", {"is not an .npy file", "\\x93NUMPY", "'hello '"});
  refused(std::string("PK\x03\x04zzzzzzzzz"), {"is not an .npy file", ".npz"});
  refused(npy(header("<f4", "(2, 3)"), kData, 4), {"unknown .npy version", "got 4.0"});
  refused(npy(header("<f4", "(2, 3)"), kData, 0), {"unknown .npy version", "got 0.0"});
}

TEST_F(Npy, ExactlyThreeKeys) {
  refused(npy("{'descr': '<f4', 'shape': (2, 3), }", kData), {"lacks the key 'fortran_order'"});
  refused(npy("{'fortran_order': False, 'shape': (2, 3), }", kData), {"lacks the key 'descr'"});
  refused(npy("{'descr': '<f4', 'fortran_order': False}", kData), {"lacks the key 'shape'"});
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", kData),
          {"unknown key", "'x'"});
  refused(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", kData),
          {"'descr' twice"});
  refused(npy("{}", kData), {"lacks the key"});
}

TEST_F(Npy, HostileHeaderTexts) {
  refused(npy("", kData), {"not a Python dict", "end of the header"});
  refused(npy("[1, 2]", kData), {"not a Python dict"});
  refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)", kData), {"dict"});
  refused(npy("{'descr': '<f4", kData), {"unterminated string"});
  refused(npy(header("<f4", "(2, 3)", "1"), kData), {"True or False"});
  refused(npy(header("<f4", "(2, 3)", "'True'"), kData), {"True or False"});
  refused(npy(header("<f4", "[2, 3]"), kData), {"dict"});
  refused(npy(header("<f4", "(6)"), kData), {"a tuple such as (5,)"});
  refused(npy(header("<f4", "(2.0, 3)"), kData), {"dict"});
  refused(npy(header("<f4", "('2', 3)"), kData), {"an integer"});
  refused(npy(header("<f4", "(2, 3)") + "x", kData), {"text after the header"});
  refused(npy(header("<f4", std::string_view("(2\0, 3)", 7)), kData), {"dict", "\\x00"});
  std::string many = "(";
  for (int i = 0; i < 100; ++i) many += "1,";
  refused(npy(header("<f4", many + ")"), kData), {"more than 64 extents"});
}

TEST_F(Npy, PaddingIsNotQuoted) {
  const std::string padded = header("<f4", "(2, 3)") + " x" + std::string(40, ' ');
  refused(npy(padded, kData), {"text after the header's dict", "got 'x'"});
  refused(npy("{'descr': '<f4'" + std::string(40, ' '), kData), {"got the end of the header"});
}

TEST_F(Npy, HostileShapes) {
  refused(npy(header("<f4", "(-1, 3)"), kData), {"negative", "-1"});
  refused(npy(header("<f4", "(99999999999999999999, 3)"), kData),
          {"too large: expected at most 2^63 - 1, got 99999999999999999999;"});
  refused(npy(header("<f4", "(3, -99999999999999999999)"), kData),
          {"negative: expected 0 or more, got -99999999999999999999;"});
  refused(npy(header("<f4", "(4294967296, 4294967296)"), kData), {"too large"});
  refused(npy(header("<f4", "(3037000500, 3037000500)"), kData), {"too large"});
  refused(npy(header("<f8", "(1152921504606846976, 1)"), kData), {"too large"});
  refused(npy(header("<f4", "(1000000000, 1000)"), kData),
          {"truncated", "1000000000000 elements", "only 6 elements"});
}

TEST_F(Npy, ForeignElementTypesAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {{"|O", "Python objects"},
                                                       {"<c8", "complex"},
                                                       {"<c16", "complex"},
                                                       {"|S99999999999", "text"},
                                                       {"<U4", "text"},
                                                       {"<M8[ns]", "dates"},
                                                       {"<f16", "floating point of another width"},
                                                       {"|V16", "raw bytes"},
                                                       {"", "does not know"},
                                                       {"<", "does not know"},
                                                       {"zzz", "does not know"}};
  for (const auto& [descr, meaning] : cases) {
    refused(npy(header(descr, "(1, 1)"), kData), {cat("'", descr, "'"), meaning});
  }
  refused(
      npy("{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (3,)}", kData),
      {"structured"});
}

TEST_F(Npy, UntypedElementsNeedAType) {
  const std::string two = npy(header("<V2", "(1, 2)"), raw<std::uint16_t>({0x3f80, 0xc000}));
  refused(two, {"'<V2'", "have no unique type", "--dtype bf16"});
  const Array b = read(two, {.untyped = DType::bf16});
  EXPECT_EQ(b.dtype(), DType::bf16);
  EXPECT_EQ(element(b, 0, 0), 1);
  EXPECT_EQ(element(b, 0, 1), -2);
  const Array big = read(npy(header(">V2", "(1, 1)"), "\x3f\x80"), {.untyped = DType::bf16});
  EXPECT_EQ(element(big, 0, 0), 1);
  EXPECT_EQ(read(two, {.untyped = DType::f16}).dtype(), DType::f16);
  expect_error(Category::file, {"2 bytes", "f32"}, [&] { read(two, {.untyped = DType::f32}); });
  const Array e = read(npy(header("|V1", "(1, 1)"), "\x38"), {.untyped = DType::f8e4m3});
  EXPECT_EQ(element(e, 0, 0), 1);
  // A type that the file names wins.
  EXPECT_EQ(read(npy(header("<f4", "(2, 3)"), kData), {.untyped = DType::bf16}).dtype(),
            DType::f32);
}

TEST_F(Npy, WritesAndReadsEveryTypeShapeAndOrder) {
  for (const DType dtype : kAllTypes) {
    for (const Order order : {Order::c, Order::fortran}) {
      for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 0},
                                 {0, 3},
                                 {3, 0},
                                 {1, 1},
                                 {1, 7},
                                 {7, 1},
                                 {5, 3},
                                 {129, 67}}) {
        const Array a = counted(dtype, m, n, order);
        write_array(scratch / "x.npy", a, {.overwrite = Overwrite::replace});
        const Array b = read_array(scratch / "x.npy", {.untyped = dtype});
        expect_same(a, b);
        if (m > 1 && n > 1) {
          EXPECT_EQ(b.is_contiguous(order), true) << "the order in memory is kept";
        }
      }
    }
  }
}

TEST_F(Npy, StridedViewsAreWrittenPacked) {
  const Array a = counted(DType::f32, 8, 6);
  // Every second row from the last to the first.
  auto* data = static_cast<float*>(a.writable());
  const Array view(DType::f32, {4, 6}, {-12, 1}, data + 7 * 6, nullptr);
  write_array(scratch / "v.npy", view);
  const Array b = read_array(scratch / "v.npy");
  for (index_t i = 0; i < 4; ++i) {
    for (index_t j = 0; j < 6; ++j) EXPECT_EQ(element(b, i, j), element(a, 7 - 2 * i, j));
  }
}

TEST_F(Npy, HeaderIsAMultipleOf64AndAnnouncesItsType) {
  write_array(scratch / "b.npy", counted(DType::bf16, 2, 2));
  const std::string bytes = bytes_of(scratch / "b.npy");
  EXPECT_EQ(bytes.size(), 128u + 8u);
  EXPECT_THAT(bytes,
              ::testing::HasSubstr("{'descr': '<V2', 'fortran_order': False, 'shape': (2, 2), }"));
  EXPECT_EQ(bytes[127], '\n');
}

}  // namespace
}  // namespace tessera::test
