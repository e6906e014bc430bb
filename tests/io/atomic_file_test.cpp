// Outputs under faults: each test ends with the old file or the new file, complete, and no
// temporary.
#include "tessera/io/atomic_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <random>

#include "scratch.hpp"
#include "support/sanitizers.hpp"

namespace tessera::test {
namespace {

using Names = std::vector<std::string>;

/// 0 when `body` throws an Error of this category with these words.
int throws(Category category, const std::vector<std::string>& words,
           const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.category() != category) return 2;
    for (const auto& word : words) {
      if (std::string(error.what()).find(word) == std::string::npos) return 3;
    }
    return 0;
  } catch (...) {
    return 4;
  }
  return 1;
}

class AtomicFileTest : public ::testing::Test {
 protected:
  const Array old_ = counted(DType::f32, 3, 3);
  const Array new_ = counted(DType::f64, 400, 300);
  Scratch scratch{Where::disk};
};

TEST_F(AtomicFileTest, NothingIsThereBeforeCommit) {
  {
    AtomicFile file(scratch / "a", Overwrite::refuse);
    file.write("abc");
    EXPECT_EQ(scratch.names().size(), 1u) << "only the temporary";
    EXPECT_NE(scratch.names()[0], "a");
    file.commit();
    EXPECT_EQ(bytes_of(scratch / "a"), "abc");
  }
  EXPECT_EQ(scratch.names(), Names{"a"});
}

TEST_F(AtomicFileTest, LeavingTheScopeKeepsTheOldFile) {
  scratch.write("a", "old");
  {
    AtomicFile file(scratch / "a", Overwrite::replace);
    file.write("new and longer");
  }
  EXPECT_EQ(bytes_of(scratch / "a"), "old");
  EXPECT_EQ(scratch.names(), Names{"a"});
}

