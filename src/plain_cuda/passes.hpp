// Small changes that `rewrite` makes besides those to CUDA's own words. Private to src/plain_cuda.
#pragma once

#include "lexer.hpp"
#include "placed_text.hpp"

namespace tessera::plain_cuda {

/// nvcc finds out that `cast` in `Vector<T>::cast<4>(x)` is a template; C++ needs the word: inserts
/// `template` before it, in functions of the user's files.
void name_templates(const Tokens& tokens, PlacedText& out);

/// cudaMalloc((void**)&p, n): p keeps its type.
void keep_types(const Tokens& tokens, PlacedText& out);

/// `return;` in code of the device: the thread notes it. So a thread that ends without one has come
/// to the end of the kernel.
void note_returns(const Tokens& tokens, PlacedText& out);

/// `s[i] = f(x);`: a result in memory is stored by the caller, where the compiler instruments it.
void store_results(const Tokens& tokens, PlacedText& out);

/// `atomicAdd(p, 1);`: no thread uses the result, so the order of these updates does not matter.
void free_order(const Tokens& tokens, PlacedText& out);

/// Names that are keywords of C++20 and not of C++17, nvcc's default: `int concept;`.
void rename_newer_words(const Tokens& tokens, PlacedText& out);

constexpr void (*kPasses[])(const Tokens&, PlacedText&) = {
    name_templates, keep_types, note_returns, store_results, free_order, rename_newer_words};

/// Is the token in a function of the device? Not if that may be constexpr.
bool is_in_device_code(const Tokens& tokens, std::size_t i);
bool begins_statement(const Tokens& tokens, std::size_t i);

}  // namespace tessera::plain_cuda
