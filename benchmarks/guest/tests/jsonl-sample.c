// SPDX-License-Identifier: BSD-3-Clause
/* jsonl-sample [STRING …]: one line with every kind of value, then one per string. */
#include <math.h>
#include <stdio.h>

#include "jsonl.h"

int main(int argc, char *argv[])
{
	struct jsonl line;

	jsonl_begin(&line, stdout);
	jsonl_int(&line, "smallest", INT64_MIN);
	jsonl_real(&line, "tenth", 0.1);
	jsonl_real(&line, "nan", NAN);
	jsonl_bool(&line, "yes", true);
	jsonl_string(&line, "none", NULL);
	jsonl_array(&line, "list");
	jsonl_int(&line, NULL, 1);
	jsonl_object(&line, NULL);
	jsonl_string(&line, "a", "b");
	jsonl_bool(&line, "c", false);
	jsonl_close(&line);
	jsonl_array(&line, NULL);
	jsonl_end(&line);

	for (int i = 1; i < argc; i++) {
		jsonl_begin(&line, stdout);
		jsonl_string(&line, "text", argv[i]);
		jsonl_end(&line);
	}
	return 0;
}
