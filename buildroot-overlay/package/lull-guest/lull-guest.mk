################################################################################
#
# lull-guest
#
################################################################################

# SPDX-License-Identifier: BSD-3-Clause

LULL_GUEST_SITE = $(BR2_EXTERNAL_LULL_PATH)/../benchmarks
LULL_GUEST_SITE_METHOD = local
LULL_GUEST_LICENSE = BSD-3-Clause

LULL_GUEST_FOLDERS = $(notdir $(patsubst %/Makefile,%,$(sort $(wildcard $(LULL_GUEST_SITE)/*/Makefile))))

# Selftests are in the kernel systems' folders, which are no part of the package's own: they are read where they are.
LULL_GUEST_SYSTEMS = $(realpath $(BR2_EXTERNAL_LULL_PATH)/../kernel-patches)

# LULL_DEBIAN, an argument of make, is the folder with the packages of which programs are made.
# Compiled by the flags of each folder's own Makefile, as in the default image.
define LULL_GUEST_MAKE
	$(foreach folder,$(LULL_GUEST_FOLDERS), \
		$(TARGET_MAKE_ENV) $(MAKE) -C $(@D)/$(folder) \
			CROSS_COMPILE="$(TARGET_CROSS)" LULL_GUEST_MK=$(@D)/lib/guest.mk \
			DEBIAN=$(LULL_DEBIAN) O=$(@D)/build/$(folder) SYSTEMS=$(LULL_GUEST_SYSTEMS) $(1)$(sep))
endef

define LULL_GUEST_BUILD_CMDS
	$(call LULL_GUEST_MAKE)
endef

define LULL_GUEST_INSTALL_TARGET_CMDS
	$(call LULL_GUEST_MAKE,DESTDIR=$(TARGET_DIR) install)
	ln -sfn usr/bin/lull-init $(TARGET_DIR)/init
endef

$(eval $(generic-package))
