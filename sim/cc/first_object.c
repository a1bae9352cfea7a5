/* Linked into every program that recline-cc makes, ahead of all its objects, so that its first
 * constructor is this one: what the program allocates before MPI_Init, in the constructors of its
 * globals and at the beginning of main, is to be rolled back too. Each rank has its own copy of the
 * program, and so its own turn here.
 *
 * By its section and not by a priority: those before 101, the first that programs may use, are
 * refused with a warning. */
void recline_program_begins(const void *inside_program); /* init.c */

/* The dynamic linker, named as in every program, makes a program of a shared object, together with
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
