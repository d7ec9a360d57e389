# SPDX-License-Identifier: BSD-3-Clause
#
# Builds guest programs: static, one archive of the library for all. A Makefile sets
#   PROGRAMS       the programs
#   <program>_SRCS their sources (default: <program>.c)
#   <program>_LIBS static libraries of Debian that it needs; their headers are found
#   SCRIPTS        scripts to install as they are
#   BINDIR         where they are installed (default: /usr/bin)
#   DATA           other files, which are installed in /usr/share/lull
# and includes this file. Arguments: CROSS_COMPILE, O (build directory), DESTDIR, STRIP, and
# DEBIAN, the folder with unpacked packages of Debian (`lull build rootfs` makes and gives it).

LIB_DIR := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
O ?= build
BINDIR ?= /usr/bin
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
STRIP ?= $(CROSS_COMPILE)strip

# The output must not depend on where it was built.
GUEST_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I$(LIB_DIR) $(if $(DEBIAN),-isystem $(DEBIAN)/usr/include) \
	-ffunction-sections -fdata-sections -ffile-prefix-map=$(CURDIR)=. -ffile-prefix-map=$(LIB_DIR)=lib
GUEST_LDFLAGS := -static -Wl,--gc-sections -Wl,--build-id=none

LIB_OBJS := $(patsubst $(LIB_DIR)/%.c,$(O)/lib/%.o,$(sort $(wildcard $(LIB_DIR)/*.c)))

.PHONY: all install clean
.DELETE_ON_ERROR:
all: $(addprefix $(O)/,$(PROGRAMS))

$(O)/lib/%.o: $(LIB_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(GUEST_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/libguest.a: $(LIB_OBJS)
	rm -f $@
	$(AR) rcsD $@ $^

define program_rule
$(1)_SRCS ?= $(1).c
$(O)/$(1): $$(patsubst %.c,$(O)/%.o,$$($(1)_SRCS)) $(O)/libguest.a
	$$(CC) $$(GUEST_LDFLAGS) $$(LDFLAGS) -o $$@ $$^ \
		$$(addprefix $$(DEBIAN)/usr/lib/aarch64-linux-gnu/,$$($(1)_LIBS)) $$(if $$($(1)_LIBS),-lm)
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

install: all
	install -d $(DESTDIR)$(BINDIR)
	$(foreach program,$(PROGRAMS),install -m 0755 $(O)/$(program) $(DESTDIR)$(BINDIR)/ &&) true
	$(foreach program,$(PROGRAMS),$(STRIP) $(DESTDIR)$(BINDIR)/$(program) &&) true
	$(if $(SCRIPTS),install -m 0755 $(SCRIPTS) $(DESTDIR)$(BINDIR)/)
	$(if $(DATA),install -D -m 0644 -t $(DESTDIR)/usr/share/lull $(DATA))

clean:
	rm -rf $(O)

-include $(wildcard $(O)/*.d $(O)/lib/*.d)
