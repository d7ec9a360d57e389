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
define LULL_GUEST_MAKE
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D)/$(1) \
		CROSS_COMPILE="$(TARGET_CROSS)" O=$(@D)/build/$(1)
endef

define LULL_GUEST_BUILD_CMDS
	$(call LULL_GUEST_MAKE,guest)
	$(call LULL_GUEST_MAKE,selftests)
	$(call LULL_GUEST_MAKE,wake-latency)
	$(call LULL_GUEST_MAKE,platform-check)
endef

define LULL_GUEST_INSTALL_TARGET_CMDS
	$(call LULL_GUEST_MAKE,guest) DESTDIR=$(TARGET_DIR) install
	$(call LULL_GUEST_MAKE,selftests) DESTDIR=$(TARGET_DIR) install
	$(call LULL_GUEST_MAKE,wake-latency) DESTDIR=$(TARGET_DIR) install
	$(call LULL_GUEST_MAKE,platform-check) DESTDIR=$(TARGET_DIR) install
	ln -sfn usr/bin/lull-init $(TARGET_DIR)/init
endef

$(eval $(generic-package))
