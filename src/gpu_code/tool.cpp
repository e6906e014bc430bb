// tessera-gpu-code: makes a C++ file with the GPU code of a file's kernels, for the program that
// links it. cmake/TesseraGpuCode.cmake calls it.
//
//   tessera-gpu-code OUTPUT NAME SOURCE CLANG SPIRV TARGETS [FLAG...]
//
// NAME: of a GpuModule with external linkage, or "-" for one that registers itself. SPIRV:
// llvm-spirv, or "-" for none. Where the source does not compile, the module says why, and so does
// a warning here.
#include <cstdio>
#include <fstream>
#include <sstream>

#include "build.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::gpu_code {
namespace {

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') out += "\\n\"\n\"";
    else if (c == '"' || c == '\\') out += cat('\\', c);
    else out += c;
  }
  return out + "\"";
}

/// Writes code to a file of its own, which the assembler includes.
void embed(std::ostringstream& text, const std::string& output, std::string_view target,
           std::string_view code) {
  const std::string file = cat(output, ".", target), symbol = cat("tessera_", target);
  std::ofstream(file, std::ios::binary) << code;
  text << "asm(\".pushsection .rodata\\n\"\n    \".balign 16\\n\"\n    \"" << symbol
       << ": .incbin \\\"" << file
       << "\\\"\\n\"\n    \".popsection\\n\");\nextern \"C\" const char " << symbol << "[];\n";
}

int make(int count, char** words) {
  const auto word = [&](int i) { return std::string(words[i]) == "-" ? "" : words[i]; };
  const std::string output = words[1], name = word(2);
  Compilation c{.source = words[3], .clang = words[4], .spirv = word(5)};
  for (int i = 7; i < count; ++i) c.flags.emplace_back(words[i]);
  std::ostringstream codes, list;
  std::string entries, log;
  std::istringstream targets(words[6]);
  for (std::string target; std::getline(targets, target, ',');) {
    c.target = target;
    try {
      const Compiled made = compile(c);
      entries = made.entries;
      for (const auto& [kind, code] : {std::pair{target, made.code}, {"spirv", made.spirv}}) {
        if (code.empty()) continue;
        embed(codes, output, kind, code);
        list << "    {\"" << kind << "\", {tessera_" << kind << ", " << code.size() << "}},\n";
      }
    } catch (const Error& error) {
      log += cat(error.what(), "\n");
      std::fprintf(stderr, "warning: %s\n", error.what());
    }
  }
  std::ofstream out(output);
  out << "// Made by tessera-gpu-code from " << c.source << ".\n"
      << "#include \"tessera/device/gpu_kernel.hpp\"\n\n"
      << codes.str() << "\nnamespace tessera::detail {\n\n";
  if (!list.str().empty())
    out << "static const GpuModule::Code codes[] = {\n" << list.str() << "};\n";
  out << (name.empty() ? "static const GpuModule module"
                       : "extern const GpuModule " + name + ";\nconst GpuModule " + name)
      << " = {\n    " << string_literal(c.source) << ",\n    " << string_literal(entries)
      << ",\n    " << (list.str().empty() ? "{}" : "codes") << ",\n    " << string_literal(log)
      << "};\n";
  if (name.empty()) out << "static const bool is_added = add_gpu_module(module);\n";
  out << "\n}  // namespace tessera::detail\n";
  return out.flush() ? 0 : 4;
}

}  // namespace
}  // namespace tessera::gpu_code

int main(int count, char** words) try {
  if (count < 7) {
    std::fputs("usage: tessera-gpu-code OUTPUT NAME SOURCE CLANG SPIRV TARGETS [FLAG...]\n",
               stderr);
    return 2;
  }
  return tessera::gpu_code::make(count, words);
} catch (const std::exception& error) {
  std::fprintf(stderr, "tessera-gpu-code: %s\n", error.what());
  return 4;
}
