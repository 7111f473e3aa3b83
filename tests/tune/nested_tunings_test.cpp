// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/nested_tunings.hpp"

#include <doctest/doctest.h>
#include <string>
#include <thread>

namespace nested_tunings_test {

using tune::detail::is_under_way;
using tune::detail::tuning_under_way;

tune::tuning_subject subject(const std::string& function, std::int64_t key = 1) {
  tune::tuning_subject made;
  made.function = function;
  made.arguments = {{"k", key}};
  made.device.identity.name = "device";
  return made;
}

TEST_CASE("a tuning is under way on its thread, for as long as it lives") {
  const auto outer = subject("outer");
  CHECK_FALSE(is_under_way(outer));
  {
    const tuning_under_way now(outer);
    CHECK(is_under_way(outer));
    bool on_another_thread = true;
    std::thread([&] { on_another_thread = is_under_way(outer); }).join();
    CHECK_FALSE(on_another_thread);
  }
  CHECK_FALSE(is_under_way(outer));
}

TEST_CASE("tunings inside of others are told apart by function, version, key and device") {
  const auto outer = subject("outer");
  const auto inner = subject("inner");
  const tuning_under_way first(outer);
  const tuning_under_way second(inner);
  CHECK(is_under_way(outer));
  CHECK(is_under_way(inner));
  CHECK_FALSE(is_under_way(subject("outer", 2)));
  CHECK_FALSE(is_under_way(subject("other")));
  auto other = outer;
  other.version = 1;
  CHECK_FALSE(is_under_way(other));
  other = outer;
  other.device.identity.driver_version = "2";
  CHECK_FALSE(is_under_way(other));
}

}  // namespace nested_tunings_test
