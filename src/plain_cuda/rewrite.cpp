// Rewrites CUDA's keywords: see rewrite.hpp.
#include "rewrite.hpp"

#include <algorithm>
#include <initializer_list>

#include "align_columns.hpp"
#include "host_assembly.hpp"
#include "lexer.hpp"
#include "passes.hpp"
#include "placed_text.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::plain_cuda {

namespace {

using Kind = Token::Kind;

constexpr const char* kRoom = "::tessera::plain_cuda::";
constexpr std::size_t kNone = Tokens::kNone;
/// How far before __shared__ or __global__ its declaration may begin, in tokens.
constexpr std::size_t kFarthest = 256;

class Rewriter {
 public:
  explicit Rewriter(const Tokens& tokens)
      : t_(tokens), out_(tokens), has_node_parameters_(names("cudaKernelNodeParams")) {}

  std::string run() {
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (t_.is_kind(i, Kind::name)) word(i);
      else if (t_.is(i, "<") && t_.pairs[i] != kNone) launch(i);
    }
    for (const auto pass : kPasses) pass(t_, out_);
    return out_.write();
  }

 private:
  /// Does the program itself declare the type?
  bool names(std::string_view type) const {
    for (std::size_t i = 0; i < t_.size(); ++i) {
      if (t_.is(i, type) && !t_.file(i).is_system) return true;
    }
    return false;
  }
  bool is_one_of(std::size_t i, std::initializer_list<std::string_view> words) const {
    return i < t_.size() && std::find(words.begin(), words.end(), t_.spelling(i)) != words.end();
  }
  [[noreturn]] void refuse(std::size_t i, const char* problem, const char* expected) const {
    throw Error(Category::argument, cat(t_.place(i), ": ", problem), expected);
  }
  std::string place_text(std::size_t i) const {
    return cat(kRoom, "Place{\"", t_.file(i).name, "\", ", t_[i].line, ", ", t_[i].column, "}");
  }

  void word(std::size_t i) {
    const std::string_view w = t_.spelling(i);
    if (w == "__global__") kernel(i);
    else if (w == "__shared__") shared(i);
    else if (w == "__grid_constant__") out_.erase(i, i + 1);
    else if (is_bounds(i)) out_.at(i).skip_to = t_.after(i + 1);
    else if (w == "__noinline__" && !is_one_of(i - 1, {"(", ","})) noinline(i);
    else if (is_one_of(i, {"cudaLaunchKernel", "cudaLaunchCooperativeKernel"})) launch_call(i + 2);
    else if (w == "cudaLaunchKernelExC" && t_.is(i + 1, "(")) launch_call(behind_comma(i + 2));
    else if (w == "func" && has_node_parameters_ && is_member(i) && t_.is(i + 1, "="))
      launch_call(i + 2);
    else if (is_one_of(i, {"threadIdx", "blockIdx", "blockDim", "gridDim"})) built_in(i);
    else if (w == "asm" || w == "__asm__" || w == "__asm") inline_ptx(i);
  }
  /// A macro would change the standard library's __attribute__((__noinline__)) too.
  void noinline(std::size_t i) { out_.replace(i, "__attribute__((noinline))"); }
  bool is_bounds(std::size_t i) const {
    return is_one_of(i, {"__launch_bounds__", "__cluster_dims__"}) && t_.is(i + 1, "(");
  }

  // Kernels.
  void kernel(std::size_t i) {
    out_.erase(i, i + 1);
    const std::size_t body = body_after(i);
    if (body == kNone) return;
    std::size_t bounds = kNone, cluster = kNone;
    const auto look_at = [&](std::size_t at) {
      if (is_bounds(at)) (t_.is(at, "__launch_bounds__") ? bounds : cluster) = at + 1;
    };
    for (std::size_t at = begin_of_declaration(i); at < body; at = t_.after(at)) look_at(at);
    auto& pieces = out_.at(body).after;
    pieces.push_back({cat(kRoom, "run_kernel(__func__, ", kRoom, "launch_bounds(")});
    if (bounds != kNone) pieces.push_back({"", bounds + 1, t_.pairs[bounds]});
    if (cluster != kNone) {
      pieces.push_back({cat("), ", kRoom, "cluster_dims(")});
      pieces.push_back({"", cluster + 1, t_.pairs[cluster]});
    }
    pieces.push_back({"), [=]() mutable -> void {"});
    out_.insert_before(t_.pairs[body], "});");
  }
  /// The { of a kernel's body; kNone if a declaration or the list of a macro ends first.
  std::size_t body_after(std::size_t i) const {
    for (std::size_t at = i + 1; at < t_.size(); at = t_.after(at)) {
      if (is_one_of(at, {";", "}", ")", "]", "__global__"})) return kNone;
      // K<S{16}>(...): braces after a type's name begin no body.
      const bool follows_name =
          t_.is_kind(at - 1, Kind::name) && !is_one_of(at - 1, {"noexcept", "void"});
      if (t_.is(at, "{") && !follows_name) return at;
    }
    return kNone;
  }
  std::size_t begin_of_declaration(std::size_t i) const {
    std::size_t first = i;
    while (first > 0 && i - first < kFarthest) {
      std::size_t before = first - 1;
      if (is_one_of(before, {";", "{", "}", ","}) || is_single_colon(before)) break;
      if (is_one_of(before, {")", "]"})) before = t_.pairs[before];
      if (is_one_of(before, {"("}) && !is_attribute(before)) break;
      first = before;
    }
    return first;
  }
  bool is_attribute(std::size_t open) const {
    return is_one_of(open - 1, {"__attribute__", "alignas", "__launch_bounds__", "__cluster_dims__",
                                "decltype", "requires", "explicit", "noexcept", "__declspec"});
  }
  bool is_single_colon(std::size_t i) const {
    return t_.is(i, ":") && !t_.is(i - 1, ":") && !t_.is(i + 1, ":");
  }

