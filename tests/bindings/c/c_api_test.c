/* SPDX-FileCopyrightText: The libtune authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* The C interface from C: a program of its own, compiled by a C compiler, that ends with 77 where
 * there is no device. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtune/bindings/c/libtune.h"

static int failures = 0;

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition,     \
              libtune_last_error());                                                       \
      ++failures;                                                                          \
    }                                                                                      \
  } while (0)
#define CHECK_OK(call) CHECK((call) == LIBTUNE_OK)
/* The call fails with this status and a text that mentions something. */
#define CHECK_FAILS(status, text, call) \
  do {                                  \
    CHECK((call) == (status));          \
    CHECK(strstr(libtune_last_error(), text) != NULL); \
  } while (0)

static libtune_value whole(int64_t number) {
  libtune_value made = {.type = LIBTUNE_INT};
  made.as.integer = number;
  return made;
}

static libtune_value text(const char* words) {
  libtune_value made = {.type = LIBTUNE_TEXT};
  made.as.text = words;
  return made;
}

static const libtune_value* find(const libtune_named_value* values, size_t count,
                                 const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(values[i].name, name) == 0) return &values[i].value;
  }
  return NULL;
}

/* The column of a table; null if it has none of this name. */
static const libtune_value* column(const libtune_table* table, const char* wanted) {
  size_t rows = 0;
  size_t columns = 0;
  CHECK_OK(libtune_table_size(table, &rows, &columns));
  for (size_t i = 0; i < columns; ++i) {
    const char* name = NULL;
    const libtune_value* values = NULL;
    CHECK_OK(libtune_table_column(table, i, &name, &values));
    if (strcmp(name, wanted) == 0) return values;
  }
  return NULL;
}

static void* fail_elsewhere(void* unused) {
  (void)unused;
  CHECK(strcmp(libtune_last_error(), "") == 0);
  libtune_device* none = NULL;
  CHECK(libtune_device_get(1000000, &none) == LIBTUNE_NO_DEVICE);
  return NULL;
}

