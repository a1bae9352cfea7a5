# `cmake --install` installs recline as a tree of its own below lib/recline. The tree is laid out as
# the build folder, so that recline finds its parts beside itself wherever the prefix is. Headers
# and a pkg-config file are for protocols that are kept elsewhere.
include(GNUInstallDirs)
set(home lib/recline)
set(data ${CMAKE_INSTALL_DATADIR}/recline)

install(TARGETS recline RUNTIME DESTINATION ${home}/bin)
install(TARGETS recline-mutants LIBRARY DESTINATION ${home}/lib)
if(TARGET recline-transport)
  install(TARGETS recline-transport LIBRARY DESTINATION ${home}/lib)
endif()
foreach(name recline recline-cc recline-c++ recline-f90 recline-ff)
  if(NOT name STREQUAL recline)
    install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name} DESTINATION ${home}/bin)
  endif()
  install(CODE "
    set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    file(MAKE_DIRECTORY \"\${bin}\")
    file(CREATE_LINK ../${home}/bin/${name} \"\${bin}/${name}\" SYMBOLIC)")
endforeach()

install(DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpi DESTINATION ${home}/bin)

if(TARGET recline_mpi)
  set_target_properties(recline_mpi recline_heap recline_smpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS recline_mpi recline_heap recline_smpi LIBRARY DESTINATION ${home}/lib)
  install(FILES ${RECLINE_CC_OBJECTS} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/recline_wraps
    DESTINATION ${home}/lib)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/programs DESTINATION ${home} USE_SOURCE_PERMISSIONS
    PATTERN "*-plain" EXCLUDE)
  # `recline run` says where the libraries are. $ORIGIN could not, because SimGrid runs copies of
  # programs.
  install(CODE "
    file(GLOB programs \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${home}/programs/*\")
    foreach(program \${programs})
      file(RPATH_REMOVE FILE \"\${program}\")
    endforeach()")
endif()

# Headers for programs go into the tree, beside the libraries; headers for protocols, into the
# system's folder.
foreach(header recline.h recline_names.h mpi-ext.h mpif-ext.h)
  configure_file(${CMAKE_SOURCE_DIR}/include/${header} ${CMAKE_BINARY_DIR}/include/${header} COPYONLY)
  install(FILES ${CMAKE_SOURCE_DIR}/include/${header} DESTINATION ${home}/include)
endforeach()
foreach(header mpi.h mpi-4.h mpi-t.h values.h)
  configure_file(${CMAKE_SOURCE_DIR}/include/mpi/${header} ${CMAKE_BINARY_DIR}/include/mpi/${header} COPYONLY)
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/include/mpi DESTINATION ${home}/include)
foreach(header protocol line parts/act parts/commit parts/envelopes parts/links parts/lists parts/mailbox parts/outputs
        parts/transitions)
  get_filename_component(name ${header} NAME)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/protocols/${header}.h)
  file(READ ${CMAKE_SOURCE_DIR}/protocols/${header}.h text)
  string(REGEX REPLACE "#include \"protocols/(parts/)?([a-z]+\\.h)\"" "#include <recline/\\2>" text
    "${text}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/include/recline/${name}.h CONTENT "${text}" @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/include/recline/${name}.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/recline)
endforeach()
configure_file(${CMAKE_CURRENT_LIST_DIR}/recline.pc.in ${CMAKE_BINARY_DIR}/recline.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/recline.pc DESTINATION lib/pkgconfig)

# find_package(recline) defines the target recline::protocol, whose users find <recline/act.h>.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/recline)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/recline-config.cmake.in
  ${CMAKE_BINARY_DIR}/recline-config.cmake INSTALL_DESTINATION ${package}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/recline-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/recline-config.cmake
  ${CMAKE_BINARY_DIR}/recline-config-version.cmake DESTINATION ${package})

install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${data})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/platforms ${CMAKE_SOURCE_DIR}/scenarios
  DESTINATION ${data}
  FILES_MATCHING PATTERN "*.xml" PATTERN "*.yaml" PATTERN "plan.ini" PATTERN "published.csv")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/verify/claims ${CMAKE_SOURCE_DIR}/verify/mutants
  ${CMAKE_SOURCE_DIR}/verify/matrix
  DESTINATION ${data}/verify FILES_MATCHING PATTERN "*.yaml")
# The pictures of protocols are made from sources, and `recline play` compiles sources.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/protocols DESTINATION ${data}
  FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN t EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/verify/mutants DESTINATION ${data}/verify
  FILES_MATCHING PATTERN "*.patch" PATTERN mutants.c)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/schema DESTINATION ${data})
