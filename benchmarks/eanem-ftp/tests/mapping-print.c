// SPDX-License-Identifier: BSD-3-Clause
/* mapping-print MODEL ROOM PACKETS_S…: what is chosen for each, and whether the one before stays.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../mapping.h"

int main(int argc, char **argv)
{
	struct mapping now, before = {.cores = 0};
	struct model model;
	FILE *file = argc > 3 ? fopen(argv[1], "r") : NULL;
	int wrong = file ? model_read(file, &model) : -1;

	if (file)
		fclose(file);
	if (wrong)
		return printf("line %d\n", wrong), 1;
	for (int i = 3; i < argc; i++) {
		double packets = atof(argv[i]);
		bool enough = mapping_choose(&model, packets, atof(argv[2]), &now);
		bool stays = before.cores && mapping_stays(&model, &before, &now, packets, 0.1);

		printf("%d %s %u %u %.9g %d\n", enough, model.clusters[now.cluster].name, now.cores,
		       now.opp.mhz, now.watts, stays);
		if (!stays)
			before = now;
	}
	return 0;
}
