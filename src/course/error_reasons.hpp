// The reason of a compiler's error, if it is certain: from its message, from the tokens of the line
// and from the names in scope. If it is not certain there is no reason: a wrong one harms a learner
// more than none.
#pragma once

#include <string>
#include <string_view>

#include "program.hpp"
#include "scopes.hpp"
#include "tokens.hpp"
#include "vocabulary.hpp"

namespace tessera::course {

/// A learner's text, read once for all errors. Its brackets match.
struct LearnersText {
  explicit LearnersText(const std::string& source, Dialect dialect = Dialect::tessera)
      : source(source),
        dialect(dialect),
        tokens(tokens_of(source)),
        match(matches_of(tokens)),
        names(tokens) {}

  const std::string& source;
  Dialect dialect;
  SourceTokens tokens;
  std::vector<std::size_t> match;
  SourceNames names;

  bool is_in_cuda() const { return dialect == Dialect::cuda; }
  /// The names that it has from elsewhere.
  KernelWord::Of words() const {
    return is_in_cuda() ? KernelWord::Of::cuda : KernelWord::Of::library;
  }
  bool is(std::string_view text, std::size_t at) const {
    return at < tokens.size() && tokens[at].is(text);
  }
  /// The tokens of a line: from `first` to before `last`.
  struct Range {
    std::size_t first, last;
  };
  Range line(int number) const;
  /// The token with that text in a line, at that column if there are several; kNoToken: none.
  std::size_t find(std::string_view text, int number, int column = 0) const;
  bool line_has(std::string_view text, int number) const { return find(text, number) != kNoToken; }
  /// Does it follow a . or a :: or a -> ?
  bool is_member(std::size_t at) const {
    return at > 0 && (is(".", at - 1) || is("::", at - 1) || is("->", at - 1));
  }
  /// "row", "k + x" between the brackets that open at `open`.
  std::vector<std::string> arguments(std::size_t open) const;
};

/// The declaration of the name at a token, including members of a struct after "s."; null: none.
const SourceName* declared_at(const LearnersText& text, std::size_t at);
/// "s" if `auto& s = shared<Shared>(t)` is known; else "".
std::string name_of_shared(const LearnersText& text, std::size_t at);

/// An error as the compiler prints it, with ' for its quotes.
struct CompilerSays {
  std::string message;
  int line, column;
};

struct ErrorReason {
  std::string cause;  ///< "foreign-name"; empty: unknown
  std::string why;    ///< "threadIdx is a name of CUDA"
  std::string advice;
  int line = 0, column = 0;  ///< a better position; 0: that of the error
  bool is_of_name = false;   ///< an unknown name: the compiler blames the call around it
};

// Each handles messages of one kind; earlier ones are more certain.
ErrorReason reason_of_foreign_names(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_form(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_syntax(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_unknown_name(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_unknown_member(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_brackets_behind_a_name(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_assignment(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_known_message(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_constant(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_call(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_types(const CompilerSays& error, const LearnersText& text);
// Of texts in plain CUDA.
ErrorReason reason_of_our_names(const CompilerSays& error, const LearnersText& text);
ErrorReason reason_of_pointers(const CompilerSays& error, const LearnersText& text);

/// The first rule that finds a reason; `rank`: its index, smaller is more certain.
struct RankedReason {
  ErrorReason reason;
  int rank;
};
RankedReason reason_of(const CompilerSays& error, const LearnersText& text);

/// "(3, 5)" instead of a tuple: a comma that C++ takes for an operator; kNoToken: there is none.
std::size_t forgotten_tuple(const LearnersText& text, LearnersText::Range range);

}  // namespace tessera::course
