# The Python package tessera: the module tessera._core (src/python) beside the files of python/tessera. `pip install .` builds
# it through pyproject.toml; the project's own build puts the package into ${PROJECT_BINARY_DIR}/python, where the tests find it.
if(NOT PROJECT_IS_TOP_LEVEL)
  set(TESSERA_PYTHON_MODULE OFF)
endif()
set(TESSERA_PYTHON_MODULE AUTO CACHE STRING "Build the Python module: AUTO (where Python's headers and nanobind are found), ON, OFF")
set_property(CACHE TESSERA_PYTHON_MODULE PROPERTY STRINGS AUTO ON OFF)
if(TESSERA_PYTHON_MODULE STREQUAL "OFF")
  return()
endif()

# NumPy belongs to the system's Python rather than to another one on the PATH; pip says itself which Python it builds for.
if(NOT SKBUILD AND NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
if(TESSERA_PYTHON_MODULE STREQUAL "ON")
  set(required REQUIRED)
endif()
find_package(Python 3.10 ${required} COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  find_package(nanobind 3 CONFIG ${required} HINTS ${PROJECT_SOURCE_DIR}/build/python/nanobind/cmake)
endif()
if(NOT Python_FOUND OR NOT nanobind_FOUND)
  message(STATUS "The Python module is not built: it needs python3-dev, and nanobind 3 in build/python (scripts/setup puts it there)")
  return()
endif()

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/*.cpp)
nanobind_add_module(tessera_python NB_STATIC NOMINSIZE PROTECT_STACK NB_SUPPRESS_WARNINGS ${python_sources})
target_include_directories(tessera_python PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(tessera_python PRIVATE tessera_core tessera_warnings)
set_target_properties(tessera_python PROPERTIES OUTPUT_NAME _core INSTALL_RPATH "$ORIGIN/lib"
                      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/tessera)

# The package as it will be installed, by links: what is edited is what runs.
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
     ${PROJECT_SOURCE_DIR}/python/tessera/*.py ${PROJECT_SOURCE_DIR}/python/tessera/*.pyi ${PROJECT_SOURCE_DIR}/python/tessera/py.typed)
foreach(file ${python_files})
  get_filename_component(folder ${PROJECT_BINARY_DIR}/python/${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/${file} ${PROJECT_BINARY_DIR}/python/${file} SYMBOLIC)
endforeach()
if(TARGET tessera)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/tessera/bin)
  file(CREATE_LINK ${PROJECT_BINARY_DIR}/bin/tessera ${PROJECT_BINARY_DIR}/python/tessera/bin/tessera SYMBOLIC)
endif()

# What goes into the wheel beside the files of python/tessera: module, library, command, the headers that `tessera check FILE.cpp`
# compiles against, and the course. `cmake --install BUILD --component python` lays it out without pip.
if(SKBUILD)
  set_target_properties(tessera_core PROPERTIES NO_SONAME ON VERSION "" SOVERSION "")
  set_target_properties(tessera PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
endif()
set(in_wheel COMPONENT python EXCLUDE_FROM_ALL)
install(TARGETS tessera_python LIBRARY DESTINATION tessera ${in_wheel})
install(TARGETS tessera_core LIBRARY DESTINATION tessera/lib ${in_wheel} ARCHIVE DESTINATION tessera/lib ${in_wheel})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include DESTINATION tessera ${in_wheel} FILES_MATCHING PATTERN "*.hpp")
if(TARGET tessera)
  install(TARGETS tessera RUNTIME DESTINATION tessera/bin ${in_wheel})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/course DESTINATION tessera/share/tessera ${in_wheel})
endif()
