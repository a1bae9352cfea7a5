# The program `recline`: included from sim/CMakeLists.txt. The other commands join it with
# target_sources(recline PRIVATE ...) and target_link_libraries(recline PRIVATE ...).
add_executable(recline
  ${CMAKE_CURRENT_LIST_DIR}/main.c
  ${CMAKE_CURRENT_LIST_DIR}/list.c
  ${CMAKE_CURRENT_LIST_DIR}/doctor.c)
target_include_directories(recline PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_compile_definitions(recline PRIVATE
  RECLINE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" RECLINE_VERSION="${PROJECT_VERSION}")
target_link_libraries(recline PRIVATE recline-scenario PkgConfig::JSON)
