/* Completion of command lines, for shells. */
#ifndef RECLINE_COMPLETE_H
#define RECLINE_COMPLETE_H

#include "base/glib/command_line.h"

/* Both print completions of the last of `count` words, a line each; "/" stands for any file.
 * `commands` ends with NULL. The first is for the name of the command, the second for what follows
 * the name of `command`: at least two words. */
void complete_command(int count, char **words, const char *const *commands);
void complete_words(int count, char **words, const char *const *commands,
                    int (*command)(int argc, char **argv));

#endif
