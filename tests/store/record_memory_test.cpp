// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "libtune/store/database/tuning_layers.hpp"
#include "tests/store/samples.hpp"

namespace record_memory_test {

using tune::record;
using tune::record_memory;
using tune::testing::sample_device;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;

void remember(record_memory& memory, const std::string& scope, const tune::record_key& key,
              std::int64_t wgs) {
  record found;
  found.values = sample_tuning(wgs);
  memory.remember(scope, sample_function(), key, found, memory.generation());
}

TEST_CASE("what was found is found again, in its scope and for its key alone") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  remember(memory, "b.db", sample_key(), 16);
  CHECK(memory.find("a.db", sample_function(), sample_key())->values == sample_tuning(8));
  CHECK(memory.find("b.db", sample_function(), sample_key())->values == sample_tuning(16));
  CHECK_FALSE(memory.find("c.db", sample_function(), sample_key()));
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(65)));
  CHECK_FALSE(memory.find("a.db", sample_function("f", 1), sample_key()));
  tune::device_identity other = sample_device();
  other.performance.clock_mhz = 1;
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(64, other)));
}

TEST_CASE("changed fields of a function are not answered from memory") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  auto changed = sample_function();
  changed.value_fields.push_back({"rows", tune::value_type::int32});
  CHECK_FALSE(memory.find("a.db", changed, sample_key()));
}

TEST_CASE("forgetting takes all scopes and devices of the same arguments, and nothing else") {
  record_memory memory;
  remember(memory, "a.db", sample_key(), 8);
  remember(memory, "b.db", sample_key(64, {"other", "p", "v"}), 8);
  remember(memory, "a.db", sample_key(65), 8);
  memory.forget(sample_function(), sample_key().arguments);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key()));
  CHECK_FALSE(memory.find("b.db", sample_function(), sample_key(64, {"other", "p", "v"})));
  CHECK(memory.find("a.db", sample_function(), sample_key(65)));
  memory.forget_all();
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(65)));
}

TEST_CASE("what was read before something was stored is not remembered after it") {
  record_memory memory;
  const auto before = memory.generation();
  memory.forget(sample_function(), sample_key().arguments);
  memory.remember("a.db", sample_function(), sample_key(), {}, before);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key()));
}

TEST_CASE("it does not grow without end") {
  record_memory memory(2);
  for (std::int64_t rows = 1; rows <= 3; ++rows) remember(memory, "a.db", sample_key(rows), 8);
  CHECK_FALSE(memory.find("a.db", sample_function(), sample_key(1)));
  CHECK(memory.find("a.db", sample_function(), sample_key(3)));
}

}  // namespace record_memory_test
