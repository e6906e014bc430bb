# tessera_compile_header(TARGET HEADER options...): creates compiled_headers/HEADER.gch in the build folder, which GCC reads
# instead of the header if compiler and options are the same; otherwise it reads the header itself, which is therefore copied
# there too. HEADER is relative to include/. Does nothing with another compiler, or with a sanitizer.
function(tessera_compile_header target header)
  if(NOT TESSERA_BUILD_CLI OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR SKBUILD OR CMAKE_CXX_FLAGS MATCHES "sanitize")
    return()
  endif()
  set(here ${CMAKE_BINARY_DIR}/compiled_headers/${header})
  get_filename_component(folder ${here} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/${header} ${here} SYMBOLIC)
  # it must be newer than all of them
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/tessera/*)
  # Written to another name and renamed: a compiler that runs now reads either the old one or the new one.
  add_custom_command(
    OUTPUT ${here}.gch
    COMMAND ${CMAKE_CXX_COMPILER} ${ARGN} -w -I${PROJECT_SOURCE_DIR}/include -x c++-header ${PROJECT_SOURCE_DIR}/include/${header}
            -o ${here}.gch.new
    COMMAND ${CMAKE_COMMAND} -E rename ${here}.gch.new ${here}.gch
    DEPENDS ${headers} COMMENT "Compiling the header ${header}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${here}.gch)
endfunction()
