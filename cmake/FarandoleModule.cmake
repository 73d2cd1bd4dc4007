# Parts that need a library which is not on every machine (sim/config/modules.hpp).
#
# farandole_module(NAME SOURCES files... [OBJECTS objects...] [FIRST libraries...] LINKS targets...) makes
# build/PRESET/modules/farandole_NAME.so. Of our own archives it gets copies of what it needs; only its C functions are
# seen from outside. FIRST are libraries whose functions must be found before SimGrid's of the same names.
set(FARANDOLE_MODULES "" CACHE INTERNAL "The modules that are built")

function(farandole_module NAME)
  cmake_parse_arguments(MODULE "" "" "SOURCES;OBJECTS;FIRST;LINKS" ${ARGN})
  list(FILTER MODULE_FIRST EXCLUDE REGEX "mpi_cxx")  # Open MPI's old C++ interface, which nothing here uses
  add_library(farandole_${NAME} MODULE ${MODULE_OBJECTS})
  farandole_units(farandole_${NAME} 10 SOURCES ${MODULE_SOURCES})
  target_link_options(farandole_${NAME} PRIVATE LINKER:--no-as-needed ${MODULE_FIRST} LINKER:--as-needed
                      LINKER:--exclude-libs,ALL LINKER:--gc-sections)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # whose functions are the program's
    target_link_options(farandole_${NAME} PRIVATE LINKER:--no-undefined)
  endif()
  target_link_libraries(farandole_${NAME} PRIVATE farandole_options ${MODULE_LINKS})
  set_target_properties(farandole_${NAME} PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/modules
                        INSTALL_RPATH_USE_LINK_PATH ON)
  set(FARANDOLE_MODULES ${FARANDOLE_MODULES} farandole_${NAME} CACHE INTERNAL "The modules that are built")
endfunction()
