// Which names a learner's text declares, and their scopes, to explain an unknown name. Not a
// parser: in a text of unusual form it finds fewer names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokens.hpp"

namespace tessera::course {

struct SourceName {
  enum class Kind { variable, parameter, member, type };
  Kind kind;
  std::string name;
  std::string type;        ///< "const int", "float"; with "[]" for an array
  std::string owner;       ///< of a member: "Shared"
  std::size_t token;       ///< where it is declared
  std::size_t begin, end;  ///< its scope, in tokens
  int line, last_line;     ///< of its declaration; the last of its scope

  bool is_array() const { return type.ends_with("[]"); }
};

class SourceNames {
 public:
  /// Brackets must match.
  explicit SourceNames(const SourceTokens& tokens);

  const std::vector<SourceName>& all() const { return names_; }
  /// The declaration of the name at that token; null: the text has none.
  const SourceName* visible(std::string_view name, std::size_t token) const;
  /// The last of that name before the token, whatever its scope; else the first after it; null.
  const SourceName* anywhere(std::string_view name, std::size_t token) const;
  /// All names in scope at that token.
  std::vector<std::string> visible_at(std::size_t token) const;

 private:
  std::vector<SourceName> names_;
};

}  // namespace tessera::course
