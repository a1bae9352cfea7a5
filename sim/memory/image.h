/* Saves one rank's memory as an image, and puts it back in place.
 *
 * A rank runs as a coroutine inside the simulator's process, and its memory never moves. So a
 * checkpoint is a copy of the bytes that the program can have changed, and a rollback copies them
 * back to where they were, pointers included. A page of zeros needs no copy. A page that has not
 * changed since the previous image shares the copy of that image.
 *
 *     stack        from the frame of image_capture up to the first frame of the rank
 *     program      the writable segments (.data, .bss, ...) of the rank's own copy of the program,
 *                  without what is read-only after relocation; the rank's thread-local block, if
 *                  there is one
 *     arena        the used range of the rank's heap (heap.h)
 *     registers    as of the return from image_capture
 *
 * A rollback leaves everything else as it is: the simulator, libraries (libc, libstdc++, the
 * calling layer) and their globals, memory from libc's malloc, files, the other ranks.
 *
 * image_capture returns twice, like setjmp, but without setjmp's restrictions: the whole frame of
 * the caller comes back with the stack, so locals have the values that they had at the capture.
 *
 *     struct image *image;                                    // on the stack or off it
 *     switch (image_capture(source, &image)) {
 *     case IMAGE_FAILED:   ...                                // errno says why
 *     case IMAGE_CAPTURED: keep(image); break;                // go on
 *     case IMAGE_RESTORED: ...; break;                        // here again, out of image_restore
 *     }
 *
 * The caller keeps data that must survive a rollback in its globals or in libc memory, not in
 * locals. The rank must not be in a call of SimGrid, and must hold no lock. A posted receive must
 * be cancelled before image_restore, because a late match would write over the restored memory.
 * Ranks are captured one at a time, all on one thread: under the raw, boost or ucontext contexts of
 * SimGrid, not `thread`. */
#ifndef RECLINE_IMAGE_H
#define RECLINE_IMAGE_H

#include <stddef.h>

struct arena;        /* heap.h */
struct image_source; /* says where the memory of one rank lies */
struct image;        /* one copy of that memory; it lies in libc memory and belongs to the caller */

enum image_outcome { IMAGE_FAILED = -1, IMAGE_CAPTURED, IMAGE_RESTORED };

/* Returns where the memory of the calling rank lies. It must be called once, on the rank's stack.
 *
 * inside_program any address in the rank's copy of the program, such as the return address of a
 * wrapper. arena the rank's heap, or NULL for none. stack_bytes the size of its stack (1024 *
 * sg_cfg_get_int("contexts/stack-size")). The stack
 *                 begins at the end of its guard page, where a mapping begins. Its other end may
 *                 lie within that mapping, because the kernel joins neighbours. If stack_bytes is
 *                 0, it is the end of the mapping.
 *
 * Returns NULL after an error, with errno set: ENOENT (address in no program, or stack in no
 * mapping), ERANGE (the mapping does not fit the stack size, as there is no guard page), E2BIG (too
 * many segments), ENOTSUP (the program does not find malloc in librecline_heap.so, see heap.h),
 * ENOMEM, or an error of reading /proc/self/maps. */
struct image_source *image_source_new(const void *inside_program, struct arena *arena,
                                      size_t stack_bytes);
/* the images of the source cannot be restored afterwards */
void image_source_free(struct image_source *source);

/* Saves the calling rank. If the result is IMAGE_CAPTURED, *image is the new image. If it is
 * IMAGE_RESTORED, the same call has returned again, out of image_restore; then *image is as it was
 * at the capture if it lies in saved memory, otherwise untouched. If it is IMAGE_FAILED, errno is
 * ENOMEM and *image is NULL. The heap mode (heap.h) is the same on entry and on both returns. */
enum image_outcome image_capture(struct image_source *source, struct image **image);

/* Restores the calling rank, which must be the rank of the image. An image may be restored any
 * number of times. */
_Noreturn void image_restore(struct image *image);

/* Does what image_restore() does, but restores the contents of files to what they were when `then`
 * was saved (heap.h). */
struct heap_files;
_Noreturn void image_begin_again(struct image *image, const struct heap_files *then);

void image_free(struct image *image); /* NULL is allowed */

/* Returns the number of bytes of the rank's memory that a checkpoint would write: the bytes that
 * the image holds, and pages of zeros in the stack and in thread-local data only. */
size_t image_bytes(const struct image *image);

/* Returns how many bytes were copied for this image. It shares all other bytes with the previous
 * image. */
size_t image_copied_bytes(const struct image *image);

#endif