  // Shared memory.
  void shared(std::size_t i) {
    if (t_.parents[i] != kNone && t_.is(t_.parents[i], "(")) return out_.erase(i, i + 1);
    const std::size_t first = begin_of_declaration(i);
    std::size_t end = i, is_static = kNone, is_extern = kNone;
    do end = t_.after(end);
    while (end < t_.size() && !is_one_of(end, {";", "}", "__shared__"}));
    if (!t_.is(end, ";")) refuse(i, "this __shared__ variable's declaration has no end", ";");
    for (std::size_t at = first; at < end; at = t_.after(at)) {
      if (t_.is(at, "static")) is_static = at;
      if (t_.is(at, "extern")) is_extern = at;
    }
    if (is_extern == kNone) {
      move_alignment(i, first, end);
      return out_.replace(i, is_static == kNone ? "static thread_local" : "thread_local");
    }
    if (is_in_function(i)) return refer_to_dynamic(first, end);
    move_alignment(i, first, end);
    out_.replace(is_extern, is_extern < i ? "extern" : "");
    out_.replace(i, is_extern < i ? "__thread" : "extern __thread");
    name_dynamic(i, end);
  }
  /// alignas may follow __shared__, but not its replacement: it moves to the start of the
  /// declaration.
  void move_alignment(std::size_t i, std::size_t first, std::size_t end) {
    std::size_t at = i + 1;
    while (is_one_of(at, {"extern", "static", "const", "volatile"})) ++at;
    for (; at < end && t_.is(at, "alignas") && t_.is(at + 1, "("); at = t_.after(at + 1)) {
      out_.at(first).before.push_back({"", at, t_.after(at + 1)});
      out_.at(at).skip_to = t_.after(at + 1);
    }
  }
  /// Do the brackets of an array begin at i?
  bool begins_array(std::size_t i) const {
    return t_.is(i, "[") && !t_.is(i + 1, "[") && t_.is_kind(i - 1, Kind::name);
  }
  /// Calls body(name, end) for each declarator of [first, end): its name, or kNone, and the mark
  /// after it.
  template <class Body>
  void for_each_declarator(std::size_t first, std::size_t end, const Body& body) const {
    int angles = 0;
    std::size_t name = kNone;
    for (std::size_t at = first; at <= end; at = t_.after(at)) {
      if (t_.is(at, "<")) ++angles;
      if (t_.is(at, ">")) --angles;
      if (angles > 0) continue;
      const bool ends = at == end || t_.is(at, ",");
      if (name == kNone && (ends || begins_array(at))) name = at - 1;
      if (ends) body(name, at), name = kNone;
    }
  }
  /// In a function the name is a reference: GCC forgets the label of a variable in a template.
  void refer_to_dynamic(std::size_t first, std::size_t end) {
    for (std::size_t at = first; at < end; at = t_.after(at)) {
      if (is_one_of(at, {"extern", "__shared__"})) out_.erase(at, at + 1);
      if (t_.is(at, "alignas")) out_.erase(at, t_.after(at + 1));
    }
    for_each_declarator(first, end, [&](std::size_t name, std::size_t after) {
      if (!t_.is_kind(name, Kind::name))
        refuse(name, "this declarator of dynamic shared memory cannot be read", "name[]");
      out_.insert_before(name, "(&");
      out_.insert_after(name, ")");
      out_.insert_before(after, cat(" = ", kRoom, "dynamic_shared()"));
    });
  }
  /// All dynamic shared memory is linked under one name.
  void name_dynamic(std::size_t first, std::size_t end) {
    for_each_declarator(first, end, [&](std::size_t name, std::size_t after) {
      std::size_t last = name;
      while (last + 1 < after && t_.is(last + 1, "[")) last = t_.pairs[last + 1];
      out_.insert_after(last, " __asm__(\"tessera_dynamic_shared\")");
    });
  }

