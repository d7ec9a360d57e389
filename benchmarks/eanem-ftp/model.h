/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Equations 1 to 3 of the EANeM paper, for the two clusters of a machine. Equation 1 has a second
 * coefficient here: a packet takes cycles, and a time that no clock makes shorter.
 *
 * A model is a text, one thing a line; # begins a comment:
 *   cluster NAME FIRST_CPU CPUS ALPHA BETA TAU LAMBDA THETA
 *   opp NAME MHZ MV
 *   speed NAME S
 *   limit L
 * ALPHA, BETA: packets a second by load times GHz, and without any. TAU: microseconds that a packet
 * takes at any clock; with 0, equation 1 is the paper's. LAMBDA: watts of a busy core by GHz and
 * volt squared. THETA: watts of the cluster by volt, busy or not. S: an application's work a second
 * by GHz, beside the other cluster's; 1 if it is not said. L: of the first cluster, load times GHz
 * up to which it is tried. The first cluster is the little one. The last CPU is number 63 at most.
 */
#ifndef EANEM_MODEL_H
#define EANEM_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MODEL_CPUS 64
#define MODEL_CLUSTERS 2
#define MODEL_OPPS 32
#define MODEL_NAME 16

enum { MODEL_LITTLE, MODEL_BIG };

struct model_opp {
	unsigned int mhz, mv;
};

struct model_cluster {
	char name[MODEL_NAME];
	/* The CPUs: the first one, and how many are online. All of them, and those online. */
	unsigned int first_cpu, cpus;
	uint64_t all, online;
	double alpha, beta, tau, lambda, theta, speed;
	struct model_opp opps[MODEL_OPPS];
	int opp_count;
};

struct model {
	struct model_cluster clusters[MODEL_CLUSTERS];
	int count;
	double limit;
};

/* 0, or the number of the line that is wrong; 1 more than there are if something is missing. */
int model_read(FILE *file, struct model *model);

/* From now on these CPUs are online. Returns whether that makes a difference. */
bool model_set_online(struct model *model, uint64_t online);
/* CPUs of a cluster that are online, from the one with this number on, counted from 0. */
uint64_t model_cpus(const struct model_cluster *cluster, unsigned int from, unsigned int count);

/* Load times GHz that so many packets a second take, without TAU. Not less than 0. */
double model_need(const struct model_cluster *cluster, double packets_s);
/* CPUs that are busy with so many packets a second at an operating point. */
double model_load(const struct model_cluster *cluster, const struct model_opp *opp,
		  double packets_s);
/* Watts at an operating point, with this sum of loads. */
double model_power(const struct model_cluster *cluster, const struct model_opp *opp, double load);
/* The slowest operating point at which packets need no more than so many CPUs, or NULL. */
const struct model_opp *model_opp_for(const struct model_cluster *cluster, double packets_s,
				      double cpus);

#endif
