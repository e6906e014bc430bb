# Programs that need only the C library of a machine: all other libraries are inside. `scripts/gpu pack` copies them to machines
# with a GPU, where nothing can be installed. They consist of the objects of the usual programs.
find_library(TESSERA_STATIC_BOOST_CONTEXT libboost_context.a)
find_library(TESSERA_STATIC_ZLIB libz.a)
set(TESSERA_PACKED OFF)
if(TESSERA_CUDA AND PROJECT_IS_TOP_LEVEL AND NOT BUILD_SHARED_LIBS AND NOT CMAKE_UNITY_BUILD AND NOT TESSERA_ONLY_COURSE)
  if(TESSERA_STATIC_BOOST_CONTEXT AND TESSERA_STATIC_ZLIB)
    set(TESSERA_PACKED ON)
    add_custom_target(packed)
  else()
    add_custom_target(packed COMMAND ${CMAKE_COMMAND} -E echo "The packed programs need libboost_context.a and libz.a" COMMAND ${CMAKE_COMMAND} -E false)
  endif()
endif()

# tessera_pack(PROGRAM libraries...): build/<preset>/packed/PROGRAM. Uncalled functions are removed, since parts of the C++
# library need a newer C library than that of Ubuntu 22.04.
function(tessera_pack program)
  if(NOT TESSERA_PACKED)
    return()
  endif()
  add_executable(${program}_packed $<TARGET_OBJECTS:${program}>)
  set_target_properties(${program}_packed PROPERTIES OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/packed)
  target_compile_features(${program}_packed PRIVATE cxx_std_20)
  target_include_directories(${program}_packed PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  add_dependencies(${program}_packed tessera_library)
  add_dependencies(packed ${program}_packed)
  target_link_libraries(${program}_packed PRIVATE ${ARGN} $<TARGET_FILE:tessera_library> ${TESSERA_STATIC_BOOST_CONTEXT} ${TESSERA_STATIC_ZLIB}
                        Threads::Threads ${CMAKE_DL_LIBS} tessera_warnings
                        -static-libstdc++ -static-libgcc -Wl,--gc-sections)
endfunction()

# The command, from its components. Distributions ship fmt as headers or as a shared library, so it is compiled from its headers
# here.
function(tessera_pack_command)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  tessera_pack(tessera ${archives})
  if(TARGET tessera_packed)
    add_dependencies(tessera_packed ${ARGN})
    target_sources(tessera_packed PRIVATE ${PROJECT_SOURCE_DIR}/src/cli/fmt_packed.cpp)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cli/fmt_packed.cpp PROPERTIES COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
    target_include_directories(tessera_packed PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
endfunction()
