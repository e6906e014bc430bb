# tessera_add_kernels(TARGET FILE.cpp...): builds the kernels that these files of the target pass to run()
# (tessera/device/device.hpp) for every device that the machine's compilers support. Each file is compiled again: with each access
# recorded, for `checked`; by Clang, if it is there, for `opencl:N`; and by nvcc, for `cuda:N`, if the project has enabled the language
# CUDA and Tessera was built with it.
#
# Of such an object only its kernels' registration, which runs before main(), is needed. All its functions and variables become
# private, so that a file may have main() and kernels, and no symbol collides with the same headers compiled in another pass.
include(${CMAKE_CURRENT_LIST_DIR}/TesseraFlags.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/TesseraGpuCode.cmake)
set(TESSERA_KERNELS_NVCC_OPTIONS -std=c++20 --expt-relaxed-constexpr -fmad=false)

function(tessera_add_kernels target)
  if(NOT TARGET ${target} OR NOT ARGN)
    message(FATAL_ERROR "tessera_add_kernels(${target} ${ARGN}): expected a target, then its files with kernels")
  endif()
  get_target_property(with_cuda tessera::core TESSERA_WITH_CUDA)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    if(NOT EXISTS ${file})
      message(FATAL_ERROR "tessera_add_kernels(${target}): there is no file ${file}")
    endif()
    string(MD5 name ${file})
    string(SUBSTRING ${name} 0 8 name)
    cmake_path(GET file STEM stem)
    set(name ${target}_${stem}_${name})
    tessera_add_kernel_pass(${target} ${name}_checked ${file})
    target_compile_options(${name}_checked PRIVATE ${TESSERA_CHECK_OPTIONS} $<$<CONFIG:Release>:-O1>)
    if(TESSERA_CLANG AND TARGET tessera::gpu_code_tool)
      set(gpu_code ${CMAKE_CURRENT_BINARY_DIR}/${name}_gpu.cpp)
      set(folders $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
      set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
      tessera_gpu_code(${gpu_code} - ${file} "$<$<BOOL:${folders}>:-I$<JOIN:${folders},$<SEMICOLON>-I>>"
                       "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},$<SEMICOLON>-D>>")
      target_sources(${target} PRIVATE ${gpu_code})
      set_source_files_properties(${gpu_code} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    endif()
    if(CMAKE_CUDA_COMPILER AND with_cuda)
      file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu CONTENT "#include \"${file}\"\n" @ONLY)
      tessera_add_kernel_pass(${target} ${name}_cuda ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu)
      target_compile_options(${name}_cuda PRIVATE ${TESSERA_KERNELS_NVCC_OPTIONS})
      target_include_directories(${name}_cuda PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
      set_target_properties(${name}_cuda PROPERTIES CUDA_RUNTIME_LIBRARY None)  # tessera::core has it
    endif()
  endforeach()
endfunction()

# Compiles one file of the target again as PASS, with the target's options, and links it to the target.
function(tessera_add_kernel_pass target pass file)
  add_library(${pass} OBJECT ${file})
  set_target_properties(${pass} PROPERTIES UNITY_BUILD OFF INTERPROCEDURAL_OPTIMIZATION OFF DISABLE_PRECOMPILE_HEADERS ON)
  foreach(kind IN ITEMS INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS COMPILE_FEATURES)
    set_property(TARGET ${pass} PROPERTY ${kind} $<TARGET_PROPERTY:${target},${kind}>)
  endforeach()
  target_link_libraries(${pass} PRIVATE tessera::core)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # its unique symbols cannot be made private
    target_compile_options(${pass} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-fno-gnu-unique>)
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${pass}.kernels.o)
  add_custom_command(OUTPUT ${object} DEPENDS ${pass} $<TARGET_OBJECTS:${pass}> VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOBJECT=$<TARGET_OBJECTS:${pass}> -DOUTPUT=${object} -DLINKER=${CMAKE_LINKER}
                             -DOBJCOPY=${CMAKE_OBJCOPY} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/TesseraPrivateSymbols.cmake)
  target_sources(${target} PRIVATE ${object})
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endfunction()