static void test_errors(void) {
  CHECK(libtune_abi() == LIBTUNE_C_ABI);
  CHECK(strlen(libtune_version()) > 0);
  CHECK(strcmp(libtune_status_name(LIBTUNE_NOT_TUNED), "LIBTUNE_NOT_TUNED") == 0);
  CHECK(strcmp(libtune_status_name((libtune_status)4711), "unknown") == 0);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "is null", libtune_device_count(NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "the context is null",
              libtune_context_set_option(NULL, "mode", "tune"));
  CHECK_OK(libtune_context_destroy(NULL));
  CHECK_OK(libtune_set_last_error("mine"));
  pthread_t other;
  CHECK(pthread_create(&other, NULL, fail_elsewhere, NULL) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(strcmp(libtune_last_error(), "mine") == 0);
}

static void test_options(libtune_context* context) {
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "there is no option 'speed'",
              libtune_context_set_option(context, "speed", "high"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "none of 'tune', 'resume'",
              libtune_context_set_option(context, "mode", "never"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "30 s",
              libtune_context_set_option(context, "budget", "much"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "exhaustive",
              libtune_context_set_option(context, "strategy", "luck"));
  CHECK_OK(libtune_context_set_option(context, "budget", "20 trials"));
  CHECK_OK(libtune_context_set_option(context, "budget", NULL));
}

static void test_buffers(const libtune_context* context, libtune_queue* queue) {
  char sent[64];
  char received[64];
  for (int i = 0; i < 64; ++i) sent[i] = (char)i;
  libtune_buffer* first = NULL;
  libtune_buffer* second = NULL;
  CHECK_OK(libtune_buffer_create(context, 64, &first));
  CHECK_OK(libtune_buffer_create(context, 64, &second));
  CHECK_OK(libtune_queue_write(queue, first, 0, sent, 64));
  CHECK_OK(libtune_queue_zero(queue, second, 0, 64));
  CHECK_OK(libtune_queue_copy(queue, second, 32, first, 0, 32));
  CHECK_OK(libtune_queue_read(queue, second, 0, received, 64));
  CHECK(received[0] == 0 && received[31] == 0 && memcmp(received + 32, sent, 32) == 0);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "", libtune_queue_read(queue, first, 32, received, 64));
  size_t bytes = 0;
  uintptr_t native = 0;
  CHECK_OK(libtune_buffer_size(first, &bytes));
  CHECK_OK(libtune_buffer_native(first, &native));
  CHECK(bytes == 64 && native != 0);
  libtune_buffer* wrapped = NULL;
  CHECK_OK(libtune_buffer_wrap(context, native, 64, &wrapped));
  CHECK_OK(libtune_queue_read(queue, wrapped, 0, received, 64));
  CHECK(memcmp(received, sent, 64) == 0);
  CHECK_OK(libtune_buffer_destroy(wrapped));
  CHECK_OK(libtune_buffer_destroy(second));
  CHECK_OK(libtune_buffer_destroy(first));
}

struct measuring {
  int calls;
  int trials;
  int stop_after;
};

static libtune_status measure(void* user, const libtune_named_value* configuration, size_t count,
                              int iterations, double* seconds) {
  struct measuring* self = user;
  ++self->calls;
  CHECK(iterations >= 1 && count == 2);
  const int64_t x = find(configuration, count, "x")->as.integer;
  if (x == 3) {
    libtune_set_last_error("three does not run here");
    return LIBTUNE_SKIPPED;
  }
  if (x == 4) {
    libtune_set_last_error("four is broken");
    return LIBTUNE_ERROR;
  }
  *seconds = 1e-3 * (double)(1 + (x - 2) * (x - 2));
  return LIBTUNE_OK;
}

static libtune_status hear(void* user, const libtune_named_value* configuration, size_t count,
                           const char* outcome, const char* reason, double time_ns) {
  struct measuring* self = user;
  ++self->trials;
  CHECK(count == 2 && find(configuration, count, "kind") != NULL);
  CHECK(strlen(outcome) > 0 && reason != NULL);
  CHECK((strcmp(outcome, "measured") == 0) == !isnan(time_ns));
  return self->trials == self->stop_after ? LIBTUNE_ERROR : LIBTUNE_OK;
}

static libtune_status allow(void* user, const libtune_named_value* configuration, size_t count,
                            int* allowed) {
  (void)user;
  *allowed = find(configuration, count, "x")->as.integer != 5;
  return LIBTUNE_OK;
}

static libtune_tuner* make_tuner(struct measuring* state) {
  libtune_tuner* tuner = NULL;
  const libtune_value numbers[] = {whole(1), whole(2), whole(3), whole(4), whole(5)};
  const libtune_value kinds[] = {text("only")};
  CHECK_OK(libtune_tuner_create("by hand", &tuner));
  CHECK_OK(libtune_tuner_parameter(tuner, "x", numbers, 5));
  CHECK_OK(libtune_tuner_parameter(tuner, "kind", kinds, 1));
  CHECK_OK(libtune_tuner_restrict_by(tuner, allow, NULL, "not five"));
  CHECK_OK(libtune_tuner_measure_by(tuner, measure, state));
  CHECK_OK(libtune_tuner_on_trial(tuner, hear, state));
  CHECK_OK(libtune_tuner_metric(tuner, "cost", "x * time", ""));
  return tuner;
}

static void test_tuning_by_callback(const libtune_context* context, const libtune_device* device,
                                    const char* path) {
  struct measuring state = {0};
  libtune_tuner* tuner = make_tuner(&state);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "column",
              libtune_tuner_restrict(tuner, "x <= "));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "has no kernel",
              libtune_tuner_scalar(tuner, "1234", 4));
  libtune_named_value key[] = {{"n", whole(7)}, {"layout", text("rows")}};
  CHECK_OK(libtune_tuner_remember(tuner, "c.by_hand", 2, key, 2));
  CHECK_OK(libtune_tuner_set_option(tuner, "isolation", "off"));

  libtune_tuned* tuned = NULL;
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  const libtune_named_value* best = NULL;
  size_t count = 0;
  double time = 0;
  CHECK_OK(libtune_tuned_best(tuned, &best, &count));
  CHECK(count == 2 && find(best, count, "x")->as.integer == 2);
  CHECK_OK(libtune_tuned_time(tuned, &time));
  CHECK(fabs(time - 1e6) < 1);
  CHECK(state.trials == 4);
  libtune_table* trials = NULL;
  size_t rows = 0;
  CHECK_OK(libtune_tuned_trials(tuned, &trials));
  CHECK_OK(libtune_table_size(trials, &rows, &count));
  CHECK(rows == 4);
  int skipped = 0;
  int failed = 0;
  for (size_t i = 0; i < rows; ++i) {
    const char* outcome = column(trials, "outcome")[i].as.text;
    const char* reason = column(trials, "message")[i].as.text;
    if (strcmp(outcome, "skipped") == 0) skipped += strcmp(reason, "three does not run here") == 0;
    if (strcmp(outcome, "failed") == 0) failed += strstr(reason, "four is broken") != NULL;
    if (strcmp(outcome, "measured") == 0) {
      CHECK(column(trials, "samples_ns")[i].type == LIBTUNE_REALS);
      CHECK(column(trials, "samples_ns")[i].count > 0);
      CHECK(column(trials, "cost")[i].as.real > 0);
    }
  }
  CHECK(skipped == 1 && failed == 1);
  CHECK_OK(libtune_table_destroy(trials));
  libtune_operation* none = NULL;
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "is no kernel",
              libtune_tuned_instantiate(tuned, NULL, &none));
  CHECK_OK(libtune_tuned_destroy(tuned));

  /* Found, without a search. */
  state.calls = 0;
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  CHECK(libtune_tuned_time(tuned, &time) == LIBTUNE_NOT_FOUND);
  CHECK(state.calls == 0);
  CHECK_OK(libtune_tuned_destroy(tuned));
  CHECK_OK(libtune_tuner_destroy(tuner));

  /* Looked up. The key may come in any order, and numbers as any type that holds them. */
  libtune_database* database = NULL;
  libtune_result* result = NULL;
  CHECK_OK(libtune_database_open(path, &database));
  libtune_named_value other[] = {{"layout", text("rows")}, {"n", {.type = LIBTUNE_REAL}}};
  other[1].value.as.real = 7;
  CHECK_OK(libtune_database_find(database, "c.by_hand", 2, other, 2, device, LIBTUNE_EXACT,
                                 &result));
  CHECK_OK(libtune_result_values(result, &best, &count));
  CHECK(find(best, count, "x")->as.integer == 2);
  CHECK_OK(libtune_result_info(result, &best, &count));
  CHECK(strcmp(find(best, count, "grade")->as.text, "exact") == 0);
  CHECK_OK(libtune_result_destroy(result));
  CHECK(libtune_database_find(database, "c.by_hand", 3, key, 2, device, LIBTUNE_EXACT, &result) ==
        LIBTUNE_NOT_FOUND);
  key[0].value = whole(8);
  CHECK(libtune_database_find(database, "c.by_hand", -1, key, 2, device, LIBTUNE_NEAREST,
                              &result) == LIBTUNE_NOT_FOUND);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "the key has no 'layout'",
              libtune_database_find(database, "c.by_hand", 2, key, 1, device, LIBTUNE_EXACT,
                                    &result));
  key[0].value = text("seven");
  CHECK_FAILS(LIBTUNE_TYPE_ERROR, "int64",
              libtune_database_find(database, "c.by_hand", 2, key, 2, device, LIBTUNE_EXACT,
                                    &result));
  libtune_table* table = NULL;
  CHECK_OK(libtune_database_functions(database, &table));
  CHECK(strcmp(column(table, "function")[0].as.text, "c.by_hand") == 0);
  CHECK_OK(libtune_table_destroy(table));
  CHECK_OK(libtune_database_results(database, "c.by_hand", -1, &table));
  CHECK(column(table, "n")[0].as.integer == 7 && column(table, "x")[0].as.integer == 2);
  CHECK_OK(libtune_table_destroy(table));
  CHECK_OK(libtune_database_trials(database, "c.by_hand", 2, &table));
  CHECK_OK(libtune_table_size(table, &rows, &count));
  CHECK(rows == 4 && column(table, "outcome") != NULL);
  CHECK_OK(libtune_table_destroy(table));
  CHECK(libtune_database_trials(database, "nobody", 2, &table) == LIBTUNE_NOT_FOUND);
  CHECK_OK(libtune_database_destroy(database));
}

