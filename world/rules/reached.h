/* Notes which events runs have shown. Events, like properties, are seen from outside the protocol.
 * A missing event reveals a vacuous claim: if no run has committed a checkpoint, a claim about
 * checkpoints holds without having been judged. */
#ifndef RECLINE_REACHED_H
#define RECLINE_REACHED_H

#include <stdint.h>

enum reach {
  REACH_ENDS,    /* 1: all programs end */
  REACH_COMMITS, /* the number of a checkpoint that commits; with independent recovery, of a durable
                    image */
  REACH_LATER_COMMITS, /* the number of recoveries before a commit */
  REACH_RECOVERIES,    /* the number of a recovery in which a rank starts from a checkpoint */
  REACH_RECOVERED,     /* the number of the checkpoint from which a rank starts in a recovery */
  REACH_LATE,     /* 1: a message or a contribution from behind a line is received beyond it (needs
                     line_stamps) */
  REACH_EARLY,    /* 1: a message or a contribution from beyond a line is received behind it (needs
                     line_stamps) */
  REACH_REPLAYED, /* 1: after a crash a kept message is given to the program, or sent once more */
  REACH_SUPPRESSED, /* 1: after a crash a message is not sent again, or is dropped */
  REACH_FORCED,     /* 1: after a crash a choice, or the source of a receive, is repeated */
  REACH_FALLS_BACK, /* 1: a recovery goes to a checkpoint before the last, because the last is lost,
                       or restarts from it have failed */
  /* The next five are in the order of enum hazard (world.h). 1 means: */
  REACH_CUT_STEPS,         /* a rank crashes within a step */
  REACH_WHOLE_WRITES,      /* a crash finds that a write under way is whole */
  REACH_TORN_WRITES,       /* a crash finds that a write under way is torn */
  REACH_FALSE_DETECTION,   /* a living rank is declared dead */
  REACH_CONTROL_OVERTAKES, /* a control message is taken while several of that sender wait */
  REACH_OUTPUTS,           /* the number of an output that leaves before all programs have ended */
  REACH_OUTPUT_AGAIN,      /* 1: an output that has left is made once more, and dropped */
  REACHES
};

/* Lists the names of the events in claims; ends with NULL. */
extern const char *const reach_names[REACHES + 1];

/* Holds the highest value that runs have shown of each event, at most 255, and the properties for
 * which there was an occasion to judge them: bit N for property N (properties.h). */
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
