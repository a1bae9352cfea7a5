/* What a run accounts for: recoveries, those that rolled all ranks back and those of the dead
 * alone; what ranks that are stopped wait for. */
#ifndef RECLINE_ACCOUNTING_H
#define RECLINE_ACCOUNTING_H

#include "sim/host/rank/rank.h"

#include <stdint.h>

/* A rank goes back in this incarnation, as a survivor or as one that died: a rollback is global
 * when survivors took part. */
void accounting_rollback(uint32_t incarnation, bool survivor);

/* Counts the rollbacks into the result, at the end of the run. */
void accounting_report(void);

/* Notes whether the rank is absent. While one is, others that a checkpoint holds wait for it: the
 * time of those that are stopped is that of a restart. */
void accounting_absent(struct rank *, bool absent);

/* From here on, until accounting_go_on(), the rank waits and its program is stopped. */
void accounting_stop(struct rank *);
void accounting_go_on(struct rank *, enum activity);

#endif
