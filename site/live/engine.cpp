// The engine of the live page: check/warp_pattern.hpp and the pictures, for WebAssembly. The page
// writes a request into input(size), one field per line, calls answer() and reads JSON. An
// exception ends the instance: refused() hands its message to the page, which starts a new one for
// each request. site/live/build compiles it.
#include <cstdint>
#include <cstdlib>
#include <typeinfo>
#include <vector>

#include "tessera/check/html_report.hpp"
#include "tessera/check/warp_pattern.hpp"
#include "tessera/core/text.hpp"
#include "tessera/layout/expression.hpp"
#include "tessera/layout/svg.hpp"

extern "C" {

/// The page throws; `column` is that of the mistake in the expression, or -1.
[[noreturn]] __attribute__((import_module("page"), import_name("refused"))) void refused(
    const char* text, std::size_t size, int column);

void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }
void __cxa_free_exception(void* memory) noexcept { std::free(memory); }
[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
  std::string text = "out of memory";
  int column = -1;
  if (*type == typeid(tessera::ExpressionError)) {
    const auto* const error = static_cast<tessera::ExpressionError*>(thrown);
    text = error->problem();
    column = static_cast<int>(error->column());
  } else if (*type == typeid(tessera::Error)) {
    text = static_cast<tessera::Error*>(thrown)->what();
  }
  refused(text.data(), text.size(), column);
}

}  // extern "C"

namespace {

using namespace tessera;

constexpr index_t kMostCells = 2048;  // of the picture of a layout

std::string given, answered;

std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') out += "\\n";
    else out += c;
  }
  return out + '"';
}

std::string list(const std::vector<index_t>& numbers) {
  std::string out;
  for (const index_t number : numbers) out += cat(out.empty() ? "" : ",", number);
  return '[' + out + ']';
}

std::string json(const check::SharedCost& cost) {
  return cat("{\"wavefronts\":", cost.wavefronts, ",\"ideal\":", cost.ideal,
             ",\"ways\":", cost.ways, ",\"merged\":", cost.basis == check::Basis::merging, '}');
}

/// The layout, coloured by bank where it is swizzled; empty where it is too large.
std::string layout_picture(const check::WarpPattern& pattern) {
  if (!pattern.layout || pattern.layout->size() > kMostCells) return {};
  if (!pattern.layout->swizzled || pattern.layout->swizzle.bits == 0)
    return pattern.layout->swizzled && pattern.layout->offset == 0 ? svg(pattern.layout->inner)
                                                                   : svg(*pattern.layout);
  const int bytes = pattern.element_bytes;
  return svg_swizzle(*pattern.layout, std::max(1, check::kBankBytes / bytes),
                     check::kBanks * check::kBankBytes / std::max(check::kBankBytes, bytes));
}

std::vector<index_t> indices(const check::WarpPattern& pattern) {
  std::vector<index_t> out;
  for (index_t i = 0; pattern.layout && i < pattern.layout->size() && i < kMostCells; ++i)
    out.push_back((*pattern.layout)(i));
  return out;
}

/// Line number `n` of what was given.
std::string field(int n) {
  std::size_t start = 0;
  for (; n > 0; --n) start = given.find('\n', start) + 1;
  return given.substr(start, given.find('\n', start) - start);
}

}  // namespace

extern "C" {

__attribute__((export_name("input"))) char* input(std::size_t size) {
  given.resize(size);
  return given.data();
}

__attribute__((export_name("answer"))) const char* answer() {
  check::WarpPatternRequest request;
  request.expression = field(0);
  request.dtype = parse_dtype(field(1));
  request.vector = std::atoi(field(2).c_str());
  request.lanes = std::atoi(field(3).c_str());
  request.along = std::atoi(field(4).c_str());
  request.at = field(5);
  request.pad = std::atoi(field(6).c_str());
  request.swizzle = field(7);
  const check::WarpPattern pattern = check::warp_pattern(request);
  answered =
      cat("{\"pattern\":", json(pattern.text), ",\"lane_bytes\":", pattern.bytes,
          ",\"elements\":", list(pattern.elements), ",\"indices\":", list(indices(pattern)),
          ",\"global\":{\"sectors\":", pattern.global.sectors, ",\"ideal\":", pattern.global.ideal,
          "},\"shared_load\":", json(pattern.load), ",\"shared_store\":", json(pattern.store),
          ",\"banks\":", json(check::access_picture(pattern.sample(check::Memory::shared))),
          ",\"sectors\":", json(check::access_picture(pattern.sample(check::Memory::global))),
          ",\"layout\":", json(layout_picture(pattern)), '}');
  return answered.c_str();
}

}  // extern "C"
