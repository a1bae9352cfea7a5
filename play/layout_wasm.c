/* Tells which lists are in the state of a protocol, and where. This file is compiled for wasm32
 * once for each protocol, with -DSOURCE="protocols/NAME.c" -DLISTS_OF=lists_of_NAME. It is code
 * because the sizes of lists depend on the config. The fields of the structs come from the
 * compiler, through layout.pl. */
#include SOURCE

#include "play/session.h"

#define PUT_LIST(NAME, TYPE, COUNT)                                                                \
  buffer_printf(out, "%s{\"name\":\"%s\",\"type\":\"%s\",\"offset\":%u,\"size\":%u,\"count\":%u}", \
                first ? "" : ",", #NAME, #TYPE, (unsigned)at.NAME, (unsigned)sizeof(TYPE),         \
                (unsigned)(COUNT));                                                                \
  first = false;
#define PUT_FILLED(NAME, TYPE, ROOM, USED, FULL) PUT_LIST(NAME, TYPE, ROOM)

void LISTS_OF(const struct rcl_config *config, struct buffer *out);

void LISTS_OF(const struct rcl_config *config, struct buffer *out)
{
  (void)config, (void)out;
#ifdef LISTS
  bool first = true;
  struct offsets at = offsets_of(config);
  LISTS(PUT_LIST, PUT_FILLED)
#endif
}
