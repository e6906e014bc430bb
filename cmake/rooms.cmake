# tessera_add_room(NAME [LIBRARIES ...] [OPTIMIZED ...] [EXCEPT ...]): src/NAME as the static library tessera_NAME, whose headers other
# rooms include as "NAME/header.hpp". OPTIMIZED names the sources that measure or go over elements; the others, text and options, are
# compiled with -Og, which takes half of the time of -O3. EXCEPT names the sources that are left out.
function(tessera_add_room name)
  cmake_parse_arguments(room "" "" "LIBRARIES;OPTIMIZED;EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  list(REMOVE_ITEM sources ${room_EXCEPT})
  add_library(tessera_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(tessera_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 35)  # parsing CLI11 and JSON takes longer than the rest
  target_compile_options(tessera_${name} PRIVATE $<$<CONFIG:Release>:-Og>)
  set_source_files_properties(${room_OPTIMIZED} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(tessera_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tessera_${name} PUBLIC ${room_LIBRARIES} tessera::core CLI11::CLI11 fmt::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS}
                        PRIVATE tessera_warnings)
endfunction()
