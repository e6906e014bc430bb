// The changes between the compiler and the assembler.
#include "plain_cuda/assembly.hpp"

#include <gtest/gtest.h>

namespace tessera::plain_cuda {

TEST(Assembly, SharedVariablesHaveRims) {
  EXPECT_EQ(
      as_checked("\t.section\t.tbss,\"awT\",@nobits\nx:\n\t.zero\t128\n\t.data\ny:\n\t.zero\t8\n"),
      "\t.section\t.tbss,\"awT\",@nobits\nx:\n\t.zero\t128\n\t.zero\t64\n\t.data\ny:\n"
      "\t.zero\t8\n");
}

TEST(Assembly, NewAndDeleteAreTheRunTimes) {
  EXPECT_EQ(as_checked("\tcall\t_Znwm@PLT\n\tjmp\t_ZdlPvm\n\tcall\t_ZnwmSt11align_val_t@PLT\n"),
            "\tcall\ttessera_cuda_new@PLT\n\tjmp\ttessera_cuda_delete\n"
            "\tcall\t_ZnwmSt11align_val_t@PLT\n");
  EXPECT_EQ(as_checked("\n_Znwm:\n\tcall\t_Znwm\n"), "\n_Znwm:\n\tcall\t_Znwm\n");
}

}  // namespace tessera::plain_cuda
