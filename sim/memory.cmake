# The memory side of transparent checkpoints: heap.h and image.h. Neither goes with the address
# sanitizer, which replaces malloc itself and cannot follow a stack that is copied back.
if(SANITIZE)
  return()
endif()

# To be preloaded into the process of smpirun, and linked into the program ahead of everything.
add_library(recline_heap SHARED
  ${CMAKE_CURRENT_LIST_DIR}/heap.c ${CMAKE_CURRENT_LIST_DIR}/arena.c
  ${CMAKE_CURRENT_LIST_DIR}/exits.c ${CMAKE_CURRENT_LIST_DIR}/files.c
  ${CMAKE_CURRENT_LIST_DIR}/streams.c ${CMAKE_CURRENT_LIST_DIR}/descriptors.c
  ${CMAKE_CURRENT_LIST_DIR}/journal.c ${CMAKE_CURRENT_LIST_DIR}/tables.c)
target_compile_options(recline_heap PRIVATE -fvisibility=hidden
  # or the compiler would turn calloc into a call of calloc
  -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
target_link_libraries(recline_heap PRIVATE ${CMAKE_DL_LIBS})
target_link_options(recline_heap PRIVATE -Wl,-z,now)

# To be linked into the layer.
set(image_sources image.c image_source.c pages.c touched.c)
list(TRANSFORM image_sources PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
add_library(recline-image STATIC ${image_sources})
target_include_directories(recline-image PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(recline-image PUBLIC recline_heap)

# Tests: sim/t/heap*.t, image*.t.
set(tests ${CMAKE_CURRENT_LIST_DIR}/t)
foreach(name heap-unit heap-abuse)
  add_executable(${name} ${tests}/${name}.c)
  target_link_libraries(${name} PRIVATE recline_heap)
  # the compiler knows too well what malloc and free do
  target_compile_options(${name} PRIVATE -fno-builtin)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)
endforeach()
# the library apart from the "program" that is rolled back, as the layer is
foreach(optimize 0 2)
  set(library image-O${optimize})
  set(name image-unit-O${optimize})
  add_library(${library} SHARED ${image_sources})
  target_link_libraries(${library} PRIVATE recline_heap)
  add_executable(${name} ${tests}/image-unit.c)
  target_link_libraries(${name} PRIVATE recline_heap ${library})
  foreach(target ${library} ${name})
    target_compile_options(${target} PRIVATE -O${optimize} -fno-builtin -fstack-protector-all)
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)
  endforeach()
endforeach()
# fortified functions too, as distributions build
foreach(target image-O2 image-unit-O2)
  target_compile_options(${target} PRIVATE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endforeach()

# The programs of image.t, by the compilers of SMPI; the layer by the ordinary one.
add_library(image-layer SHARED ${tests}/image-layer.c)
target_link_libraries(image-layer PRIVATE recline-image PkgConfig::SIMGRID)
target_include_directories(image-layer SYSTEM PRIVATE ${SIMGRID_INCLUDEDIR}/smpi)
set_target_properties(image-layer PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)

find_program(SMPICC smpicc REQUIRED)
find_program(SMPICXX smpicxx REQUIRED)
function(add_image_program name compiler source)
  set(program ${CMAKE_BINARY_DIR}/t/${name})
  add_custom_command(OUTPUT ${program}
    COMMAND ${compiler} -g ${ARGN} -Wall -Wextra -Werror ${source} -o ${program}
      -Wl,--no-as-needed ${heap} $<TARGET_FILE:image-layer>
      -Wl,-rpath,${CMAKE_BINARY_DIR}/t:$<TARGET_FILE_DIR:recline_heap>
    DEPENDS ${source} image-layer recline_heap VERBATIM)
  add_custom_target(${name} ALL DEPENDS ${program})
endfunction()
set(heap $<TARGET_FILE:recline_heap>)
foreach(optimize 0 2)
  add_image_program(image-c-O${optimize} ${SMPICC} ${tests}/image-program.c -O${optimize})
  add_image_program(image-cpp-O${optimize} ${SMPICXX} ${tests}/image-program.cpp -O${optimize})
endforeach()
# smpicc turns malloc into a call of SimGrid's by a macro; other compilers and Fortran do not
add_image_program(image-c-direct ${SMPICC} ${tests}/image-program.c -O2 -DSMPI_NO_OVERRIDE_MALLOC=1)
set(heap)
add_image_program(image-c-unserved ${SMPICC} ${tests}/image-program.c -O2)

# For t/image-zeros.t and bench/image-cost.sh.
foreach(source t/image-zeros bench/image-cost)
  get_filename_component(name ${source} NAME)
  add_executable(${name} ${CMAKE_CURRENT_LIST_DIR}/${source}.c)
  target_link_libraries(${name} PRIVATE recline_heap image-O2)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/t)
endforeach()
