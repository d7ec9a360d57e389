// SPDX-License-Identifier: BSD-3-Clause
/* The switch: what can be asked while it is off, and that no CPU stays out. */
#include <errno.h>

#include "cases.h"
#include "cpus.h"
#include "report.h"
#include "system.h"
#include "workers.h"

void test_off(void)
{
	turn("0");
	check(list_is(""), "while it is off no CPU is out");
	check(get_cpu(there, "pseudo_online") == 1, "and each says that it is not");
	said(put_cpu(there, "pseudo_online", "0"), EOPNOTSUPP, "to take one out is EOPNOTSUPP");
	said(put_list("1"), EOPNOTSUPP, "also by the list");
	said(put_cpu(there, "pseudo_online", "1"), 0, "to bring back what is not out is no error");
	said(put_list("\n"), 0, "also by the list");
	turn("1");
	check(list_is(""), "switched on, no CPU is out");
}

void test_switch(void)
{
	must(put_list(all_but(0)), "take all out but CPU 0");
	turn("0");
	check(list_is(""), "switching off brings all back");
	check(get_cpu(there, "pseudo_online") == 1, "and each file says so");
	nudge(there);
	turn("1");
	check(list_is(""), "and all stay when it is on again");
}
