/* Sorts `count` items of `bytes` bytes each, which lie one behind the other, by their first `key`
 * bytes. Works in place, with `threads` threads. The order of items with equal keys is not
 * defined. */
#ifndef RECLINE_SORT_H
#define RECLINE_SORT_H

#include <stddef.h>
#include <stdint.h>

enum { SORT_BYTES_MOST = 512 }; /* largest size of an item */

void sort_bytes(uint8_t *items, uint64_t count, size_t bytes, size_t key, unsigned threads);

#endif
