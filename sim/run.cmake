# Running scenarios: the run and demo commands, results, and the compiler wrappers. Included from
# sim/CMakeLists.txt, after main.cmake and the layer.

# Written by the layer, read by the commands.
add_library(recline-result STATIC ${CMAKE_CURRENT_LIST_DIR}/result.c)
target_include_directories(recline-result PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recline-result PUBLIC PkgConfig::GLIB PRIVATE PkgConfig::JSON)

add_executable(result-test ${CMAKE_CURRENT_LIST_DIR}/t/result-test.c)
target_link_libraries(result-test PRIVATE recline-result)
set_target_properties(result-test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)

# smpirun starts it from SimGrid's own folder, which is on no path.
find_program(SMPIMAIN smpimain REQUIRED
  HINTS ${SIMGRID_LIBDIR}/simgrid ${SIMGRID_PREFIX}/lib/simgrid ${SIMGRID_PREFIX}/lib64/simgrid)

target_sources(recline PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/run.c
  ${CMAKE_CURRENT_LIST_DIR}/launch.c
  ${CMAKE_CURRENT_LIST_DIR}/demo.c)
set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/launch.c APPEND
  PROPERTY COMPILE_DEFINITIONS RECLINE_SMPIMAIN="${SMPIMAIN}")
target_link_libraries(recline PRIVATE recline-result recline-verify recline-plots m)

# recline-cc and its like, in build/bin beside recline. C and C++ go through SimGrid's wrappers;
# -DSMPI_NO_OVERRIDE_MALLOC, as their macros for malloc and free are in the way of functions of that
# name, and the heap of the ranks does without. C++ in the standard of the compiler, not that of
# 2011. Fortran goes to the compiler with the flags of SimGrid's wrapper, but not through it: it
# renames main programs, in some files, by a pattern that other lines match, too.
execute_process(COMMAND readelf -p .interp ${CMAKE_COMMAND} OUTPUT_VARIABLE shown ERROR_QUIET)
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=Scrt1.o OUTPUT_VARIABLE start_file
  ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
if(shown MATCHES "(/[^ \n]*ld[^ \n]*)" AND EXISTS "${start_file}")
  set(interpreter ${CMAKE_MATCH_1})
  set(RECLINE_START ${start_file})
endif()

function(recline_wrapper RECLINE_WRAPPER RECLINE_WRAPPED)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/recline-cc.in
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${RECLINE_WRAPPER} @ONLY
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
      GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endfunction()

find_program(SMPICC smpicc)
set(RECLINE_COMPILER ${SMPICC})
# recline_names.h in the place of smpi_helpers.h.
set(RECLINE_FLAGS "-DSMPI_NO_OVERRIDE_MALLOC=1 -DSMPI_HELPERS_H -include \"$headers/recline_names.h\"")
recline_wrapper(recline-cc smpicc)

find_program(SMPICXX smpicxx)
set(RECLINE_COMPILER ${SMPICXX})
execute_process(COMMAND ${SMPICXX} -show OUTPUT_VARIABLE shown ERROR_QUIET)
string(REGEX MATCH "^[^ ]+" cxx "${shown}")
execute_process(COMMAND ${cxx} -x c++ -dM -E /dev/null OUTPUT_VARIABLE macros ERROR_QUIET)
if(macros MATCHES "__cplusplus 20([0-9][0-9])")
  string(APPEND RECLINE_FLAGS " -std=gnu++${CMAKE_MATCH_1}")
endif()
# GCC makes statics of inline functions and of templates unique in the process: one for all ranks.
execute_process(COMMAND ${cxx} -fno-gnu-unique -fsyntax-only -x c++ /dev/null
  RESULT_VARIABLE refused ERROR_QUIET)
if(refused EQUAL 0)
  string(APPEND RECLINE_FLAGS " -fno-gnu-unique")
endif()
recline_wrapper(recline-c++ smpicxx)

# Compiler and flags, -o@, where the headers are, where the libraries are. Without -ff2c: functions
# of C that return float or complex numbers, and libraries like BLAS, have other conventions. With
# what MPICH's compilers add: there are no interfaces for buffers of any type.
find_program(SMPIF90 smpif90)
execute_process(COMMAND ${SMPIF90} -show -o @ OUTPUT_VARIABLE shown ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(shown MATCHES "^([^ ]+) (.*) -o@ (-I.*) (-L.*)$")
  set(RECLINE_COMPILER ${CMAKE_MATCH_1})
  set(RECLINE_INCLUDE ${CMAKE_MATCH_3})
  set(RECLINE_LINK ${CMAKE_MATCH_4})
  string(REPLACE "-ff2c " "" RECLINE_FLAGS "${CMAKE_MATCH_2} -fPIC")
  execute_process(COMMAND ${RECLINE_COMPILER} -fallow-argument-mismatch -fsyntax-only -x f95 /dev/null
    RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  if(refused EQUAL 0)
    string(APPEND RECLINE_FLAGS " -fallow-argument-mismatch")
  endif()
else()
  set(RECLINE_COMPILER gfortran)
endif()
recline_wrapper(recline-f90 smpif90)
recline_wrapper(recline-ff smpiff)

# What they link into each program. Object files and no library: their place counts.
foreach(name begin built)
  add_library(recline_${name} OBJECT ${CMAKE_CURRENT_LIST_DIR}/${name}.c)
  set_target_properties(recline_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set(object ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/recline_${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_OBJECTS:recline_${name}> ${object}
    DEPENDS recline_${name} $<TARGET_OBJECTS:recline_${name}> VERBATIM)
  list(APPEND program_objects ${object})
endforeach()
if(interpreter)
  target_compile_definitions(recline_begin PRIVATE RECLINE_INTERPRETER="${interpreter}")
endif()
add_custom_target(recline-objects ALL DEPENDS ${program_objects})

# For scenarios/programs: what to build programs with, and what must be there before. The layer
# itself is no part of a program: only its name is linked.
if(TARGET recline_mpi)
  set(RECLINE_CC ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/recline-cc CACHE INTERNAL "")
  set(RECLINE_CC_OBJECTS ${program_objects} CACHE INTERNAL "")
  add_custom_target(recline-cc-ready DEPENDS recline_mpi recline-objects)
endif()
