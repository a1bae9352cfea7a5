/* Writes amounts with a unit, as in scenarios. */
#ifndef RECLINE_QUANTITY_H
#define RECLINE_QUANTITY_H

enum quantity { QUANTITY_NUMBER, QUANTITY_TIME, QUANTITY_SIZE, QUANTITY_RATE, QUANTITY_FLOPS };

/* Returns the amount, which is in seconds, bytes, bytes per second or flop/s, in the largest unit
 * in which it is at least 1, with six digits: "2us", "12.5GBps". The caller frees it. */
char *quantity_text(enum quantity, double amount);

#endif
