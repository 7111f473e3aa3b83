/* SPDX-FileCopyrightText: The libtune authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* A program in C that an installed libtune-c is enough for: from_c DATABASE. */
#include <libtune/bindings/c/libtune.h>
#include <stdio.h>

int main(int argc, char** argv) {
  libtune_database* database = NULL;
  libtune_table* functions = NULL;
  size_t rows = 0;
  size_t columns = 0;
  if (argc != 2 || libtune_database_open(argv[1], &database) != LIBTUNE_OK ||
      libtune_database_functions(database, &functions) != LIBTUNE_OK ||
      libtune_table_size(functions, &rows, &columns) != LIBTUNE_OK || columns == 0) {
    fprintf(stderr, "from_c: %s\n", libtune_last_error());
    return 1;
  }
  libtune_table_destroy(functions);
  libtune_database_destroy(database);
  printf("libtune %s: %zu functions\n", libtune_version(), rows);
  return 0;
}
