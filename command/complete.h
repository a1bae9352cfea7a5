/* Completes command lines, for shells. */
#ifndef RECLINE_COMPLETE_H
#define RECLINE_COMPLETE_H

#include "base/glib/command_line.h"

/* Both functions print completions of the last of `count` words, one on a line; "/" stands for any
 * file. complete_command() completes the name of the command, out of `commands` (ends with NULL).
 * complete_words() completes what follows the name of `command`, with at least two words. */
void complete_command(int count, char **words, const char *const *commands);
void complete_words(int count, char **words, const char *const *commands,
                    int (*command)(int argc, char **argv));

#endif
