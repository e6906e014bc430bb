#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "scratch.hpp"

namespace tessera::test {
namespace {

class Inputs : public ::testing::Test {
 protected:
  void refused(const std::string& path, std::vector<std::string> words,
               Category category = Category::file) {
    expect_error(category, words, [&] { read_array(path); });
  }
  const Array a_ = counted(DType::f64, 200, 100);
  Scratch scratch;
};

TEST_F(Inputs, WhatIsNoFileIsNamed) {
  ASSERT_EQ(symlink("loop.npy", (scratch / "loop.npy").c_str()), 0);
  ASSERT_EQ(mkfifo((scratch / "fifo.npy").c_str(), 0600), 0);
  std::filesystem::create_directory(scratch / "folder.npy");
  scratch.write("plain", "x");
  refused(scratch / "none.npy", {"none.npy", "No such file", "check the name"});
  refused(scratch / "folder.npy", {"folder.npy", "is a folder"});
  refused(scratch / "loop.npy", {"loop.npy", "symbolic link"});
  refused(scratch / "plain/x.npy", {"Not a directory"});
  refused(scratch / "fifo.npy", {"fifo.npy", "pipe that no process writes to"});
  refused("/dev/null", {"/dev/null", "is a device"});
  refused("/dev/zero", {"/dev/zero", "is a device"});
  refused("", {"name is empty"});
  for (const char* name : {"e.npy", "e.npz", "e.mtx", "e.safetensors", "e"}) {
    refused(scratch.write(name, ""), {name, "is empty"});
  }
}

TEST_F(Inputs, NoPermission) {
  chmod(scratch.write("a.npy", "x").c_str(), 0);
  const pid_t child = fork();
  if (child == 0) {
    chmod(scratch.folder().c_str(), 0755);
    if (geteuid() == 0 && setuid(65534) != 0) _exit(9);
    try {
      read_array(scratch / "a.npy");
    } catch (const Error& error) {
      _exit(std::string(error.what()).find("Permission denied") == std::string::npos);
    }
    _exit(8);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Inputs, ControlCharactersOfAPathAreShownHarmless) {
  refused(scratch / "a\x1b[31m\n.npy", {"a\\x1b[31m\\x0a.npy"});
}

TEST_F(Inputs, UnknownExtensionsGoByContent) {
  for (const char* name : {"x.npy", "x.npz", "x.mtx", "x.safetensors"}) {
    write_array(scratch / name, a_);
    const std::string plain = scratch.write("plain.dat", bytes_of(scratch / name));
    expect_same(read_array(plain), a_);
  }
  refused(scratch.write("a.txt", "1 2 3\n4 5 6\n"),
          {"a.txt", "file format is unknown", ".npy, .npz, .mtx"}, Category::argument);
}

TEST_F(Inputs, UpperCaseExtensions) {
  write_array(scratch / "A.NPY", a_);
  expect_same(read_array(scratch / "A.NPY"), a_);
}

TEST_F(Inputs, ANamedFormatWins) {
  write_array(scratch / "a.mtx", a_);
  std::filesystem::rename(scratch / "a.mtx", scratch / "a.npy");
  refused(scratch / "a.npy", {"is not an .npy file", "'%%Matr'"});
  expect_same(read_array(scratch / "a.npy", {.format = Format::matrix_market}), a_);
}

TEST_F(Inputs, MembersOfFilesThatHoldOne) {
  write_array(scratch / "a.npy", a_);
  expect_error(Category::argument, {"holds one array", "'x'"},
               [&] { read_array(scratch / "a.npy", {.member = "x"}); });
  refused(scratch / "a.npy:x", {"a.npy:x", "No such file"});
}

TEST_F(Inputs, ColonsInFileNames) {
  write_array(scratch / "a.npz", a_);
  std::filesystem::rename(scratch / "a.npz", scratch / "odd.npz:name.npz");
  expect_same(read_array(scratch / "odd.npz:name.npz"), a_);
  const Location location = parse_location("/none/odd.npz:w:1");
  EXPECT_EQ(location.path, "/none/odd.npz");
  EXPECT_EQ(location.member, "w:1");
  EXPECT_EQ(parse_location("C:m.npy").path, "C:m.npy");
}

TEST_F(Inputs, PipesAreReadToTheirEnd) {
  ASSERT_EQ(mkfifo((scratch / "fifo").c_str(), 0600), 0);
  for (const char* name : {"x.npy", "x.npz", "x.mtx", "x.safetensors"}) {
    write_array(scratch / name, a_);
    const std::string bytes = bytes_of(scratch / name);
    std::thread writer([&] {
      const int descriptor = open((scratch / "fifo").c_str(), O_WRONLY);
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t done =
            write(descriptor, bytes.data() + at, std::min<std::size_t>(bytes.size() - at, 7777));
        if (done <= 0) break;
        at += static_cast<std::size_t>(done);
      }
      close(descriptor);
    });
    expect_same(read_array(scratch / "fifo"), a_);
    writer.join();
  }
}

TEST_F(Inputs, StandardInputAndOutput) {
  write_array(scratch / "in.npy", a_);
  const pid_t child = fork();
  if (child == 0) {
    const int in = open((scratch / "in.npy").c_str(), O_RDONLY);
    const int out = open((scratch / "out.npy").c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    write_array("-", read_array("-"));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  expect_same(read_array(scratch / "out.npy"), a_);
}

TEST_F(Inputs, FormatNames) {
  for (const char* name : {"npy", "npz", "mtx", "safetensors"}) {
    EXPECT_EQ(to_string(parse_format(name)), name);
  }
  expect_error(Category::argument, {"'csv'", "npy, npz, mtx or safetensors"},
               [] { parse_format("csv"); });
}

}  // namespace
}  // namespace tessera::test
