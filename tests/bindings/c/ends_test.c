/* SPDX-FileCopyrightText: The libtune authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Programs in C that end while an operation is tuned behind them, with all they have made alive:
 *   ends_test FOLDER             starts them, one after the other; 77: there is no device
 *   ends_test FOLDER HOW WHERE   is one of them, and ends when its standard input does */
#define _POSIX_C_SOURCE 200809L /* NOLINT: what a program asks its system for */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libtune/bindings/c/libtune.h"

static int fails(const char* what) {
  fprintf(stderr, "%s: %s\n", what, libtune_last_error());
  return 99;
}

static libtune_context* context;
static libtune_queue* queue;
static libtune_operation* operation;

/* An operation that serves with its test default, and for which a better one is searched. */
static int begin(const char* folder, const char* where) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  libtune_device* device = NULL;
  if (libtune_device_select(&device) != LIBTUNE_OK) return fails("device");
  if (libtune_context_create(device, &context) != LIBTUNE_OK) return fails("context");
  if (libtune_context_set_option(context, "database", path) != LIBTUNE_OK) return fails("database");
  if (libtune_context_set_option(context, "mode", "behind") != LIBTUNE_OK) return fails("mode");
  if (libtune_queue_create(context, &queue) != LIBTUNE_OK) return fails("queue");
  const int in_child = strcmp(where, "child") == 0;
  if (in_child && libtune_tune_in_children() != LIBTUNE_OK) return fails("children");
  libtune_template* made = NULL;
  const libtune_named_value key = {"type", {.type = LIBTUNE_TEXT, .as.text = "float32"}};
  if (libtune_template_create(context, "transpose", &key, 1, &made) != LIBTUNE_OK)
    return fails("template");
  const libtune_named_value sizes[] = {{"rows", {.type = LIBTUNE_INT, .as.integer = 20}},
                                       {"columns", {.type = LIBTUNE_INT, .as.integer = 30}}};
  if (libtune_template_instantiate(made, queue, sizes, 2, &operation) != LIBTUNE_OK)
    return fails("operation");
  if (libtune_operation_run(operation) != LIBTUNE_OK) return fails("run");
  return libtune_queue_finish(queue) == LIBTUNE_OK ? 0 : fails("finish");
}

static int be_program(const char* folder, const char* how, const char* where) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  alarm(600);
  const int failed = begin(folder, where);
  if (failed != 0) return failed;
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  if (strcmp(how, "exit") == 0) exit(3);
  if (strcmp(how, "_exit") == 0) _exit(4);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "signal") == 0) raise(SIGTERM);
  return 0;
}

/* What a program has written, up to a word or its end. */
struct output {
  char text[1 << 16];
  size_t size;
};
static int read_until(int from, const char* word, struct output* output) {
  while (word == NULL || strstr(output->text, word) == NULL) {
    const size_t room = sizeof output->text - 1 - output->size;
    const ssize_t got = read(from, output->text + output->size, room);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    output->size += (size_t)got;
    output->text[output->size] = 0;
  }
  return 1;
}

/* True if a program has warned of more than that it waits for a device, or has little memory, which
 * other programs cause. */
static int has_warned(const char* text) {
  static const char* const of_others[] = {"measures on the device; waiting",
                                          "is measured although process", "device memory now"};
  while ((text = strstr(text, "warning")) != NULL) {
    const char* const end = text + strcspn(text, "\n");
    int is_of_others = 0;
    for (size_t i = 0; i < sizeof of_others / sizeof *of_others; ++i) {
      const char* const found = strstr(text, of_others[i]);
      if (found != NULL && found < end) is_of_others = 1;
    }
    if (!is_of_others) return 1;
    text = end;
  }
  return 0;
}

/* Returns the number of failures. */
static int check(const char* self, const char* folder, const char* how, const char* where,
                 int expected) {
  static struct output output;
  memset(&output, 0, sizeof output);
  int to[2];
  int from[2];
  char path[4096];
  snprintf(path, sizeof path, "%s/tuning.db", folder);
  remove(path);
  if (pipe(to) != 0 || pipe(from) != 0) return 1;
  const pid_t program = fork();
  if (program == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    dup2(from[1], STDERR_FILENO);
    for (int i = 0; i < 2; ++i) {
      close(to[i]);
      close(from[i]);
    }
    execl(self, self, folder, how, where, (char*)NULL);
    _exit(98);
  }
  close(to[0]);
  close(from[1]);
  const int begun = read_until(from[0], ": info: tuning ", &output);
  close(to[1]);
  /* Its standard error ends with the last process that has it. */
  read_until(from[0], NULL, &output);
  close(from[0]);
  int status = 0;
  waitpid(program, &status, 0);
  /* This process inherits those that are left, and sees each of them end. */
  while (wait(NULL) > 0 || errno == EINTR) {
  }
  const int clean = !has_warned(output.text) && strstr(output.text, "error") == NULL &&
                    strstr(output.text, "terminate") == NULL;
  libtune_database* left = NULL;
  const int readable = libtune_database_open(path, &left) == LIBTUNE_OK;
  if (readable) libtune_database_destroy(left);
  const int ended = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  if (begun && clean && readable && ended == expected) return 0;
  fprintf(stderr, "%s, %s: began %d, readable %d, ended with %d and not %d, and printed\n%s\n", how,
          where, begun, readable, ended, expected, output.text);
  return 1;
}

int main(int argc, char** argv) {
  if (argc == 4) return be_program(argv[1], argv[2], argv[3]);
  if (argc != 2) return 2;
  size_t devices = 0;
  if (libtune_device_count(&devices) != LIBTUNE_OK) return fails("devices");
  if (devices == 0) return 77;
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  setenv("LIBTUNE_LOG", "info", 1);
  /* Arrays that fill a tenth of the device are not what is tested. */
  setenv("LIBTUNE_TUNING_MEMORY", "64 MB", 1);
  static const char* const places[] = {"here", "child"};
  int failures = 0;
  for (size_t i = 0; i < 2; ++i) {
    failures += check(argv[0], argv[1], "return", places[i], 0);
    failures += check(argv[0], argv[1], "exit", places[i], 3);
    failures += check(argv[0], argv[1], "_exit", places[i], 4);
    failures += check(argv[0], argv[1], "abort", places[i], -SIGABRT);
    failures += check(argv[0], argv[1], "signal", places[i], -SIGTERM);
  }
  return failures > 0 ? 1 : 0;
}
