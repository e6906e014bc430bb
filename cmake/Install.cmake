# What `cmake --install` installs: the library, its headers, the command, the CMake package and the pkg-config file. Both packages
# compute their prefix from their own location, so that an installed tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)

install(TARGETS tessera_library EXPORT TesseraTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
if(TARGET tessera)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/course DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)
  set_target_properties(tessera PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS tessera RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(NOT TESSERA_ONLY_COURSE)
    # The headers that programs in plain CUDA include, some without an extension, and the library that they link to.
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera/plain_cuda DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
    install(TARGETS tessera_cuda_runtime ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/tessera-check-kernels DESTINATION ${CMAKE_INSTALL_BINDIR})
    configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TesseraCudaCheck.cmake.in ${PROJECT_BINARY_DIR}/TesseraCudaCheck.cmake
                                  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_BINDIR
                                  NO_CHECK_REQUIRED_COMPONENTS_MACRO NO_SET_AND_CHECK_MACRO)
    install(FILES ${PROJECT_BINARY_DIR}/TesseraCudaCheck.cmake DESTINATION ${package_dir})
  endif()
endif()

if(TARGET tessera_gpu_code_tool)
  set_target_properties(tessera_gpu_code_tool PROPERTIES EXPORT_NAME gpu_code_tool)
  install(TARGETS tessera_gpu_code_tool EXPORT TesseraTargets RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/tessera)
endif()
install(EXPORT TesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/TesseraConfig.cmake.in ${PROJECT_BINARY_DIR}/TesseraConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TesseraFlags.cmake ${PROJECT_SOURCE_DIR}/cmake/TesseraKernels.cmake ${PROJECT_SOURCE_DIR}/cmake/TesseraGpuCode.cmake
        ${PROJECT_SOURCE_DIR}/cmake/TesseraPrivateSymbols.cmake
        DESTINATION ${package_dir})

# From <prefix>/<libdir>/pkgconfig up to <prefix>: one step more if the libdir has two parts (lib/x86_64-linux-gnu).
file(RELATIVE_PATH TESSERA_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TESSERA_PC_UP "${TESSERA_PC_UP}")
# What only users of the static library must link to; the shared one depends on it itself.
if(BUILD_SHARED_LIBS)
  set(TESSERA_PC_REQUIRES "Requires.private: zlib")
  set(TESSERA_PC_LIBS "Libs.private: -lboost_context -pthread -ldl")
  set(TESSERA_PC_PUBLIC_LIBS "")
else()
  set(TESSERA_PC_REQUIRES "Requires: zlib")
  set(TESSERA_PC_LIBS "Libs.private:")
  set(TESSERA_PC_PUBLIC_LIBS " -lboost_context -pthread -ldl")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/tessera.pc.in ${PROJECT_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