static void test_stopping(const libtune_context* context) {
  struct measuring state = {.stop_after = 1};
  libtune_tuner* tuner = make_tuner(&state);
  libtune_tuned* tuned = NULL;
  CHECK_FAILS(LIBTUNE_STOPPED, "has ended", libtune_tuner_tune(tuner, context, &tuned));
  CHECK(state.trials == 1);
  CHECK_OK(libtune_tuner_destroy(tuner));
}

static int end_now(void* user) {
  struct measuring* self = user;
  return self->calls >= self->stop_after;
}

static void test_stop_function(const libtune_context* context) {
  struct measuring state = {.stop_after = 2};
  libtune_tuner* tuner = make_tuner(&state);
  libtune_tuned* tuned = NULL;
  CHECK_OK(libtune_stop_by(end_now, &state));
  CHECK_FAILS(LIBTUNE_STOPPED, "has ended", libtune_tuner_tune(tuner, context, &tuned));
  CHECK(state.calls >= 2 && tuned == NULL);
  CHECK(state.trials <= 2); /* of four: a step may be several calls */
  state.stop_after = -1;
  CHECK_OK(libtune_stop_by(NULL, NULL));
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  CHECK(state.trials >= 4);
  CHECK_OK(libtune_tuned_destroy(tuned));
  CHECK_OK(libtune_tuner_destroy(tuner));
}

