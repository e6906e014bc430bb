// Completion scripts for bash, zsh and fish, generated from the option tree, so that they contain
// every option; the type name of an option says which values to offer.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tessera::shell {

/// What may follow an option or be an argument.
struct Values {
  bool files = false;
  bool comma_list = false;  ///< several of `words` joined by commas
  std::vector<std::string> words;
};

/// A flag that is not in the option tree.
struct OtherFlag {
  std::string name, description;
};

/// What the option tree does not say.
struct Completed {
  const CLI::App& root;
  /// The values of an option with this type name.
  std::function<Values(const std::string& type)> values;
  /// Of the command with this full name: "tessera puzzle run".
  std::function<std::vector<OtherFlag>(const std::string& command)> other_flags;
};

/// `language` is bash, zsh or fish.
std::string completion_script(const Completed& about, const std::string& language);

}  // namespace tessera::shell
