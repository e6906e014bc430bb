// What an interrupted output has: PATH.part.journal lists the finished blocks of PATH.part with
// their checksums, so that a later process goes on behind them. Its first line is what the output
// is made of; a process with another question is refused. Blocks whose line or bytes are damaged
// count as not finished: nothing has to reach the disk in any order.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "block_output.hpp"

namespace tessera {

class BlockJournal {
 public:
  /// Opens the journal beside the output and reads it, or begins one. Only one process at a time
  /// has it. Error(argument) where another process has it, where it answers another question (the
  /// first key that differs is named) or is damaged.
  BlockJournal(const std::string& output, nlohmann::ordered_json question);
  ~BlockJournal();
  BlockJournal(const BlockJournal&) = delete;
  BlockJournal& operator=(const BlockJournal&) = delete;

  /// How BlockOutput is to open its file.
  Unfinished unfinished() const { return is_new_ ? Unfinished::begin : Unfinished::go_on; }
  /// The checksum of a finished block; nullptr where it is not finished.
  const std::uint64_t* find(index_t block) const;
  /// Adds a block that has been written.
  void add(index_t block, std::uint64_t checksum);
  /// The output is complete.
  void remove();

 private:
  void begin();
  void read(const std::string& text);
  void append(const std::string& line);
  [[noreturn]] void refuse(std::string problem, std::string expected = {}, std::string got = {},
                           std::string advice = {}) const;

  std::string output_, path_;
  nlohmann::ordered_json question_;
  bool is_new_ = false;
  int descriptor_ = -1;
  std::map<index_t, std::uint64_t> blocks_;
};

}  // namespace tessera
