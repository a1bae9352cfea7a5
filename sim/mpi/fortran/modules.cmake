# Makes what Fortran programs use: mpif.h and the modules mpi and mpi_f08, which recline-f90 finds
# in include/mpi; and the layer's side of mpi_f08. Modules have no code, so the compiler only checks
# their syntax. A module's file names its source, which is therefore given without a folder.
set(modules_folder ${CMAKE_CURRENT_LIST_DIR})
set(modules_script ${modules_folder}/modules.awk)
set(modules_made ${CMAKE_BINARY_DIR}/include/mpi)
file(MAKE_DIRECTORY ${modules_made})
set(table ${modules_folder}/procedures)
set(values ${CMAKE_CURRENT_BINARY_DIR}/values)

# Writes OUTPUT of modules.awk to FILE, from these inputs.
function(recline_fortran OUTPUT FILE)
  add_custom_command(OUTPUT ${FILE}
    COMMAND awk -v output=${OUTPUT} -v smpi=${SMPI_HEADERS}/mpif.h -f ${modules_script}
      ${modules_folder}/constants ${SMPI_HEADERS}/mpif.h ${ARGN} > ${FILE}
    DEPENDS ${modules_folder}/constants ${SMPI_HEADERS}/mpif.h ${modules_script} ${ARGN} VERBATIM)
endfunction()

recline_fortran(values ${CMAKE_CURRENT_BINARY_DIR}/values.c)
add_executable(recline-fortran-values ${CMAKE_CURRENT_BINARY_DIR}/values.c ${large_header})
set_target_properties(recline-fortran-values PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
target_include_directories(recline-fortran-values SYSTEM PRIVATE ${SIMGRID_INCLUDEDIR}
  ${CMAKE_BINARY_DIR}/include/mpi)
add_custom_command(OUTPUT ${values} COMMAND recline-fortran-values > ${values}
  DEPENDS recline-fortran-values VERBATIM)

recline_fortran(numbers ${CMAKE_CURRENT_BINARY_DIR}/fortran_numbers.h)
recline_fortran(c ${CMAKE_CURRENT_BINARY_DIR}/wrappers-f08.c ${symbols} ${table})
list(APPEND generated ${CMAKE_CURRENT_BINARY_DIR}/fortran_numbers.h
  ${CMAKE_CURRENT_BINARY_DIR}/wrappers-f08.c)

recline_fortran(mpif ${modules_made}/mpif.h ${values})
recline_fortran(types ${CMAKE_CURRENT_BINARY_DIR}/recline_mpi_types.f90)
recline_fortran(mpi ${CMAKE_CURRENT_BINARY_DIR}/mpi.f90)
recline_fortran(mpi_f08 ${CMAKE_CURRENT_BINARY_DIR}/mpi_f08.f90 ${values} ${symbols} ${table})
set(modules ${modules_made}/mpif.h)
find_program(GFORTRAN gfortran)
if(GFORTRAN)
  set(before ${modules})
  foreach(module recline_mpi_types mpi mpi_f08)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${module}.f90)
    add_custom_command(OUTPUT ${modules_made}/${module}.mod
      COMMAND ${GFORTRAN} -std=f2018 -fsyntax-only -J ${modules_made} -I${modules_made} ${module}.f90
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} DEPENDS ${source} ${before} VERBATIM)
    list(APPEND modules ${modules_made}/${module}.mod)
    set(before ${modules})
  endforeach()
endif()
add_custom_target(recline-modules ALL DEPENDS ${modules})
