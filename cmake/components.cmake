# The components: each folder of src has its own CMakeLists.txt with its libraries and its special options. src/NAME becomes
# the static library tessera_NAME; others include its private headers as "NAME/header.hpp".

# Text, options and pictures need no optimisation, but with -O3 they would take half of the time of a build; -Og compiles faster
# than -O1, to less code (GCC 12). A wheel takes -Os, which compiles longer, to less code still.
set(TESSERA_QUICKLY_COMPILED "$<$<CONFIG:Release>:-Og>" CACHE STRING "Compiler options of text, options and pictures")
mark_as_advanced(TESSERA_QUICKLY_COMPILED)

# Of two files compiled as one, neither is included by others.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tessera_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# tessera_compile_together(TARGET [TIMES]): TESSERA_UNITY_BATCH files at a time, or TIMES as many. The headers of command line, JSON and tests take
# longer than most files.
function(tessera_compile_together target)
  if(TESSERA_UNITY_BATCH GREATER 1)
    set(times 1 ${ARGN})
    list(GET times -1 times)
    math(EXPR batch "${TESSERA_UNITY_BATCH} * ${times}")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# tessera_sources(VARIABLE): the sources of this folder and of its sub-folders, but of those with a CMakeLists.txt of their own.
function(tessera_sources variable)
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp */*.cpp)
  file(GLOB apart RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} */CMakeLists.txt)
  foreach(file ${apart})
    string(REPLACE CMakeLists.txt "" folder ${file})
    list(FILTER sources EXCLUDE REGEX "^${folder}")
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# tessera_add_component(NAME [TEXT] [TOGETHER] [LINK ...] [OPTIMIZED ...] [EXCEPT ...] [NOT_IN_COURSE ...] [ALSO ...] [ONLY ...]): the
# tessera_sources() of the folder but for EXCEPT, and ALSO others; or ONLY these. A component of TEXT is compiled quickly, many files at a time, but
# for OPTIMIZED: the sources that measure or go over elements; of ./demo these too. TOGETHER: many files at a time, fully optimised. The build of the course has
# no NOT_IN_COURSE; others compile these apart, so that what is left is the same objects in both (tests/cli/course_build_test.py).
function(tessera_add_component name)
  cmake_parse_arguments(component "TEXT;TOGETHER" "" "LINK;OPTIMIZED;EXCEPT;NOT_IN_COURSE;ALSO;ONLY" ${ARGN})
  if(TESSERA_ONLY_COURSE)
    list(APPEND component_EXCEPT ${component_NOT_IN_COURSE})
  elseif(TESSERA_UNITY_BATCH GREATER 1)
    set_source_files_properties(${component_NOT_IN_COURSE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(TESSERA_ONLY_DEMO)
    set(component_OPTIMIZED "")
  endif()
  list(REMOVE_ITEM component_OPTIMIZED ${component_EXCEPT})
  set(sources ${component_ONLY})
  if(NOT component_ONLY)
    tessera_sources(sources)
    list(REMOVE_ITEM sources ${component_EXCEPT} ${component_OPTIMIZED})
    list(APPEND sources ${component_ALSO})
  endif()
  set(parts tessera_${name})
  if(component_OPTIMIZED)
    add_library(tessera_${name}_optimized OBJECT EXCLUDE_FROM_ALL ${component_OPTIMIZED})
    list(APPEND parts tessera_${name}_optimized)
    list(APPEND sources $<TARGET_OBJECTS:tessera_${name}_optimized>)
  endif()
  add_library(tessera_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  if(component_TEXT)
    target_compile_options(tessera_${name} PRIVATE ${TESSERA_QUICKLY_COMPILED})
  elseif(TESSERA_ONLY_DEMO AND NOT name MATCHES "^(cpu|matmul|simt)$")  # what ./demo measures
    target_compile_options(tessera_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(component_TEXT OR component_TOGETHER)
    tessera_compile_together(tessera_${name} 2)  # private names are unique in a component: tests/house/private_names_test.py
  endif()
  foreach(part ${parts})
    set_target_properties(${part} PROPERTIES LINKER_LANGUAGE CXX)
    if(CMAKE_UNITY_BUILD)
      set_target_properties(${part} PROPERTIES UNITY_BUILD_BATCH_SIZE 35)
    endif()
    target_compile_features(${part} PUBLIC cxx_std_20)
    target_include_directories(${part} PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${part} PUBLIC ${component_LINK} PRIVATE tessera_warnings)
  endforeach()
  set(TESSERA_PARTS ${parts} PARENT_SCOPE)
endfunction()

# tessera_add_library_component(NAME [UNPROBED] ...): a component whose objects are part of the library. Every multiply-add is written out as fma(),
# so that all kernels round alike; the compiler must not add its own. UNPROBED: what never runs as a thread of a kernel.
function(tessera_add_library_component name)
  cmake_parse_arguments(component "UNPROBED" "" "" ${ARGN})
  tessera_add_component(${name} ${component_UNPARSED_ARGUMENTS})
  foreach(part ${TESSERA_PARTS})
    set_target_properties(${part} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${part} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
    if(NOT component_UNPROBED)
      target_compile_options(${part} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${TESSERA_STACK_PROBES}>)
    endif()
    set_property(GLOBAL APPEND PROPERTY TESSERA_LIBRARY_OBJECTS $<TARGET_OBJECTS:${part}>)
  endforeach()
  set(TESSERA_PARTS ${TESSERA_PARTS} PARENT_SCOPE)
endfunction()

# tessera_add_command_component(NAME ...): a component of the command: text, on top of the whole library.
function(tessera_add_command_component name)
  tessera_add_component(${name} TEXT ${ARGN})
  foreach(part ${TESSERA_PARTS})
    tessera_compile_together(${part} 2)
    target_link_libraries(${part} PUBLIC tessera::core CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
  endforeach()
  set(TESSERA_PARTS ${TESSERA_PARTS} PARENT_SCOPE)
endfunction()
