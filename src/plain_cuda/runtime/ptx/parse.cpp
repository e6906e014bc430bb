// Parses inline PTX: statements, operands, labels, declarations of registers.
#include <cctype>
#include <cstdlib>
#include <map>

#include "plain_cuda/runtime/program.hpp"
#include "ptx.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda::ptx_detail {

Type type_of(std::string_view word) {
  static const std::map<std::string_view, Type> types = {
      {"pred", {'p', 8}},      {"b8", {'b', 8}},        {"u8", {'u', 8}},
      {"s8", {'s', 8}},        {"b16", {'b', 16}},      {"u16", {'u', 16}},
      {"s16", {'s', 16}},      {"b32", {'b', 32}},      {"u32", {'u', 32}},
      {"s32", {'s', 32}},      {"b64", {'b', 64}},      {"u64", {'u', 64}},
      {"s64", {'s', 64}},      {"b128", {'b', 128}},    {"f16", {'f', 16}},
      {"f32", {'f', 32}},      {"f64", {'f', 64}},      {"bf16", {'h', 16}},
      {"tf32", {'t', 32}},     {"f16x2", {'f', 16, 2}}, {"e4m3x2", {'4', 8, 2}},
      {"e5m2x2", {'5', 8, 2}}, {"bf16x2", {'h', 16, 2}}};
  const auto found = types.find(word);
  return found == types.end() ? Type{} : found->second;
}

