// Kept results, shown and compared: see kept.hpp.
#include "kept.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compare.hpp"
#include "outputs.hpp"
#include "report.hpp"
#include "shell/suggest.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::bench {

namespace {

using Kind = Contestant::Kind;
using Words = std::vector<std::string>;

bool among(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Refuses options that are not in `taken`, since they would be ignored.
void require_only(const BenchRequest& request, const std::string& option, const Words& taken) {
  Words others;
  for (const auto& each : request.given) {
    if (each != option && !among(taken, each) && !among(others, each)) others.push_back(each);
  }
  if (!others.empty())
    throw Error(Category::argument,
                cat(option, " measures nothing and does not accept ", shell::join(others)),
                cat("only ", shell::join(taken)), {}, "omit the other options");
}

BenchResults read_results(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw Error(Category::file, cat(path, ": is a folder"), "a file that 'tessera bench -o' wrote");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(Category::file, cat("cannot read '", path, "': ", std::strerror(errno)), {}, {},
                "check the name and the folder");
  std::ostringstream text;
  text << file.rdbuf();
  BenchResults out = parse_bench_json(text.str(), path);
  if (out.rows.empty())
    throw Error(Category::file, cat("'", path, "' contains no row of results"),
                "a file of 'tessera bench -o' with at least one measured row");
  return out;
}

/// Values of files and of the environment apply to measuring only: here the command line selects.
Words named(const BenchRequest& request, const char* option) {
  if (!among(request.given, option)) return {};
  return option == std::string_view("--peers") ? shell::split(request.peers, ',')
                                               : request.algorithms;
}

/// Each requested name must be in one of the files, so that no row is silently missing.
void require_names(const Words& names, Kind kind, const std::vector<const BenchResults*>& files,
                   const std::string& where) {
  Words known;
  for (const auto* file : files) {
    for (const auto& row : file->rows) {
      if (row.kind == kind && !among(known, row.name)) known.push_back(row.name);
    }
  }
  for (const auto& name : names) {
    if (among(known, name)) continue;
    const std::string expected =
        known.empty() ? "" : cat(known.size() > 1 ? "one of " : "", shell::join(known));
    throw Error(Category::argument, cat("no ", name_of(kind), " '", name, "' in ", where), expected,
                {},
                shell::nearest(name, known).empty()
                    ? ""
                    : cat("did you mean '", shell::nearest(name, known), "'?"));
  }
}

void keep_peers(BenchResults& results, const Words& peers) {
  std::erase_if(results.rows, [&](const BenchRow& row) {
    return row.kind == Kind::peer && !among(peers, row.name);
  });
  const auto listed = results.context.find("peers");
  if (listed == results.context.end() || !listed->is_array()) return;
  auto kept = nlohmann::ordered_json::array();
  for (const auto& peer : *listed) {
    if (!peer.is_object()) continue;
    const auto name = peer.find("name");
    if (name != peer.end() && name->is_string() && among(peers, name->get<std::string>()))
      kept.push_back(peer);
  }
  *listed = std::move(kept);
}

/// The requested part of kept results. The peak stays, since shares refer to it.
void keep_asked(const BenchRequest& request, const std::vector<BenchResults*>& files,
                const std::string& where) {
  const Words algorithms = named(request, "--algorithms"), peers = named(request, "--peers");
  const bool no_peers = peers == Words{"none"}, all_peers = peers.empty() || peers == Words{"auto"};
  const std::vector<const BenchResults*> searched(files.begin(), files.end());
  require_names(algorithms, Kind::algorithm, searched, where);
  if (!no_peers && !all_peers) require_names(peers, Kind::peer, searched, where);
  for (auto* results : files) {
    if (!algorithms.empty())
      std::erase_if(results->rows, [&](const BenchRow& row) {
        return row.kind == Kind::algorithm && !among(algorithms, row.name);
      });
    if (!all_peers) keep_peers(*results, peers);
    if (results->rows.empty())
      throw Error(Category::argument, cat("no row of ", where, " is left to show"), {}, {},
                  "choose other --algorithms or --peers");
  }
}

}  // namespace

int show_kept(const shell::Context& context, const BenchRequest& request) {
  require_only(request, "--from",
               {"--algorithms", "--peers", "--json", "--csv", "--markdown", "--output", "--plot",
                "--force"});
  const Form form = form_of(context, request);
  BenchResults results = read_results(request.from);
  keep_asked(request, {&results}, cat("'", request.from, "'"));
  Outputs(context, request).write(results);
  if (form != Form::table) {
    context.print(text_in(form, results));
  } else {
    // Each case as it was printed when it was measured.
    BenchResults so_far{results.context, {}};
    for (std::size_t i = 0; i < results.rows.size(); ++i) {
      so_far.rows.push_back(results.rows[i]);
      if (i + 1 == results.rows.size() || !same_case(results.rows[i], results.rows[i + 1]))
        print_table(context, so_far, results.rows[i]);
    }
    print_disturbed(context, results);
  }
  return judged(context, results);
}

int show_comparison(const shell::Context& context, const BenchRequest& request) {
  require_only(request, "--compare",
               {"--algorithms", "--peers", "--threshold", "--other-machine", "--json", "--markdown",
                "--output", "--force"});
  const Form form = form_of(context, request);
  if (request.output.ends_with(".csv"))
    throw Error(Category::argument, "a comparison has no CSV", "a name that ends with .json or .md",
                cat("'", request.output, "'"));
  BenchResults before = read_results(request.compare[0]), after = read_results(request.compare[1]);
  keep_asked(request, {&before, &after},
             cat("'", request.compare[0], "' or '", request.compare[1], "'"));
  if (const std::string difference = machine_difference(before, after); !difference.empty()) {
    if (!request.other_machine)
      throw Error(Category::argument, cat("the files come from different machines: ", difference),
                  {}, {}, "use --other-machine to compare them nevertheless");
    context.warn(cat("different machines: ", difference));
  }
  const ComparedResults compared = compare_results(before, after, request.threshold / 100);
  if (compared.comparisons.empty())
    throw Error(Category::file, "no row was measured in both files",
                "the same algorithm or peer, type, size and number of threads in both", {},
                "compare results of one 'tessera bench' command");
  const auto text = [&](std::optional<Form> in) {
    const std::size_t columns = shell::terminal_columns(shell::Stream::out);
    return in == Form::json       ? comparison_json(compared)
           : in == Form::markdown ? comparison_markdown(compared)
                                  : comparison_table(compared, columns);
  };
  BenchRequest without_picture = request;  // a configuration file may request one
  without_picture.plot.clear();
  Outputs(context, without_picture).write(text);
  context.print(text(form));
  return any_worse(compared) ? 1 : 0;
}

}  // namespace tessera::bench
