// Finds `return;` in code of the device: see passes.hpp.
#include "passes.hpp"

namespace tessera::plain_cuda {

namespace {

/// Does the declaration that ends before the { at `body` make a function of the device? One that
/// may be constexpr is left alone.
bool is_of_device(const Tokens& t, std::size_t body) {
  bool out = false;
  for (std::size_t i = body; i > 0;) {
    --i;
    if (t.is(i, ";") || t.is(i, "}") || t.is(i, "{")) break;
    if (t.is(i, ")") || t.is(i, "]")) i = t.pairs[i];
    if (t.is(i, "constexpr") || t.is(i, "consteval")) return false;
    out = out || t.is(i, "__global__") || t.is(i, "__device__");
  }
  return out;
}

}  // namespace

bool is_in_device_code(const Tokens& t, std::size_t i) {
  for (std::size_t at = t.parents[i]; at != Tokens::kNone; at = t.parents[at]) {
    if (t.is(at, "{") && is_of_device(t, at)) return true;
  }
  return false;
}

void note_returns(const Tokens& tokens, PlacedText& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens.is(i, "return") || !tokens.is(i + 1, ";") || tokens.file(i).is_system ||
        !is_in_device_code(tokens, i))
      continue;
    out.insert_before(i, "{ ::tessera::plain_cuda::note_return(); ");
    out.insert_after(i + 1, " }");
  }
}

}  // namespace tessera::plain_cuda
