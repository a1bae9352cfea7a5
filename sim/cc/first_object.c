/* recline-cc links this file into every program, ahead of all other objects, so that this
 * constructor runs first. It must run first because a rollback covers all memory that the program
 * allocates. A program allocates memory even before MPI_Init: in the constructors of its globals,
 * and at the beginning of main. Each rank has its own copy of the program, and so runs this
 * constructor for itself.
 *
 * The section in which the constructor is listed makes it the first. A priority could not do that:
 * programs may use priorities from 101 on, and compilers warn of lower ones. */
void recline_program_begins(const void *inside_program); /* init.c */

/* A shared object can be started as a program if it contains this name of the dynamic linker and
 * the start-up code that recline-cc links. */
#ifdef RECLINE_INTERPRETER
extern const char recline_interpreter[];
const char recline_interpreter[] __attribute__((section(".interp"))) = RECLINE_INTERPRETER;
#endif

static void begin(int argc, char **argv, char **environment);

__attribute__((section(".init_array.00000"), used)) static void (*first)(int, char **,
                                                                         char **) = begin;

static void begin(int argc, char **argv, char **environment)
{
  (void)argc;
  (void)argv;
  (void)environment;
  recline_program_begins(&first);
}