static void test_null_places(const libtune_context* context, const libtune_queue* queue) {
  struct measuring state = {0};
  libtune_tuner* tuner = make_tuner(&state);
  const char* place = "place for the handle";
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_tuner_tune(tuner, context, NULL));
  CHECK(state.calls == 0);
  CHECK_OK(libtune_tuner_destroy(tuner));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_tuner_create("none", NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_device_select(NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_buffer_create(context, (size_t)1 << 60, NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_operation_list(NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place,
              libtune_template_create(context, "no such operation", NULL, 0, NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, place, libtune_template_instantiate(NULL, queue, NULL, 0, NULL));
}

/* A thread that is cancelled while it tunes ends after the call, and not the program. */
struct cancelled {
  const libtune_context* context;
  libtune_status status;
};

static libtune_status cancel_oneself(void* user, const libtune_named_value* configuration,
                                     size_t count, int iterations, double* seconds) {
  (void)user, (void)configuration, (void)count, (void)iterations;
  *seconds = 1;
  pthread_cancel(pthread_self());
  pthread_testcancel();
  return LIBTUNE_OK;
}

static void* tune_and_go(void* user) {
  struct cancelled* self = user;
  libtune_tuner* tuner = NULL;
  libtune_tuned* tuned = NULL;
  const libtune_value one = whole(1);
  libtune_tuner_create("cancelled", &tuner);
  libtune_tuner_parameter(tuner, "x", &one, 1);
  libtune_tuner_measure_by(tuner, cancel_oneself, NULL);
  self->status = libtune_tuner_tune(tuner, self->context, &tuned);
  libtune_tuned_destroy(tuned);
  libtune_tuner_destroy(tuner);
  pthread_testcancel();
  return self;
}

static void test_cancelling(const libtune_context* context) {
  struct cancelled state = {.context = context, .status = LIBTUNE_ERROR};
  pthread_t thread;
  void* result = NULL;
  CHECK(pthread_create(&thread, NULL, tune_and_go, &state) == 0);
  CHECK(pthread_join(thread, &result) == 0);
  CHECK(state.status == LIBTUNE_OK && result == PTHREAD_CANCELED);
}

static const char* scale_source =
    "KERNEL void scale(GLOBAL float* to, GLOBAL const float* from, float by, int size) {\n"
    "  const int i = get_global_id(0);\n"
    "  if (i < size) to[i] = by * from[i] + (block_size_x == 16);\n"
    "}\n";

static libtune_status judge(void* user, libtune_results* results) {
  float numbers[100];
  ++*(int*)user;
  CHECK_OK(libtune_results_read(results, 0, numbers, sizeof numbers));
  CHECK(libtune_results_read(results, 2, numbers, 4) == LIBTUNE_ARGUMENT_ERROR);
  return numbers[99] == 198 ? LIBTUNE_OK : LIBTUNE_ERROR;
}

static void test_kernel(const libtune_context* context, const libtune_queue* queue) {
  enum { size = 100 };
  float from[size];
  float expected[size];
  for (int i = 0; i < size; ++i) {
    from[i] = (float)i;
    expected[i] = 2 * (float)i;
  }
  const float by = 2;
  const int32_t count = size;
  const size_t shape[] = {size};
  const char* problem[] = {"100"};
  int judged = 0;

  libtune_tuner* tuner = NULL;
  CHECK_OK(libtune_tuner_create_kernel("scale", scale_source, problem, 1, &tuner));
  const libtune_value sizes[] = {whole(16), whole(32), whole(64)};
  CHECK_OK(libtune_tuner_parameter(tuner, "block_size_x", sizes, 3));
  CHECK_OK(libtune_tuner_restrict(tuner, "block_size_x <= 32"));
  CHECK_OK(libtune_tuner_array(tuner, LIBTUNE_OUT, "float32", shape, 1, NULL, "to"));
  CHECK_OK(libtune_tuner_array(tuner, LIBTUNE_IN, "float32", shape, 1, from, "from"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "float33",
              libtune_tuner_array(tuner, LIBTUNE_IN, "float33", shape, 1, from, NULL));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "not 77",
              libtune_tuner_array(tuner, (libtune_access)77, "float32", shape, 1, from, NULL));
  CHECK_OK(libtune_tuner_scalar(tuner, &by, sizeof by));
  CHECK_OK(libtune_tuner_scalar(tuner, &count, sizeof count));
  CHECK_OK(libtune_tuner_answer(tuner, 0, expected, 1e-6, 0));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "no array", libtune_tuner_answer(tuner, 2, &by, -1, -1));
  CHECK_OK(libtune_tuner_vary(tuner, 1, "zeros"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "no inputs of kind 'ones'",
              libtune_tuner_vary(tuner, 1, "ones"));
  const libtune_named_value trusted[] = {{"block_size_x", whole(32)}};
  CHECK_OK(libtune_tuner_reference(tuner, tuner, trusted, 1, -1, -1));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "no 'block_size_x'",
              libtune_tuner_reference(tuner, tuner, NULL, 0, -1, -1));
  CHECK_OK(libtune_tuner_report_accuracy(tuner));
  CHECK_OK(libtune_tuner_report_bits(tuner));
  CHECK_OK(libtune_tuner_verify_by(tuner, judge, &judged));
  CHECK_OK(libtune_tuner_work(tuner, NULL, "8.0 * problem_size_x", NULL));
  CHECK_OK(libtune_tuner_work(tuner, "1.0 * problem_size_x", "8.0 * problem_size_x", "float32"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "no arithmetic 'float8'",
              libtune_tuner_work(tuner, "1", "8", "float8"));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "column", libtune_tuner_work(tuner, "2 *", NULL, NULL));
  CHECK_OK(libtune_tuner_header(tuner, "unused.h", "#define UNUSED 1\n"));

  libtune_tuned* tuned = NULL;
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  CHECK(judged > 0);
  const libtune_named_value* best = NULL;
  size_t values = 0;
  CHECK_OK(libtune_tuned_best(tuned, &best, &values));
  CHECK(find(best, values, "block_size_x")->as.integer == 32);
  libtune_table* trials = NULL;
  CHECK_OK(libtune_tuned_trials(tuned, &trials));
  /* In the order in which they were compiled. */
  const size_t wrong_one = column(trials, "block_size_x")[0].as.integer == 16 ? 0 : 1;
  CHECK(strcmp(column(trials, "outcome")[wrong_one].as.text, "wrong result") == 0);
  CHECK(strstr(column(trials, "message")[wrong_one].as.text, "'to'") != NULL);
  CHECK_OK(libtune_table_destroy(trials));

  libtune_operation* operation = NULL;
  float made[size];
  CHECK_OK(libtune_tuned_instantiate(tuned, queue, &operation));
  CHECK_OK(libtune_tuned_destroy(tuned));
  CHECK_OK(libtune_operation_write(operation, "from", from, sizeof from));
  const float three = 3;
  CHECK_OK(libtune_operation_set_argument(operation, 2, &three, sizeof three));
  CHECK(libtune_operation_set_argument(operation, 2, &three, 2) == LIBTUNE_ARGUMENT_ERROR);
  CHECK_OK(libtune_operation_run(operation));
  CHECK_OK(libtune_operation_read(operation, "to", made, sizeof made));
  CHECK(made[99] == 297);
  CHECK_OK(libtune_operation_destroy(operation));

  const libtune_named_value wrong = {"block_size_x", whole(16)};
  libtune_results* results = NULL;
  CHECK_OK(libtune_tuner_run(tuner, context, &wrong, 1, &results));
  CHECK_OK(libtune_results_read(results, 0, made, sizeof made));
  CHECK(made[99] == 199);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "400 bytes", libtune_results_read(results, 0, made, 4));
  CHECK_OK(libtune_results_destroy(results));
  CHECK_OK(libtune_tuner_destroy(tuner));

  CHECK_OK(libtune_tuner_create_kernel("broken", "KERNEL void broken( {", problem, 1, &tuner));
  CHECK(libtune_tuner_run(tuner, context, NULL, 0, &results) == LIBTUNE_BUILD_ERROR);
  CHECK_OK(libtune_tuner_destroy(tuner));
}

static void test_operations(const libtune_context* context, const libtune_queue* queue) {
  libtune_table* list = NULL;
  CHECK_OK(libtune_operation_list(&list));
  CHECK(column(list, "meaning") != NULL);
  CHECK_OK(libtune_table_destroy(list));

  libtune_template* made = NULL;
  libtune_named_value key = {"type", text("int32")};
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "fill, transpose",
              libtune_template_create(context, "turn", &key, 1, &made));
  CHECK_OK(libtune_template_create(context, "transpose", &key, 1, &made));
  const libtune_named_value* tuning = NULL;
  size_t count = 0;
  CHECK_OK(libtune_template_tuning(made, &tuning, &count));
  CHECK(find(tuning, count, "block_x") != NULL);
  const libtune_named_value sizes[] = {{"rows", whole(2)}, {"columns", whole(3)}};
  libtune_operation* operation = NULL;
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "needs the parameter 'columns'",
              libtune_template_instantiate(made, queue, sizes, 1, &operation));
  CHECK_OK(libtune_template_instantiate(made, queue, sizes, 2, &operation));
  CHECK_OK(libtune_template_destroy(made));
  libtune_slot_info slot;
  CHECK_OK(libtune_operation_slot_count(operation, &count));
  CHECK_OK(libtune_operation_slot(operation, 0, &slot));
  CHECK(count == 2 && strcmp(slot.name, "src") == 0 && strcmp(slot.type, "int32") == 0);
  CHECK(slot.rank == 2 && slot.shape[0] == 2 && slot.shape[1] == 3 && !slot.bound);
  const int32_t src[] = {1, 2, 3, 4, 5, 6};
  int32_t dest[6] = {0};

  /* In memory of the caller, whose rows are padded. */
  libtune_buffer* memory = NULL;
  const int32_t padded_src[] = {1, 2, 3, -1, 4, 5, 6, -1};
  const size_t padded[] = {2, 4};
  CHECK_OK(libtune_buffer_create(context, sizeof padded_src, &memory));
  CHECK_OK(libtune_queue_write((libtune_queue*)queue, memory, 0, padded_src, sizeof padded_src));
  CHECK_OK(libtune_operation_bind(operation, "src", memory, padded));
  CHECK_OK(libtune_operation_run(operation));
  CHECK_OK(libtune_operation_read(operation, "dest", dest, sizeof dest));
  CHECK(dest[0] == 1 && dest[1] == 4 && dest[4] == 3 && dest[5] == 6);
  CHECK_OK(libtune_operation_write(operation, "src", src, sizeof src));
  CHECK_OK(libtune_operation_run(operation));
  CHECK_OK(libtune_operation_read(operation, "dest", dest, sizeof dest));
  CHECK(dest[0] == 1 && dest[1] == 4 && dest[5] == 6);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "24 bytes",
              libtune_operation_write(operation, "src", src, 8));
  libtune_value one = whole(1);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "no setting 'alpha'",
              libtune_operation_set(operation, "alpha", &one));
  CHECK_OK(libtune_buffer_destroy(memory));
  CHECK_OK(libtune_operation_destroy(operation));
}

