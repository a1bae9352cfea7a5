/* `recline draw` alone, for the tests: draw-test FILE [-o FILE.svg] */
#include "plots/draw.h"

int main(int argc, char **argv)
{
  return command_draw(argc, argv);
}
