// Output formats, files and tables: see outputs.hpp.
#include "outputs.hpp"

#include "report.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"
#include "tessera/io/atomic_file.hpp"

namespace tessera::bench {

namespace {

bool ends_with(const std::string& text, const char* ending) {
  return std::string_view(text).ends_with(ending);
}

Form form_of_file(const std::string& path) {
  if (ends_with(path, ".json")) return Form::json;
  if (ends_with(path, ".csv")) return Form::csv;
  if (ends_with(path, ".md")) return Form::markdown;
  throw Error(Category::argument, cat("cannot tell the format of '", path, "' from its name"),
              "a name that ends with .json, .csv or .md");
}

}  // namespace

Form form_of(const shell::Context& context, const BenchRequest& request) {
  const int requested = int{context.json} + int{request.csv} + int{request.markdown};
  if (requested > 1)
    throw Error(Category::argument, "more than one output format requested",
                "one of --json, --csv and --markdown", {}, "use -o FILE for a second format");
  return context.json       ? Form::json
         : request.csv      ? Form::csv
         : request.markdown ? Form::markdown
                            : Form::table;
}

std::string text_in(Form form, const BenchResults& results) {
  if (form == Form::json) return to_json(results);
  if (form == Form::csv) return to_csv(results);
  return to_markdown(results);
}

Outputs::Outputs(const shell::Context& context, const BenchRequest& request) {
  if (!request.output.empty())
    add(context, request.output, form_of_file(request.output), request.force);
  if (request.plot.empty()) return;
  if (!ends_with(request.plot, ".svg"))
    throw Error(Category::argument, "--plot writes SVG", "a name that ends with .svg",
                cat("'", request.plot, "'"));
  add(context, request.plot, std::nullopt, request.force);
}

void Outputs::write(const BenchResults& results) const {
  write([&](std::optional<Form> form) { return form ? text_in(*form, results) : to_svg(results); });
}

void Outputs::write(const TextIn& text) const {
  for (const auto& [path, form] : files_) {
    AtomicFile file(path, Overwrite::replace);
    file.write(text(form));
    file.commit();
  }
}

void Outputs::add(const shell::Context& context, const std::string& path, std::optional<Form> form,
                  bool force) {
  for (const auto& [other, unused] : files_) {
    if (other == path)
      throw Error(Category::argument, cat("'", path, "' is named for two outputs"));
  }
  AtomicFile trial(path, force ? Overwrite::replace : Overwrite::refuse);
  shell::note_other_names(context, path);
  files_.emplace_back(path, form);
}

void print_table(const shell::Context& context, const BenchResults& results, const BenchRow& row) {
  const CaseTable table = case_table(results, row, shell::terminal_columns(shell::Stream::out));
  context.print(context.paint(table.title, shell::Ink::bold) + "\n" + table.text + "\n");
  context.flush();
}

void print_disturbed(const shell::Context& context, const BenchResults& results) {
  for (const auto* first : distinct(results.rows, same_group)) {
    if (distinct(group_of(results, *first), same_case).size() == 1) continue;
    if (const auto where = disturbed_text(results, *first); !where.empty())
      context.print(cat(group_text(first->on), ": ", where, "\n"));
  }
}

int judged(const shell::Context& context, const BenchResults& results) {
  int code = 0;
  for (const auto& row : results.rows) {
    const std::string what = cat(row.name, ", ", group_text(row.on), ", ", to_string(row.on.shape),
                                 ", ", to_string(row.status), ": ", row.message);
    if (row.status == RowStatus::refused || row.status == RowStatus::failed) {
      context.error(what);
      code = 1;
    } else if (row.status != RowStatus::verified) {
      context.detail(what);
    }
  }
  return code;
}

}  // namespace tessera::bench
