# libtessera_blas: our matrix products under the names of a BLAS, every other BLAS function passed on. It stands alone: of the
# project it holds the packed path, of the C++ library what that needs, so that it can be loaded into any program.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64")
  message(STATUS "libtessera_blas is not built: its entry points are written for x86-64 and AArch64")
  return()
endif()

file(GLOB blas_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/blas/*.cpp)
add_library(tessera_blas_objects OBJECT ${blas_sources})
set_target_properties(tessera_blas_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)
target_compile_features(tessera_blas_objects PRIVATE cxx_std_20)
target_compile_options(tessera_blas_objects PRIVATE -ffp-contract=off)
target_include_directories(tessera_blas_objects PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tessera_blas_objects PRIVATE tessera_warnings)
set(system_folder /usr/lib64)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(system_folder /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
target_compile_definitions(tessera_blas_objects PRIVATE TESSERA_BLAS_SYSTEM_FOLDER="${system_folder}")

# What is exported, and nothing else.
file(READ ${PROJECT_SOURCE_DIR}/src/blas/forwarded.inc forwarded)
string(REGEX MATCHALL "\nTESSERA_(FORTRAN|C)\\([a-z0-9_]+\\)" forwarded "${forwarded}")
string(REGEX REPLACE "\nTESSERA_FORTRAN\\(([a-z0-9_]+)\\)" "  \\1_; \\1_64_" forwarded "${forwarded}")
string(REGEX REPLACE "\nTESSERA_C\\(([a-z0-9_]+)\\)" "  cblas_\\1; cblas_\\1_64; cblas_\\164_" forwarded "${forwarded}")
string(REPLACE ";" ";\n" forwarded "${forwarded};")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/blas/forwarded.inc)
set(exports ${PROJECT_BINARY_DIR}/tessera_blas.map)
file(CONFIGURE OUTPUT ${exports} CONTENT "{
global:
  [sdcz]gemm_; [sdcz]gemm_64_; [sdcz]gemm_batch*_; cblas_[sdcz]gemm; cblas_[sdcz]gemm_64; cblas_[sdcz]gemm64_;
  cblas_[sdcz]gemm_batch*; [sdcz]gemmt*_; cblas_[sdcz]gemmt*; scipy_[sdcz]gemm_*; scipy_cblas_[sdcz]gemm*;
  xerbla_; xerbla_64_; cblas_xerbla; cblas_xerbla_64; RowMajorStrg; CBLAS_CallFromC;
  tessera_get_*; tessera_set_*;
@forwarded@
local: *;
};
" @ONLY)

# add_blas(TARGET): the library, once under its own name and once as the libblas.so.3 that programs ask for.
function(add_blas target)
  add_library(${target} SHARED $<TARGET_OBJECTS:tessera_blas_objects> $<TARGET_OBJECTS:tessera_engine>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${exports})
  target_link_libraries(${target} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # nodelete: threads of the library may be asleep in it. Symbols are not bound inside, so that xerbla_ can be replaced. Two
  # C++ libraries of different age in one program do no harm when this one has its own.
  target_link_options(${target} PRIVATE -Wl,-z,nodelete -Wl,--version-script=${exports} -Wl,--as-needed
                      -static-libstdc++ -static-libgcc)
endfunction()

add_blas(tessera_blas)
add_library(tessera::blas ALIAS tessera_blas)
set_target_properties(tessera_blas PROPERTIES EXPORT_NAME blas VERSION ${PROJECT_VERSION} SOVERSION 0)
target_include_directories(tessera_blas INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

add_blas(tessera_libblas)
set_target_properties(tessera_libblas PROPERTIES OUTPUT_NAME blas SOVERSION 3 NO_SONAME OFF
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tessera-blas)

# The command that switches: finds the libraries from its own place.
file(RELATIVE_PATH TESSERA_LIBDIR_FROM_BIN ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
configure_file(${PROJECT_SOURCE_DIR}/scripts/tessera-blas ${PROJECT_BINARY_DIR}/bin/tessera-blas @ONLY)

if(TESSERA_INSTALL)
  # Apart from tessera::core: a program in C needs none of what that is linked to.
  install(TARGETS tessera_blas EXPORT TesseraBlasTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT TesseraBlasTargets NAMESPACE tessera:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
  install(TARGETS tessera_libblas LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tessera-blas)
  install(FILES ${PROJECT_SOURCE_DIR}/include/tessera/blas.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
  file(RELATIVE_PATH TESSERA_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" TESSERA_PC_UP "${TESSERA_PC_UP}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tessera_blas.pc.in ${PROJECT_BINARY_DIR}/tessera_blas.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tessera_blas.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/tessera-blas DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