  // Launches.
  void launch(std::size_t open) {
    const std::size_t close = t_.pairs[open];
    constexpr const char* kLaunch = "kernel<<<grid, block>>>(arguments)";
    if (!t_.is(close + 3, "(")) refuse(open, "a launch has no arguments", kLaunch);
    if (close == open + 3) refuse(open, "a launch has no grid and no block", kLaunch);
    require_configuration(open + 3, close);
    const std::size_t callee = callee_before(open);
    if (callee == open) refuse(open, "a launch has no kernel", kLaunch);
    auto& pieces = out_.at(callee).before;
    pieces.insert(pieces.begin(),
                  {Edit::Piece{cat("(", kRoom, "configure(", place_text(callee), ", ")},
                   Edit::Piece{"", open + 3, close}, Edit::Piece{"), "}});
    out_.at(open).skip_to = close + 3;
    out_.insert_after(t_.pairs[close + 3], ")");
  }
  /// <<<grid, block, shared memory, stream>>>; angles of template arguments hide commas.
  void require_configuration(std::size_t first, std::size_t end) const {
    std::size_t count = 1;
    bool may_hide = false;
    for (std::size_t at = first; at < end; at = t_.after(at)) {
      if (t_.is(at, ",")) ++count;
      may_hide = may_hide || t_.is(at, "<") || t_.is_run(at, '.', 3);
    }
    if (may_hide || (count >= 2 && count <= 4)) return;
    refuse(first, count < 2 ? "a launch has no block" : "a launch has more than four arguments",
           "kernel<<<grid, block, shared memory, stream>>>(arguments)");
  }
  /// A call of the runtime takes the kernel as a void*; ours takes it unchanged.
  void launch_call(std::size_t at) {
    if (at >= t_.size() || t_.file(at).is_system) return;
    if (t_.is(at, "(")) {
      std::size_t in = at + 1;
      while (is_one_of(in, {"const", "void"})) ++in;
      if (in > at + 1 && t_.is(in, "*") && t_.pairs[at] == in + 1) out_.erase(at, in + 2);
    } else if (is_one_of(at, {"reinterpret_cast", "static_cast"})) {
      std::size_t close = at + 1;
      while (close < t_.size() && !is_one_of(close, {">", "("})) ++close;
      if (t_.is(close, ">")) out_.erase(at, close + 1);
    }
  }
  std::size_t behind_comma(std::size_t at) const {
    while (at < t_.size() && !is_one_of(at, {",", ")"})) at = t_.after(at);
    return at + 1;
  }
  /// threadIdx.x, f(blockIdx), dim3 g = gridDim: what else has such a name declares it.
  void built_in(std::size_t i) {
    if (is_member(i) || is_pair(i - 1, "::")) return;
    const bool begins_value = is_one_of(i - 1, {"(", "{", "=", "return"}),
               ends_value = is_one_of(i + 1, {")", "}"});
    const bool is_argument =
        t_.is(i - 1, ",") && t_.parents[i] != kNone && t_.is(t_.parents[i], "(");
    if (t_.is(i + 1, ".") || (ends_value && t_.is(i - 1, ",")) ||
        ((begins_value || is_argument) && (ends_value || is_one_of(i + 1, {",", ";"}))))
      out_.replace(i, cat(t_.is(i - 1, "%") ? " " : "", kRoom, "built_in(",  // %: is a digraph
                          t_.spelling(i), ")"));
  }
  bool is_member(std::size_t i) const { return t_.is(i - 1, ".") || is_pair(i - 1, "->"); }
  bool is_name(std::size_t i) const {
    return t_.is_kind(i, Kind::name) && !is_keyword(t_.spelling(i));
  }
  bool is_pair(std::size_t i, std::string_view both) const {  // :: or ->, that ends at i
    return t_.is(i, both.substr(1)) && t_.is(i - 1, both.substr(0, 1)) &&
           t_[i - 1].end == t_[i].begin;
  }
  /// The first token of the postfix expression that ends before `end`; `end` if there is none.
  std::size_t callee_before(std::size_t end) const {
    for (std::size_t at = end;;) {
      const std::size_t operand = operand_before(at);
      if (operand == at) return at;
      at = operand;
      if (t_.is(at - 1, "template")) --at;
      if (is_pair(at - 1, "::")) {
        at -= 2;
        const bool has_scope = is_name(at - 1) || t_.is(at - 1, ">");
        if (!has_scope) return at;
      } else if (is_pair(at - 1, "->")) {
        at -= 2;
      } else if (t_.is(at - 1, ".")) {
        --at;
      } else {
        return at;
      }
    }
  }
  /// A name or a bracket in parentheses, with the arguments, indices and calls that follow it.
  std::size_t operand_before(std::size_t end) const {
    for (std::size_t at = end; at > 0;) {
      const std::size_t last = at - 1;
      if (is_name(last) || t_.is_kind(last, Kind::number)) return last;
      if (t_.is(last, ">")) {
        at = angle_before(last);
        continue;
      }
      if (!is_one_of(last, {")", "]", "}"})) return at;
      const std::size_t open = t_.pairs[last];
      const bool continues = is_name(open - 1) || is_one_of(open - 1, {"]", ">"}) ||
                             (t_.is(open - 1, ")") && !is_condition(t_.pairs[open - 1]));
      if (!continues) return t_.is(open, "(") ? open : at;
      at = open;
    }
    return end;
  }
  bool is_condition(std::size_t open) const {
    return is_one_of(open - 1, {"if", "while", "for", "switch", "constexpr"});
  }
  /// The < of the template arguments that end with the > at `close`.
  std::size_t angle_before(std::size_t close) const {
    int depth = 0;
    for (std::size_t at = close + 1; at-- > 0;) {
      if (is_one_of(at, {")", "]", "}"})) {
        at = t_.pairs[at];
      } else if (t_.is(at, "<") && t_.is(at - 1, "<") && t_[at - 1].end == t_[at].begin) {
        --at;  // a shift
      } else if (t_.is(at, ">") && !is_pair(at, "->")) {
        ++depth;
      } else if (t_.is(at, "<") && --depth == 0) {
        // K<a < b>: the one before a is right.
        if (is_name(at - 1) && t_.is(at - 2, "<") && is_name(at - 3)) depth = 1;
        else return at;
      } else if (is_one_of(at, {";", "(", "[", "{"})) {
        break;
      }
    }
    refuse(close, "a launch's kernel ends with a > that has no <",
           "kernel<types><<<grid, block>>>");
  }

