// A folder that vanishes after a test, files made of given bytes, and checks of error messages.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tessera/io/io.hpp"

namespace tessera::test {

inline const WriteOptions kReplace{.overwrite = Overwrite::replace};

/// Folders in memory spare the disk thousands of flushes; large files and faults want a disk.
enum class Where { memory, disk };

/// Runs `body` in a child process and gives its exit status; a signal is a failure.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class Scratch {
 public:
  explicit Scratch(Where where = Where::memory) {
    const bool memory = where == Where::memory && access("/dev/shm", W_OK) == 0;
    std::string name =
        (memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/tessera_XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return folder_ + "/" + name; }
  const std::string& folder() const { return folder_; }

  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(*this / name, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return *this / name;
  }

  /// Names in the folder, hidden ones too.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      out.push_back(entry.path().filename());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::string folder_;
};

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The bytes of values, as a file holds them.
template <class T>
std::string raw(std::initializer_list<T> values) {
  std::string out(values.size() * sizeof(T), '\0');
  std::memcpy(out.data(), values.begin(), out.size());
  return out;
}

/// `body` must throw an Error of this category whose message holds every one of `words`.
template <class Body>
void expect_error(Category category, const std::vector<std::string>& words, Body body) {
  try {
    body();
    ADD_FAILURE() << "no error; expected one with " << ::testing::PrintToString(words);
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(category), static_cast<int>(error.category())) << error.what();
    for (const auto& word : words) EXPECT_THAT(error.what(), ::testing::HasSubstr(word));
    EXPECT_THAT(error.what(), ::testing::Not(::testing::HasSubstr("\n"))) << "one line";
  }
}

/// A matrix whose elements are all different: i * 1000 + j - 7.
inline Array counted(DType dtype, index_t rows, index_t cols, Order order = Order::c) {
  Array wide = make_array(DType::f64, {rows, cols}, order);
  auto* data = static_cast<double*>(wide.writable());
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      data[i * wide.row_stride() + j * wide.col_stride()] = static_cast<double>(i * 1000 + j - 7);
    }
  }
  return convert(wide, dtype);
}

/// Same type, shape and bits of every element, whatever the order in memory.
inline void expect_same(const Array& a, const Array& b) {
  ASSERT_EQ(name(a.dtype()), name(b.dtype()));
  ASSERT_EQ(a.shape(), b.shape());
  const Array x = contiguous(a), y = contiguous(b);
  EXPECT_TRUE(x.bytes() == 0 ||
              std::memcmp(x.data(), y.data(), static_cast<std::size_t>(x.bytes())) == 0);
}

inline constexpr DType kAllTypes[] = {DType::f64,    DType::f32,    DType::f16,    DType::bf16,
                                      DType::f8e4m3, DType::f8e5m2, DType::i8,     DType::u8,
                                      DType::i16,    DType::u16,    DType::i32,    DType::u32,
                                      DType::i64,    DType::u64,    DType::boolean};

}  // namespace tessera::test
