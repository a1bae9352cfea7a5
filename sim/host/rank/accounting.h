/* Keeps the account of a run: recoveries that rolled all ranks back, recoveries of the dead ranks
 * alone, and why stopped ranks wait. */
#ifndef RECLINE_ACCOUNTING_H
#define RECLINE_ACCOUNTING_H

#include "sim/host/rank/rank.h"

#include <stdint.h>

/* Notes that a rank goes back in this incarnation, as a survivor or after its death. A rollback
 * counts as global if survivors take part. */
void accounting_rollback(uint32_t incarnation, bool survivor);

/* Counts the rollbacks into the result, at the end of the run. */
void accounting_report(void);

/* Notes whether the rank is absent. As long as some rank is absent, the ranks that a checkpoint
 * holds wait for that rank, and their time counts as restart. */
void accounting_absent(struct rank *, bool absent);

/* Notes that the rank waits and its program is stopped, from this call until accounting_go_on(). */
void accounting_stop(struct rank *);
void accounting_go_on(struct rank *, enum activity);

#endif
