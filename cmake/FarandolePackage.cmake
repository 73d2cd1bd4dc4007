# Debian packages by `cpack --config build/release/CPackConfig.cmake -G DEB`: farandole, and farandole-dev for those who build on it.
set(CPACK_PACKAGE_NAME farandole)
set(CPACK_PACKAGE_VENDOR Farandole)
# Debian wants a name and an address that answers. Nobody maintains an unofficial package but whoever builds it: cpack takes DEBFULLNAME
# and DEBEMAIL, as Debian's own tools do (debian_dependencies.cmake), and else the mailbox of the machine where it is installed.
set(CPACK_PACKAGE_CONTACT "Unofficial build of Farandole <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator of distributed data-parallel deep-learning training")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME farandole)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"How well will a model train on a cluster, what limits it, and why? A
discrete-event simulator of Horovod, PyTorch's DDP and FSDP, ZeRO and
parameter servers over models of GPUs, NVLink, Ethernet and InfiniBand,
with measured machines, models, prices and published runs as data.

Suggested packages add what is looked for when it is asked for: an MPI to
measure on a cluster, Graphviz for pictures of topologies.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME farandole-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "farandole (= ${PROJECT_VERSION}), libboost-dev, libeigen3-dev, nlohmann-json3-dev, libfmt-dev, libvalijson-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"The simulator's libraries (static), headers and CMake package, for programs
that simulate training themselves: find_package(Farandole).")
# Dependencies are asked for when a package is made, of what is in it then.
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/debian_dependencies.cmake)
set(CPACK_FARANDOLE_BUILD ${CMAKE_BINARY_DIR})
set(CPACK_FARANDOLE_MODULES ${CMAKE_BINARY_DIR}/modules)
include(CPack)