/* A template with the tuning that tests use, and an operation of it. */
static libtune_operation* make_operation(const libtune_context* context, const libtune_queue* queue,
                                         const char* name, const libtune_named_value* key,
                                         size_t key_count, const libtune_named_value* sizes,
                                         size_t size_count) {
  libtune_template* made = NULL;
  libtune_operation* operation = NULL;
  CHECK_OK(libtune_template_create(context, name, key, key_count, &made));
  CHECK_OK(libtune_template_instantiate(made, queue, sizes, size_count, &operation));
  CHECK_OK(libtune_template_destroy(made));
  return operation;
}

/* Packed samples of a telescope are unpacked and transposed, by a sequence. */
static void test_sequences(const libtune_context* context, const libtune_queue* queue) {
  const libtune_named_value packing[] = {{"bits", whole(4)}, {"type", text("int16")}};
  const libtune_named_value samples[] = {{"rows", whole(2)}, {"samples", whole(3)}};
  const libtune_named_value type = {"type", text("int16")};
  const libtune_named_value extents[] = {{"rows", whole(2)}, {"columns", whole(3)}};
  libtune_operation* unpack = make_operation(context, queue, "unpack", packing, 2, samples, 2);
  libtune_operation* turn = make_operation(context, queue, "transpose", &type, 1, extents, 2);
  const char* shared[] = {"unpack:out", "turn:src"};
  const libtune_part parts[] = {{"unpack", unpack}, {"turn", turn}};
  const libtune_shared_slots compound = {"samples", shared, 2};
  const libtune_shared_slots wrong = {"samples", (const char*[]){"unpack:in"}, 1};
  libtune_operation* sequence = NULL;
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "unpack:out",
              libtune_sequence_create(queue, parts, 2, &wrong, 1, NULL, 0, &sequence));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "list of parts is null",
              libtune_sequence_create(queue, NULL, 2, NULL, 0, NULL, 0, &sequence));
  CHECK_OK(libtune_sequence_create(queue, parts, 2, &compound, 1, NULL, 0, &sequence));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "is no sequence",
              libtune_sequence_run_range(turn, "unpack", "turn"));
  CHECK_OK(libtune_operation_destroy(unpack));
  CHECK_OK(libtune_operation_destroy(turn));

  size_t slots = 0;
  CHECK_OK(libtune_operation_slot_count(sequence, &slots));
  CHECK(slots == 3);
  uint8_t packed[256] = {0}; /* two rows of 128 bytes: 1, 2, 3 and -1, -8, 7 */
  packed[0] = 0x12;
  packed[1] = 0x30;
  packed[128] = 0xf8;
  packed[129] = 0x70;
  int16_t dest[6] = {0};
  CHECK_OK(libtune_operation_write(sequence, "unpack:samples", packed, sizeof packed));
  CHECK_OK(libtune_operation_run(sequence));
  CHECK_OK(libtune_operation_read(sequence, "turn:dest", dest, sizeof dest));
  CHECK(dest[0] == 1 && dest[1] == -1 && dest[2] == 2 && dest[3] == -8 && dest[4] == 3 &&
        dest[5] == 7);
  packed[0] = 0x72;
  CHECK_OK(libtune_operation_write(sequence, "unpack:samples", packed, sizeof packed));
  CHECK_OK(libtune_sequence_run_range(sequence, "turn", "turn")); /* of the samples before */
  CHECK_OK(libtune_operation_read(sequence, "turn:dest", dest, sizeof dest));
  CHECK(dest[0] == 1);
  CHECK_OK(libtune_sequence_run_range(sequence, "unpack", "turn"));
  CHECK_OK(libtune_operation_read(sequence, "turn:dest", dest, sizeof dest));
  CHECK(dest[0] == 7);
  libtune_value one = whole(1);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "it has none",
              libtune_operation_set(sequence, "turn:alpha", &one));
  CHECK_OK(libtune_operation_destroy(sequence));
}

