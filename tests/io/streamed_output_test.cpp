// StreamedOutput: appended pieces become the file, or there is no file.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "scratch.hpp"
#include "tessera/io/io.hpp"

namespace tessera {
namespace {

TEST(StreamedOutput, PiecesBecomeOneArray) {
  const test::Scratch scratch;
  const std::string path = scratch / "c.npy";
  std::vector<float> values(7 * 5);
  std::iota(values.begin(), values.end(), 1.0f);
  StreamedOutput out(path, DType::f32, {7, 5}, Overwrite::refuse);
  out.append(values.data(), 10);
  out.append(values.data() + 10, 0);
  out.append(values.data() + 10, 25);
  EXPECT_FALSE(std::filesystem::exists(path));
  out.commit();
  const Array back = read_array(path);
  ASSERT_EQ(shape_text(back.shape()), "(7, 5)");
  for (index_t i = 0; i < 35; ++i) EXPECT_EQ(element(back, i / 5, i % 5), values[i]);
}

TEST(StreamedOutput, TooManyOrTooFewElementsLeaveNoFile) {
  const test::Scratch scratch;
  const std::string path = scratch / "c.npy";
  const std::vector<double> values(4);
  {
    StreamedOutput out(path, DType::f64, {2, 2}, Overwrite::refuse);
    out.append(values.data(), 3);
    EXPECT_THROW(out.append(values.data(), 2), Error);
    EXPECT_THROW(out.commit(), Error);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_THROW(StreamedOutput(path, DType::f64, {index_t{1} << 60, 2}, Overwrite::refuse), Error);
  EXPECT_THROW(StreamedOutput(path, DType::f64, {index_t{1} << 44, 2}, Overwrite::refuse), Error);
}

TEST(StreamedOutput, AnEmptyArrayIsAFile) {
  const test::Scratch scratch;
  StreamedOutput out(scratch / "c.npy", DType::i32, {0, 5}, Overwrite::refuse);
  out.commit();
  EXPECT_EQ(read_array(scratch / "c.npy").count(), 0);
}

}  // namespace
}  // namespace tessera
