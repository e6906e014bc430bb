// Which texts count as CUDA.
#include "process/cuda_text.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tessera::process {
namespace {

std::string word_in(std::string_view text) {
  const auto found = plain_cuda(text);
  return found ? found->word + ":" + std::to_string(found->line) : "";
}

TEST(CudaText, IsKnownByItsWords) {
  EXPECT_EQ(word_in("#include <cuda_runtime.h>\n__global__ void saxpy(int n, float* y) {}\n"),
            "__global__:2");
  EXPECT_EQ(word_in("void f() {\n  int i = threadIdx.x;\n}\n"), "threadIdx:2");
  EXPECT_EQ(word_in("int main() {\n\n  saxpy<<<grid, 256>>>(n, y);\n}\n"), "<<<...>>>:3");
  EXPECT_EQ(word_in("auto x = 1'000; /* ' */ auto c = '\\''; __syncthreads();"), "__syncthreads:1");
}

TEST(CudaText, IsNotWhatAKernelOfOursSays) {
  EXPECT_EQ(word_in("// like __global__ void f() in CUDA\n/* threadIdx.x\n */ int a;"), "");
  EXPECT_EQ(word_in("auto s = \"threadIdx \\\" blockIdx\"; auto r = R\"x(__global__ )\" )x\";"),
            "");
  EXPECT_EQ(word_in("std::ostream& operator<<<int>(std::ostream&, A<B<C<int>>>);"), "");
  EXPECT_EQ(word_in("<<<<<<< mine\nint a;\n=======\n>>>>>>> theirs\n"), "");
  EXPECT_EQ(word_in("int my_threadIdx, threadIdx_y;"), "");
  EXPECT_EQ(word_in("#if defined(__CUDACC__)\n__global__ void f() {}\n#endif\n"
                    "check::Report check_kernel(const check::Options& options);\n"),
            "");
  EXPECT_EQ(word_in("#include \"tessera/check/file.hpp\"\nint i = threadIdx.x;\n"), "");
}

TEST(CudaText, IsNoFileOfTheProject) {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(__FILE__).parent_path().parent_path().parent_path();
  int seen = 0;
  for (const char* folder :
       {"examples", "course", "tests/broken_kernels", "include/tessera/kernels"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      const auto ending = entry.path().extension();
      if (ending != ".cpp" && ending != ".cu" && ending != ".hpp") continue;
      if (entry.path().filename() == "puzzle.cu") continue;  // in plain CUDA
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      EXPECT_EQ(word_in(text), "") << entry.path();
      ++seen;
    }
  }
  EXPECT_GT(seen, 50);
}

TEST(CudaText, EndsWhereTheTextEnds) {
  for (const char* text : {"/*", "\"", "'", "R\"(", "R\"", "//", "<<<", "\"\\", "1'"})
    EXPECT_EQ(word_in(text), "") << text;
}

}  // namespace
}  // namespace tessera::process