  // Inline PTX.
  void inline_ptx(std::size_t i) {
    std::size_t open = i + 1;
    while (is_one_of(open, {"volatile", "__volatile__", "__volatile"})) ++open;
    if (t_.file(i).is_system || !t_.is(open, "(") || !is_statement(i)) return;
    if (is_host_assembly(t_, open)) return;
    const std::size_t end = t_.pairs[open];
    out_.replace(i, cat(kRoom, "ptx"));
    out_.erase(i + 1, open);
    out_.insert_after(open, cat(place_text(i), ", "));
    int section = 0;
    for (std::size_t at = open + 1; at < end;) {
      if (t_.is(at, ":")) {
        out_.erase(at, at + 1);
        ++section, ++at;
      } else if (section == 0) {
        at = t_.after(at);
      } else if (section > 2 || t_.is(at, ",")) {
        out_.erase(at, t_.after(at));
        at = t_.after(at);
      } else {
        at = operand(at, section == 1 ? "ptx_out" : "ptx_in");
      }
    }
  }
  /// [name] "r"(x): a call with the name, the constraint and the expression. Returns its end.
  std::size_t operand(std::size_t at, const char* wrapper) {
    std::string call = cat(", ", kRoom, wrapper, "(");
    if (t_.is(at, "[")) {
      const std::size_t end = t_.after(at);
      if (end != at + 3) refuse(at, "this operand of inline PTX has no name", "[name]");
      call += cat("\"", t_.spelling(at + 1), "\", ");
      out_.erase(at, end);
      at = end;
    }
    const std::size_t first = at;
    while (t_.is_kind(at, Kind::text)) ++at;
    if (at == first || !t_.is(at, "("))
      refuse(first, "this operand of inline PTX cannot be read", "\"constraint\"(expression)");
    out_.insert_before(first, std::move(call));
    out_.insert_after(at - 1, ", ");
    out_.insert_after(t_.pairs[at], ")");
    return t_.after(at);
  }
  /// Does a statement of a function begin at i? Labels of declarations and files do not.
  bool is_statement(std::size_t i) const {
    if (!is_in_function(i)) return false;
    if (t_.is(i - 1, ")")) return is_condition(t_.pairs[i - 1]);
    return is_one_of(i - 1, {";", "{", "}", "else", "do"}) || is_single_colon(i - 1);
  }
  bool is_in_function(std::size_t i) const {
    const std::size_t parent = t_.parents[i];
    return parent != kNone && t_.is(parent, "{") && !begins_namespace(t_, parent);
  }

  const Tokens& t_;
  PlacedText out_;
  const bool has_node_parameters_;
};

}  // namespace

std::string rewrite(std::string_view preprocessed, const Originals& originals) {
  Tokens tokens = tokens_of(preprocessed);
  pair_brackets(tokens);
  if (originals) align_columns(tokens, originals);
  return Rewriter(tokens).run();
}

}  // namespace tessera::plain_cuda
