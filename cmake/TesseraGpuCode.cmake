# Kernels for OpenCL devices (SPIR, and SPIR-V where llvm-spirv is), compiled by Clang and embedded: for the library's own kernels, and for
# tessera_add_kernels(). Without Clang nothing is built for them.
find_program(TESSERA_CLANG NAMES clang++-14 clang++ DOC "Clang 14 or later, which compiles kernels for OpenCL")
find_program(TESSERA_LLVM_SPIRV NAMES llvm-spirv-14 llvm-spirv DOC "llvm-spirv of the same LLVM, for drivers that read SPIR-V")

set(TESSERA_AMD_TARGETS "" CACHE STRING "AMD GPUs to compile kernels for, such as gfx90a,gfx1030; needs lld")

# tessera_gpu_code(OUTPUT.cpp NAME SOURCE [FLAG...]): the rule for a C++ file with the GPU code of SOURCE, as the GpuModule NAME, or, for -,
# as one that a program knows that links the file.
function(tessera_gpu_code output name source)
  set(made ${output}.spir)
  set(spirv -)
  if(TESSERA_LLVM_SPIRV)
    set(spirv ${TESSERA_LLVM_SPIRV})
    list(APPEND made ${output}.spirv)
  endif()
  string(REGEX REPLACE "[;, ]+" "," targets "spir,${TESSERA_AMD_TARGETS}")
  string(REGEX REPLACE ",$" "" targets ${targets})
  add_custom_command(OUTPUT ${output} BYPRODUCTS ${made} DEPENDS ${source} $<TARGET_FILE:tessera::gpu_code_tool>
                     DEPFILE ${output}.d COMMAND_EXPAND_LISTS VERBATIM COMMENT "Building GPU code of ${source}"
                     COMMAND tessera::gpu_code_tool ${output} ${name} ${source} ${TESSERA_CLANG} ${spirv} ${targets}
                             -MD -MF ${output}.d -MT ${output} ${ARGN})
endfunction()
