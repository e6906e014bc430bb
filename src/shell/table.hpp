// A table for people: aligned columns, a header, colours that do not count as width.
#pragma once

#include <string>
#include <vector>

namespace tessera::shell {

enum class Align { left, right };
/// How the last column is shown if lines are too narrow.
enum class Narrow { cut, wrapped };

class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    int gives_way = 0;  ///< in narrow lines the column with the highest is omitted first; 0: never
  };
  explicit Table(std::vector<Column> columns, Narrow last = Narrow::cut)
      : columns_(std::move(columns)), last_(last) {}
  /// As many cells as columns; a cell may contain colour codes.
  void add(std::vector<std::string> cells);
  /// The header, a rule and the rows; ends with a line break. If `columns` (0: unlimited) is too
  /// narrow, the last column is cut or wrapped; if that is not enough, other columns are omitted
  /// and a line below names them.
  std::string text(std::size_t columns = 0) const;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t width_before_last() const;
  Table without(std::size_t column) const;
  /// All columns; the last one is cut or wrapped.
  std::string lines(std::size_t most) const;

  std::vector<Column> columns_;
  Narrow last_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tessera::shell
