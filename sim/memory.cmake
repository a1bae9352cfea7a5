# The memory side of transparent checkpoints: heap.h and image.h. Neither goes with the address
# sanitizer, which replaces malloc itself and cannot follow a stack that is copied back.
if(SANITIZE)
  return()
endif()

# To be preloaded into the process of smpirun.
add_library(recline_heap SHARED ${CMAKE_CURRENT_LIST_DIR}/heap.c)
target_compile_options(recline_heap PRIVATE -fvisibility=hidden
  # or the compiler would turn calloc into a call of calloc
  -fno-builtin-malloc -fno-builtin-calloc -fno-builtin-realloc -fno-builtin-free)
target_link_libraries(recline_heap PRIVATE ${CMAKE_DL_LIBS})
target_link_options(recline_heap PRIVATE -Wl,-z,now)

# To be linked into the layer.
add_library(recline-image STATIC ${CMAKE_CURRENT_LIST_DIR}/image.c)
target_include_directories(recline-image PUBLIC ${CMAKE_CURRENT_LIST_DIR})
