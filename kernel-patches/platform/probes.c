// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several probes of trace points, all of them or none. To remove a probe that is
 * not there is a warning, so a failure removes those that are.
 */
#include "probes.h"

/**
 * lull_unregister_probes - the functions are not called any more
 * @probes: of those that were given to lull_register_probes(), the first ones
 * @count: how many
 *
 * Context: may sleep.
 */
void lull_unregister_probes(const struct lull_trace_probe *probes, unsigned int count)
{
	while (count--)
		tracepoint_probe_unregister(probes[count].point, probes[count].function, NULL);
	tracepoint_synchronize_unregister();
}

/**
 * lull_register_probes - have trace points call functions
 * @probes: the trace points and the functions
 * @count: how many
 *
 * Context: may sleep.
 * Return: 0, or an error, with which none of them is called.
 */
int lull_register_probes(const struct lull_trace_probe *probes, unsigned int count)
{
	unsigned int i;
	int error;

	for (i = 0; i < count; i++) {
		error = tracepoint_probe_register(probes[i].point, probes[i].function, NULL);
		if (error) {
			lull_unregister_probes(probes, i);
			return error;
		}
	}

	return 0;
}
