// Reads the names of shared tiles from the source: see shared_names.hpp.
#include "shared_names.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <utility>
#include <vector>

#include "tessera/core/text.hpp"
#include "tessera/simt/gate.hpp"

namespace tessera::check {

namespace {

/// A source by lines, without comments, and a regular expression for the name of its shared
/// storage.
struct NamedSource {
  std::vector<std::string> lines;
  std::regex member;
  bool has_storage = false;
  std::map<std::string, std::string> elements;  ///< "to" of "auto& to = s.b[i];": "s.b["
  std::set<std::string> gates;                  ///< "s.full[" of "wait(t, s.full[i], phase)"
  std::string storage;  ///< a regular expression for the names of its members

  /// The member that a view shows; a name that is no view, unchanged.
  const std::string& member_of(const std::string& name) const {
    const auto element = elements.find(name);
    return element == elements.end() ? name : element->second;
  }
};

std::vector<std::string> code_lines(const std::string& text) {
  constexpr std::size_t most = 1000;  // longer lines are not real code
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    out.push_back(line.substr(0, std::min(line.find("//"), most)));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> matches_of(const std::string& text, const std::regex& what) {
  return {std::sregex_token_iterator(text.begin(), text.end(), what, 1),
          std::sregex_token_iterator()};
}

/// "s.b" of "auto& s = shared<Shared>(t);"; "b" of "auto& [a, b] = shared<Shared>(t);"; "tile" of
/// "auto tile = swizzled<...>(s.b.view());". Of an array of tiles "s.b[1]", or "s.b[" where its
/// index is no number.
NamedSource named(const std::string& text) {
  static const std::regex storage(R"(\b(\w+)\s*=\s*(?:\w+::)*shared<)"),
      parts(R"(\[([\w\s,]*)\]\s*=\s*(?:\w+::)*shared<)"), word(R"(\b(\w+)\b)");
  NamedSource out;
  out.lines = code_lines(text);
  std::set<std::string> whole, part;
  for (const auto& line : out.lines) {
    if (line.find("shared<") == std::string::npos) continue;
    for (auto& each : matches_of(line, storage)) whole.insert(std::move(each));
    for (const auto& list : matches_of(line, parts))
      for (auto& each : matches_of(list, word)) part.insert(std::move(each));
  }
  std::string members;
  for (const auto& each : whole)
    members += cat(members.empty() ? "" : "|", "\\b", each, R"(\.\w+(?:\[\d+\]|\[)?)");
  for (const auto& each : part)
    members += cat(members.empty() ? "" : "|", "\\b", each, R"((?:\[\d+\]|\[|(?=\s*[.(])))");
  if (members.empty()) return out;
  // A view of a whole tile has its name wherever it occurs, also as an argument; a variable that a
  // member only contributes to, "auto x = s.a(y, k);" or a swizzled view, counts where it is
  // indexed.
  const std::string named = R"(\b(?:auto[&\s]+|\w+\s*&\s*)(\w+)\s*=)";  // with its type
  out.storage = members;
  const std::regex view(cat(named, R"(\s*()", members, R"()(?:[^\[\];]*\])?(?:\.view\(\))?\s*;)")),
      alias(cat(named, "[^;]*(?:", members, ")")),
      gate(cat(R"(\b(?:wait|expect|arrive|open_gate)\s*\(\s*\w+\s*,\s*()", members,
               R"(|\b\w+(?=\s*[,)])))"));
  std::vector<std::string> declarations;
  std::copy_if(
      out.lines.begin(), out.lines.end(), std::back_inserter(declarations), [](const auto& line) {
        return line.find("auto") != std::string::npos || line.find('&') != std::string::npos;
      });
  std::set<std::string> views;
  for (const auto& line : declarations)
    for (std::sregex_iterator each(line.begin(), line.end(), view), end; each != end; ++each) {
      views.insert((*each)[1]);
      if (std::string of = (*each)[2]; of.find('[') != std::string::npos)
        out.elements.emplace((*each)[1], std::move(of));
    }
  for (const auto& line : out.lines)
    for (auto& each : matches_of(line, gate)) out.gates.insert(out.member_of(each));
  for (const auto& line : declarations)
    for (const auto& each : matches_of(line, alias))
      if (!whole.contains(each))
        members += cat("|\\b", each, views.contains(each) ? R"(\b)" : R"((?=\())");
  out.member = std::regex(cat("(", members, ")"));
  out.has_storage = true;
  return out;
}

/// Before the name of a tile, or of an array of them, of which share<>() takes parts.
const std::string kPart = "a part of ";

class Names {
 public:
  explicit Names(const SourceReader& source) : source_(source) {}

  /// The one member that occurs at all of these positions; "" if none or several do.
  std::string common(const std::vector<Location>& places) {
    std::set<std::string> out;
    for (const auto& place : places) {
      const std::set<std::string> here = at(place);
      if (&place == &places.front()) out = here;
      std::erase_if(out, [&](const auto& each) { return !here.contains(each); });
    }
    return out.size() == 1 ? *out.begin() : "";
  }

  /// Of the one source with shared storage: the one member that is none of these; "" if there are
  /// several.
  std::string only_other(const std::set<std::string>& known) const {
    std::set<std::string> out;
    int sources = 0;
    for (const auto& [file, source] : sources_) {
      if (!source.has_storage) continue;
      ++sources;
      const std::regex member(cat("(", source.storage, ")"));
      for (const auto& line : source.lines)
        for (const auto& each : matches_of(line, member)) {
          std::string name = each.substr(0, each.find('['));
          if (!source.gates.contains(each) && !known.contains(name)) out.insert(std::move(name));
        }
    }
    return sources == 1 && out.size() == 1 ? *out.begin() : "";
  }

  /// The one gate that a line waits for or arrives at, "s.full[1]", or its array, "s.full[".
  std::string gate_at(const Location& place) {
    const NamedSource& source = of(place.file);
    const auto line = static_cast<std::size_t>(place.line);
    if (source.gates.empty() || line < 1 || line > source.lines.size()) return "";
    std::set<std::string> out;
    for (const auto& each : matches_of(source.lines[line - 1], source.member))
      if (const std::string& name = source.member_of(each); source.gates.contains(name))
        out.insert(name);
    return out.size() == 1 ? *out.begin() : "";
  }

 private:
  std::set<std::string> at(const Location& place) {
    const NamedSource& source = of(place.file);
    const auto line = static_cast<std::size_t>(place.line);
    if (!source.has_storage || line < 1 || line > source.lines.size()) return {};
    std::set<std::string> out;
    const std::string& text = source.lines[line - 1];
    const bool is_part = text.find("share<") != std::string::npos;
    for (const auto& each : matches_of(text, source.member)) {
      const std::string& name = source.member_of(each);
      if (source.gates.contains(name)) continue;
      out.insert(is_part ? kPart + name.substr(0, name.find('[')) : name);
    }
    return out;
  }
  const NamedSource& of(const std::string& file) {
    const auto known = sources_.find(file);
    if (known != sources_.end()) return known->second;
    const auto text = source_(file);
    return sources_.emplace(file, text ? named(*text) : NamedSource{}).first->second;
  }

  const SourceReader& source_;
  std::map<std::string, NamedSource> sources_;
};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

bool is_tile(const std::string& tensor) { return tensor.starts_with("tile ("); }

std::int64_t byte_of(const std::string& tile) {
  return std::strtoll(tile.c_str() + tile.rfind(' '), nullptr, 10);
}

/// The name of each tile. `called`: the tiles that a name denotes, all of them if it is an array's.
std::map<std::string, std::string> names_of(
    const std::map<std::string, std::set<std::string>>& called) {
  std::map<std::string, std::string> out;
  for (const auto& [name, of] : called) {
    if (of.size() == 1 && !name.ends_with('[')) out.emplace(*of.begin(), name);
    if (!name.ends_with('[')) continue;
    std::vector<std::string> tiles(of.begin(), of.end());
    std::sort(tiles.begin(), tiles.end(),
              [](const auto& a, const auto& b) { return byte_of(a) < byte_of(b); });
    const auto shape = [](const std::string& tile) { return tile.substr(0, tile.find(" at ")); };
    const bool are_alike = std::all_of(tiles.begin(), tiles.end(), [&](const auto& each) {
      return shape(each) == shape(tiles[0]);
    });  // else some are parts of others
    const bool has_first = are_alike && (tiles.size() > 1 || byte_of(tiles[0]) == 0);
    for (std::size_t i = 0; i < tiles.size(); ++i)
      out.emplace(tiles[i], has_first ? cat(name, i, "]") : name.substr(0, name.size() - 1));
  }
  // A view of the kernel may show one tile of an array after another; so does share<>().
  for (const auto& [name, of] : called)
    if (name.starts_with(kPart) || name.find_first_of(".[") == std::string::npos)
      for (const auto& tile : of) out.emplace(tile, name);
  return out;
}

/// Tiles that a function gets as arguments, whose lines name no member: they are the one member
/// that has no tile yet.
void name_others(const Report& report, const Names& names,
                 const std::map<std::string, std::set<std::string>>& called,
                 std::map<std::string, std::string>& tiles) {
  std::set<std::string> others;
  const auto note = [&](const std::string& tile) {
    if (is_tile(tile) && !tiles.contains(tile)) others.insert(tile);
  };
  for (const auto& f : report.findings) {
    if (f.memory == Memory::shared) note(f.tensor);
    for (const auto& also : f.also) note(also.tensor);
  }
  for (const auto& sample : report.samples)
    if (sample.memory == Memory::shared) note(sample.tensor);
  if (others.empty()) return;
  std::set<std::string> known;
  for (const auto& [name, of] : called) {
    const std::string whole = name.starts_with(kPart) ? name.substr(kPart.size()) : name;
    known.insert(whole.substr(0, whole.find('[')));
  }
  const std::string other = names.only_other(known);
  for (const auto& tile : others)
    if (!other.empty()) tiles.emplace(tile, other);
}

/// Of an array, a gate has the index that its byte says, counted from the first that lines name.
void name_gates(Report& report, Names& names) {
  std::map<std::string, std::vector<OpenedGate*>> called;
  for (OpenedGate& each : report.gates) {
    std::string name = names.gate_at(each.waited);
    if (name.empty()) name = names.gate_at(each.arrived);
    if (!name.empty()) called[name].push_back(&each);
  }
  for (const auto& [name, gates] : called) {
    const bool is_array = name.ends_with('[');
    if (!is_array && gates.size() > 1) continue;
    const auto* const first = *std::min_element(gates.begin(), gates.end(),
                                                [](auto* a, auto* b) { return a->byte < b->byte; });
    for (OpenedGate* each : gates) {
      const auto index = (each->byte - first->byte) / std::int64_t{sizeof(Gate)};
      each->name = cat("gate ", name, is_array ? cat(index, "]") : "");
    }
  }
  const auto rename = [&](std::string& text) {
    static const std::regex number(R"(\bgate (\d+)\b)");
    std::smatch found;
    std::string rest = std::exchange(text, {});
    for (; std::regex_search(rest, found, number); rest = found.suffix()) {
      const auto which = static_cast<std::size_t>(std::stoul(found[1]));
      text += found.prefix().str();
      text += which < report.gates.size() ? report.gates[which].name : found.str();
    }
    text += rest;
  };
  for (Finding& f : report.findings) {
    rename(f.problem), rename(f.tensor);
    for (Also& each : f.also) rename(each.tensor);
  }
}

}  // namespace

void name_shared_tiles(Report& report, const SourceReader& source) {
  Names names(source);
  name_gates(report, names);
  std::map<std::string, std::set<std::string>> called;  // name: the tiles that it denotes
  const auto learn = [&](const std::string& tile, const std::vector<Location>& places) {
    if (!is_tile(tile)) return;
    if (const std::string name = names.common(places); !name.empty()) called[name].insert(tile);
  };
  for (const auto& sample : report.samples)
    if (sample.memory == Memory::shared) {
      learn(sample.tensor, {sample.location});
      for (const auto& tile : sample.tiles) learn(tile, {sample.location});
    }
  for (const auto& [place, tile] : report.bulk_tiles) learn(tile, {place});
  const auto learn_of = [&](const auto& finding) {
    if (finding.other.line > 0) learn(finding.tensor, {finding.location, finding.other});
    else learn(finding.tensor, {finding.location});
  };
  for (const auto& f : report.findings) {
    if (f.memory != Memory::shared) continue;
    learn_of(f);
    for (const auto& also : f.also) learn_of(also);
  }
  std::map<std::string, std::string> tiles = names_of(called);
  name_others(report, names, called, tiles);
  for (auto& f : report.findings) {
    for (auto& also : f.also)
      if (const auto name = tiles.find(also.tensor); name != tiles.end())
        also.tensor = name->second;
    const auto name = tiles.find(f.tensor);
    if (name == tiles.end()) continue;
    replace_all(f.problem, name->first, name->second);
    f.tensor = name->second;
  }
  for (auto& sample : report.samples)
    if (const auto name = tiles.find(sample.tensor); name != tiles.end())
      sample.tensor = name->second;
}

}  // namespace tessera::check
