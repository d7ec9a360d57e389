# SPDX-License-Identifier: BSD-3-Clause
#
# The make options of the firmware, and why each is what it is. The builder
# reads this file and passes every option on make's command line, where it
# overrides what TF-A's own makefiles assign. A paragraph is a reason followed
# by the options it explains; an option without a reason is an error.

# gem5's VExpress_GEM5_Foundation identifies itself as Arm's Foundation FVP.
PLAT := fvp

# There is no earlier boot stage: every core starts in BL31 and Linux is next.
# The kernel and its device tree are in memory when the simulation starts.
RESET_TO_BL31 := 1
ARM_LINUX_KERNEL_AS_BL33 := 1
PRELOADED_BL33_BASE := 0x80200000
ARM_PRELOADED_DTB_BASE := 0x8F000000

# Room for every platform: the power controller does not know absent cores, and
# PSCI refuses them. Each lock reads words of uncached memory for every possible
# core, so a build with less room enters and leaves sleep faster.
FVP_CLUSTER_COUNT := 4
FVP_MAX_CPUS_PER_CLUSTER := 8

# With more than two clusters TF-A picks the CCN driver, whose table does not fit.
# Foundation has no interconnect to program, which only the CCI driver knows.
FVP_INTERCONNECT_DRIVER := FVP_CCI

# gem5's interrupt controller is a plain GICv3, not a GIC-600.
GICV3_SUPPORT_GIC600 := 0

# What experiments read: counts and residencies by state, and the time stamps of
# entry, cache maintenance, power-off and exit of every CPU_SUSPEND.
ENABLE_PSCI_STAT := 1
ENABLE_PMF := 1
ENABLE_RUNTIME_INSTRUMENTATION := 1

# Linux leaves the coordination of cluster states to the firmware. Code for the
# other mode would run on every suspend.
PSCI_OS_INIT_MODE := 0

# The firmware's instructions are part of what we measure: no assertions.
DEBUG := 0

# Two lines with the version at boot, nothing later.
LOG_LEVEL := 20

# The same bytes from the same sources, wherever and whenever they are built.
BUILD_STRING := lull
BUILD_MESSAGE_TIMESTAMP := "reproducible"

# The kernel is 64-bit: no 32-bit EL1 registers to keep.
CTX_INCLUDE_AARCH32_REGS := 0

# A simulated machine has no secrets to protect, and on a Cortex-A57 the first of
# these turns the MMU off and on at each entry to EL3.
WORKAROUND_CVE_2017_5715 := 0
WORKAROUND_CVE_2018_3639 := 0
DYNAMIC_WORKAROUND_CVE_2018_3639 := 0
WORKAROUND_CVE_2022_23960 := 0

# The machine is Armv8.0. The FVP port would look for each of these extensions at
# run time, in ID registers that gem5 need not have.
ENABLE_FEAT_AMU := 0
ENABLE_FEAT_AMUv1p1 := 0
ENABLE_FEAT_HCX := 0
ENABLE_FEAT_RNG := 0
ENABLE_FEAT_TWED := 0
ENABLE_FEAT_GCS := 0
ENABLE_FEAT_MPAM := 0
ENABLE_FEAT_D128 := 0
ENABLE_FEAT_CSV2_2 := 0
ENABLE_FEAT_CSV2_3 := 0
ENABLE_FEAT_DEBUGV8P9 := 0
ENABLE_FEAT_DIT := 0
ENABLE_FEAT_PAN := 0
ENABLE_FEAT_VHE := 0
ENABLE_FEAT_SEL2 := 0
ENABLE_FEAT_ECV := 0
ENABLE_FEAT_FGT := 0
ENABLE_FEAT_FGT2 := 0
ENABLE_FEAT_THE := 0
ENABLE_FEAT_TCR2 := 0
ENABLE_FEAT_S2PIE := 0
ENABLE_FEAT_S1PIE := 0
ENABLE_FEAT_S2POE := 0
ENABLE_FEAT_S1POE := 0
ENABLE_FEAT_SCTLR2 := 0
ENABLE_FEAT_MTE2 := 0
ENABLE_FEAT_LS64_ACCDATA := 0
ENABLE_SVE_FOR_NS := 0
ENABLE_SME_FOR_NS := 0
ENABLE_SME2_FOR_NS := 0
ENABLE_SPE_FOR_NS := 0
ENABLE_BRBE_FOR_NS := 0
ENABLE_TRBE_FOR_NS := 0
ENABLE_TRF_FOR_NS := 0
ENABLE_SYS_REG_TRACE_FOR_NS := 0
CTX_INCLUDE_NEVE_REGS := 0
