// Which names a learner's text declares, and where each is known: so that a name that is not known
// gets the reason why. No parser: a text that is written in an unusual way has fewer names here.
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
  std::string type;        ///< "const int", "float"; with "[]" behind it of an array
  std::string owner;       ///< of a member: "Shared"
  std::size_t token;       ///< where it is declared
  std::size_t begin, end;  ///< the tokens between which it is known
  int line, last_line;     ///< of its declaration, of its scope

  bool is_array() const { return type.ends_with("[]"); }
};

class SourceNames {
 public:
  /// Brackets must match.
  explicit SourceNames(const SourceTokens& tokens);

  const std::vector<SourceName>& all() const { return names_; }
  /// What the name means at that token; null: nothing that this text declares.
  const SourceName* visible(std::string_view name, std::size_t token) const;
  /// The last of that name before the token, wherever it is known; else the first behind it; null.
  const SourceName* anywhere(std::string_view name, std::size_t token) const;
  /// What is known at that token.
  std::vector<std::string> visible_at(std::size_t token) const;

 private:
  std::vector<SourceName> names_;
};

}  // namespace tessera::course
