// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/ahead/shared_search.hpp"

#include <doctest/doctest.h>

#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/databases.hpp"
#include "tests/tune/ahead/simulated_tuner.hpp"
#include "tests/tune/remote/event_text.hpp"

namespace shared_search_test {

using tune::search_role;

const tune::search_identity first_search{
    .space = "space", .compiler = "c", .library_version = "1", .stage = 0};
const tune::search_identity second_search{
    .space = "other", .compiler = "c", .library_version = "1", .stage = 1};

struct bench {
  tune::testing::temporary_directory folder;
  tune::testing::fake_device fake;
  tune::tuning_transaction kept{tune::open_layers((folder / "tuning.db").string(), {}),
                                pretuned::simulated_function(),
                                {pretuned::simulated_key(1), fake.device().identity()},
                                tune::tuning_mode::tune};
  std::shared_ptr<isolated::event_text> events = std::make_shared<isolated::event_text>();
  tune::shared_search search{kept, {events}};
  tune::tuning_subject subject{.function = "simulated",
                               .version = 0,
                               .arguments = pretuned::simulated_key(1),
                               .device = fake.device().info()};

  tune::trial trial(int n, double ns) const {
    tune::trial made;
    made.index = static_cast<std::size_t>(n);
    made.configuration = {{"n", std::int64_t{n}}};
    made.outcome = tune::outcome::measured;
    made.score = tune::run_time(ns);
    made.samples = tune::samples({tune::run_time(ns)});
    return made;
  }
  std::shared_ptr<tune::search_share> begin(search_role role, std::size_t taken_over) {
    auto share = search.share(role);
    CHECK(share->read_prior(first_search).unfinished.size() == taken_over);
    share->search_started({.subject = subject,
                           .strategy = "exhaustive",
                           .combinations = 8,
                           .configurations = 8,
                           .planned = 8,
                           .taken_over = taken_over});
    return share;
  }
};

TEST_CASE("a search that several children make is told as one") {
  bench here;
  CHECK_FALSE(here.search.under_way());
  const auto whole = here.begin(search_role::whole, 0);
  whole->trial_finished(here.subject, here.trial(1, 30));
  REQUIRE(here.search.under_way());
  const auto left = here.begin(search_role::part, 1);
  const auto right = here.begin(search_role::part, 1);
  right->trial_taken_over(here.subject, here.trial(1, 30));
  left->trial_finished(here.subject, here.trial(2, 20));
  right->trial_finished(here.subject, here.trial(3, 21));
  right->trial_finished(here.subject, here.trial(4, 40));
  CHECK(here.search.tried() == 4);
  const auto best = here.search.finalists({left, right}, 1);
  REQUIRE(best.size() == 2);
  CHECK(to_string(best[0]) == "n=2");
  CHECK(to_string(best[1]) == "n=3");
  const auto finals = here.begin(search_role::finals, 0);
  finals->trial_finished(here.subject, here.trial(2, 22));
  finals->trial_finished(here.subject, here.trial(3, 19));
  tune::search_finished_event ended{
      .subject = here.subject, .trials = {here.trial(2, 22), here.trial(3, 19)}, .best = 1};
  finals->search_finished(ended);
  here.search.conclude();
  CHECK_FALSE(here.search.under_way());
  CHECK(here.events->lines ==
        std::vector<std::string>{
            "started simulated exhaustive 8 taken over 0", "finished n=1 measured",
            "finished n=2 measured", "finished n=3 measured", "finished n=4 measured",
            "refined n=2 measured", "refined n=3 measured", "ended with n=3 of 4"});
}

TEST_CASE("a part that goes on to a second search says so, and nobody hears of that one") {
  bench here;
  here.begin(search_role::whole, 0);
  const auto part = here.begin(search_role::part, 0);
  const auto lines = here.events->lines.size();
  CHECK_FALSE(part->has_gone_on());
  CHECK(part->read_prior(second_search).unfinished.empty());
  CHECK(part->has_gone_on());
  part->search_finished({.subject = here.subject, .trials = {}, .best = {}});
  CHECK(here.events->lines.size() == lines);
}

TEST_CASE("who goes through the whole again takes over what all have tried") {
  bench here;
  here.begin(search_role::whole, 0);
  const auto part = here.begin(search_role::part, 0);
  part->trial_finished(here.subject, here.trial(2, 20));
  const auto again = here.begin(search_role::whole, 1);
  again->trial_taken_over(here.subject, here.trial(2, 20));
  again->search_finished({.subject = here.subject, .trials = {here.trial(2, 20)}, .best = 0});
  CHECK(here.events->lines.back() == "ended with n=2 of 1");
  CHECK(here.events->finished.size() == 1);
}

}  // namespace shared_search_test
