// SPDX-License-Identifier: BSD-3-Clause
/* Interrupts leave a CPU that is out, and come back. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "cpus.h"
#include "report.h"
#include "sysfs.h"
#include "system.h"

static int irq_text(int irq, const char *file, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/irq/%d/%s", irq, file);
	return read_text(path, text, size);
}

static int irq_put(int irq, const char *list)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity_list", irq);
	return write_text(path, list);
}

static bool irq_is(int irq, const char *file, const char *wanted)
{
	char text[64];

	return !irq_text(irq, file, text, sizeof(text)) && !strcmp(text, wanted);
}

/* An interrupt that can be moved to a CPU, and the affinity that it had. */
static int movable_irq(const char *number, char *before, size_t size)
{
	char text[64];

	for (int irq = 0; irq < 256; irq++) {
		if (irq_text(irq, "effective_affinity_list", text, sizeof(text)) || !text[0] ||
		    irq_text(irq, "smp_affinity_list", before, size) || irq_put(irq, number))
			continue;
		if (irq_is(irq, "effective_affinity_list", number))
			return irq;
		irq_put(irq, before);
	}
	return -1;
}

void test_interrupts(void)
{
	char both[32], number[16], before[64];
	int irq;

	snprintf(number, sizeof(number), "%d", there);
	snprintf(both, sizeof(both), there == 1 ? "0-%d" : "0,%d", there);
	irq = movable_irq(number, before, sizeof(before));
	if (irq < 0) {
		check(true, "an interrupt moves # SKIP this machine has none that can");
		return;
	}
	must(irq_put(irq, both), "give an interrupt two CPUs");
	check(irq_is(irq, "effective_affinity_list", "0"),
	      "an interrupt of two CPUs goes to CPU 0");
	out(0);
	check(irq_is(irq, "effective_affinity_list", number), "and to the other when CPU 0 is out");
	check(irq_is(irq, "smp_affinity_list", both), "its affinity stays what the user wrote");
	all_in();
	check(irq_is(irq, "effective_affinity_list", "0"), "it comes back with CPU 0");

	out(0);
	must(irq_put(irq, both), "write an affinity");
	check(irq_is(irq, "effective_affinity_list", number),
	      "written while CPU 0 is out, it is heeded");
	must(irq_put(irq, "0"), "write an affinity");
	check(irq_is(irq, "effective_affinity_list", "0"),
	      "with no other CPU it goes there all the same");
	all_in();
	must(irq_put(irq, number), "write an affinity");
	out(there);
	check(irq_is(irq, "effective_affinity_list", number), "so does one whose only CPU leaves");
	must(irq_put(irq, both), "write an affinity");
	all_in();
	check(irq_is(irq, "effective_affinity_list", "0") && irq_is(irq, "smp_affinity_list", both),
	      "a CPU that comes back takes none that it did not have");
	must(irq_put(irq, before), "give an interrupt its affinity back");
}
