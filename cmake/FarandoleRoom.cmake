# One CMake target per room of the house (sim/README.md).
#
# farandole_room(NAME [LINKS targets...]) makes the static library farandole_NAME from every .cpp under the
# current folder. Rooms may link only rooms that stand above them; tests/house checks the includes.
add_library(farandole_options INTERFACE)
target_include_directories(farandole_options INTERFACE ${PROJECT_SOURCE_DIR}/sim)
target_compile_options(farandole_options INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(farandole_options INTERFACE -Wno-restrict)
endif()
if(FARANDOLE_WERROR)
  target_compile_options(farandole_options INTERFACE -Werror)
endif()

function(farandole_room NAME)
  cmake_parse_arguments(ROOM "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(farandole_${NAME} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(farandole_${NAME} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(farandole_${NAME} ${scope} farandole_options ${ROOM_LINKS})
endfunction()
