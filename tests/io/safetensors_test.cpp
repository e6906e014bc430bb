#include <gtest/gtest.h>

#include "scratch.hpp"

namespace tessera::test {
namespace {

std::string file(std::string_view header, std::string_view data) {
  const std::uint64_t length = header.size();
  return raw({length}) + std::string(header) + std::string(data);
}

std::string tensor(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return cat("{\"t\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":", offsets,
             "}}");
}

const std::string kData = raw<float>({1, 2, 3, 4, 5, 6});

class Safetensors : public ::testing::Test {
 protected:
  void refused(std::string_view bytes, const std::vector<std::string>& words) {
    expect_error(Category::file, words, [&] { read_array(scratch.write("x.safetensors", bytes)); });
  }
  Scratch scratch;
};

TEST_F(Safetensors, WritesAndReadsEveryType) {
  for (const DType dtype : kAllTypes) {
    for (const auto& [m, n] : {std::pair<index_t, index_t>{0, 3}, {1, 1}, {65, 33}}) {
      for (const Order order : {Order::c, Order::fortran}) {
        const Array a = counted(dtype, m, n, order);
        write_array(scratch / "a.safetensors", a, {.overwrite = Overwrite::replace});
        expect_same(read_array(scratch / "a.safetensors"), a);
      }
    }
  }
}

TEST_F(Safetensors, DataStartsAtAMultipleOf64AndIsMapped) {
  write_array(scratch / "a.safetensors:weight", counted(DType::bf16, 4, 4));
  const Array a = read_array(scratch / "a.safetensors:weight");
  EXPECT_FALSE(a.is_writable());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
}

TEST_F(Safetensors, SeveralTensorsAndMetadata) {
  const std::string path = scratch.write(
      "m.safetensors",
      file(
          R"({"__metadata__":{"made":"by hand"},"b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]},)"
          R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})",
          kData));
  EXPECT_EQ(list_members(path), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(element(read_array(path + ":a"), 1, 1), 4);
  EXPECT_EQ(read_array(path + ":b").shape(), std::vector<index_t>{2});
  expect_error(Category::argument, {"holds 2 arrays", "a, b", ":a"}, [&] { read_array(path); });
  expect_error(Category::argument, {"no array 'c'"}, [&] { read_array(path + ":c"); });
}

TEST_F(Safetensors, HostileLengths) {
  refused("1234567", {"truncated", "8 bytes"});
  refused(raw<std::uint64_t>({UINT64_MAX}) + "{}", {"longer than the file"});
  refused(raw<std::uint64_t>({3}) + "{}", {"longer than the file", "at most 2 bytes"});
}

TEST_F(Safetensors, HostileJson) {
  refused(file("", ""), {"JSON header is invalid"});
  refused(file("not json", ""), {"JSON header is invalid"});
  refused(file("[]", ""), {"not a JSON object"});
  refused(file("{\"t\":1}", ""), {"'t'", "not described"});
  refused(file("{\"t\":{}}", ""), {"lacks 'dtype'"});
  refused(file("{\"t\":{\"dtype\":1,\"shape\":[],\"data_offsets\":[0,4]}}", "1234"), {"dtype"});
  refused(file("{\"t\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,4]}}", "1234"),
          {"shape"});
  refused(file(std::string(100000, '['), ""), {"JSON header is invalid"});
  refused(file("{\"\xff\":1}", ""), {"JSON header is invalid"});
  refused(file("{}", ""), {"holds no array"});
  const std::string twice =
      R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  refused(file(twice, "x"), {"'t' is named twice"});
}

TEST_F(Safetensors, HeadersThatReadersWouldTakeDifferently) {
  const std::string good = tensor("F32", "[2,3]", "[0,24]");
  refused(file(" " + good, kData), {"begin with '{'"});
  refused(file("\xef\xbb\xbf" + good, kData), {"begin with '{'"});
  refused(file(good + std::string("\0x", 2), kData), {"zero byte"});
  EXPECT_NO_THROW(read_array(scratch.write("x.safetensors", file(good + "  ", kData))));
  const auto with = [&](std::string_view metadata) {
    return file(cat("{\"__metadata__\":", metadata, ",", good.substr(1)), kData);
  };
  EXPECT_NO_THROW(read_array(scratch.write("x.safetensors", with(R"({"a":"b"})"))));
  refused(with("[]"), {"__metadata__ is not a JSON object"});
  refused(with("null"), {"__metadata__ is not a JSON object"});
  refused(with(R"({"a":1})"), {"__metadata__", "'a' is not a string"});
  refused(with(R"({"a":"b","a":"c"})"), {"'a' is named twice"});
  const std::string more = good.substr(0, good.size() - 2) + ",\"dtype\":\"F32\"}}";
  refused(file(more, kData), {"'dtype' is named twice"});
}

TEST_F(Safetensors, EveryTensorOfAKnownTypeIsMeasured) {
  const auto pair = [](std::string_view other) {
    return file(cat(R"({"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"u":)", other, "}"),
                kData);
  };
  const std::string path =
      scratch.write("x.safetensors", pair(R"({"dtype":"I16","shape":[2],"data_offsets":[16,24]})"));
  expect_error(Category::file, {"x.safetensors:u", "4 bytes", "8 bytes"},
               [&] { read_array(path + ":t"); });
  // A tensor of unknown type does not affect the others.
  scratch.write("x.safetensors", pair(R"({"dtype":"C64","shape":[1],"data_offsets":[16,24]})"));
  EXPECT_EQ(read_array(path + ":t").shape(), std::vector<index_t>{4});
}

TEST_F(Safetensors, HostileOffsetsAndShapes) {
  refused(file(tensor("F32", "[2,3]", "[0,25]"), kData), {"leave the file", "[0, 25]"});
  refused(file(tensor("F32", "[2,3]", "[4,24]"), kData), {"begin of 0"});
  refused(file(tensor("F32", "[2,3]", "[24,0]"), kData), {"data_offsets"});
  refused(file(tensor("F32", "[2,3]", "[0,20]"), kData), {"do not fill the file"});
  refused(file(tensor("F32", "[2,2]", "[0,24]"), kData), {"16 bytes", "24 bytes"});
  refused(file(tensor("F32", "[2,3]", "[0]"), kData), {"two integers"});
  refused(file(tensor("F32", "[2,3]", "[-1,24]"), kData), {"0 or more"});
  refused(file(tensor("F32", "[2,3]", "[0,1e3]"), kData), {"integer"});
  refused(file(tensor("F32", "[-2,3]", "[0,24]"), kData), {"0 or more"});
  refused(file(tensor("F32", "[18446744073709551615,3]", "[0,24]"), kData), {"2^63"});
  refused(file(tensor("F32", "[4294967296,4294967296]", "[0,24]"), kData), {"too large"});
  refused(file(tensor("F32", "[2,3]", "[0,24]"), kData + "x"), {"do not fill the file"});
  refused(file(tensor("C64", "[3]", "[0,24]"), kData), {"'C64'", "not supported", "BF16"});
  const std::string overlap =
      R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"b":{"dtype":"F32","shape":[4],"data_offsets":[8,24]}})";
  refused(file(overlap, kData), {"overlap"});
}

TEST_F(Safetensors, ReservedNameIsRefused) {
  expect_error(Category::argument, {"__metadata__"}, [&] {
    write_array(scratch / "a.safetensors:__metadata__", counted(DType::f32, 1, 1));
  });
  EXPECT_TRUE(scratch.names().empty());
}

}  // namespace
}  // namespace tessera::test
