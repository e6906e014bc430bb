// The entry points of the functions in forwarded.inc. Each is a jump through its slot in
// tessera_blas_slots; an empty slot first goes to tessera_blas_find (forward.cpp) with all
// registers that can hold arguments kept. So arguments and results of any type pass unchanged.
// Includes nothing, so that __COUNTER__ numbers the names from 0.

#define TESSERA_TEXT(x) TESSERA_TEXT_OF(x)
#define TESSERA_TEXT_OF(x) #x

#if defined(__x86_64__)

asm(R"(
  .text
  .p2align 4
  .type tessera_blas_resolve, @function
tessera_blas_resolve:
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  andq $-16, %rsp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movq %r10, 56(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movl %r11d, %edi
  call tessera_blas_find
  movq %rax, %r11
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movq 56(%rsp), %r10
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
  .cfi_endproc
  .size tessera_blas_resolve, .-tessera_blas_resolve
)");

#define TESSERA_STUB(name, number)                                       \
  asm(".p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name \
      ":\n"                                                              \
      "  .cfi_startproc\n"                                               \
      "  endbr64\n"                                                      \
      "  movq tessera_blas_slots+8*" number                              \
      "(%rip), %r11\n"                                                   \
      "  testq %r11, %r11\n"                                             \
      "  je 1f\n"                                                        \
      "  jmp *%r11\n"                                                    \
      "1: movl $" number                                                 \
      ", %r11d\n"                                                        \
      "  jmp tessera_blas_resolve\n"                                     \
      "  .cfi_endproc\n.size " #name ", .-" #name "\n");

#elif defined(__aarch64__)

asm(R"(
  .text
  .p2align 4
  .type tessera_blas_resolve, %function
tessera_blas_resolve:
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov w0, w17
  bl tessera_blas_find
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa sp, 0
  br x16
  .cfi_endproc
  .size tessera_blas_resolve, .-tessera_blas_resolve
)");

#define TESSERA_STUB(name, number)                                       \
  asm(".p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name \
      ":\n"                                                              \
      "  .cfi_startproc\n"                                               \
      "  hint #34\n"                                                     \
      "  adrp x16, tessera_blas_slots+8*" number                         \
      "\n"                                                               \
      "  ldr x16, [x16, #:lo12:tessera_blas_slots+8*" number             \
      "]\n"                                                              \
      "  mov w17, #" number                                              \
      "\n"                                                               \
      "  cbz x16, 1f\n"                                                  \
      "  br x16\n"                                                       \
      "1: b tessera_blas_resolve\n"                                      \
      "  .cfi_endproc\n.size " #name ", .-" #name "\n");

#else
#error "The forwarding entry points are written for x86-64 and AArch64"
#endif

#define TESSERA_FORWARD(name) TESSERA_STUB(name, TESSERA_TEXT(__COUNTER__))
#include "forwarded.inc"
