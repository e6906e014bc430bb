// gpu_primitives NAME: runs one primitive on device 0 and says what its dump means; the last line
// is JSON. Exit codes: 0 as expected, 1 not, 2 usage, 3 a file, 4 no such GPU.
//   --list          names and questions
//   --dump FILE     keeps the dump
//   --from FILE     reads a dump instead of running
//   --like READING  writes the dump of a reading to --dump, or judges it; needs no GPU
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include "on_gpu.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace {

using namespace tessera;
using namespace tessera::primitives;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? cat('\\', c) : std::string(1, c);
  return out + "\"";
}

Dump read_dump(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(Category::file, cat("cannot read '", file, "'"));
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  Dump out(bytes.size() / 4);
  std::copy_n(bytes.data(), out.size() * 4, reinterpret_cast<char*>(out.data()));
  return out;
}

void write_dump(const std::string& file, const Dump& dump) {
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(dump.data()),
            static_cast<std::streamsize>(dump.size() * 4));
  if (!out.flush()) throw Error(Category::file, cat("cannot write '", file, "'"));
}

Dump dump_like(const Primitive& primitive, const std::string& reading) {
  std::string names;
  for (const auto& each : primitive.readings()) {
    if (each.name == reading) return each.dump;
    names += cat("\n  ", each.name);
  }
  throw Error(Category::argument, cat(primitive.name, " has no reading '", reading, "'"),
              cat("one of", names));
}

int run(const std::string& name, std::map<std::string, std::string>& given) {
  if (name == "--list") {
    for (const auto& each : all())
      std::printf("%s  %s\n", std::string(each.name).c_str(), std::string(each.question).c_str());
    return 0;
  }
  const Primitive& primitive = find(name);
  const Dump dump = given.count("--from") != 0   ? read_dump(given["--from"])
                    : given.count("--like") != 0 ? dump_like(primitive, given["--like"])
                                                 : record_on_gpu(name);
  if (given.count("--dump") != 0) write_dump(given["--dump"], dump);
  const Diagnosis found = diagnose(primitive, dump);
  std::string words;
  if (primitive.tolerance > 0)
    for (std::size_t i = 0; i < dump.size(); ++i)
      words += cat(i == 0 ? "" : ", ", quoted(primitive.place(i)), ": ", dump[i]);
  std::printf("%s: %s: %s\n", name.c_str(), found.good ? "good" : "WRONG", found.text.c_str());
  std::printf(
      "{\"primitive\": \"%s\", \"good\": %s, \"reading\": %s, \"equal\": %s, \"measured\": {%s}}\n",
      name.c_str(), found.good ? "true" : "false", quoted(found.reading).c_str(),
      found.equal ? "true" : "false", words.c_str());
  return found.good ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  std::map<std::string, std::string> given;
  bool good = count >= 2 && count % 2 == 0;
  for (int i = 2; good && i + 1 < count; i += 2) {
    const std::string option = words[i];
    good = option == "--dump" || option == "--from" || option == "--like";
    given[option] = words[i + 1];
  }
  if (!good) {
    std::fprintf(stderr,
                 "usage: gpu_primitives NAME [--dump FILE] [--from FILE] [--like READING], or "
                 "--list\n");
    return 2;
  }
  try {
    return run(words[1], given);
  } catch (const Error& error) {
    std::fprintf(stderr, "gpu_primitives: %s\n", error.what());
    return exit_code(error.category());
  }
}
