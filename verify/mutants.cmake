# Mutants: from verify/mutants/*.patch to objects in recline-mutants (see mutants.h).
file(GLOB mutant_patches CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/mutants/*.patch)
set(mutant_sources ${CMAKE_CURRENT_LIST_DIR}/mutants.c)
set(mutant_table "")

foreach(patch ${mutant_patches})
  get_filename_component(id ${patch} NAME_WE)
  file(STRINGS ${patch} target REGEX "^--- a/protocols/.*\\.c" LIMIT_COUNT 1)
  string(REGEX REPLACE "^--- a/protocols/([^.]*)\\.c.*" "\\1" protocol "${target}")
  string(REGEX REPLACE "^${protocol}-" "" name "${id}")
  if(NOT target OR "${id}" STREQUAL "${name}")
    message(FATAL_ERROR "${patch}: expected a patch of protocols/PROTOCOL.c in PROTOCOL-NAME.patch")
  endif()
  string(REPLACE "-" "_" plain "${protocol}")
  string(REPLACE "-" "_" symbol "mutant_${id}")
  set(source ${CMAKE_SOURCE_DIR}/protocols/${protocol}.c)
  set(mutated ${CMAKE_CURRENT_BINARY_DIR}/mutants/${id}.c)
  # No fuzz: a patch that has to guess where it belongs may remove another rule than it says.
  add_custom_command(
    OUTPUT ${mutated}
    COMMAND patch --quiet --fuzz=0 --output=${mutated} ${source} ${patch}
    DEPENDS ${source} ${patch}
    COMMENT "Mutating ${protocol} into ${id}"
    VERBATIM)
  # What a removed rule alone used is unused now.
  set_source_files_properties(${mutated} PROPERTIES
    COMPILE_OPTIONS "-Dprotocol_${plain}=${symbol};-Wno-unused;-Wno-unused-parameter")
  list(APPEND mutant_sources ${mutated})
  string(APPEND mutant_table "MUTANT(\"${protocol}~${name}\", ${symbol})\n")
endforeach()

file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/mutants)
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/mutants/mutants.inc CONTENT "${mutant_table}"
  @ONLY)
add_library(recline-mutants STATIC ${mutant_sources})
target_include_directories(recline-mutants
  PUBLIC ${CMAKE_CURRENT_LIST_DIR} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/mutants)
target_link_libraries(recline-mutants PUBLIC recline-protocols PRIVATE PkgConfig::GLIB)
