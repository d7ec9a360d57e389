# SPDX-License-Identifier: BSD-3-Clause
#
# Builds guest programs: static, one archive of the library for all. A Makefile sets
#   PROGRAMS       the programs
#   <program>_SRCS their sources (default: <program>.c)
#   SCRIPTS        scripts to install as they are
#   BINDIR         where they are installed (default: /usr/bin)
# and includes this file. Arguments: CROSS_COMPILE, O (build directory), DESTDIR, STRIP.

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
GUEST_CFLAGS := -std=gnu11 -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -I$(LIB_DIR) \
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
	$$(CC) $$(GUEST_LDFLAGS) $$(LDFLAGS) -o $$@ $$^
endef
$(foreach program,$(PROGRAMS),$(eval $(call program_rule,$(program))))

install: all
	install -d $(DESTDIR)$(BINDIR)
	$(foreach program,$(PROGRAMS),install -m 0755 $(O)/$(program) $(DESTDIR)$(BINDIR)/ &&) true
	$(foreach program,$(PROGRAMS),$(STRIP) $(DESTDIR)$(BINDIR)/$(program) &&) true
	$(if $(SCRIPTS),install -m 0755 $(SCRIPTS) $(DESTDIR)$(BINDIR)/)

clean:
	rm -rf $(O)

-include $(wildcard $(O)/*.d $(O)/lib/*.d)
