/* recline-cc links this file into every program, after all other objects, so that this constructor
 * runs last. Compare first_object.c. */
void recline_program_is_built(const void *inside_program); /* init.c */

static void built(int argc, char **argv, char **environment);

__attribute__((section(".init_array"), used)) static void (*last)(int, char **, char **) = built;

static void built(int argc, char **argv, char **environment)
{
  (void)argc;
  (void)argv;
  (void)environment;
  recline_program_is_built(&last);
}
