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

TEST(Assembly, InlineFunctionsOfHeadersAreTheProgramsOwn) {
  const std::string head = "\t.section\t.text._ZNSt1aC2Ev,\"axG\",@progbits,_ZNSt1aC5Ev";
  EXPECT_EQ(as_checked(head + ",comdat\n\t.weak\t_ZNSt1aC2Ev\n_ZNSt1aC2Ev:\n\tcall\t_ZNSt1bEv@PLT\n"
                              "\t.text\n\tcall\t_ZNSt1aC2Ev\n\t.string\t\"_ZNSt1aC2Ev\"\n"),
            head +
                ".checked,comdat\n\t.weak\t_ZNSt1aC2Ev.checked\n_ZNSt1aC2Ev.checked:\n"
                "\tcall\t_ZNSt1bEv@PLT\n\t.text\n\tcall\t_ZNSt1aC2Ev.checked\n"
                "\t.string\t\"_ZNSt1aC2Ev\"\n");
  const std::string of_program =
      "\t.section\t.text._Z1fv,\"axG\",@progbits,_Z1fv,comdat\n\t.weak\t_Z1fv\n_Z1fv:\n";
  EXPECT_EQ(as_checked(of_program), of_program);
  const std::string variable = "\t.weak\t_ZNSt1a1bE\n_ZNSt1a1bE:\n";
  EXPECT_EQ(as_checked(variable), variable);
}

TEST(Assembly, OrderMattersWhereAResultIsUsedOrAValuePolled) {
  EXPECT_FALSE(keeps_order("\tcall\t__tsan_read4@PLT\n\tcall\t__tsan_write4@PLT\n"));
  for (const char* line : {"# tessera_keeps_order\n", "\tcall\t__tsan_volatile_read4@PLT\n",
                           "\tcall\t__tsan_unaligned_volatile_write8@PLT\n",
                           "\tcall\t__tsan_atomic32_fetch_add@PLT\n"})
    EXPECT_TRUE(keeps_order(line)) << line;
}

}  // namespace tessera::plain_cuda
