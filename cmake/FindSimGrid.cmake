# Finds SimGrid 3.32 or newer 3.x as Debian's libsimgrid-dev installs it, or under SimGrid_PATH.
find_path(SimGrid_INCLUDE_DIR simgrid/s4u.hpp HINTS ${SimGrid_PATH}/include ENV SimGrid_PATH PATH_SUFFIXES include)
find_library(SimGrid_LIBRARY simgrid HINTS ${SimGrid_PATH}/lib ENV SimGrid_PATH PATH_SUFFIXES lib)
if(SimGrid_INCLUDE_DIR)
  file(STRINGS ${SimGrid_INCLUDE_DIR}/simgrid/version.h defined REGEX "define SIMGRID_VERSION_(MAJOR|MINOR|PATCH) ")
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+).*" "\\1.\\2.\\3" SimGrid_VERSION "${defined}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SimGrid REQUIRED_VARS SimGrid_LIBRARY SimGrid_INCLUDE_DIR VERSION_VAR SimGrid_VERSION)
if(SimGrid_FOUND AND NOT TARGET SimGrid::SimGrid)
  add_library(SimGrid::SimGrid UNKNOWN IMPORTED)
  set_target_properties(SimGrid::SimGrid PROPERTIES
    IMPORTED_LOCATION ${SimGrid_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${SimGrid_INCLUDE_DIR}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${SimGrid_INCLUDE_DIR})
endif()
