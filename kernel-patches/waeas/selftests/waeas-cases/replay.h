/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_WAEAS_REPLAY_H
#define LULL_WAEAS_REPLAY_H

/* Plays the load. Returns the program's status. */
int replay(void);

#endif
