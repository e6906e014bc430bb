// The output of `tessera bench`: its forms, the files, the tables and the errors of rows. New and
// kept results are shown in the same way.
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

/// Throws Error(argument) if more than one is requested.
Form form_of(const shell::Context& context, const BenchRequest& request);
/// Prints results in any form but the table.
std::string text_in(Form form, const BenchResults& results);

/// Files with the results so far: replaced as a whole after each case.
class Outputs {
 public:
  /// Throws if one cannot be written, before hours of measuring.
  Outputs(const shell::Context& context, const BenchRequest& request);

  void write(const BenchResults& results) const;
  /// Another text in the form of each file; a file without a form is a picture.
  using TextIn = std::function<std::string(std::optional<Form>)>;
  void write(const TextIn& text) const;

 private:
  void add(const shell::Context& context, const std::string& path, std::optional<Form> form,
           bool force);

  std::vector<std::pair<std::string, std::optional<Form>>> files_;
};

/// The rows of this row's case.
void print_table(const shell::Context& context, const BenchResults& results, const BenchRow& row);
/// Tables appear size by size; remarks on the peak that need later sizes follow at the end.
void print_disturbed(const shell::Context& context, const BenchResults& results);
/// Reports rows without figures on stderr; returns the exit code.
int judged(const shell::Context& context, const BenchResults& results);

}  // namespace tessera::bench