namespace {

const std::map<std::string, Known>& known_instructions() {
  static const auto* const all = [] {
    auto* const out = new std::map<std::string, Known>;
    for (const auto& list : {arithmetic_instructions(), logic_instructions(), memory_instructions(),
                             meeting_instructions(), matrix_instructions()})
      for (const Known& each : list) out->emplace(each.name, each);
    return out;
  }();
  return *all;
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

class Parser {
 public:
  Parser(const char* text, const Place& place) : place_(place) {
    for (const char* c = text; *c != '\0'; ++c) {  // comments are dropped
      if (c[0] == '/' && c[1] == '/') {
        while (c[1] != '\0' && c[1] != '\n') ++c;
      } else if (c[0] == '/' && c[1] == '*') {
        const char* const end = std::strstr(c + 2, "*/");
        c = end == nullptr ? c + std::strlen(c) - 1 : end + 1;
      } else if (c[0] == '%' && c[1] == '=') {  // a number that makes labels unique
        text_ += "_0", ++c;
      } else {
        text_ += *c;
      }
    }
  }

  Code run() {
    for (skip(); at_ < text_.size(); skip()) {
      const char c = text_[at_];
      if (c == '{' || c == '}' || c == ';') ++at_;
      else if (c == '.') declaration();
      else statement();
    }
    for (Instruction& each : code_.instructions) {
      if (each.words[0] != "bra") continue;
      const auto found = labels_.find(each.operands.empty() ? "" : each.operands[0].name);
      if (found == labels_.end()) refuse(each.text, "leads to no label of the statement");
      each.target = found->second;
    }
    code_.locals = static_cast<int>(locals_.size());
    return std::move(code_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& why) const {
    cannot_run(place_, cat("inline PTX '", what, "' ", why));
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string name() {
    const std::size_t first = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return text_.substr(first, at_ - first);
  }
  std::string rest_of_statement() const { return text_.substr(at_, text_.find(';', at_) - at_); }

  /// .reg .b32 a, b<4>;
  void declaration() {
    const std::string text = rest_of_statement();
    if (!text.starts_with(".reg") && !text.starts_with(".pragma"))
      refuse(text, "is not supported: of declarations .reg is");
    const bool is_pragma = text.starts_with(".pragma");
    at_ += 4;
    for (skip(); at_ < text_.size() && text_[at_] != ';' && !is_pragma; skip()) {
      if (take(',')) continue;
      if (take('.')) {
        name();
        continue;
      }
      while (take('%')) {
      }
      const std::string base = name();
      if (base.empty()) refuse(text, "cannot be read");
      if (take('<')) {
        const int count = std::atoi(name().c_str());
        for (int i = 0; i < count; ++i) local(cat(base, i));
        take('>');
      } else {
        local(base);
      }
    }
    at_ = std::min(text_.find(';', at_), text_.size());
  }
  int local(const std::string& name) {
    return locals_.emplace(name, static_cast<int>(locals_.size())).first->second;
  }

  void statement() {
    const std::size_t first = at_;
    if (is_name(text_[at_])) {
      const std::string label = name();
      if (take(':')) {
        labels_[label] = code_.instructions.size();
        return;
      }
      at_ = first;
    }
    Instruction out;
    if (take('@')) {
      const bool negated = take('!');
      out.predicate = operand();
      out.predicate.is_negated = negated;
      skip();
    }
    out.text = rest_of_statement();
    while (!out.text.empty() && std::isspace(static_cast<unsigned char>(out.text.back())) != 0)
      out.text.pop_back();
    opcode(out);
    skip();
    while (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '}') {
      out.operands.push_back(operand());
      if (!take(',')) break;
    }
    skip();
    if (at_ < text_.size() && text_[at_] != ';' && text_[at_] != '}')
      refuse(out.text, "cannot be read");
    code_.instructions.push_back(std::move(out));
  }

  void opcode(Instruction& out) {
    for (;;) {
      std::string word = name();
      while (at_ + 1 < text_.size() && text_[at_] == ':' && text_[at_ + 1] == ':') {
        at_ += 2;
        word += "::" + name();
      }
      if (word.empty()) refuse(out.text, "cannot be read");
      if (const Type type = type_of(word); type.kind != 0) out.types.push_back(type);
      out.words.push_back(std::move(word));
      if (at_ >= text_.size() || text_[at_] != '.') break;
      ++at_;
    }
    const auto& known = known_instructions();
    const std::string two = out.words.size() > 1 ? out.words[0] + "." + out.words[1] : "";
    auto found = known.find(two);
    const std::size_t first = found == known.end() ? 1 : 2;
    if (found == known.end()) found = known.find(out.words[0]);
    if (found == known.end()) return;
    out.run = found->second.run;
    const std::string allowed = cat(" ", found->second.modifiers, " ");
    for (std::size_t i = first; i < out.words.size(); ++i) {
      if (type_of(out.words[i]).kind == 0 &&
          allowed.find(cat(" ", out.words[i], " ")) == allowed.npos)
        out.run = nullptr;
    }
  }

  Operand operand() {
    Operand out = simple_operand();
    if (take('|')) {
      Operand both{Operand::Kind::vector};
      both.name = "|";
      both.parts = {std::move(out), simple_operand()};
      return both;
    }
    return out;
  }
  Operand simple_operand() {
    skip();
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (take('{')) return list(Operand::Kind::vector, '}');
    if (take('[')) return memory();
    if (take('!')) {
      Operand out = simple_operand();
      out.is_negated = true;
      return out;
    }
    if (c == '%') return reg();
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '+') return number();
    if (is_name(c)) return named(name());
    refuse(rest_of_statement(), "has an operand that cannot be read");
  }
  Operand list(Operand::Kind kind, char end) {
    Operand out{kind};
    while (!take(end)) {
      if (at_ >= text_.size()) refuse(text_, "has a bracket that nobody closes");
      out.parts.push_back(simple_operand());
      take(',');
    }
    return out;
  }
  Operand memory() {
    Operand out{Operand::Kind::memory};
    out.parts.push_back(simple_operand());
    skip();
    if (take('+')) out.parts.push_back(simple_operand());
    else if (at_ < text_.size() && text_[at_] == '-') out.parts.push_back(number());
    if (!take(']')) refuse(rest_of_statement(), "has an address that cannot be read");
    return out;
  }
  Operand reg() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '[') {
      ++at_;
      Operand out{Operand::Kind::named};
      out.name = name();
      take(']');
      return out;
    }
    if (at_ < text_.size() && text_[at_] == '%') ++at_;
    else if (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0) {
      Operand out{Operand::Kind::operand};
      out.index = std::atoi(name().c_str());
      return out;
    }
    std::string word = name();
    if (at_ + 1 < text_.size() && text_[at_] == '.' &&
        std::strchr("xyzw", text_[at_ + 1]) != nullptr)
      word += text_.substr(at_, 2), at_ += 2;
    return named(word);
  }
  Operand named(const std::string& word) {
    Operand out{Operand::Kind::special};
    out.name = word;
    if (const auto found = locals_.find(word); found != locals_.end()) {
      out.kind = Operand::Kind::local;
      out.index = found->second;
    }
    return out;
  }
  Operand number() {
    Operand out{Operand::Kind::number};
    const char* const first = text_.c_str() + at_;
    char* end = nullptr;
    if (first[0] == '0' &&
        (first[1] == 'f' || first[1] == 'F' || first[1] == 'd' || first[1] == 'D')) {
      out.value = std::strtoull(first + 2, &end, 16);
      const bool is_single = first[1] == 'f' || first[1] == 'F';
      if (is_single) out.value = to_bits(static_cast<double>(cast_bits<float>(out.value)));
      out.is_real = true;
    } else {
      out.value = static_cast<std::uint64_t>(
          first[0] == '-' ? std::strtoll(first, &end, 0)
                          : static_cast<long long>(std::strtoull(first, &end, 0)));
      if (*end == '.' || *end == 'e') {
        out.value = to_bits(std::strtod(first, &end));
        out.is_real = true;
      }
    }
    at_ += static_cast<std::size_t>(end - first);
    while (at_ < text_.size() && (text_[at_] == 'U' || text_[at_] == 'u')) ++at_;
    return out;
  }

  const Place& place_;
  std::string text_;
  std::size_t at_ = 0;
  Code code_;
  std::map<std::string, int> locals_;
  std::map<std::string, std::size_t> labels_;
};

}  // namespace

Code parse(const char* text, const Place& place) { return Parser(text, place).run(); }

}  // namespace tessera::plain_cuda::ptx_detail
