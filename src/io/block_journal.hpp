// Progress of an interruptible output: PATH.part.journal lists the finished blocks of PATH.part
// with their checksums, so that a later process can resume. Its first line describes the product; a
// process that computes a different one is refused. A block whose line or data is damaged counts as
// unfinished, so blocks and lines may reach the disk in any order.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "block_output.hpp"

namespace tessera {

class BlockJournal {
 public:
  /// Opens the journal beside the output and reads it, or creates one. It locks the journal for
  /// this process. Throws Error(argument) if another process holds it, if it belongs to another
  /// product (the message names the first key that differs) or if it is damaged.
  /// Several processes that write blocks of one output have a journal each: `process` from 0.
  BlockJournal(const std::string& output, nlohmann::ordered_json question, int process = 0);
  ~BlockJournal();
  BlockJournal(const BlockJournal&) = delete;
  BlockJournal& operator=(const BlockJournal&) = delete;

  /// How BlockOutput must open its file.
  Unfinished unfinished() const { return is_new_ ? Unfinished::begin : Unfinished::go_on; }
  /// The checksum of a finished block; nullptr for an unfinished one.
  const std::uint64_t* find(index_t block) const;
  /// Records a block that has been written.
  void add(index_t block, std::uint64_t checksum);
  /// Removes the journal once the output is complete.
  void remove();

 private:
  void begin();
  void read(const std::string& text);
  void append(const std::string& line);
  [[noreturn]] void refuse(std::string problem, std::string expected = {}, std::string got = {},
                           std::string advice = {}) const;

  std::string output_, path_;
  int process_;
  nlohmann::ordered_json question_;
  bool is_new_ = false;
  int descriptor_ = -1;
  std::map<index_t, std::uint64_t> blocks_;
};

}  // namespace tessera
