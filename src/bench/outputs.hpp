// What `tessera bench` says and where: the forms of its output, the files beside it, the tables and
// the errors of rows. Measured just now or kept, results are shown in the same way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options.hpp"
#include "results.hpp"

namespace tessera::bench {

enum class Form { table, json, csv, markdown };

/// Throws Error(argument) where more than one is asked for.
Form form_of(const shell::Context& context, const BenchRequest& request);
/// Of results in any form but the table.
std::string text_in(Form form, const BenchResults& results);

/// Files that show what is finished so far: replaced as a whole after each case.
class Outputs {
 public:
  /// Throws where one cannot be written: that should be known before hours of measuring.
  Outputs(const shell::Context& context, const BenchRequest& request);

  void write(const BenchResults& results) const;
  /// Something else in the form of each file; without a form it is a picture.
  using TextIn = std::function<std::string(std::optional<Form>)>;
  void write(const TextIn& text) const;

 private:
  void add(const shell::Context& context, const std::string& path, std::optional<Form> form,
           bool force);

  std::vector<std::pair<std::string, std::optional<Form>>> files_;
};

/// The rows of this row's case.
void print_table(const shell::Context& context, const BenchResults& results, const BenchRow& row);
/// Tables come size by size; what only the later ones show of the peak is said behind them.
void print_disturbed(const shell::Context& context, const BenchResults& results);
/// What a user must know about rows without figures, on stderr; the exit code.
int judged(const shell::Context& context, const BenchResults& results);

}  // namespace tessera::bench
