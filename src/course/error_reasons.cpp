// The order of the rules, and their common functions: see error_reasons.hpp.
#include "error_reasons.hpp"

#include <cstdlib>
#include <span>

#include "course.hpp"

namespace tessera::course {

LearnersText::Range LearnersText::line(int number) const {
  Range out{0, 0};
  while (out.first < tokens.size() && tokens[out.first].line < number) ++out.first;
  for (out.last = out.first; out.last < tokens.size() && tokens[out.last].line == number;)
    ++out.last;
  return out;
}

std::size_t LearnersText::find(std::string_view text, int number, int column) const {
  const Range range = line(number);
  std::size_t out = kNoToken;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const bool is_nearer =
        out == kNoToken ||
        (column > 0 && std::abs(tokens[i].column - column) < std::abs(tokens[out].column - column));
    if (tokens[i].is(text) && is_nearer) out = i;
  }
  return out;
}

std::vector<std::string> LearnersText::arguments(std::size_t open) const {
  std::vector<std::string> out;
  if (open >= tokens.size() || match[open] == kNoToken) return out;
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i <= match[open]; ++i) {
    if (i < match[open] && match[i] != kNoToken && match[i] > i) {
      i = match[i];
    } else if (i == match[open] || is(",", i)) {
      if (i > begin) out.push_back(text_of_tokens(tokens, begin, i));
      begin = i + 1;
    }
  }
  return out;
}

const SourceName* declared_at(const LearnersText& text, std::size_t at) {
  const std::string& name = text.tokens[at].text;
  if (!text.is_member(at)) return text.names.visible(name, at);
  for (const auto& each : text.names.all())
    if (each.name == name && each.kind == SourceName::Kind::member && !each.owner.empty())
      return &each;
  return nullptr;
}

std::string name_of_shared(const LearnersText& text, std::size_t at) {
  const auto& tokens = text.tokens;
  for (std::size_t i = 0; i + 3 < tokens.size(); ++i)
    if (tokens[i].is_name() && text.is("=", i + 1) && text.is("shared", i + 2) &&
        text.names.visible(tokens[i].text, at) != nullptr)
      return tokens[i].text;
  return {};
}

namespace {

using Rule = decltype(&reason_of_types);

constexpr Rule kRulesOfCuda[] = {
    reason_of_foreign_names, reason_of_our_names, reason_of_form,           reason_of_syntax,
    reason_of_unknown_name,  reason_of_pointers,  reason_of_unknown_member, reason_of_assignment,
    reason_of_known_message, reason_of_call,      reason_of_types};

}  // namespace

RankedReason reason_of(const CompilerSays& error, const LearnersText& text) {
  constexpr Rule kRules[] = {reason_of_foreign_names,
                             reason_of_form,
                             reason_of_syntax,
                             reason_of_unknown_name,
                             reason_of_brackets_behind_a_name,
                             reason_of_unknown_member,
                             reason_of_assignment,
                             reason_of_constant,
                             reason_of_known_message,
                             reason_of_call,
                             reason_of_types};
  int rank = 0;
  const std::span<const Rule> rules =
      text.is_in_cuda() ? std::span<const Rule>(kRulesOfCuda) : kRules;
  for (const Rule rule : rules) {
    ErrorReason reason = rule(error, text);
    if (text.is_in_cuda()) reason.advice = advice_in_cuda(std::move(reason.advice));
    if (!reason.cause.empty()) return {std::move(reason), rank};
    ++rank;
  }
  return {{}, rank};
}

}  // namespace tessera::course
