// A program for roundtrip.py: reads one job from each line of stdin, converts a file into another,
// and answers with one line. A job is "IN <tab> OUT <tab> OPTIONS", where OPTIONS is a list of
// untyped=TYPE, dtype=TYPE, deflate, fortran. The answer is "ok TYPE SHAPE" or
// "error CATEGORY MESSAGE".
#include <cstdio>
#include <iostream>
#include <sstream>

#include "tessera/io/io.hpp"

namespace {

using namespace tessera;

std::string run(const std::string& in, const std::string& out, const std::string& options) {
  ReadOptions read;
  WriteOptions write{.overwrite = Overwrite::replace};
  std::optional<DType> dtype;
  bool fortran = false;
  std::istringstream words(options);
  for (std::string word; words >> word;) {
    if (word.rfind("untyped=", 0) == 0) read.untyped = parse_dtype(word.substr(8));
    else if (word.rfind("dtype=", 0) == 0) dtype = parse_dtype(word.substr(6));
    else if (word == "deflate") write.compression = Compression::deflated;
    else if (word == "fortran") fortran = true;
    else return "error 2 unknown option " + word;
  }
  try {
    Array array = read_array(in, read);
    if (dtype) array = convert(array, *dtype);
    if (fortran) array = contiguous(array, Order::fortran);
    write_array(out, array, write);
    return cat("ok ", name(array.dtype()), " ", shape_text(array.shape()));
  } catch (const Error& error) {
    return cat("error ", exit_code(error.category()), " ", error.what());
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) return 2;
    std::cout << run(line.substr(0, first), line.substr(first + 1, second - first - 1),
                     line.substr(second + 1))
              << std::endl;
  }
  return 0;
}
