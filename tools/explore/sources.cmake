# What the simulator for web pages is compiled of, in one place: for its own build (CMakeLists.txt here), for the program's, which takes
# no module of other sources (sim/report/page/explore_assets.cmake), and for tools/explore/build.
#
#   cmake -P tools/explore/sources.cmake     prints the hash of the sources
#
# The hash is of lines of code: comments of whole lines and blank lines do not count, so that words about code leave a module as it is.
set(explore_root ${CMAKE_CURRENT_LIST_DIR}/../..)
set(explore_rooms units config collective platform workload timeline simulate engine training learning economics scenario)

# explore_sources(VARIABLE PATTERN...): files of the rooms, but those that need what a page has not: schemas, modules, SimGrid.
function(explore_sources variable)
  set(sources "")
  foreach(room ${explore_rooms})
    foreach(pattern ${ARGN})
      file(GLOB_RECURSE found ${explore_root}/sim/${room}/${pattern})
      list(APPEND sources ${found})
    endforeach()
  endforeach()
  list(FILTER sources EXCLUDE REGEX
       "config/(own_place|modules|schema|schema_error)\\.cpp|workload/importers/|scenario/(replay|collective_run|collective_loads)\\.cpp|simulate/fluid_network_simgrid\\.cpp|simulate/simgrid/")
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# Of sim/report what makes records of points.
set(explore_report ${explore_root}/sim/report/record.cpp ${explore_root}/sim/report/chart_data.cpp ${explore_root}/sim/report/version.cpp)

# explore_inputs(VARIABLE): all that the module's bytes follow from, but for the compiler and the libraries.
function(explore_inputs variable)
  explore_sources(sources *.cpp *.hpp)
  file(GLOB headers ${explore_root}/sim/report/*.hpp)
  file(GLOB own ${explore_root}/tools/explore/*.cpp ${explore_root}/tools/explore/*.hpp)
  set(${variable} ${sources} ${explore_report} ${headers} ${own} ${explore_root}/tools/explore/CMakeLists.txt PARENT_SCOPE)
endfunction()

function(explore_hash variable)
  explore_inputs(inputs)
  list(SORT inputs)
  set(all "")
  foreach(file ${inputs})
    file(STRINGS ${file} lines ENCODING UTF-8 REGEX "^[ \t]*([^ \t/#]|/[^/]|#[^ ])")
    file(RELATIVE_PATH name ${explore_root} ${file})
    string(SHA256 digest "${lines}")
    string(APPEND all "${name} ${digest}\n")
  endforeach()
  string(SHA256 hash "${all}")
  set(${variable} ${hash} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  explore_hash(hash)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${hash})
endif()
