/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of the system "hotplug", and what it counts. */
#ifndef PSEUDO_CASES_SYSTEM_H
#define PSEUDO_CASES_SYSTEM_H

#include <stdbool.h>

#define SYSTEM "/sys/kernel/lull/hotplug/"
#define WAKES "/sys/kernel/debug/lull/hotplug/wakes"
#define MS 1000000ULL

/* A test that an error, or 0, is the wanted one, which is positive. */
void said(int got, int wanted, const char *text);
void turn(const char *value);
/* 1: the table of wake-ups is cleared, and counts from now on. 0: it stays as it is. */
void count_wakes(const char *value);

/* Of one CPU, or of all changes if @cpu is negative. */
unsigned long counted(int cpu, const char *word);
/* How often CPUs that are out were woken by what has a word, or by anything if that is NULL. */
unsigned long table(const char *word, bool print);

#endif
