/* SPDX-License-Identifier: GPL-2.0-only */
/* The arithmetic of a drive: when a request is done. */
#ifndef _LULL_SSD_MODEL_H
#define _LULL_SSD_MODEL_H

#include <linux/types.h>

#define LULL_SSD_CHANNELS	64
#define LULL_SSD_DEPTH		256

enum lull_ssd_operation {
	LULL_SSD_READ,
	LULL_SSD_WRITE,
	LULL_SSD_FLUSH,
};

/**
 * struct lull_ssd_model - a drive
 * @name: as in the platform file
 * @ns: of a read and a write: the time in a channel
 * @ns_per_kib: of a read and a write: the time on the link
 * @flush_ns: of a flush, when all before it is done
 * @jitter_permille: how far a channel's time may be from what it is on average
 * @channels: requests in work at a time
 * @depth: requests that the drive takes
 */
struct lull_ssd_model {
	const char *name;
	u32 ns[2];
	u32 ns_per_kib[2];
	u32 flush_ns;
	u32 jitter_permille;
	u32 channels;
	u32 depth;
};

/**
 * struct lull_ssd_state - what a drive is busy with
 * @channels: when each is free
 * @link: when it is free
 * @random: where the random numbers are
 */
struct lull_ssd_state {
	u64 channels[LULL_SSD_CHANNELS];
	u64 link;
	u64 random;
};

bool lull_ssd_valid(const struct lull_ssd_model *model);
u64 lull_ssd_done(const struct lull_ssd_model *model, struct lull_ssd_state *state,
		  enum lull_ssd_operation operation, u32 bytes, u64 now);

#endif /* _LULL_SSD_MODEL_H */
