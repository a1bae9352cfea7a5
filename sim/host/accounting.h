/* Counts recoveries for the result: those that rolled all ranks back, those of the dead alone. */
#ifndef RECLINE_ACCOUNTING_H
#define RECLINE_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

/* A rank goes back in this incarnation, as a survivor or as one that died: a rollback is global
 * when survivors took part. */
void accounting_rollback(uint32_t incarnation, bool survivor);

/* Counts the rollbacks into the result, at the end of the run. */
void accounting_report(void);

#endif
