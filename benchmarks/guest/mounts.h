/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LULL_MOUNTS_H
#define LULL_MOUNTS_H

/* Directory whose contents go to the host after the script. */
#define OUT_DIR "/out"

/* File systems, host name, loopback. What the kernel was built without is noted and left out. */
void mount_all(void);
void set_host_name(const char *name);
void bring_up_loopback(void);

#endif
