# The CUDA engine and the kernels for GPUs: built with TESSERA_CUDA=ON. Without it src/cuda/absent.cpp replaces them, so that
# every other file is the same in both builds.
if(TESSERA_CUDA)
  # Machines without nvcc on the PATH usually have it here.
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
  # sm_80, and later GPUs through PTX; sm_90a has its own instructions, which PTX cannot carry to other GPUs.
  set(CMAKE_CUDA_ARCHITECTURES "80;90a-real")
  set(CMAKE_CUDA_RUNTIME_LIBRARY None)  # it is part of our library, see below
  enable_language(CUDA)
  find_package(CUDAToolkit 13 REQUIRED)
  # C++20 by hand: CMake 3.25 does not know that nvcc supports it. As on the CPU, the compiler must not contract multiply-adds.
  # Compressed machine code takes an eighth of the space; the driver unpacks what it loads.
  set(TESSERA_NVCC_FLAGS -std=c++20 --expt-relaxed-constexpr -fmad=false --threads=2 --compress-mode=size)
  # No kernel that is built in spills registers or keeps anything in local memory.
  if(TESSERA_WERROR)
    list(APPEND TESSERA_NVCC_FLAGS -Xptxas=-warn-spills,-warn-lmem-usage,-Werror)
  endif()
endif()

