// The journal of an output that is written in blocks: see block_journal.hpp. A line is "BLOCK
// CHECKSUM MARK". MARK is the checksum of the text before it and reveals a truncated line.
#include "block_journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "checksum.hpp"
#include "failure.hpp"
#include "quiet_signals.hpp"
#include "tessera/core/text.hpp"
#include "uninterrupted.hpp"

namespace tessera {

namespace {

std::string hex(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

std::string with_mark(const std::string& words) {
  return cat(words, " ", hex(io::checksum(words.data(), words.size())), "\n");
}

/// The words of a line without its mark; empty if the line is damaged.
std::string checked_words(const std::string& line) {
  const std::size_t at = line.rfind(' ');
  if (at == std::string::npos) return {};
  std::string words = line.substr(0, at);
  return with_mark(words) == line + "\n" ? words : std::string();
}

std::string whole_text(int descriptor) {
  std::string out;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t got = io::uninterrupted([&] {
      return pread(descriptor, piece.data(), piece.size(), static_cast<off_t>(out.size()));
    });
    if (got <= 0) return out;
    out.append(piece.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

void BlockJournal::refuse(std::string problem, std::string expected, std::string got,
                          std::string advice) const {
  throw Error(Category::argument,
              cat("cannot resume ", io::shown_output(output_), ".part: ", problem),
              std::move(expected), std::move(got), std::move(advice));
}

BlockJournal::BlockJournal(const std::string& output, nlohmann::ordered_json question, int process)
    : output_(output),
      path_(cat(output, ".part.journal", process == 0 ? std::string() : cat(".", process))),
      process_(process),
      question_(std::move(question)) {
  descriptor_ = io::uninterrupted(
      [&] { return open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666); });
  if (descriptor_ < 0)
    throw Error(Category::argument,
                cat("cannot write ", io::shown_output(path_), ": ", io::errno_text(errno)), {}, {},
                "choose a folder you may write to");
  try {
    struct stat mine {
    }, named{};
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor_, &mine) != 0 ||
        stat(path_.c_str(), &named) != 0 || mine.st_ino != named.st_ino)
      refuse("another process is writing it", {}, {}, "wait until it ends");
    const std::string text = whole_text(descriptor_);
    if (text.empty()) begin();
    else read(text);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

BlockJournal::~BlockJournal() { close(descriptor_); }

void BlockJournal::begin() {
  is_new_ = true;
  struct stat info {};
  if (process_ == 0 && lstat((output_ + ".part").c_str(), &info) == 0) {
    unlink(path_.c_str());
    refuse("it has no journal", {}, {}, "remove it, or choose another output");
  }
  append(with_mark(question_.dump()));
}

void BlockJournal::read(const std::string& text) {
  std::size_t end = text.find('\n');
  const std::string first = checked_words(text.substr(0, end));
  const auto answered = nlohmann::ordered_json::parse(first, nullptr, false);
  if (first.empty() || !answered.is_object())
    refuse(cat("its journal, ", io::shown_output(path_), ", is damaged"), {}, {},
           "remove both and start again");
  for (const auto& [key, value] : question_.items()) {
    const auto before = answered.find(key);
    const std::string was = before == answered.end() ? "nothing" : before->dump();
    if (was != value.dump())
      refuse(cat("it belongs to another product, '", key, "' differs"), was, value.dump(),
             "request the same product, or remove the file and its journal");
  }
  while (end != std::string::npos && end + 1 < text.size()) {
    const std::size_t start = end + 1;
    end = text.find('\n', start);
    if (end == std::string::npos) break;
    const std::string words = checked_words(text.substr(start, end - start));
    long long block = 0;
    unsigned long long sum = 0;
    if (std::sscanf(words.c_str(), "%lld %llx", &block, &sum) == 2) blocks_[block] = sum;
  }
  // Terminate a truncated line, so that it does not damage the next one.
  if (text.back() != '\n') append("\n");
}

void BlockJournal::append(const std::string& line) {
  const io::QuietSignals quiet;
  lseek(descriptor_, 0, SEEK_END);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t now = io::uninterrupted(
        [&] { return write(descriptor_, line.data() + written, line.size() - written); });
    if (now < 0)
      throw Error(Category::resource,
                  cat("cannot write ", io::shown_output(path_), ": ", io::errno_text(errno)), {},
                  {}, "free some space; the same command resumes from there");
    written += static_cast<std::size_t>(now);
  }
}

const std::uint64_t* BlockJournal::find(index_t block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? nullptr : &found->second;
}

void BlockJournal::add(index_t block, std::uint64_t checksum) {
  blocks_[block] = checksum;
  append(with_mark(cat(block, " ", hex(checksum))));
}

void BlockJournal::remove() { unlink(path_.c_str()); }

}  // namespace tessera
