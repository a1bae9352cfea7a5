# The MPI layer: one shared library, linked by recline-cc ahead of SimGrid. Not built with the
# sanitizers, which cannot follow stacks that are copied. Included from sim/CMakeLists.txt.
if(SANITIZE)
  return()
endif()

set(layer_sources
  layer.c
  host.c
  host_step.c
  host_return.c
  host_program.c
  matching.c
  transport.c
  payload.c
  mail.c
  wire.c
  wire_wait.cc
  deadlock.cc
  dispatcher.c
  schedule.c
  clock.c
  storage.c
  audit.c
  machine.c
  p2p.c
  raw.c
  calls.c
  blocks.c
  elements.c
  members.c
  copies.c
  runtime.c
  fortran.c
  wrap_fortran.c
  wrap_fortran_functions.c
  libraries.c
  library.c
  wrap_p2p.c
  wrap_requests.c
  wrap_collectives.c
  wrap_nonblocking.c
  wrap_comm.c
  wrap_attributes.c
  wrap_info.c
  wrap_errors.c
  wrap_topology.c
  wrap_graph.c
  wrap_neighbours.c
  wrap_general.c
  wrap_clock.c
  wrap_libc.c
  wrap_fortran_random.c
  wrap_other.c
)
list(TRANSFORM layer_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)

# A wrapper for every MPI call that the sources do not define, in C and in Fortran.
find_file(SMPI_HEADER smpi/smpi.h HINTS ${SIMGRID_INCLUDEDIR} REQUIRED)
get_filename_component(SMPI_HEADERS ${SMPI_HEADER} DIRECTORY)
find_library(SIMGRID_LIBRARY simgrid HINTS ${SIMGRID_LIBDIR} REQUIRED)
set(names ${CMAKE_CURRENT_BINARY_DIR}/fortran_names)
add_custom_command(OUTPUT ${names}
  COMMAND ${CMAKE_NM} -D ${SIMGRID_LIBRARY} | sed -n "s/.* T \\(mpi_.*_\\)\$/\\1/p" > ${names}
  VERBATIM)
set(awk_script ${CMAKE_CURRENT_LIST_DIR}/wrappers.awk)
set(awk_input ${layer_sources} ${names} ${SMPI_HEADER})
foreach(output c fortran)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/wrappers-${output}.c)
  list(APPEND generated ${file})
  add_custom_command(OUTPUT ${file}
    COMMAND awk -v output=${output} -f ${awk_script} ${awk_input} > ${file}
    DEPENDS ${layer_sources} ${names} ${awk_script} VERBATIM)
endforeach()
# docs/mpi-coverage.md from the same input: written on demand, compared by t/fortran.t.
string(REPLACE ";" "\n" lines "${awk_input}")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/awk_input "${lines}\n")
add_custom_target(coverage
  COMMAND awk -v output=coverage -f ${awk_script} ${awk_input} >
    ${CMAKE_SOURCE_DIR}/docs/mpi-coverage.md
  DEPENDS ${names} VERBATIM)

add_library(recline_mpi SHARED ${layer_sources} ${generated})
target_compile_definitions(recline_mpi PRIVATE SMPI_NO_OVERRIDE_MALLOC=1 _GNU_SOURCE)
target_include_directories(recline_mpi SYSTEM PRIVATE ${SMPI_HEADERS})
target_include_directories(recline_mpi PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recline_mpi PRIVATE
  recline-verify recline-mutants recline-scenario recline-result recline-image recline_heap
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
