/* Makes the platform that SimGrid reads from the description of a machine.
 *
 * Every switch is a zone in which each host has a link of its own ("Cluster" routing of SimGrid),
 * so a message within a group takes the links of its two ends. A topology of several switches joins
 * their zones by trunks.
 */
#include "world/scenario/machine_amounts.h"

static const char SPLIT[] = "sharing_policy=\"SPLITDUPLEX\"";

/* Holds a number as text that does not depend on the locale, and that reads back as exactly the
 * same number. */
struct number {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
};

static struct number number(double value)
{
  struct number number;
  g_ascii_formatd(number.text, sizeof number.text, "%.15g", value);
  return number;
}

static void add_setting(GString *xml, const char *id, const char *value)
{
  g_string_append_printf(xml, "    <prop id=\"%s\" value=\"%s\"/>\n", id, value);
}

/* Adds the configuration. SMPI's factors were fitted to an Ethernet of 2012, so all factors are
 * switched off. A message that is not eager takes three latencies: for a request, an answer and the
 * data. A poll costs as much as the software of a message. */
static void add_config(GString *xml, const struct machine *machine)
{
  const struct number overhead = number(machine->network.overhead);
  const struct number eager = number(machine->network.eager);
  g_autofree char *each = g_strdup_printf("0:%s:0", overhead.text);
  g_autofree char *latencies = g_strdup_printf("0:1;%s:3", eager.text);
  g_autofree char *speed = g_strconcat(number(machine->speed).text, "f", NULL);
  g_string_append(xml, "  <config>\n");
  add_setting(xml, "smpi/host-speed", speed);
  add_setting(xml, "smpi/os", each);
  add_setting(xml, "smpi/ois", each);
  add_setting(xml, "smpi/or", each);
  add_setting(xml, "smpi/send-is-detached-thresh", eager.text);
  add_setting(xml, "smpi/async-small-thresh", "0");
  add_setting(xml, "smpi/lat-factor", machine->network.eager > 0 ? latencies : "0:3");
  add_setting(xml, "smpi/bw-factor", "0:1");
  add_setting(xml, "smpi/test", overhead.text);
  add_setting(xml, "smpi/iprobe", overhead.text);
  add_setting(xml, "network/crosstraffic", "0");
  g_string_append(xml, "  </config>\n");
}

static void add_host(GString *xml, const char *name, const struct machine *machine,
                     const struct machine_disk *disk)
{
  g_string_append_printf(xml,
                         "      <host id=\"%s\" speed=\"%sf\" core=\"%d\">"
                         "<disk id=\"disk\" read_bw=\"%sBps\" write_bw=\"%sBps\">"
                         "<prop id=\"write_latency_s\" value=\"%s\"/></disk></host>\n",
                         name, number(machine->speed).text, machine->cores,
                         number(disk->read_bandwidth).text, number(disk->bandwidth).text,
                         number(disk->write_latency).text);
}

/* Adds the wire of a host, with half of the latency on each side of the switch. */
static void add_wire(GString *xml, const char *host, double bandwidth, double latency)
{
  g_string_append_printf(xml,
                         "      <link id=\"%s-wire\" bandwidth=\"%sBps\" latency=\"%ss\" %s/>"
                         "<host_link id=\"%s\" up=\"%s-wire_UP\" down=\"%s-wire_DOWN\"/>\n",
                         host, number(bandwidth).text, number(latency / 2).text, SPLIT, host, host,
                         host);
}

/* Adds the link for messages within a node; each message gets the full bandwidth. */
static void add_memory(GString *xml, const char *host, const struct machine *machine)
{
  g_string_append_printf(xml,
                         "      <link id=\"%s-memory\" bandwidth=\"%sBps\" latency=\"%ss\" "
                         "sharing_policy=\"FATPIPE\"/>\n",
                         host, number(machine->within_node.bandwidth).text,
                         number(machine->within_node.latency).text);
}

static void add_route(GString *xml, const char *host)
{
  g_string_append_printf(xml,
                         "      <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">"
                         "<link_ctn id=\"%s-memory\"/></route>\n",
                         host, host, host);
}

/* Returns the bandwidth of the file system's wires, which are never slower than its disks. */
static double service_bandwidth(const struct machine *machine)
{
  return MAX(machine->network.bandwidth,
             MAX(machine->storage.bandwidth, machine->storage.read_bandwidth));
}

