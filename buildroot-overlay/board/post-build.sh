#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Buildroot calls this with the target directory. Leaves, of busybox's commands, those that
# the default image has too, and fails where one of them is missing.
set -eu

commands=$1/usr/bin
list=$BR2_EXTERNAL_LULL_PATH/../benchmarks/guest/busybox-applets.txt

for link in "$commands"/*; do
	[ -L "$link" ] || continue
	case $(readlink "$link") in
	busybox | */busybox) ;;
	*) continue ;;
	esac
	grep -qxF -e "${link##*/}" "$list" || rm "$link"
done

missing=
while read -r applet; do
	case $applet in
	'' | '#'*) continue ;;
	esac
	[ -e "$commands/$applet" ] || [ -L "$commands/$applet" ] || missing="$missing $applet"
done <"$list"

if [ -n "$missing" ]; then
	echo "$list: this busybox lacks$missing; enable them in board/busybox.config" >&2
	exit 1
fi
