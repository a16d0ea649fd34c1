# `arcmeans_package(TARGET SET [EXCLUDE_FROM_ALL])`: installs a library of the core and its headers
# as a CMake package, the component `core`; and a test that a program can use it.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(arcmeans_package target instruction_set)
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/arcmeans)
  set(include ${CMAKE_INSTALL_INCLUDEDIR}/arcmeans)
  set(component COMPONENT core ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME arcmeans_core EXPORT_NAME core)
  target_include_directories(${target} PUBLIC $<INSTALL_INTERFACE:${include}>)
  install(TARGETS ${target} EXPORT arcmeans ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component})
  install(FILES ${arcmeans_cpp}/arcmeans.hpp DESTINATION ${include} ${component})
  install(DIRECTORY ${arcmeans_cpp}/core DESTINATION ${include} ${component}
          FILES_MATCHING PATTERN *.hpp)
  install(EXPORT arcmeans NAMESPACE arcmeans:: DESTINATION ${package} FILE arcmeansTargets.cmake
          ${component})
  file(STRINGS ${arcmeans_cpp}/../pyproject.toml version REGEX "^version = ")
  string(REGEX REPLACE "[^0-9.]" "" version "${version}")
  configure_package_config_file(${arcmeans_cpp}/cmake/arcmeansConfig.cmake.in arcmeansConfig.cmake
                                INSTALL_DESTINATION ${package})
  write_basic_package_version_file(arcmeansConfigVersion.cmake VERSION ${version}
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/arcmeansConfig.cmake
                ${CMAKE_CURRENT_BINARY_DIR}/arcmeansConfigVersion.cmake
          DESTINATION ${package} ${component})
  add_test(NAME package COMMAND ${CMAKE_COMMAND} -DBUILD=${CMAKE_BINARY_DIR}
           -DCOMPILER=${CMAKE_CXX_COMPILER} -DGENERATOR=${CMAKE_GENERATOR}
           -DMAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DEXAMPLE=${arcmeans_cpp}/../examples/cpp
           -P ${arcmeans_cpp}/tests/package.cmake)
endfunction()
