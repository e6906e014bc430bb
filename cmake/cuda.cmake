# The CUDA engine and the kernels for GPUs: built with TESSERA_CUDA=ON. Without it src/cuda/absent.cpp stands for all of it, so
# that every other file is the same in both builds.
if(TESSERA_CUDA)
  # Hosts without nvcc on the PATH usually have it here.
  if(NOT DEFINED CMAKE_CUDA_COMPILER)
    find_program(TESSERA_NVCC nvcc HINTS /usr/local/cuda/bin)
    if(TESSERA_NVCC)
      set(CMAKE_CUDA_COMPILER ${TESSERA_NVCC})
    endif()
  endif()
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "TESSERA_CUDA=ON, but nvcc was not found: install the CUDA toolkit 13, put nvcc on the PATH or give "
                        "-DCMAKE_CUDA_COMPILER=")
  endif()
  # sm_80 and what follows it through PTX; sm_90a has instructions of its own, which PTX cannot carry to other GPUs.
  set(CMAKE_CUDA_ARCHITECTURES "80;90a-real")
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # it is part of our library, see below
  enable_language(CUDA)
  find_package(CUDAToolkit 13 REQUIRED)
  # C++20 by hand: CMake 3.25 does not know that nvcc has it. As for the CPU, the compiler makes no multiply-add of its own.
  # Machine code takes an eighth of the space so; the driver unpacks what it loads.
  set(TESSERA_NVCC_FLAGS -std=c++20 --expt-relaxed-constexpr -fmad=false --threads=2 --compress-mode=size)
  # No kernel that ships spills registers or keeps anything in local memory.
  if(TESSERA_WERROR)
    list(APPEND TESSERA_NVCC_FLAGS -Xptxas=-warn-spills,-warn-lmem-usage,-Werror)
  endif()
endif()

# From a list of sources takes those of the other kind of build.
function(tessera_choose_cuda_sources sources)
  if(TESSERA_CUDA)
    list(FILTER ${sources} EXCLUDE REGEX "/src/cuda/absent.cpp$")
    file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/matmul/cuda_*.cu)
    list(APPEND ${sources} ${kernels})
  else()
    list(FILTER ${sources} EXCLUDE REGEX "/src/cuda/(errors|devices|memory|on_device|stream|tensor_map).cpp$")
  endif()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()

# The runtime is one object file that loads the driver when it is first asked: a program starts without either. It becomes part
# of the library, so that a program that links the library needs nothing else, with CUDA or without. Only the files that call
# it see its headers.
function(tessera_link_cuda target)
  if(NOT TESSERA_CUDA)
    return()
  endif()
  set_source_files_properties(src/matmul/cuda_ladder.cpp PROPERTIES COMPILE_DEFINITIONS TESSERA_HAS_CUDA=1)
  list(GET CUDAToolkit_INCLUDE_DIRS 0 headers)
  file(GLOB callers ${PROJECT_SOURCE_DIR}/src/cuda/*.cpp)
  set_source_files_properties(${callers} PROPERTIES COMPILE_OPTIONS "-isystem${headers}")
  set(folder ${PROJECT_BINARY_DIR}/cuda_runtime)
  file(MAKE_DIRECTORY ${folder})
  execute_process(COMMAND ${CMAKE_AR} x ${CUDA_cudart_static_LIBRARY} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB runtime ${folder}/*.o)
  target_sources(${target} PRIVATE ${runtime})
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${TESSERA_NVCC_FLAGS}>")
  # What every kernel became stays in machine_code, where tests and scripts/ladder.py read it.
  set(launcher ${PROJECT_SOURCE_DIR}/cmake/keep_machine_code.sh ${PROJECT_BINARY_DIR}/machine_code ${CMAKE_CUDA_COMPILER_LAUNCHER})
  set_property(TARGET ${target} PROPERTY CUDA_COMPILER_LAUNCHER ${launcher})
endfunction()
