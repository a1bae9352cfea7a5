/* The commands of recline and what their exit codes mean (design: "Command line"). */
#ifndef RECLINE_COMMAND_H
#define RECLINE_COMMAND_H

enum exit_code {
  EXIT_FINE = 0,            /* holds, recovered, as expected */
  EXIT_NOT_AS_EXPECTED = 1, /* violated, lost, not as expected */
  EXIT_INCONCLUSIVE = 2,    /* a bound was hit */
  EXIT_BREACH = 3,          /* our bug */
  EXIT_BAD_INPUT = 64       /* usage, or a file that is wrong; nothing was started */
};

/* argv[0] is the name of the command. */
int command_run(int argc, char **argv);
int command_demo(int argc, char **argv);

#endif
