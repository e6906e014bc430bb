// A table for people: aligned columns, a header, colours that do not count as width.
#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

enum class Align { left, right };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as columns; a cell may carry colour codes.
  void add(std::vector<std::string> cells);
  /// Header, a rule, the rows; ends with a line break. What stands beyond `columns` in the last
  /// column is cut off (0: nothing is).
  std::string text(std::size_t columns = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tessera::cli
