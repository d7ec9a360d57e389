# SPDX-License-Identifier: BSD-3-Clause
include $(sort $(wildcard $(BR2_EXTERNAL_LULL_PATH)/package/*/*.mk))
