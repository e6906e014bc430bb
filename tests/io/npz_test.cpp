#include <gtest/gtest.h>

#include "scratch.hpp"

namespace tessera::test {
namespace {

class Npz : public ::testing::Test {
 protected:
  std::string written(const Array& a, WriteOptions options = {}) {
    options.overwrite = Overwrite::replace;
    write_array(scratch / "x.npz", a, options);
    return bytes_of(scratch / "x.npz");
  }
  void refused(std::string_view bytes, const std::vector<std::string>& words) {
    expect_error(Category::file, words, [&] { read_array(scratch.write("bad.npz", bytes)); });
  }
  Scratch scratch;
};

/// Overwrites a little-endian number at `at`.
template <class T>
std::string patched(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

TEST_F(Npz, WritesAndReadsEveryType) {
  for (const DType dtype : kAllTypes) {
    for (const auto compression : {Compression::stored, Compression::deflated}) {
      for (const Order order : {Order::c, Order::fortran}) {
        for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 3}, {1, 1}, {129, 67}}) {
          const Array a = counted(dtype, m, n, order);
          written(a, {.compression = compression});
          expect_same(read_array(scratch / "x.npz", {.untyped = dtype}), a);
        }
      }
    }
  }
}

TEST_F(Npz, SameArraySameBytes) {
  EXPECT_EQ(written(counted(DType::f32, 9, 9)), written(counted(DType::f32, 9, 9)));
}

TEST_F(Npz, DeflatingShrinks) {
  const Array zeros = make_array(DType::f64, {1000, 100});
  EXPECT_LT(written(zeros, {.compression = Compression::deflated}).size(), 10000u);
  EXPECT_GT(written(zeros).size(), 800000u);
}

TEST_F(Npz, MembersByName) {
  const Array a = counted(DType::f32, 2, 3);
  write_array(scratch / "w.npz:layer0/w", a);
  EXPECT_EQ(list_members(scratch / "w.npz"), std::vector<std::string>{"layer0/w"});
  expect_same(read_array(scratch / "w.npz:layer0/w"), a);
  expect_same(read_array(scratch / "w.npz", {.member = "layer0/w"}), a);
  expect_same(read_array(scratch / "w.npz"), a);
  expect_error(Category::argument, {"no array 'b'", "layer0/w"},
               [&] { read_array(scratch / "w.npz:b"); });
}

TEST_F(Npz, NotAnArchive) {
  refused("this is no archive at all", {"not a readable .npz", "bad.npz"});
  refused(std::string("\x93NUMPY\x01\0", 8) + std::string(100, ' '), {"looks like an .npy"});
  refused(std::string("PK\x05\x06") + std::string(18, '\0'), {"holds no array"});
}

TEST_F(Npz, TruncatedAtEveryPoint) {
  const std::string whole = written(counted(DType::f32, 3, 3));
  for (std::size_t size = 0; size < whole.size(); size += 3) refused(whole.substr(0, size), {});
}

TEST_F(Npz, AChangedByteOfTheDataFailsTheChecksum) {
  std::string bytes = written(counted(DType::f32, 50, 50));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  refused(bytes, {"cannot be unpacked", "CRC"});
}

TEST_F(Npz, SizesThatCannotBeAreRefusedBeforeAllocation) {
  const std::string bytes =
      written(counted(DType::f32, 50, 50), {.compression = Compression::deflated});
  const std::size_t central = bytes.rfind("PK\x01\x02");
  // 4 GB out of a few kilobytes: more than deflate can do.
  refused(patched(bytes, central + 24, std::uint32_t{0xfffffff0}), {"claims more bytes"});
  // One byte more, or one byte less, than there is.
  refused(patched(bytes, central + 24, std::uint32_t{50 * 50 * 4 + 129}),
          {"ends before its declared size", "10129 bytes", "10128 bytes"});
  refused(patched(bytes, central + 24, std::uint32_t{50 * 50 * 4 + 127}), {"is truncated"});
}

TEST_F(Npz, AResultBeyondMemoryNamesTheFileAndLeavesNothing) {
  expect_error(Category::resource, {"cannot write", "big.npz", "not enough memory", "7.28 TiB"},
               [&] {
                 OutputArray(scratch / "big.npz", DType::f64, {1000000, 1000000});
               });
  EXPECT_TRUE(scratch.names().empty());
}

TEST_F(Npz, AHeaderThatIsNoneIsRefused) {
  refused(patched(written(counted(DType::f32, 5, 5)), 0, std::uint32_t{0x04034b51}),
          {"zip header", "PK\\x03\\x04"});
}

TEST_F(Npz, UnknownMethodAndEncryptionAreNamed) {
  const std::string bytes = written(counted(DType::f32, 5, 5));
  const std::size_t central = bytes.rfind("PK\x01\x02");
  refused(patched(bytes, central + 10, std::uint16_t{93}), {"zip method 93"});
  refused(patched(bytes, central + 8, std::uint16_t{1}), {"encrypted"});
}

TEST_F(Npz, WrittenToAPipe) {
  const Array a = counted(DType::i32, 20, 30);
  const std::string command = "cat > '" + scratch / "piped.npz" + "'";
  FILE* pipe = popen(command.c_str(), "w");
  ASSERT_NE(pipe, nullptr);
  write_array(cat("/dev/fd/", fileno(pipe)), a, {.format = Format::npz});
  pclose(pipe);
  expect_same(read_array(scratch / "piped.npz"), a);
}

}  // namespace
}  // namespace tessera::test
