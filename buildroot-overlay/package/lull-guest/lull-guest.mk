################################################################################
#
# lull-guest
#
################################################################################

# SPDX-License-Identifier: BSD-3-Clause

LULL_GUEST_SITE = $(BR2_EXTERNAL_LULL_PATH)/../benchmarks
LULL_GUEST_SITE_METHOD = local
LULL_GUEST_LICENSE = BSD-3-Clause

# Compiled by the flags of its own Makefile, as in the default image.
LULL_GUEST_MAKE = \
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D)/guest \
	CROSS_COMPILE="$(TARGET_CROSS)" O=$(@D)/build

define LULL_GUEST_BUILD_CMDS
	$(LULL_GUEST_MAKE)
endef

define LULL_GUEST_INSTALL_TARGET_CMDS
	$(LULL_GUEST_MAKE) DESTDIR=$(TARGET_DIR) install
	ln -sfn usr/bin/lull-init $(TARGET_DIR)/init
endef

$(eval $(generic-package))
