// Named members of .npz and .safetensors files: written beside what is there, which stays byte for
// byte; replaced on request only.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scratch.hpp"

namespace tessera::test {
namespace {

using Names = std::vector<std::string>;

class Members : public ::testing::TestWithParam<const char*> {
 protected:
  std::string file() const { return scratch / (std::string("w") + GetParam()); }
  std::string member(const std::string& name) const { return file() + ":" + name; }
  Array read(const std::string& name) const { return read_array(member(name), {.untyped = {}}); }

  const Array a_ = counted(DType::f32, 30, 20), b_ = counted(DType::i8, 3, 5);
  const Array c_ = counted(DType::f64, 7, 7), d_ = counted(DType::f16, 2, 9);
  Scratch scratch;
};

TEST_P(Members, AreAddedWithoutLeaveAndReplacedOnlyWithIt) {
  write_array(member("a"), a_);
  write_array(member("b"), b_);
  write_array(member("c"), c_);
  expect_error(Category::argument, {"cannot write", "w", ":b", "exists already", "--force"},
               [&] { write_array(member("b"), d_); });
  expect_error(Category::argument, {"exists already"},
               [&] { check_output(member("b"), WriteOptions{}); });
  expect_error(Category::argument, {"exists already"}, [&] {
    OutputArray(member("b"), DType::f32, {2, 2});
  });
  check_output(member("d"), WriteOptions{});
  check_output(member("b"), kReplace);
  expect_same(read("b"), b_);
  write_array(member("b"), d_, kReplace);
  expect_same(read("a"), a_);
  expect_same(read("b"), d_);
  expect_same(read("c"), c_);
  EXPECT_EQ(list_members(file()).size(), 3u);
  EXPECT_EQ(scratch.names().size(), 1u);
}

TEST_P(Members, ByOptionAndByOutputArrayToo) {
  write_array(member("a"), a_);
  write_array(file(), b_, {.member = "b"});
  OutputArray out(member("c"), DType::f64, {7, 7});
  std::memcpy(out.array().writable(), c_.data(), static_cast<std::size_t>(c_.bytes()));
  write_array(member("d"), d_);  // while another output to the same file is under way
  out.commit();
  expect_same(read("a"), a_);
  expect_same(read("b"), b_);
  expect_same(read("c"), c_);
  expect_same(read("d"), d_);
}

TEST_P(Members, WithoutANameTheWholeFileIsReplaced) {
  write_array(member("a"), a_);
  expect_error(Category::argument, {"exists already"}, [&] { write_array(file(), b_); });
  write_array(file(), b_, kReplace);
  EXPECT_EQ(list_members(file()), Names{"arr_0"});
}

TEST_P(Members, OfAFileThatIsNotWholeAreRefusedAndItStays) {
  for (const WriteOptions& options : {WriteOptions{}, kReplace}) {
    scratch.write(std::string("w") + GetParam(), "not an archive of any kind");
    expect_error(Category::file, {"cannot write", ":a", "w"},
                 [&] { write_array(member("a"), a_, options); });
    expect_error(Category::file, {"cannot write"}, [&] { check_output(member("a"), options); });
    EXPECT_EQ(bytes_of(file()), "not an archive of any kind");
  }
  scratch.write(std::string("w") + GetParam(), "");
  write_array(member("a"), a_);  // nothing is lost
  expect_same(read("a"), a_);
  EXPECT_EQ(scratch.names().size(), 1u);
}

TEST_P(Members, AFileThatTheProductIsReadFromMayGetTheResult) {
  write_array(member("a"), a_);
  const Array mapped = read("a");
  write_array(member("a"), transposed(mapped), kReplace);
  write_array(member("t"), mapped);
  expect_same(mapped, a_);
  expect_same(read("a"), transposed(a_));
  expect_same(read("t"), a_);
}

TEST_P(Members, AddedAtOnceByManyProcessesAreAllThere) {
  constexpr int kWriters = 8;
  for (int i = 0; i < kWriters; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      write_array(member(cat("m", i)), a_);
      _exit(0);
    }
  }
  for (int i = 0; i < kWriters; ++i) {
    int status = -1;
    wait(&status);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(list_members(file()).size(), static_cast<std::size_t>(kWriters));
  for (int i = 0; i < kWriters; ++i) expect_same(read(cat("m", i)), a_);
}

INSTANTIATE_TEST_SUITE_P(Files, Members, ::testing::Values(".npz", ".safetensors"),
                         [](const auto& test) { return std::string(test.param + 1); });

TEST(SafetensorsMembers, KeepMetadataAndTypesThatAreNotKnownHere) {
  const Scratch scratch;
  const std::string header = R"({"__metadata__":{"format":"pt","made":"by \"hand\""},)"
                             R"("x":{"dtype":"F8_E8M0","shape":[3],"data_offsets":[8,11]},)"
                             R"("t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::uint64_t length = header.size();
  const std::string path =
      scratch.write("m.safetensors", raw({length}) + header + raw<float>({1, 2}) + "abc");
  write_array(path + ":new", counted(DType::f64, 2, 2));
  const std::string after = bytes_of(path);
  EXPECT_THAT(after,
              ::testing::HasSubstr(R"("__metadata__":{"format":"pt","made":"by \"hand\""})"));
  EXPECT_THAT(after, ::testing::HasSubstr(R"("dtype":"F8_E8M0","shape":[3])"));
  EXPECT_EQ(after.substr(after.size() - 3), "abc");
  EXPECT_EQ(element(read_array(path + ":new"), 1, 1), 994);
  // The widest first: an f64 after three bytes could not be used in place.
  EXPECT_EQ(list_members(path), (Names{"new", "t", "x"}));
}

}  // namespace
}  // namespace tessera::test
