// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/session.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <string>

#include "libtune/tune/engine/search_loop.hpp"
#include "tests/tune/scale.hpp"

namespace session_test {

struct made_session {
  tune::testing::fake_device fake = sample::make_device();
  tune::tuning_session session{
      tune::detail::session_setup{.context = fake.device().create_context(), .now = fake.clock()}};
};

TEST_CASE("a session finds the fastest configuration of a typed space") {
  made_session made;
  const auto best = made.session.tune(sample::make_space(), [&](const sample::scale_tuning& t) {
    return sample::generate(made.session.context(), t);
  });
  CHECK(best == sample::fastest);
  CHECK(made.session.best_score() == tune::run_time(2010));
}

TEST_CASE("katsdpsigproc's example: all combinations are tried and the least product wins") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {1, 2});
  space.add(&sample::scale_tuning::rows, {7, 3});
  std::string tried;
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) {
    tried += std::to_string(t.wgs) + std::to_string(t.rows) + " ";
    return tune::make_measure([product = t.wgs * t.rows](int) { return product * 1e-6; });
  });
  CHECK(tried == "17 13 27 23 ");
  CHECK(best == sample::scale_tuning{.wgs = 1, .rows = 3});
}

TEST_CASE("generate may skip by returning null, and members outside the space keep their default") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {1, 2, 4});
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) -> tune::measure {
    if (t.wgs == 1) return nullptr;
    return sample::generate(made.session.context(), t);
  });
  CHECK(best == sample::scale_tuning{.wgs = 2, .rows = 1});
}

TEST_CASE("a declared need over the device's limit is skipped without being generated") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {2048, 8});
  space.needs([](const sample::scale_tuning& t) {
    return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), 1, 1}};
  });
  int generated = 0;
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) {
    ++generated;
    return sample::generate(made.session.context(), t);
  });
  CHECK(best.wgs == 8);
  CHECK(generated == 1);
}

TEST_CASE("a session has no score before a search has ended") {
  made_session made;
  CHECK_FALSE(made.session.best_score());
}

}  // namespace session_test
