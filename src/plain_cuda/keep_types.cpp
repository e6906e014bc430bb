// Finds casts of the pointers that allocations set: see passes.hpp.
#include <algorithm>
#include <iterator>

#include "passes.hpp"

namespace tessera::plain_cuda {

namespace {

constexpr const char* kTyped = "::tessera::plain_cuda::typed";

constexpr std::string_view kAllocations[] = {
    "cudaMalloc",     "cudaMallocAsync", "cudaMallocFromPoolAsync", "cudaMallocManaged",
    "cudaMallocHost", "cudaHostAlloc",   "cudaMallocPitch"};

bool is_void_pointers(const Tokens& t, std::size_t i) {
  return t.is(i, "void") && t.is(i + 1, "*") && t.is(i + 2, "*");
}

/// The comma after the argument at `i`; kNone if its end is uncertain.
std::size_t end_of_argument(const Tokens& t, std::size_t i) {
  for (; i < t.size() && !t.is(i, ",") && !t.is(i, ")"); i = t.after(i)) {
    if (t.is(i, "<") || t.is(i, ";")) return Tokens::kNone;
  }
  return t.is(i, ",") ? i : Tokens::kNone;
}

}  // namespace

void keep_types(const Tokens& tokens, PlacedText& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_call = tokens.is_kind(i, Token::Kind::name) && tokens.is(i + 1, "(") &&
                         !tokens.file(i).is_system &&
                         std::find(std::begin(kAllocations), std::end(kAllocations),
                                   tokens.spelling(i)) != std::end(kAllocations);
    if (!is_call) continue;
    const std::size_t first = i + 2;
    if (tokens.is(first, "(") && is_void_pointers(tokens, first + 1) && tokens.is(first + 4, ")")) {
      const std::size_t end = end_of_argument(tokens, first + 5);
      if (end == Tokens::kNone) continue;
      out.erase(first, first + 5);
      out.insert_before(first + 5, std::string(kTyped) + "(");
      out.insert_before(end, ")");
    } else if (tokens.is(first, "reinterpret_cast") && tokens.is(first + 1, "<") &&
               is_void_pointers(tokens, first + 2) && tokens.is(first + 5, ">")) {
      out.erase(first + 1, first + 6);
      out.replace(first, kTyped);
    }
  }
}

}  // namespace tessera::plain_cuda
