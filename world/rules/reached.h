/* Notes which events runs have shown. Like properties, these events are seen from outside the
 * protocol. A missing event reveals a vacuous claim. For example, if no run has committed a
 * checkpoint, a claim about checkpoints holds without having been judged. */
#ifndef RECLINE_REACHED_H
#define RECLINE_REACHED_H

#include <stdint.h>

enum reach {
  REACH_ENDS, /* 1 if all programs end */
  /* the number of a checkpoint that commits or, with independent recovery, of a durable image */
  REACH_COMMITS,
  REACH_LATER_COMMITS, /* the number of recoveries before a commit */
  REACH_RECOVERIES,    /* the number of a recovery in which a rank starts from a checkpoint */
  REACH_RECOVERED,     /* the number of the checkpoint from which a rank starts in a recovery */
  /* 1 if a message or a contribution is late, so it crosses a line forwards (needs line_stamps) */
  REACH_LATE,
  /* 1 if a message or a contribution is early, so it crosses a line backwards (needs
   * line_stamps) */
  REACH_EARLY,
  REACH_REPLAYED, /* 1 if after a crash a kept message is given to the program, or sent once more */
  REACH_SUPPRESSED, /* 1 if after a crash a message is not sent again, or is dropped */
  REACH_FORCED,     /* 1 if after a crash a choice, or the source of a receive, is repeated */
  /* 1 if a recovery goes to a checkpoint before the last one, because the last one is lost or
   * restarts from it have failed */
  REACH_FALLS_BACK,
  /* The next five events are in the order of enum hazard (world.h). Their value is 1 if the comment
   * is true. */
  REACH_CUT_STEPS,       /* a rank crashes within a step */
  REACH_WHOLE_WRITES,    /* a crash finds that a write under way is whole */
  REACH_TORN_WRITES,     /* a crash finds that a write under way is torn */
  REACH_FALSE_DETECTION, /* a living rank is declared dead */
  /* a control message is taken while several control messages of its sender wait */
  REACH_CONTROL_OVERTAKES,
  REACH_OUTPUTS,      /* the number of an output that leaves before all programs have ended */
  REACH_OUTPUT_AGAIN, /* 1 if an output that has left is made once more, and dropped */
  REACHES
};

/* Lists the names that claims have for the events. The list ends with NULL. */
extern const char *const reach_names[REACHES + 1];

/* Holds, for each event, the highest value that runs have shown, at most 255. Also holds the
 * properties that there was an occasion to judge, with bit N for property N (properties.h). */
enum { REACHED_PROPERTIES = 40 };
struct reached {
  uint8_t most[REACHES];
  uint8_t judged[REACHED_PROPERTIES / 8];
};

static inline void reached_judge(struct reached *reached, unsigned property)
{
  reached->judged[property / 8] |= (uint8_t)(1u << property % 8);
}

static inline int reached_judges(const struct reached *reached, unsigned property)
{
  return reached->judged[property / 8] >> property % 8 & 1;
}

static inline void reached_note(struct reached *reached, enum reach what, uint32_t count)
{
  count = count < UINT8_MAX ? count : UINT8_MAX;
  if (reached->most[what] < count)
    reached->most[what] = (uint8_t)count;
}

static inline void reached_add(struct reached *reached, const struct reached *more)
{
  for (int i = 0; i < REACHES; i++)
    reached_note(reached, (enum reach)i, more->most[i]);
  for (unsigned i = 0; i < sizeof reached->judged; i++)
    reached->judged[i] |= more->judged[i];
}

#endif
