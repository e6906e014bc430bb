# The BLAS: its functions are called from C++, the library is loaded into other programs from Python.
add_component_test(blas 1 tessera_blas tessera::core)
file(GLOB reference_blas /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/blas/libblas.so.3)
target_compile_definitions(blas_test PRIVATE TESSERA_REFERENCE_BLAS="${reference_blas}")
find_package(OpenMP COMPONENTS CXX)
if(OpenMP_CXX_FOUND)
  set_source_files_properties(blas/openmp_test.cpp PROPERTIES COMPILE_OPTIONS "${OpenMP_CXX_FLAGS}" SKIP_PRECOMPILE_HEADERS ON)
  target_link_libraries(blas_test PRIVATE ${OpenMP_CXX_LIBRARIES})
endif()
# It declares functions of Fortran as C does, without the lengths of strings.
set_source_files_properties(blas/errors_test.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_dependencies(blas_test tessera_libblas)

# The same products when nothing can be allocated.
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_library(blas_no_memory MODULE blas/no_memory.cpp)
  add_dependencies(blas_test blas_no_memory)
  add_case_test(blas.no_memory blas_test --gtest_filter=BlasGemm/*:BlasBatch/*)
  set_property(TEST blas.no_memory APPEND PROPERTY ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:blas_no_memory>")
endif()

foreach(file netlib library forward programs suites switch)
  add_case_test(blas.${file} ${TESSERA_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/blas/${file}_test.py --build ${PROJECT_BINARY_DIR})
endforeach()
set_property(TEST blas.suites PROPERTY LABELS long)