/* Each second frame of a pipeline of one operation. */
static void test_captures(const libtune_context* context, const libtune_queue* queue,
                          const char* folder) {
  const libtune_named_value type = {"type", text("int16")};
  const libtune_named_value extents[] = {{"rows", whole(2)}, {"columns", whole(3)}};
  libtune_operation* turn = make_operation(context, queue, "transpose", &type, 1, extents, 2);
  const int16_t src[6] = {1, 2, 3, 4, 5, 6};
  CHECK_OK(libtune_operation_write(turn, "src", src, sizeof src));
  char settings[4200];
  snprintf(settings, sizeof settings, "%s/frames, each 2, frames 3", folder);
  libtune_capture* capture = NULL;
  size_t point = 7;
  const char* wrong[] = {"source"};
  const char* unchanged[] = {"src"};
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "each N",
              libtune_capture_create("turning", "folder, all", &capture));
  CHECK_OK(libtune_capture_create("turning", settings, &capture));
  CHECK_OK(libtune_capture_add(capture, "turn", turn, unchanged, 1, NULL, 0, &point));
  CHECK(point == 0);
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "two operations",
              libtune_capture_add(capture, "turn", turn, wrong, 1, NULL, 0, &point));
  CHECK_OK(libtune_operation_destroy(turn));
  CHECK_OK(libtune_capture_prepare(capture));
  int written = 0;
  for (int n = 0; n < 4; ++n) {
    libtune_frame* frame = NULL;
    CHECK_OK(libtune_capture_begin(capture, &frame));
    CHECK((frame != NULL) == (n % 2 == 1));
    CHECK_OK(libtune_capture_run(capture, point, frame));
    CHECK_OK(libtune_capture_end(capture, frame));
    CHECK_OK(libtune_capture_wait(capture, 60, &written));
    CHECK(written == 1);
  }
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "none of the number 1",
              libtune_capture_run(capture, 1, NULL));
  CHECK_OK(libtune_capture_request(capture, 1));
  libtune_frame* requested = NULL;
  CHECK_OK(libtune_capture_begin(capture, &requested));
  CHECK(requested != NULL);
  CHECK_OK(libtune_capture_run(capture, point, requested));
  CHECK_OK(libtune_capture_end(capture, requested));
  CHECK_OK(libtune_capture_wait(capture, 60, &written));
  const libtune_named_value* counts = NULL;
  size_t count = 0;
  CHECK_OK(libtune_capture_counts(capture, &counts, &count));
  CHECK(find(counts, count, "written")->as.natural == 3);
  CHECK(find(counts, count, "failed")->as.natural == 0);
  CHECK(strlen(find(counts, count, "last_failure")->as.text) == 0);
  CHECK_OK(libtune_capture_destroy(capture));

  CHECK_OK(libtune_capture_create("off", NULL, &capture)); /* without LIBTUNE_CAPTURE */
  CHECK_OK(libtune_capture_begin(capture, &requested));
  CHECK(requested == NULL);
  CHECK_OK(libtune_capture_destroy(capture));
}

