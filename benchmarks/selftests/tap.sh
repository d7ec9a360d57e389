#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# TAP for shell selftests, which source it and end with `finish`:
#
#   . "${0%/*}/tap.sh"
#   check "the answer is 42" [ "$answer" -eq 42 ]
#   finish
#
# A selftest that dies before `finish` has printed no plan, and whoever reads it sees that.

tap_run=0
tap_failed=0
tap_plan=

# Before the first test, where their number is known: plan 3
plan() {
	tap_plan=$1
	echo "1..$1"
}

# Nothing here can be tested: skip_all "why"
skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

ok() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run - $*"
}

not_ok() {
	tap_run=$((tap_run + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_run - $*"
}

# skip "text" "why"
skip() {
	tap_run=$((tap_run + 1))
	echo "ok $tap_run - $1 # SKIP $2"
}

# check "text" command...: ok if the command succeeds; what it prints is shown if it does not.
check() {
	tap_text=$1
	shift
	if tap_said=$("$@" 2>&1); then
		ok "$tap_text"
	else
		not_ok "$tap_text"
		note "failed: $*"
		[ -z "$tap_said" ] || note "$tap_said"
	fi
}

# check_fails "text" command...: ok if the command fails.
check_fails() {
	tap_text=$1
	shift
	if tap_said=$("$@" 2>&1); then
		not_ok "$tap_text"
		note "succeeded: $*"
	else
		ok "$tap_text"
	fi
}

# soon command...: tries the command until it succeeds, every 10 ms for a second; fails if it never did.
soon() {
	tap_tries=100
	until "$@"; do
		tap_tries=$((tap_tries - 1))
		[ "$tap_tries" -gt 0 ] || return 1
		usleep 10000
	done
}

# For check: the kernel's log has nothing that nobody should see.
# Linux has data races of its own, which the race flavour's kernel tells of.
kernel_is_content() {
	! dmesg | grep -v 'BUG: KCSAN:' | grep -E 'WARNING:|BUG:|nobody cared|rcu:.*stall|soft lockup'
}

finish() {
	[ -n "$tap_plan" ] || echo "1..$tap_run"
	[ "$tap_failed" -eq 0 ] && [ "$tap_run" -gt 0 ] && [ "${tap_plan:-$tap_run}" -eq "$tap_run" ]
	exit
}
