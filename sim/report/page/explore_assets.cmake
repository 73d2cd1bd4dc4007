# Makes explore_assets.cpp: style and script of the page of `farandole explore`, and the simulator compiled to WebAssembly.
#
#   cmake -DOUT=FILE -DPARTS="STYLE;SIMULATOR;SCRIPT..." -P explore_assets.cmake
#
# Run while the program is built, whenever a source of the simulator changes: a module of other sources might answer differently from
# the program, so it is not taken, and the program says instead where one comes from.
include(${CMAKE_CURRENT_LIST_DIR}/../../../tools/explore/sources.cmake)
explore_hash(sources)

list(POP_FRONT PARTS style simulator)
file(READ ${style} FARANDOLE_EXPLORE_STYLE)
set(FARANDOLE_EXPLORE_SCRIPT "")
foreach(file ${PARTS})
  file(READ ${file} text)
  string(APPEND FARANDOLE_EXPLORE_SCRIPT "${text}")
endforeach()
string(SHA256 FARANDOLE_EXPLORE_SCRIPT_DIGEST "${FARANDOLE_EXPLORE_SCRIPT}")

set(FARANDOLE_EXPLORE_SIMULATOR "")
set(FARANDOLE_EXPLORE_WASM "")
set(FARANDOLE_EXPLORE_LACK "none was compiled")
foreach(module build/explore/module tools/explore/module)  # made here, or committed
  set(module ${explore_root}/${module})
  if(NOT EXISTS ${module}/sources.sha256)
    continue()
  endif()
  file(STRINGS ${module}/sources.sha256 made_of)
  if(NOT made_of STREQUAL sources)
    set(FARANDOLE_EXPLORE_LACK "the one that is there was compiled from others")
    continue()
  endif()
  file(READ ${module}/farandole_core.js FARANDOLE_EXPLORE_SIMULATOR)
  file(READ ${simulator} text)
  string(APPEND FARANDOLE_EXPLORE_SIMULATOR "\n${text}")
  file(READ ${module}/farandole_core.wasm.gz.b64 FARANDOLE_EXPLORE_WASM)
  break()
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/explore_assets.cpp.in ${OUT} @ONLY)
