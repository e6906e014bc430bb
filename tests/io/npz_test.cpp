#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/zip.hpp"
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

TEST_F(Npz, DamageOfTheDirectoryIsNamed) {
  const std::string bytes = written(counted(DType::f32, 5, 5));
  const std::size_t central = bytes.rfind("PK\x01\x02"), end = bytes.rfind("PK\x05\x06");
  refused(patched(bytes, end, std::uint32_t{0}), {"it has no end record"});
  refused(patched(bytes, end + 20, std::uint16_t{1}), {"its end record is cut"});
  refused(patched(bytes, end + 16, static_cast<std::uint32_t>(end)),
          {"its directory is not where"});
  refused(patched(bytes, end + 10, std::uint16_t{2}), {"has 1 members", "says 2"});
  refused(patched(bytes, central, std::uint32_t{0}), {"record 0", "PK\\x01\\x02"});
  refused(patched(bytes, central + 30, std::uint16_t{99}), {"record 0", "is cut"});
  refused(patched(bytes, central + 42, 0xffffffffu), {"record 0", "lacks its zip64 sizes"});
  refused(patched(bytes, central + 20, 0xfffffffeu), {"cannot be unpacked", "beyond the end"});
}

TEST_F(Npz, NumbersOfZip64AreReadAndKept) {
  const Array a = counted(DType::f32, 5, 5), b = counted(DType::f64, 3, 4);
  const std::string bytes = written(a);
  const std::size_t central = bytes.rfind("PK\x01\x02"), end = bytes.rfind("PK\x05\x06");
  const auto size = io::zip_number<std::uint32_t>(bytes, central + 24);
  std::string record = bytes.substr(central, end - central);
  for (const std::size_t field : {20, 24, 42}) record = patched(record, field, 0xffffffffu);
  const std::string other = raw<std::uint16_t>({0x5455, 1}) + "t";
  const std::string wide = raw<std::uint16_t>({1, 24}) + raw<std::uint64_t>({size, size, 0});
  record = patched(record, 30, static_cast<std::uint16_t>(other.size() + wide.size()));
  record += other + wide;
  const std::string wide_end = "PK\x06\x06" + raw<std::uint64_t>({44}) +
                               raw<std::uint16_t>({45, 45}) + raw<std::uint64_t>({0, 1, 1}) +
                               raw<std::uint64_t>({record.size(), central});
  const std::string locator = "PK\x06\x07" + raw<std::uint32_t>({0}) +
                              raw<std::uint64_t>({central + record.size()}) +
                              raw<std::uint32_t>({1});
  std::string narrow_end = patched(bytes.substr(end), 12, std::uint64_t{0xffffffffffffffff});
  narrow_end = patched(narrow_end, 8, 0xffffffffu);
  const std::string path = scratch.write(
      "wide.npz", bytes.substr(0, central) + record + wide_end + locator + narrow_end);
  expect_same(read_array(path), a);
  write_array(path + ":b", b);
  expect_same(read_array(path + ":arr_0"), a);
  expect_same(read_array(path + ":b"), b);
  EXPECT_THAT(bytes_of(path), ::testing::HasSubstr(other));
  refused(
      bytes.substr(0, central) + record + "PK\x06\x05" + wide_end.substr(4) + locator + narrow_end,
      {"zip64 end record"});
}

TEST_F(Npz, WrittenToAPipe) {
  const Array a = counted(DType::i32, 20, 30);
  for (const auto compression : {Compression::stored, Compression::deflated}) {
    const std::string command = "cat > '" + scratch / "piped.npz" + "'";
    FILE* pipe = popen(command.c_str(), "w");
    ASSERT_NE(pipe, nullptr);
    write_array(cat("/dev/fd/", fileno(pipe)), a,
                {.format = Format::npz, .compression = compression});
    pclose(pipe);
    expect_same(read_array(scratch / "piped.npz"), a);
    // Its members, which have their sizes after the data, are kept in a file with another one.
    write_array(scratch / "piped.npz:b", counted(DType::f64, 3, 3), kReplace);
    expect_same(read_array(scratch / "piped.npz:arr_0"), a);
  }
}

}  // namespace
}  // namespace tessera::test
