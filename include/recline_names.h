/* recline-cc and recline-c++ include this file ahead of all that they compile, in place of SMPI's
 * smpi_helpers.h. With this file, calls of libc by the names below reach SMPI's functions, or the
 * layer's own function if the layer has one.
 *
 * SMPI's header uses macros, which also replace what merely has such a name: a member of a
 * structure, a prototype of getopt in an old program. The pragmas below change only the names of
 * symbols, so &exit in a program is &smpi_exit. */
#ifndef RECLINE_NAMES_H
#define RECLINE_NAMES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#ifndef __ASSEMBLER__
#pragma redefine_extname sleep smpi_sleep
#pragma redefine_extname usleep smpi_usleep
#pragma redefine_extname nanosleep smpi_nanosleep
#pragma redefine_extname gettimeofday smpi_gettimeofday
#pragma redefine_extname clock_gettime smpi_clock_gettime
#pragma redefine_extname getopt smpi_getopt
#pragma redefine_extname getopt_long smpi_getopt_long
#pragma redefine_extname getopt_long_only smpi_getopt_long_only
#pragma redefine_extname getpid smpi_getpid
#pragma redefine_extname exit smpi_exit
#endif

#endif
