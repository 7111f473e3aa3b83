/* SPDX-FileCopyrightText: The libtune authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
/* Functions that a tuner calls for its configurations, and its space, from C. Ends with 77 where
 * there is no device. */
#include <stdio.h>
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

enum { size = 128 };

static libtune_value whole(int64_t number) {
  libtune_value made = {.type = LIBTUNE_INT};
  made.as.integer = number;
  return made;
}

static const libtune_value* find(const libtune_named_value* values, size_t count,
                                 const char* name) {
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(values[i].name, name) == 0) return &values[i].value;
  }
  return NULL;
}

/* What the functions have seen. */
struct seen {
  int observed;
  int asked;
};

static libtune_status launch(void* user, const libtune_named_value* at, size_t count,
                             libtune_launch* made) {
  (void)user;
  made->extents[0] = (size_t)find(at, count, "width")->as.integer;
  made->groups[0] = size / made->extents[0];
  return LIBTUNE_OK;
}

static libtune_status not_both(void* user, const libtune_named_value* at, size_t count,
                               int* allowed) {
  struct seen* self = user;
  ++self->asked;
  *allowed = find(at, count, "width")->as.integer != 16 || find(at, count, "add")->as.integer == 0;
  return LIBTUNE_OK;
}

/* The widest is the best, as long as an observation and samples exist. */
static libtune_status cost(void* user, const libtune_named_value* at, size_t count,
                           const libtune_named_value* figures, size_t figure_count, double* value) {
  (void)user;
  const libtune_value* samples = find(figures, figure_count, "samples");
  CHECK(samples != NULL && samples->type == LIBTUNE_REALS && samples->count > 0);
  CHECK(find(figures, figure_count, "time")->as.real > 0);
  *value = 1.0 / (double)find(at, count, "width")->as.integer;
  return LIBTUNE_OK;
}

static libtune_status observe(void* user, const libtune_named_value* at, size_t count,
                              libtune_observed* observed) {
  struct seen* self = user;
  CHECK(find(at, count, "width") != NULL);
  ++self->observed;
  CHECK_OK(libtune_observed_start(observed));
  CHECK_OK(libtune_observed_start(observed));
  return libtune_observed_finish(observed);
}

static libtune_tuner* make_tuner(struct seen* seen) {
  static const char* source =
      "KERNEL void plus(GLOBAL int* x) {\n"
      "  x[get_group_id(0) * width + get_local_id(0)] += 7 + 0 * more;\n"
      "}\n";
  const char* problem[] = {"1"};
  const char* reads[] = {"width", "add"};
  const libtune_value widths[] = {whole(16), whole(32), whole(64)};
  const libtune_value bits[] = {whole(0), whole(1)};
  const size_t shape[] = {size};
  int32_t numbers[size];
  int32_t expected[size];
  for (int i = 0; i < size; ++i) {
    numbers[i] = i;
    expected[i] = i + 7;
  }
  libtune_tuner* tuner = NULL;
  CHECK_OK(libtune_tuner_create_kernel("plus", source, problem, 1, &tuner));
  CHECK_OK(libtune_tuner_parameter(tuner, "width", widths, 3));
  CHECK_OK(libtune_tuner_parameter(tuner, "add", bits, 2));
  CHECK_OK(libtune_tuner_parameter(tuner, "more", bits, 2));
  CHECK_OK(libtune_tuner_restrict_reading(tuner, not_both, seen, "not both", reads, 2));
  CHECK_OK(libtune_tuner_restrict(tuner, "more == 0 and add == 0 or width == 16"));
  CHECK_OK(libtune_tuner_launch_by(tuner, launch, NULL));
  CHECK_OK(libtune_tuner_metric_by(tuner, "cost", NULL, cost, NULL));
  CHECK_OK(libtune_tuner_observe_by(tuner, observe, seen));
  CHECK_OK(libtune_tuner_array(tuner, LIBTUNE_INOUT, "int32", shape, 1, numbers, "x"));
  CHECK_OK(libtune_tuner_answer(tuner, 0, expected, 0, 0));
  CHECK_OK(libtune_tuner_set_option(tuner, "objective", "min cost"));
  return tuner;
}

/* (16, 0, 0), (16, 0, 1), (32, 0, 0) and (64, 0, 0) */
static void test_space(const libtune_tuner* tuner, const struct seen* seen) {
  size_t count = 0;
  CHECK_OK(libtune_tuner_size(tuner, &count));
  CHECK(count == 4);
  CHECK(seen->asked > 0);
  libtune_table* table = NULL;
  CHECK_OK(libtune_tuner_space(tuner, &table));
  size_t rows = 0;
  size_t columns = 0;
  CHECK_OK(libtune_table_size(table, &rows, &columns));
  CHECK(rows == 4 && columns == 3);
  const char* name = NULL;
  const libtune_value* values = NULL;
  CHECK_OK(libtune_table_column(table, 0, &name, &values));
  CHECK(strcmp(name, "width") == 0 && values[0].as.integer == 16 && values[3].as.integer == 64);
  CHECK_OK(libtune_table_destroy(table));
}

static void test_tuning(libtune_tuner* tuner, const libtune_context* context, struct seen* seen) {
  libtune_tuned* tuned = NULL;
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  const libtune_named_value* best = NULL;
  size_t count = 0;
  CHECK_OK(libtune_tuned_best(tuned, &best, &count));
  CHECK(find(best, count, "width")->as.integer == 64);
  CHECK(seen->observed == 4);
  CHECK_OK(libtune_tuned_destroy(tuned));

  const libtune_named_value first[] = {{"width", whole(32)}, {"add", whole(0)}, {"more", whole(0)}};
  const libtune_named_value wrong[] = {{"width", whole(32)}, {"add", whole(1)}, {"more", whole(0)}};
  CHECK(libtune_tuner_begin_with(tuner, wrong, 3) == LIBTUNE_ARGUMENT_ERROR);
  CHECK_OK(libtune_tuner_begin_with(tuner, first, 3));
  CHECK_OK(libtune_tuner_set_option(tuner, "budget", "1 trials"));
  CHECK_OK(libtune_tuner_tune(tuner, context, &tuned));
  CHECK_OK(libtune_tuned_best(tuned, &best, &count));
  CHECK(find(best, count, "width")->as.integer == 32);
  CHECK_OK(libtune_tuned_destroy(tuned));
}

int main(void) {
  size_t devices = 0;
  CHECK_OK(libtune_device_count(&devices));
  if (devices == 0) return failures > 0 ? 1 : 77;
  libtune_device* device = NULL;
  libtune_context* context = NULL;
  CHECK_OK(libtune_device_select(&device));
  CHECK_OK(libtune_context_create(device, &context));
  CHECK_OK(libtune_context_set_option(context, "database", ""));
  struct seen seen = {0, 0};
  libtune_tuner* tuner = make_tuner(&seen);
  test_space(tuner, &seen);
  test_tuning(tuner, context, &seen);
  CHECK(libtune_tuner_launch_by(tuner, NULL, NULL) == LIBTUNE_ARGUMENT_ERROR);
  CHECK_OK(libtune_tuner_destroy(tuner));
  CHECK_OK(libtune_context_destroy(context));
  CHECK_OK(libtune_device_destroy(device));
  return failures > 0 ? 1 : 0;
}
