/* Keeps the account of a run: recoveries that rolled all ranks back, recoveries of the dead alone,
 * and the reasons for which stopped ranks wait. */
#ifndef RECLINE_ACCOUNTING_H
#define RECLINE_ACCOUNTING_H

#include "sim/host/rank/rank.h"

#include <stdint.h>

/* Notes that a rank goes back in this incarnation, as a survivor or after its death: a rollback is
 * global when survivors took part. */
void accounting_rollback(uint32_t incarnation, bool survivor);

/* Counts the rollbacks into the result, at the end of the run. */
void accounting_report(void);

/* Notes whether the rank is absent. While some rank is, the ranks that a checkpoint holds wait for
 * it, and their time counts as restart. */
void accounting_absent(struct rank *, bool absent);

/* Notes that from here on, until accounting_go_on(), the rank waits and its program is stopped. */
void accounting_stop(struct rank *);
void accounting_go_on(struct rank *, enum activity);

#endif
