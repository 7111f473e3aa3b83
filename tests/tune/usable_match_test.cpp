// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/usable_match.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

#include "tests/tune/scale.hpp"

namespace usable_match_test {

using sample::scale_tuning;
using values = std::vector<tune::named_value>;

tune::record result(int wgs) {
  tune::record made;
  made.values = tune::to_values(scale_tuning{.wgs = wgs});
  made.device.name = "device of " + std::to_string(wgs);
  return made;
}

/// Looks for a result that a function can use on a fake device.
struct lookup {
  template <class Function>
  int operator()(const std::vector<tune::record>& candidates, Function function) const {
    const auto found = tune::find_usable(candidates, context, subject, {}, function);
    return found ? tune::from_values<scale_tuning>(found->values).wgs : -1;
  }

  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::tuning_subject subject{.function = "f", .arguments = {}, .device = context.device().info()};
};

void search(tune::tuning_session& session, const values&) {
  session.tune(sample::make_space(), [&](const scale_tuning& tuning) {
    return sample::generate(session.context(), tuning);
  });
}

TEST_CASE("the first result that is in the space and works is used") {
  const lookup look;
  CHECK(look({result(64), result(8), result(2)}, search) == 8);
  CHECK(look({result(64)}, search) == -1);
  CHECK(look({}, search) == -1);
}

TEST_CASE("a result that does not compile, launch or verify here is passed over") {
  const lookup look;
  look.fake.fail_when(tune::testing::fake_call::compile,
                      [](const auto& macros) { return macros.integer("wgs") == 8; });
  CHECK(look({result(8), result(2)}, search) == 2);
  look.fake.fail_when(tune::testing::fake_call::launch,
                      [](const auto& macros) { return macros.integer("wgs") == 2; });
  CHECK(look({result(2), result(4)}, search) == 4);
}

TEST_CASE("a result that the author skips here is passed over") {
  const lookup look;
  CHECK(look({result(8), result(2)}, [](tune::tuning_session& session, const values&) {
          session.tune(sample::make_space(), [&](const scale_tuning& tuning) -> tune::measure {
            if (tuning.wgs > 4) return nullptr;
            return sample::generate(session.context(), tuning);
          });
        }) == 2);
}

TEST_CASE("with declared needs nothing is compiled or run") {
  const lookup look;
  const auto declared = [&](tune::tuning_session& session, const values&) {
    auto space = sample::make_space();
    space.needs([](const scale_tuning& tuning) {
      const auto items = static_cast<std::size_t>(tuning.wgs == 8 ? 4096 : tuning.wgs);
      return tune::resources{.work_group = {items, 1, 1}};
    });
    session.tune(space, [](const scale_tuning&) -> tune::measure {
      FAIL("generated");
      return nullptr;
    });
  };
  CHECK(look({result(8), result(2)}, declared) == 2);
}

TEST_CASE("a function that throws, or ends without a search, can use none") {
  const lookup look;
  CHECK(look({result(2)},
             [](tune::tuning_session&, const values&) { throw std::runtime_error("no"); }) == -1);
  CHECK(look({result(2)}, [](tune::tuning_session&, const values&) { throw 1; }) == -1);
  CHECK(look({result(2)}, [](tune::tuning_session&, const values&) {}) == -1);
}

TEST_CASE("a function that handles errors does not take the end of the look for one") {
  const lookup look;
  bool handled = false;
  CHECK(look({result(2)}, [&](tune::tuning_session& session, const values& key) {
          try {
            search(session, key);
          } catch (const std::exception&) {
            handled = true;
          }
        }) == 2);
  CHECK_FALSE(handled);
}

}  // namespace usable_match_test
