// Reads declarations of kernels: see kernel_signature.hpp.
#include "kernel_signature.hpp"

#include <algorithm>

#include "lexer.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

class Declaration {
 public:
  Declaration(const Tokens& tokens, std::size_t global) : t_(tokens), global_(global) {}

  /// Without a name: no declaration of a function.
  KernelSignature read() const {
    KernelSignature out;
    std::size_t open = global_ + 1;
    while (open < t_.size() && !(t_.is(open, "(") && !is_bounds(open - 1))) {
      if (t_.is(open, ";") || t_.is(open, "{")) return out;
      open = t_.after(open);
    }
    if (open >= t_.size() || !t_.is_kind(open - 1, Token::Kind::name)) return out;
    out.name = t_.spelling(open - 1);
    out.template_parameters = template_parameters();
    const std::size_t close = t_.pairs[open];
    for (std::size_t first = open + 1; first < close;) {
      const std::size_t end = parameter_end(first, close);
      out.parameters.push_back(text(first, end));
      if (out.parameters.back().find('=') == std::string::npos) ++out.required;
      first = end + 1;
    }
    if (out.parameters == std::vector<std::string>{"void"})
      out.parameters.clear(), out.required = 0;
    return out;
  }

 private:
  bool is_bounds(std::size_t i) const {
    return t_.is(i, "__launch_bounds__") || t_.is(i, "__cluster_dims__") ||
           t_.is(i, "__attribute__");
  }
  std::size_t parameter_end(std::size_t first, std::size_t close) const {
    int angles = 0;
    std::size_t at = first;
    for (; at < close && !(angles == 0 && t_.is(at, ",")); at = t_.after(at))
      angles += t_.is(at, "<") ? 1 : t_.is(at, ">") ? -1 : 0;
    return at;
  }
  /// The brackets of the `template` before __global__, past words such as static.
  std::string template_parameters() const {
    std::size_t last = global_;
    while (last > 0 &&
           (t_.is_kind(last - 1, Token::Kind::name) || t_.is_kind(last - 1, Token::Kind::text)))
      --last;
    if (last == 0 || !t_.is(last - 1, ">")) return {};
    std::size_t first = last;
    int angles = 0;
    do {
      --first;
      angles += t_.is(first, ">") ? 1 : t_.is(first, "<") ? -1 : 0;
    } while (first > 0 && angles > 0);
    return first > 0 && t_.is(first - 1, "template") ? text(first, last) : std::string();
  }
  /// On one line.
  std::string text(std::size_t begin, std::size_t end) const {
    std::string out;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_apart = i > begin && t_[i].begin > t_[i - 1].end;
      out += cat(is_apart ? " " : "", t_.spelling(i));
    }
    return out;
  }

  const Tokens& t_;
  const std::size_t global_;
};

}  // namespace

std::string KernelSignature::text() const {
  std::string out;
  for (const std::string& each : parameters) out += cat(out.empty() ? "" : ", ", each);
  return cat(template_parameters.empty() ? "" : cat("template ", template_parameters, " "), name,
             "(", out, ")");
}

std::vector<KernelSignature> kernels_in(std::string_view preprocessed) {
  Tokens tokens = tokens_of(preprocessed);
  pair_brackets(tokens);
  std::vector<KernelSignature> out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens.is(i, "__global__") || tokens.file(i).is_system) continue;
    KernelSignature next = Declaration(tokens, i).read();
    const bool is_known = std::any_of(out.begin(), out.end(), [&](const KernelSignature& each) {
      return each.text() == next.text();
    });
    if (!next.name.empty() && !is_known) out.push_back(std::move(next));
  }
  return out;
}

}  // namespace tessera::plain_cuda