TEST_F(AtomicFileTest, ModeOfTheOldFileIsKept) {
  chmod(scratch.write("a", "old").c_str(), 0640);
  AtomicFile file(scratch / "a", Overwrite::replace);
  file.commit();
  struct stat info {};
  stat((scratch / "a").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
}

TEST_F(AtomicFileTest, ExistingFileIsRefusedUnlessAllowed) {
  write_array(scratch / "a.npy", old_);
  expect_error(Category::argument, {"a.npy", "exists already", "--force"},
               [&] { write_array(scratch / "a.npy", new_); });
  expect_same(read_array(scratch / "a.npy"), old_);
  write_array(scratch / "a.npy", new_, kReplace);
  expect_same(read_array(scratch / "a.npy"), new_);
}

TEST_F(AtomicFileTest, AFileThatAppearsMeanwhileIsNotReplaced) {
  AtomicFile file(scratch / "a", Overwrite::refuse);
  file.write("mine");
  scratch.write("a", "theirs");
  expect_error(Category::argument, {"has appeared"}, [&] { file.commit(); });
  EXPECT_EQ(bytes_of(scratch / "a"), "theirs");
}

TEST_F(AtomicFileTest, OutputMayBeTheInput) {
  write_array(scratch / "a.npy", new_);
  const Array mapped = read_array(scratch / "a.npy");
  write_array(scratch / "a.npy", transposed(mapped), kReplace);
  expect_same(mapped, new_);
  expect_same(read_array(scratch / "a.npy"), transposed(new_));
}

TEST_F(AtomicFileTest, ThroughASymbolicLinkTheLinkStays) {
  scratch.write("real.npy", "old");
  ASSERT_EQ(symlink((scratch / "real.npy").c_str(), (scratch / "link.npy").c_str()), 0);
  write_array(scratch / "link.npy", new_, kReplace);
  expect_same(read_array(scratch / "real.npy"), new_);
  EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link.npy"));
}

TEST_F(AtomicFileTest, ImpossibleOutputsAreNamed) {
  ASSERT_EQ(symlink("loop.npy", (scratch / "loop.npy").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", (scratch / "dangling.npy").c_str()), 0);
  std::filesystem::create_directory(scratch / "folder.npy");
  scratch.write("plain", "x");
  const std::pair<std::string, std::string> cases[] = {
      {scratch / "folder.npy", "it is a folder"},
      {scratch / "missing/a.npy", "create the folder first"},
      {scratch / "plain/a.npy", "Not a directory"},
      {scratch / "loop.npy", "broken symbolic link"},
      {scratch / "dangling.npy", "broken symbolic link"},
      {scratch / (std::string(300, 'x') + ".npy"), "File name too long"},
      {scratch / "a.txt", "extension is unknown"},
      {scratch / "a", ".npy, .npz, .mtx or .safetensors"},
      {"", "extension is unknown"}};
  for (const auto& each : cases) {
    const std::string &path = each.first, &words = each.second;
    for (const Overwrite overwrite : {Overwrite::refuse, Overwrite::replace}) {
      expect_error(Category::argument, {"cannot write", path, words},
                   [&] { write_array(path, old_, {.overwrite = overwrite}); });
      expect_error(Category::argument, {"cannot write", path, words}, [&] {
        OutputArray(path, DType::f32, {2, 2}, {.overwrite = overwrite});
      });
    }
  }
  EXPECT_EQ(scratch.names(), (Names{"dangling.npy", "folder.npy", "loop.npy", "plain"}));
}

TEST_F(AtomicFileTest, ReadOnlyFolder) {
  std::filesystem::create_directory(scratch / "closed");
  chmod((scratch / "closed").c_str(), 0555);
  // Root may write anywhere: become somebody else.
  EXPECT_EQ(0, in_child([&] {
              chmod(scratch.folder().c_str(), 0755);
              if (geteuid() == 0 && setuid(65534) != 0) return 9;
              return throws(Category::argument, {"Permission denied", "may write to"},
                            [&] { write_array(scratch / "closed/a.npy", old_); });
            }));
}

TEST_F(AtomicFileTest, FullDevice) {
  for (const char* format : {"npy", "npz", "mtx", "safetensors"}) {
    expect_error(Category::resource, {"/dev/full", "No space left"},
                 [&] { write_array("/dev/full", new_, {.format = parse_format(format)}); });
  }
  write_array("/dev/null", new_, {.format = Format::npy});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null")) << "a device is never replaced";
}

TEST_F(AtomicFileTest, FileSizeLimitIsAnErrorAndKillsNobody) {
  for (const char* name : {"a.npy", "a.npz", "a.mtx", "a.safetensors"}) {
    const std::string path = scratch / name;
    write_array(path, old_);
    const std::string before = bytes_of(path);
    EXPECT_EQ(0, in_child([&] {
                signal(SIGXFSZ, SIG_DFL);
                const rlimit limit{100000, 100000};
                setrlimit(RLIMIT_FSIZE, &limit);
                return throws(Category::resource, {"cannot write", "File too large", "ulimit -f"},
                              [&] { write_array(path, new_, kReplace); });
              }))
        << name;
    EXPECT_EQ(bytes_of(path), before);
  }
  EXPECT_EQ(0, in_child([&] {
              const rlimit limit{100000, 100000};
              setrlimit(RLIMIT_FSIZE, &limit);
              return throws(Category::resource, {"reserving", "File too large"}, [&] {
                MappedOutput(scratch / "m.npy", DType::f64, {400, 300}, Overwrite::refuse);
              });
            }));
  EXPECT_EQ(scratch.names(), (Names{"a.mtx", "a.npy", "a.npz", "a.safetensors"}));
}

TEST_F(AtomicFileTest, PipeWithoutAReaderIsAnError) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(0, in_child([&] {
              signal(SIGPIPE, SIG_DFL);
              dup2(ends[1], STDOUT_FILENO);
              return throws(Category::resource, {"Broken pipe", "reader"},
                            [&] { write_array("-", new_); });
            }));
  close(ends[1]);
}

TEST_F(AtomicFileTest, FullDiskIsKnownBeforeTheWork) {
  const std::string disk = scratch / "disk";
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
    GTEST_SKIP() << "NOT TESTED: a full disk; mounting a tmpfs needs rights that this user lacks";
  }
  write_array(disk + "/a.npy", old_);
  for (const char* name : {"a.npy", "b.npy", "b.npz", "b.mtx", "b.safetensors"}) {
    expect_error(Category::resource, {"No space left", "free some space"},
                 [&] { write_array(disk + "/" + name, counted(DType::f64, 600, 600), kReplace); });
  }
  expect_error(Category::resource, {"reserving 2.75 MiB", "No space left"}, [&] {
    OutputArray(disk + "/c.npy", DType::f64, {600, 600});
  });
  expect_same(read_array(disk + "/a.npy"), old_);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(disk), {}), 1);
  umount(disk.c_str());
}

void end_by_signal(int number) {
  remove_temporaries();
  _exit(128 + number);
}

TEST_F(AtomicFileTest, InterruptedAtAnyMomentLeavesOldOrNewAndNoTemporary) {
  const std::string path = scratch / "c.npy";
  const std::string npz = scratch / "c.npz";
  std::mt19937 random(7);
  int finished = 0, interrupted = 0;
  for (int round = 0; round < 50; ++round) {
    write_array(path, old_, kReplace);
    write_array(npz, old_, kReplace);
    const int number = round % 2 == 0 ? SIGINT : SIGTERM;
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGINT, end_by_signal);
      signal(SIGTERM, end_by_signal);
      OutputArray out(path, DType::f64, {400, 300}, kReplace);
      std::memcpy(out.array().writable(), new_.data(), static_cast<std::size_t>(new_.bytes()));
      out.commit();
      write_array(npz, new_,
                  {.overwrite = Overwrite::replace, .compression = Compression::deflated});
      _exit(0);
    }
    usleep(static_cast<useconds_t>(random() % 12000));
    kill(child, number);
    int status = 0;
    waitpid(child, &status, 0);
    // Killed before the handlers were there, ended by them, or done: never anything else.
    const bool early = WIFSIGNALED(status) && WTERMSIG(status) == number;
    const bool handled = WIFEXITED(status) && WEXITSTATUS(status) == 128 + number;
    const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    ASSERT_TRUE(early || handled || done) << status;
    finished += done;
    interrupted += handled;
    ASSERT_EQ(scratch.names(), (Names{"c.npy", "c.npz"})) << "round " << round;
    for (const auto& each : {path, npz}) {
      const Array now = read_array(each);
      if (now.dtype() == DType::f32) expect_same(now, old_);
      else expect_same(now, new_);
    }
  }
  RecordProperty("finished", finished);
  RecordProperty("interrupted", interrupted);
  EXPECT_GT(interrupted, 0) << "no signal came while the child was writing";
}

