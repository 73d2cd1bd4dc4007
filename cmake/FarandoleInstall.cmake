# What `cmake --install` puts where. Component "program": the program, its modules, data, schemas, man pages and completion.
# Component "development": the rooms as static libraries with their headers, and what find_package(Farandole) reads.
#
# The program finds its data and modules from where it lies itself (sim/config/data_folder.hpp), so the whole may be moved.
include(CMakePackageConfigHelpers)
set(farandole_data ${CMAKE_INSTALL_DATADIR}/farandole)
set(farandole_package ${CMAKE_INSTALL_LIBDIR}/cmake/Farandole)

install(TARGETS farandole RUNTIME COMPONENT program)
if(FARANDOLE_MODULES)
  install(TARGETS ${FARANDOLE_MODULES} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/farandole COMPONENT program)
endif()
# The folders keep the shape they have in the source tree, as files name their schemas relative to themselves.
install(DIRECTORY models topologies scenarios DESTINATION ${farandole_data} COMPONENT program
        FILES_MATCHING PATTERN "*.json" PATTERN "*.md" PATTERN "pictures" EXCLUDE)
install(DIRECTORY sim/config/schemas DESTINATION ${farandole_data}/sim/config COMPONENT program FILES_MATCHING PATTERN "*.json")
install(FILES README.md CHANGELOG.md CITATION.cff NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program RENAME copyright)

# Man pages and completion say what the program that is installed says.
if(FARANDOLE_PYTHON)
  install(CODE "
    set(farandole_zsh zsh/site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(farandole_zsh zsh/vendor-completions)  # where Debian's zsh looks
    endif()
    execute_process(COMMAND ${FARANDOLE_PYTHON} -B ${PROJECT_SOURCE_DIR}/tools/packaging/documents.py $<TARGET_FILE:farandole>
                            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\" --zsh \${farandole_zsh}
                    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
endif()

# Whoever builds on the rooms: every room is Farandole::NAME, all of them are Farandole::farandole.
install(TARGETS ${FARANDOLE_ROOMS} farandole_options EXPORT Farandole ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/farandole
        COMPONENT development)
install(EXPORT Farandole NAMESPACE Farandole:: DESTINATION ${farandole_package} COMPONENT development)
install(DIRECTORY sim/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/farandole COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "mpi" EXCLUDE PATTERN "nccl" EXCLUDE PATTERN "schemas" EXCLUDE)
configure_package_config_file(cmake/FarandoleConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/FarandoleConfig.cmake
                              INSTALL_DESTINATION ${farandole_package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/FarandoleConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/FarandoleConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/FarandoleConfigVersion.cmake
        DESTINATION ${farandole_package} COMPONENT development)
