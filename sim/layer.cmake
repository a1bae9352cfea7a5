# The MPI layer: one shared library, linked by recline-cc ahead of SimGrid. Not built with the
# sanitizers, which cannot follow stacks that are copied. Included from sim/CMakeLists.txt.
if(SANITIZE)
  return()
endif()

set(layer_sources
  layer.c host.c matching.c transport.c dispatcher.c storage.c audit.c machine.c p2p.c
  wrap_p2p.c wrap_requests.c wrap_collectives.c wrap_comm.c wrap_other.c)
list(TRANSFORM layer_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

# A wrapper for every MPI call that the sources do not define.
find_file(SMPI_HEADER smpi/smpi.h HINTS ${SIMGRID_INCLUDEDIR} REQUIRED)
get_filename_component(SMPI_HEADERS ${SMPI_HEADER} DIRECTORY)
set(generated ${CMAKE_CURRENT_BINARY_DIR}/wrappers.c)
add_custom_command(OUTPUT ${generated}
  COMMAND awk -f ${CMAKE_CURRENT_LIST_DIR}/wrappers.awk ${layer_sources} ${SMPI_HEADER}
    > ${generated}
  DEPENDS ${layer_sources} ${CMAKE_CURRENT_LIST_DIR}/wrappers.awk VERBATIM)

add_library(recline_mpi SHARED ${layer_sources} ${generated})
target_compile_definitions(recline_mpi PRIVATE SMPI_NO_OVERRIDE_MALLOC=1 _GNU_SOURCE)
target_include_directories(recline_mpi SYSTEM PRIVATE ${SMPI_HEADERS})
target_include_directories(recline_mpi PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recline_mpi PRIVATE
  recline-verify recline-scenario recline-result recline-image recline_heap
  PkgConfig::GLIB PkgConfig::SIMGRID ${CMAKE_DL_LIBS})

# For t/layer.t: every call in a loop, built as any program is.
set(layer_program ${CMAKE_BINARY_DIR}/t/layer-mpi)
add_custom_command(OUTPUT ${layer_program}
  COMMAND ${SMPICC} -std=c11 -O2 -g -Wall -Wextra -Werror ${CMAKE_CURRENT_LIST_DIR}/t/layer-mpi.c
    -o ${layer_program}
    -Wl,--push-state,--no-as-needed $<TARGET_FILE:recline_heap> $<TARGET_FILE:recline_mpi>
    -Wl,--pop-state -Wl,-rpath,${CMAKE_LIBRARY_OUTPUT_DIRECTORY}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/t/layer-mpi.c recline_mpi recline_heap VERBATIM)
add_custom_target(layer-mpi ALL DEPENDS ${layer_program})
add_executable(layer-replay ${CMAKE_CURRENT_LIST_DIR}/t/layer-replay.c)
target_link_libraries(layer-replay PRIVATE recline-verify)
set_target_properties(layer-replay PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)