/* Adds nodes `first` to `last` at one switch, perhaps with the service host. SimGrid expects the
 * routes of a zone after its hosts and links. */
static void add_zone(GString *xml, const char *name, const struct machine *machine, int first,
                     int last, bool service)
{
  g_string_append_printf(xml,
                         "    <zone id=\"%s\" routing=\"Cluster\">\n"
                         "      <router id=\"%s-switch\"/>\n",
                         name, name);
  for (int i = first; i <= last; i++) {
    g_autofree char *node = g_strdup_printf("node-%d", i);
    add_host(xml, node, machine, &machine->local);
    add_wire(xml, node, machine->network.bandwidth, machine->network.latency);
    add_memory(xml, node, machine);
  }
  if (service) {
    add_host(xml, "service-0", machine, &machine->storage);
    add_wire(xml, "service-0", service_bandwidth(machine), machine->network.latency);
    add_memory(xml, "service-0", machine);
  }
  for (int i = first; i <= last; i++) {
    g_autofree char *node = g_strdup_printf("node-%d", i);
    add_route(xml, node);
  }
  if (service)
    add_route(xml, "service-0");
  g_string_append(xml, "    </zone>\n");
}

static int groups_of(const struct machine *machine)
{
  return (machine->nodes + machine->network.group - 1) / machine->network.group;
}

static void add_groups(GString *xml, const struct machine *machine)
{
  add_zone(xml, "core", machine, 0, -1, true);
  for (int i = 0; i < groups_of(machine); i++) {
    int first = i * machine->network.group;
    int last = MIN(first + machine->network.group, machine->nodes) - 1;
    g_autofree char *name = g_strdup_printf("group-%d", i);
    add_zone(xml, name, machine, first, last, false);
  }
}

/* Adds a link between the switches of two zones, one for each direction, or the route over this
 * link. */
static void add_trunk(GString *xml, const char *from, const char *to, double bandwidth, double hop,
                      bool route)
{
  if (route)
    g_string_append_printf(xml,
                           "    <zoneRoute src=\"%s\" dst=\"%s\" gw_src=\"%s-switch\" "
                           "gw_dst=\"%s-switch\"><link_ctn id=\"%s-%s\" direction=\"UP\"/>"
                           "</zoneRoute>\n",
                           from, to, from, to, from, to);
  else
    g_string_append_printf(xml, "    <link id=\"%s-%s\" bandwidth=\"%sBps\" latency=\"%ss\" %s/>\n",
                           from, to, number(bandwidth).text, number(hop).text, SPLIT);
}

/* Adds trunks: every group has a trunk to the core, where the service host is. The groups of a
 * dragonfly reach each other without the core. */
static void add_trunks(GString *xml, const struct machine *machine, bool routes)
{
  double all = machine->network.group * machine->network.bandwidth / machine->network.taper;
  for (int i = 0; i < groups_of(machine); i++) {
    g_autofree char *name = g_strdup_printf("group-%d", i);
    add_trunk(xml, name, "core", all, machine->network.hop, routes);
    for (int j = 0; machine->topology == TOPOLOGY_DRAGONFLY && j < i; j++) {
      g_autofree char *other = g_strdup_printf("group-%d", j);
      add_trunk(xml, name, other, machine->network.bandwidth, machine->network.hop, routes);
    }
  }
}

char *machine_xml(const struct machine *machine)
{
  static const char *const routing[] = {
      [TOPOLOGY_FLAT] = "Full", [TOPOLOGY_FAT_TREE] = "Floyd", [TOPOLOGY_DRAGONFLY] = "Full"};
  GString *xml = g_string_new("<?xml version=\"1.0\"?>\n"
                              "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                              "<!-- Made from a description of a machine: recline platform -->\n"
                              "<platform version=\"4.1\">\n");
  add_config(xml, machine);
  g_string_append_printf(xml, "  <zone id=\"machine\" routing=\"%s\">\n",
                         routing[machine->topology]);
  add_setting(xml, "memory_copy_bw", number(machine->memory).text);
  add_setting(xml, "message_handling_s", "0"); /* the handling is part of the overhead */
  if (machine->topology == TOPOLOGY_FLAT) {
    add_zone(xml, "flat", machine, 0, machine->nodes - 1, true);
  } else {
    add_groups(xml, machine);
    add_trunks(xml, machine, false);
    add_trunks(xml, machine, true);
  }
  g_string_append(xml, "  </zone>\n</platform>\n");
  return g_string_free(xml, FALSE);
}
