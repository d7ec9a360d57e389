# SPDX-License-Identifier: BSD-3-Clause
from lull.cli.app import main

main()
