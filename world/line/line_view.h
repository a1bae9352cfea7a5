/* Shows a state of the world as protocols/line.h describes it: each rank and its standing (whether
 * it has noticed the last recovery), the messages under way between ranks, the counts of programs,
 * the barriers in which programs are, and stored states. It does not show messages that a recovery
 * has made obsolete, or contents of images from which no rank will start (settled).
 *
 * What is shown of a rank follows from the rank's parts and from GLOBAL, and what is shown of a
 * channel from the channel's parts and from GLOBAL. So the explorer keeps what was shown, and in
 * the next state shows anew only what differs. It also keeps which pairs of ranks were judged.
 */
#ifndef RECLINE_LINE_VIEW_H
#define RECLINE_LINE_VIEW_H

#include "protocols/line.h"
#include "world/rules/world.h"

struct shown_rank;

/* Holds a view of the whole (all ranks, channels and stored states). Its functions may be called in
 * any thread; line_view_show_rank() and line_view_show_channel() read the parts of the world. */
struct line_view {
  const struct world *w;
  struct rcl_whole whole;
  struct rcl_whole_rank *rank;
  struct rcl_whole_channel *channel;
  const struct shown_rank **shown; /* by rank: the memory that line_view_set_rank() has got */
  unsigned char *zeroes;           /* the state of checkpoint RCL_FRESH */
  uint32_t kinds;                  /* number of kinds of control messages */
  uint32_t incarnation;
  /* Shows two ranks to clauses that are about these two ranks only. At other times all ranks in
   * `narrow` are dead, and all channels are empty. */
  struct rcl_whole narrow;
  struct rcl_whole_rank *narrow_rank;
  struct rcl_whole_channel *narrow_channel;
  struct rcl_whole_control *nothing; /* by kind: an entry without control messages */
};

/* Prepares an empty view of a world, whose protocol must be known. */
void line_view_init(struct line_view *, const struct world *);
void line_view_clear(struct line_view *);

/* Begins the view of a state whose GLOBAL part has these numbers. */
void line_view_begin(struct line_view *, uint32_t committed, uint32_t committing,
                     uint32_t incarnation);

/* These functions return the number of bytes that line_view_show_rank() and
 * line_view_show_channel() write, a multiple of 16.
 */
size_t line_view_rank_bytes(const struct line_view *);
size_t line_view_channel_bytes(const struct line_view *);

/* Writes what is shown of a rank to `memory`, which the caller keeps. */
void line_view_show_rank(const struct line_view *, int rank, void *memory);

/* Writes what is shown of a channel, except for counts of programs. Its two ranks must have been
 * set. Returns false if what is written depends on the two ranks as well, because contributions are
 * under way. */
bool line_view_show_channel(const struct line_view *, int from, int to, void *memory);

/* These functions replace each pointer in what was shown, either by what it points to or by whether
 * it is NULL. Afterwards two ranks, or two channels, look the same to clauses if their bytes are
 * equal. */
void line_view_plain_rank(const struct line_view *, void *shown);
void line_view_plain_channel(void *shown);

/* These functions put what was shown into the view. The memory must stay as it is while it is in
 * the view. */
void line_view_set_rank(struct line_view *, int rank, const void *shown);
void line_view_set_channel(struct line_view *, int from, int to, const void *shown);

/* Sets the counts of all channels, from what is shown of their ranks. It must be called after the
 * functions above. */
void line_view_count(struct line_view *);

/* Shows ranks i and j and the channels between them in `narrow`, or hides them again. */
void line_view_narrow(const struct line_view *, int i, int j, bool show);

/* Judges property `line-invariant` in the view. asked[i * ranks + j] tells whether clauses of
 * RCL_OF_PAIR are judged for ranks i and j or, if i = j, clauses of RCL_OF_RANK. If `asked` is
 * NULL, all are judged. These clauses see only these ranks and the channels between them. All other
 * clauses are always judged. A violation has the rank `i` of the clause, and the clause as text.
 * Clauses are confined (base/confine.h). */
void line_view_judge(const struct line_view *, const bool *asked, struct verdict *);

/* Judges the line invariant of the protocol (protocols/line.h) in the present state, if the
 * protocol states one. A violation has the property `line-invariant`, the rank `i` of the clause,
 * and the clause as text. */
void world_judge_line(const struct world *, struct verdict *verdict);

#endif
