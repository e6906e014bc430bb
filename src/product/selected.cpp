// Selected entries of a product: see selected.hpp.
#include "selected.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "io/sparse.hpp"
#include "process/clock.hpp"
#include "shell/json_text.hpp"
#include "shell/progress.hpp"
#include "shell/write_file.hpp"
#include "tessera/core/text.hpp"

namespace tessera::product {

namespace {

ConstMatrix viewed(const Array& m) {
  return {m.data(), m.dtype(), m.rows(), m.cols(), m.row_stride(), m.col_stride()};
}

}  // namespace

void check_selection(const MultiplyRequest& request) {
  const std::string requested = request.top ? "--top" : "--above";
  const auto refuse = [&](const char* what) {
    throw Error(Category::argument, cat(requested, " cannot be combined with ", what), {}, {},
                "omit one of the two");
  };
  if (request.top && request.above) refuse("--above");
  if (request.alpha != 1) refuse("--alpha");
  if (!request.c.empty() || request.beta) refuse("--beta");
  if (request.verify) refuse("--verify");
  if (request.device != "cpu") refuse("--device");
  if (request.algorithm != "auto") refuse("--algorithm");
  if (request.arithmetic != "chain") refuse("--arithmetic lanes");
  if (request.dry_run && request.memory == 0) refuse("--dry-run");
  if (request.resume) refuse("--resume");
  if (request.top && !(*request.top >= 0 && *request.top == std::floor(*request.top)))
    throw Error(Category::argument, "--top", "a number of entries", cat(*request.top));
  if (request.above && std::isnan(*request.above))
    throw Error(Category::argument, "--above", "a number", "nan");
  const Format asked_format =
      request.format.empty() ? Format::automatic : parse_format(request.format);
  const bool is_npz = request.dry_run || output_format(request.output, asked_format) == Format::npz;
  if (!is_npz || !parse_location(request.output).member.empty())
    throw Error(Category::argument, cat(requested, " writes a sparse matrix"), "-o FILE.npz",
                request.output);
}

detail::Selection selection_of(const MultiplyRequest& request) {
  detail::Selection out;
  if (request.top) out.k = static_cast<index_t>(*request.top);
  else out.threshold = *request.above;
  return out;
}

std::string selection_text(const MultiplyRequest& request) {
  return request.top ? cat("the ", *request.top, " largest of each row")
                     : cat("entries above ", *request.above);
}

void write_selected(const MultiplyRequest& request, const SelectedEntries& entries) {
  const auto vector = [](DType type, const void* data, std::size_t count) {
    return Array::read_only(type, {static_cast<index_t>(count)}, {1}, data, nullptr);
  };
  write_compressed_rows(
      request.output,
      {entries.rows, entries.cols, vector(DType::i64, entries.starts.data(), entries.starts.size()),
       vector(DType::i64, entries.columns.data(), entries.columns.size()),
       vector(entries.dtype, entries.values.data(), entries.columns.size())},
      request.force ? Overwrite::replace : Overwrite::refuse);
}

int multiply_selected(const shell::Context& context, const MultiplyRequest& request) {
  Operands in = read_operands(context, request);
  ConstMatrix a = viewed(in.a), b = viewed(in.b);
  // Half of the work is enough where one file is multiplied by its transpose.
  if (is_gram(request)) b = transposed(a);
  const auto start = process::Clock::now();
  const SelectedEntries found =
      request.top ? top_k(a, b, static_cast<index_t>(*request.top), request.threads)
                  : entries_above(a, b, *request.above, request.threads);
  const double seconds = process::seconds_since(start);
  shell::note_other_names(context, request.output);
  write_selected(request, found);
  context.note(fmt::format("{}: {} of ({},{}) = ({},{}) * ({},{}) in {}: {} entries; {}",
                           request.output, selection_text(request), a.rows, b.cols, a.rows, a.cols,
                           b.rows, b.cols, name(found.dtype), found.count(),
                           shell::duration_text(seconds)));
  if (context.json)
    context.print(shell::json_text({{"output", request.output},
                                    {"shape", {found.rows, found.cols}},
                                    {"entries", found.count()},
                                    {"seconds", seconds}}));
  return 0;
}

}  // namespace tessera::product
