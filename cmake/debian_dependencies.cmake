# Read by cpack: who answers for a package, which Debian packages the program needs, which a module makes use of where they are.
#
# dpkg-shlibdeps says which packages a file's libraries are in. What only the modules "simgrid" and "nlopt" need is
# recommended: without SimGrid, which brings ns-3 along, our own solver takes its place; what only the module "mpi" needs is suggested: it would bring some hundred packages along. NCCL is not in Debian.
cmake_policy(SET CMP0057 NEW)  # IN_LIST
function(packages_of FILE OUT)
  set(${OUT} "" PARENT_SCOPE)
  if(NOT EXISTS ${FILE})
    return()
  endif()
  set(folder ${CPACK_FARANDOLE_BUILD}/shlibdeps)
  file(WRITE ${folder}/debian/control "Source: farandole\n\nPackage: farandole\nArchitecture: any\n")
  execute_process(COMMAND dpkg-shlibdeps -O --ignore-missing-info -e${FILE} WORKING_DIRECTORY ${folder}
                  OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "dpkg-shlibdeps ${FILE}: ${said}")
  endif()
  string(REGEX REPLACE ".*shlibs:Depends=([^\n]*).*" "\\1" text "${text}")
  string(REPLACE ", " ";" text "${text}")
  set(${OUT} ${text} PARENT_SCOPE)
endfunction()

# Of `PACKAGES` those that `OTHERS` does not name, whatever version it wants.
function(without OTHERS PACKAGES OUT)
  set(names ${OTHERS})
  list(TRANSFORM names REPLACE " .*" "")
  set(left "")
  foreach(package ${PACKAGES})
    string(REGEX REPLACE " .*" "" name "${package}")
    if(NOT name IN_LIST names)
      list(APPEND left ${package})
    endif()
  endforeach()
  string(REPLACE ";" ", " left "${left}")
  set(${OUT} "${left}" PARENT_SCOPE)
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  packages_of(${CPACK_FARANDOLE_BUILD}/farandole depends)
  packages_of(${CPACK_FARANDOLE_MODULES}/farandole_nlopt.so nlopt)
  packages_of(${CPACK_FARANDOLE_MODULES}/farandole_simgrid.so simgrid)
  packages_of(${CPACK_FARANDOLE_MODULES}/farandole_mpi.so mpi)
  without("${depends}" "${nlopt};${simgrid}" CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS)
  without("${depends}" "${mpi}" suggested)
  set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "graphviz, openmpi-bin")
  if(suggested)
    string(APPEND CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS ", ${suggested}")
  endif()
  string(REPLACE ";" ", " CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${depends}")
endif()

if(NOT "$ENV{DEBFULLNAME}" STREQUAL "" AND NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