/* Frames of a pipeline in a file for node_exporter. */
static void test_metrics(const char* folder) {
  char settings[4200];
  snprintf(settings, sizeof settings, "%s/c.prom, each 1 min, program from C", folder);
  libtune_metrics* metrics = NULL;
  libtune_frame_clock* clock = NULL;
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "each 15 s", libtune_metrics_create("c.txt", &metrics));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "negative", libtune_frame_clock_create("c", -1, &clock));
  CHECK_OK(libtune_metrics_create(settings, &metrics));
  CHECK_OK(libtune_frame_clock_create("frames of C", 0.005, &clock));
  CHECK_OK(libtune_frame_clock_begin(clock));
  CHECK_OK(libtune_frame_clock_end(clock));
  CHECK_OK(libtune_frame_clock_record(clock, 0.5));
  CHECK_FAILS(LIBTUNE_ARGUMENT_ERROR, "seconds", libtune_frame_clock_record(clock, 1e300));
  CHECK_OK(libtune_frame_clock_destroy(clock));
  const char* text = NULL;
  CHECK_OK(libtune_metrics_text(metrics, &text));
  const char* labels = "{program=\"from C\",pipeline=\"frames of C\"}";
  char line[200];
  snprintf(line, sizeof line, "\nlibtune_frame_seconds_count%s 2\n", labels);
  CHECK(strstr(text, line) != NULL);
  snprintf(line, sizeof line, "\nlibtune_frame_longest_seconds%s 0.5\n", labels);
  CHECK(strstr(text, line) != NULL);
  int written = 0;
  CHECK_OK(libtune_metrics_write(metrics, &written));
  CHECK(written == 1);
  CHECK_OK(libtune_metrics_destroy(metrics));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: c_api_test FOLDER, for a database\n");
    return 2;
  }
  test_errors();
  size_t devices = 0;
  CHECK_OK(libtune_device_count(&devices));
  if (devices == 0) return failures > 0 ? 1 : 77;
  char path[4096];
  snprintf(path, sizeof path, "%s/tuning.db", argv[1]);
  remove(path);

  libtune_device* device = NULL;
  libtune_context* context = NULL;
  libtune_queue* queue = NULL;
  CHECK_OK(libtune_device_select(&device));
  const libtune_named_value* properties = NULL;
  size_t count = 0;
  CHECK_OK(libtune_device_info(device, &properties, &count));
  CHECK(strlen(find(properties, count, "name")->as.text) > 0);
  CHECK_OK(libtune_context_create(device, &context));
  CHECK_OK(libtune_context_set_option(context, "database", path));
  CHECK_OK(libtune_queue_create(context, &queue));

  test_options(context);
  test_buffers(context, queue);
  test_tuning_by_callback(context, device, path);
  test_stopping(context);
  test_stop_function(context);
  test_null_places(context, queue);
  test_cancelling(context);
  test_kernel(context, queue);
  CHECK_OK(libtune_context_set_option(context, "mode", "default"));
  test_operations(context, queue);
  test_sequences(context, queue);
  test_captures(context, queue, argv[1]);
  test_metrics(argv[1]);

  CHECK_OK(libtune_queue_finish(queue));
  CHECK_OK(libtune_queue_destroy(queue));
  CHECK_OK(libtune_context_destroy(context));
  CHECK_OK(libtune_device_destroy(device));
  if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
  return failures > 0 ? 1 : 0;
}
