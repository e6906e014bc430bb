// Compares a launch with the kernels of its file: see refused_launch.hpp.
#include "refused_launch.hpp"

#include <algorithm>
#include <regex>
#include <string>

#include "kernel_signature.hpp"
#include "launch_source.hpp"
#include "process/compiler_messages.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

class Refusal {
 public:
  Refusal(std::string_view launch, std::string_view preprocessed, const CompilerError& error)
      : launch_(launch),
        parts_(launch_parts(launch)),
        kernels_(kernels_in(preprocessed)),
        error_(error) {
    for (const KernelSignature& each : kernels_)
      if (each.name == parts_.name) named_.push_back(&each);
  }

  Error error() const {
    if (kernels_.empty()) return refuse("the file has no kernel", "a function that is __global__");
    if (named_.empty() && is_at_kernel())
      return refuse(cat("there is no kernel ", parts_.name),
                    cat(kernels_.size() > 1 ? "one of " : "", texts(all())));
    if (named_.empty()) return is_unknown_name() ? unknown_name() : as_the_compiler_says();
    if (is_unknown_name()) return unknown_name();
    if (std::none_of(named_.begin(), named_.end(), [&](const auto* k) { return takes_count(*k); }))
      return wrong_count();
    if (const LaunchParts::Argument* const argument = argument_at(error_.column); argument)
      if (auto converted = wrong_type(*argument)) return *converted;
    if (error_.text.starts_with("no matching function") && is_template())
      return refuse(cat("the arguments of the template ", parts_.name, " are not known"),
                    texts(named_),
                    cat("name them: ", parts_.name, "<...><<<grid, block>>>, for ",
                        named_.front()->template_parameters));
    return as_the_compiler_says();
  }

 private:
  Error refuse(std::string problem, std::string expected, std::string advice = {}) const {
    return Error(Category::argument, cat("--launch: ", problem), std::move(expected),
                 std::string(launch_), std::move(advice));
  }
  Error unknown_name() const {
    static const std::regex form("'([^']*)' .*"), suggested(".*did you mean '([^']*)'.*");
    std::smatch found;
    const std::string name = std::regex_match(error_.text, found, form) ? found[1].str() : "a name";
    return refuse(cat(name, " is not declared, at column ", error_.column),
                  is_at_kernel() ? texts(named_) : "numbers, names of the file, or m, n and k",
                  std::regex_match(error_.text, found, suggested)
                      ? cat("did you mean ", found[1].str(), "?")
                      : "");
  }
  Error as_the_compiler_says() const {
    const std::string said = process::in_plain_words(in_cuda_words(error_.text));
    return refuse(cat(said, ", at column ", error_.column),
                  named_.empty() ? std::string() : texts(named_));
  }
  std::vector<const KernelSignature*> all() const {
    std::vector<const KernelSignature*> out;
    for (const KernelSignature& each : kernels_) out.push_back(&each);
    return out;
  }
  static std::string texts(const std::vector<const KernelSignature*>& kernels) {
    constexpr std::size_t kMost = 8;
    std::string out;
    for (std::size_t i = 0; i < std::min(kernels.size(), kMost); ++i)
      out += cat(i > 0 ? ", " : "", kernels[i]->text());
    if (kernels.size() > kMost) out += cat(" and ", kernels.size() - kMost, " more");
    return out;
  }
  bool is_at_kernel() const { return error_.column <= parts_.kernel_end; }
  bool is_unknown_name() const {
    return error_.text.find("not declared") != error_.text.npos ||
           error_.text.find("not a member") != error_.text.npos;
  }
  bool is_template() const { return !named_.front()->template_parameters.empty(); }
  bool takes_count(const KernelSignature& kernel) const {
    const bool is_open = !kernel.parameters.empty() &&  // a pack
                         kernel.parameters.back().find("...") != std::string::npos;
    const std::size_t count = parts_.arguments.size();
    return is_open || (count >= kernel.required && count <= kernel.parameters.size());
  }

  Error wrong_count() const {
    const KernelSignature& kernel = *named_.front();
    std::string missing;
    for (const std::string& parameter : kernel.parameters) {
      const auto is_of = [&](const auto& argument) { return argument.label == name_of(parameter); };
      if (std::none_of(parts_.arguments.begin(), parts_.arguments.end(), is_of))
        missing += cat(missing.empty() ? "" : ", ", parameter);
    }
    const std::size_t count = parts_.arguments.size();
    const bool has_labels =
        std::any_of(parts_.arguments.begin(), parts_.arguments.end(), [&](const auto& argument) {
          return std::any_of(kernel.parameters.begin(), kernel.parameters.end(),
                             [&](const auto& each) { return argument.label == name_of(each); });
        });
    const std::size_t wanted = kernel.parameters.size();
    return refuse(cat(parts_.name, " takes ", wanted, wanted == 1 ? " argument" : " arguments",
                      ", not ", count),
                  texts(named_),
                  count < kernel.required && has_labels && !missing.empty()
                      ? cat("there is none for ", missing)
                      : "give one argument for each parameter, in their order");
  }
  /// The last word of a parameter, before its default.
  static std::string name_of(const std::string& parameter) {
    static const std::regex name(R"(.*?(\w+)\s*(\[[^\]]*\]\s*)*(=.*)?)");
    std::smatch found;
    return std::regex_match(parameter, found, name) ? found[1].str() : std::string();
  }

  const LaunchParts::Argument* argument_at(long column) const {
    const auto found =
        std::find_if(parts_.arguments.begin(), parts_.arguments.end(), [&](const auto& each) {
          return column >= each.first_column && column <= each.last_column;
        });
    return found == parts_.arguments.end() ? nullptr : &*found;
  }
  std::optional<Error> wrong_type(const LaunchParts::Argument& argument) const {
    static const std::regex form(
        R"((?:cannot convert|invalid conversion from) '([^']*)' (?:\{aka '[^']*'\} )?to '([^']*)'(?: \{aka '([^']*)'\})?.*)");
    std::smatch found;
    if (!std::regex_match(error_.text, found, form)) return {};
    const std::string wanted = found[3].matched ? found[3].str() : found[2].str();
    const std::string given = in_cuda_words(found[1]);
    const bool wants_pointer = wanted.find('*') != wanted.npos;
    const std::string label = argument.label.empty() ? argument.text : argument.label;
    std::string advice;
    if (!wants_pointer) {
      advice = argument.is_array ? cat("give a value: ", label, ": 1") : std::string();
    } else if (const std::string type = element_type(wanted); !type.empty()) {
      advice = cat("give an array: ", argument.label.empty() ? "" : argument.label + ": ", type,
                   argument.is_array ? argument.text.substr(argument.text.find('[')) : "[n]");
    }
    return refuse(
        cat(label, " is ", given.starts_with("array") ? "an " : "", given, ", and ", parts_.name,
            " takes ", found[2].str(), ", at column ", argument.first_column),
        texts(named_), advice);
  }

  std::string_view launch_;
  LaunchParts parts_;
  std::vector<KernelSignature> kernels_;
  std::vector<const KernelSignature*> named_;
  const CompilerError& error_;
};

}  // namespace

std::optional<Error> refused_launch(std::string_view launch, std::string_view preprocessed,
                                    const std::vector<CompilerError>& errors) {
  const auto is_of_launch = [](const CompilerError& each) { return each.file == "--launch"; };
  const auto first = std::find_if(errors.begin(), errors.end(), is_of_launch);
  if (first == errors.end() || !std::all_of(errors.begin(), errors.end(), is_of_launch)) return {};
  return Refusal(launch, preprocessed, *first).error();
}

}  // namespace tessera::plain_cuda
