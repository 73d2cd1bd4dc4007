# One CMake target per room of the house (sim/README.md).
#
# farandole_room(NAME UNITS COUNT LINKS targets...) makes the static library farandole_NAME from every .cpp under the
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
  # GCC 12 sees overlapping copies in std::string's operator+ that are not there (GCC bug 105651), and reads of what an empty
  # std::optional holds (80635), depending on what else it has inlined.
  farandole_option(-Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  farandole_option(-fvect-cost-model=dynamic)  # loops over ranks: at -O2 GCC leaves those whose length it does not know as they are
  farandole_option(--param=ggc-min-heapsize=1000000)  # kB: a unit takes less, and a tenth of its time would go into collecting garbage
endif()
if(FARANDOLE_WERROR)
  farandole_option(-Werror)
endif()
# So that the same objects make the program and the Python package. In the program the linker undoes what -fPIC costs, and
# without interposition functions are inlined as usual: the code is a fifth of a percent longer than without.
farandole_option(-fPIC -fno-semantic-interposition)
# farandole_units(TARGET COUNT SOURCES files... [ALONE files...] [OPTION option]) compiles the files of TARGET together, COUNT at a time:
# the headers that they share are parsed once for all of them, and what they instantiate from templates is made once, which is three
# quarters of the work. COUNT is as many as compile in some 15 s, so that an edit of one costs no more. ALONE are files with definitions
# of their own, or that take as long as a unit; OPTION is for code that is not run often enough to be worth optimising (-O1).
#
# What files have in unnamed namespaces has names that are unique in a room (tests/house). Every file still compiles by itself:
# -DFARANDOLE_UNITS=OFF, and tools/lint for what has changed. CMake's own UNITY_BUILD writes absolute paths into its units, by which
# a compiler cache would know one checkout from another.
option(FARANDOLE_UNITS "Compile the files of a room several at a time" ON)
function(farandole_units TARGET COUNT)
  cmake_parse_arguments(UNIT "" "OPTION" "SOURCES;ALONE" ${ARGN})
  if(UNIT_OPTION)
    target_compile_options(${TARGET} PRIVATE $<$<CONFIG:Release>:${UNIT_OPTION}>)
  endif()
  if(NOT FARANDOLE_UNITS)
    target_sources(${TARGET} PRIVATE ${UNIT_SOURCES})
    return()
  endif()
  list(TRANSFORM UNIT_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(REMOVE_ITEM UNIT_SOURCES ${UNIT_ALONE})
  target_sources(${TARGET} PRIVATE ${UNIT_ALONE})
  set(number 0)
  while(UNIT_SOURCES)
    set(text "")
    list(SUBLIST UNIT_SOURCES 0 ${COUNT} files)
    list(REMOVE_ITEM UNIT_SOURCES ${files})
    foreach(source ${files})
      file(RELATIVE_PATH source ${PROJECT_SOURCE_DIR} ${source})
      string(REGEX REPLACE "^[^/]*/(.*)" "\\1" source ${source})  # sim/, tools/ and tests/ are where includes are looked for
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_${number}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text}" @ONLY)
    target_sources(${TARGET} PRIVATE ${unit})
    math(EXPR number "${number} + 1")
  endwhile()
endfunction()

set(FARANDOLE_ROOMS "" CACHE INTERNAL "The libraries of all rooms")

# WITHOUT: a pattern of sources that belong to modules.
function(farandole_room NAME)
  cmake_parse_arguments(ROOM "" "UNITS;OPTION;WITHOUT" "LINKS;ALONE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(ROOM_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "${ROOM_WITHOUT}")
  endif()
  add_library(farandole_${NAME} STATIC)
  farandole_units(farandole_${NAME} ${ROOM_UNITS} SOURCES ${sources} ALONE ${ROOM_ALONE} OPTION ${ROOM_OPTION})
  target_link_libraries(farandole_${NAME} PUBLIC farandole_options ${ROOM_LINKS})
  set_target_properties(farandole_${NAME} PROPERTIES EXPORT_NAME ${NAME})
  set(FARANDOLE_ROOMS ${FARANDOLE_ROOMS} farandole_${NAME} CACHE INTERNAL "The libraries of all rooms")
endfunction()
