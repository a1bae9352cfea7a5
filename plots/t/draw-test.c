/* Runs `recline draw` without the other commands, for tests. Usage: draw-test FILE [-o FILE.svg] */
#include "plots/draw.h"

int main(int argc, char **argv)
{
  return command_draw(argc, argv);
}
