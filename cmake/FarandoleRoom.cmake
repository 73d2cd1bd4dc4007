# One CMake target per room of the house (sim/README.md).
#
# farandole_room(NAME [LINKS targets...]) makes the static library farandole_NAME from every .cpp under the
# current folder. Rooms may link only rooms that stand above them; tests/house checks the includes.
add_library(farandole_options INTERFACE)
set_target_properties(farandole_options PROPERTIES EXPORT_NAME options)
target_include_directories(farandole_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/sim>
                                                       $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/farandole>)
target_compile_features(farandole_options INTERFACE $<INSTALL_INTERFACE:cxx_std_20>)
# Options of ours, which nobody who uses the installed libraries gets.
function(farandole_option)
  foreach(option ${ARGN})
    target_compile_options(farandole_options INTERFACE $<BUILD_INTERFACE:${option}>)
  endforeach()
endfunction()
farandole_option(-Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
  farandole_option(-Wno-restrict)
endif()
if(FARANDOLE_WERROR)
  farandole_option(-Werror)
endif()
# So that the same objects make the program and the Python package. In the program the linker undoes what -fPIC costs, and
# without interposition functions are inlined as usual: the code is a fifth of a percent longer than without.
farandole_option(-fPIC -fno-semantic-interposition)
if(CCACHE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  farandole_option(-fpch-preprocess)  # ccache wants to see which header was used
endif()

# Two thirds of a compilation used to be the parsing of the libraries' headers. farandole_parse_once(NAME OPTIONS... HEADERS...)
# makes a target that parses them once; farandole_parsed(TARGET NAME) lets TARGET start from there. Compiler options that
# change code (-O) must be the same in both. Every file still includes what it uses, so that it compiles without this too.
option(FARANDOLE_PRECOMPILED_HEADERS "Parse the libraries' headers once for all files" ON)
set(farandole_common_headers
  <algorithm> <array> <charconv> <cmath> <cstdint> <deque> <filesystem> <fstream> <functional> <iostream> <limits> <map>
  <memory> <numeric> <optional> <ranges> <set> <span> <sstream> <stdexcept> <string> <string_view> <utility> <variant>
  <vector> <fmt/format.h> <fmt/ranges.h> <Eigen/Core> <nlohmann/json.hpp>)

function(farandole_parse_once NAME)
  cmake_parse_arguments(PARSE "" "" "HEADERS;LINKS;OPTIONS" ${ARGN})
  if(NOT FARANDOLE_PRECOMPILED_HEADERS)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/${NAME}.cpp)
  if(NOT EXISTS ${source})
    file(WRITE ${source} "")
  endif()
  add_library(${NAME} OBJECT ${source})
  target_link_libraries(${NAME} PRIVATE farandole_options fmt::fmt nlohmann_json::nlohmann_json Eigen3::Eigen ${PARSE_LINKS})
  target_compile_options(${NAME} PRIVATE ${PARSE_OPTIONS})
  target_precompile_headers(${NAME} PRIVATE ${farandole_common_headers} ${PARSE_HEADERS})
endfunction()

function(farandole_parsed TARGET NAME)
  if(FARANDOLE_PRECOMPILED_HEADERS)
    target_precompile_headers(${TARGET} REUSE_FROM ${NAME})
  endif()
endfunction()

set(FARANDOLE_ROOMS "" CACHE INTERNAL "The libraries of all rooms")

function(farandole_room NAME)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(farandole_${NAME} STATIC ${sources})
    set(scope PUBLIC)
    farandole_parsed(farandole_${NAME} farandole_library_headers)
  else()
    add_library(farandole_${NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(farandole_${NAME} ${scope} farandole_options ${ROOM_LINKS})
  set_target_properties(farandole_${NAME} PROPERTIES EXPORT_NAME ${NAME})
  set(FARANDOLE_ROOMS ${FARANDOLE_ROOMS} farandole_${NAME} CACHE INTERNAL "The libraries of all rooms")
endfunction()
