# Scenarios and claims: included from verify/CMakeLists.txt.
add_library(recline-scenario STATIC
  ${CMAKE_CURRENT_LIST_DIR}/scenario.c
  ${CMAKE_CURRENT_LIST_DIR}/document.c
  ${CMAKE_CURRENT_LIST_DIR}/plugin.c
  ${CMAKE_CURRENT_LIST_DIR}/platform.c)
target_include_directories(recline-scenario PUBLIC
  ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_SOURCE_DIR}/protocols)
target_link_libraries(recline-scenario
  PUBLIC recline-protocols PkgConfig::GLIB
  PRIVATE PkgConfig::CYAML PkgConfig::YAML ${CMAKE_DL_LIBS} m)

add_executable(scenario-test ${CMAKE_CURRENT_LIST_DIR}/t/scenario-test.c)
target_link_libraries(scenario-test PRIVATE recline-scenario)
