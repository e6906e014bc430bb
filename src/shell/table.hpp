// A table for people: aligned columns, a header, colours that do not count as width.
#pragma once

#include <string>
#include <vector>

namespace tessera::shell {

enum class Align { left, right };
/// What becomes of the last column where lines are too narrow.
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
  /// As many cells as columns; a cell may carry colour codes.
  void add(std::vector<std::string> cells);
  /// Header, a rule, the rows; ends with a line break. In lines of `columns` characters (0: of any
  /// width) the last column is cut or wrapped; where no room is left for it columns give way, and a
  /// line below names them.
  std::string text(std::size_t columns = 0) const;

 private:
  std::vector<std::size_t> widths() const;
  std::size_t width_before_last() const;
  Table without(std::size_t column) const;
  /// All columns, the last one cut or wrapped.
  std::string lines(std::size_t most) const;

  std::vector<Column> columns_;
  Narrow last_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tessera::shell