TEST_F(AtomicFileTest, AForkedChildDoesNotTouchItsParentsTemporary) {
  AtomicFile file(scratch / "a", Overwrite::refuse);
  file.write("whole");
  EXPECT_EQ(0, in_child([] {
              remove_temporaries();
              return 0;
            }));
  file.commit();
  EXPECT_EQ(bytes_of(scratch / "a"), "whole");
}

TEST_F(AtomicFileTest, AnExceptionRemovesTheTemporary) {
  EXPECT_THROW(
      {
        const OutputArray out(scratch / "a.npy", DType::f32, {100, 100});
        throw std::runtime_error("a kernel failed");
      },
      std::runtime_error);
  EXPECT_TRUE(scratch.names().empty());
}

TEST_F(AtomicFileTest, OutputArrayMakesItsTemporaryAtOnce) {
  const OutputArray out(scratch / "a.mtx", DType::f32, {4, 4});
  EXPECT_EQ(scratch.names().size(), 1u);
  EXPECT_FALSE(out.is_mapped());
}

TEST_F(AtomicFileTest, OutputArrayHoldsEveryFormat) {
  for (const char* name : {"o.npy", "o.npz", "o.mtx", "o.safetensors:w", "o2.npz:x"}) {
    OutputArray out(scratch / name, DType::f64, {400, 300});
    EXPECT_TRUE(out.array().is_contiguous(Order::c));
    std::memcpy(out.array().writable(), new_.data(), static_cast<std::size_t>(new_.bytes()));
    out.commit();
    expect_same(read_array(scratch / name), new_);
  }
  OutputArray empty(scratch / "e.npy", DType::f32, {0, 7});
  empty.commit();
  EXPECT_EQ(read_array(scratch / "e.npy").shape(), (std::vector<index_t>{0, 7}));
}

TEST_F(AtomicFileTest, MappedOutputIsMadeOfZerosAndAligned) {
  MappedOutput out(scratch / "z.npy", DType::f32, {100, 100}, Overwrite::refuse);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out.array().data()) % 64, 0u);
  out.commit();
  expect_same(read_array(scratch / "z.npy"), make_array(DType::f32, {100, 100}));
}

TEST_F(AtomicFileTest, AResultBeyondMemoryIsComputedInItsFile) {
  if (testing::kSanitized)
    GTEST_SKIP() << "NOT tested: sanitizers need more address space than a limit leaves";
  EXPECT_EQ(0, in_child([&] {
              const index_t room = index_t{180} << 20;
              rlimit limit{};
              getrlimit(RLIMIT_AS, &limit);
              std::ifstream pages("/proc/self/statm");
              rlim_t used = 0;
              pages >> used;
              limit.rlim_cur = used * static_cast<rlim_t>(getpagesize()) + room;
              setrlimit(RLIMIT_AS, &limit);
              OutputArray out(scratch / "big.npy", DType::f64, {4000, 4000});
              if (!out.is_mapped()) return 1;
              static_cast<double*>(out.array().writable())[15'999'999] = 7;
              out.commit();
              return 0;
            }));
  EXPECT_EQ(element(read_array(scratch / "big.npy"), 3999, 3999), 7);
}

TEST_F(AtomicFileTest, AFileThatShrinksWhileReadEndsWithOneLine) {
  const std::string path = scratch / "a.npy";
  const std::string log = scratch / "log";
  write_array(path, new_);
  EXPECT_EQ(3, in_child([&] {
              const int descriptor = open(log.c_str(), O_CREAT | O_WRONLY, 0600);
              dup2(descriptor, STDERR_FILENO);
              guard_mapped_files("tessera multiply: ");
              AtomicFile unfinished(scratch / "out", Overwrite::refuse);
              const Array a = read_array(path);
              if (truncate(path.c_str(), 4096) != 0) return 9;
              return element(a, 399, 299) == 0 ? 7 : 8;
            }));
  EXPECT_THAT(bytes_of(log), ::testing::HasSubstr("tessera multiply: " + path +
                                                  ": the file became "
                                                  "shorter while it was read"));
  EXPECT_EQ(scratch.names(), (Names{"a.npy", "log"}));
}

TEST_F(AtomicFileTest, OtherBusErrorsGoToTheHandlerBefore) {
  EXPECT_EQ(77, in_child([] {
              signal(SIGBUS, [](int) { _exit(77); });
              guard_mapped_files();
              guard_mapped_files();
              raise(SIGBUS);
              raise(SIGBUS);
              return 0;
            }));
}

}  // namespace
}  // namespace tessera::test
