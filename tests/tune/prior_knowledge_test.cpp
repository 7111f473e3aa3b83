// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/prior_knowledge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/run_trial.hpp"
#include "libtune/tune/goal.hpp"
#include "tests/tune/scale.hpp"

namespace prior_knowledge_test {

using sample::scale_tuning;
using tune::is_incident;
using tune::outcome;
using tune::run_time;
using tune::stored_trial;
using tune::trial_choice;
using tune::testing::fake_call;

const tune::function_identity function{
    "sample.scale",
    0,
    {{"size", tune::value_type::int32}},
    {{"wgs", tune::value_type::int32}, {"rows", tune::value_type::int32}}};

const tune::device_identity here{"device", "platform", "1.0"};
const tune::device_identity elsewhere{"device", "platform", "0.9"};

tune::record_key key_of(std::int64_t size, const tune::device_identity& device = here) {
  return {{{"size", size}}, device};
}

std::vector<tune::named_value> tuning(std::int64_t wgs, std::int64_t rows) {
  return {{"wgs", wgs}, {"rows", rows}};
}

struct history {
  tune::testing::temporary_directory folder;
  std::shared_ptr<tune::tuning_database> database =
      std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::tuning_layers layers{database, {}};

  std::vector<std::string> similar(std::int64_t size) const {
    std::vector<std::string> texts;
    for (const auto& item : find_similar(layers, function, key_of(size)).configurations) {
      texts.push_back(tune::to_string(item));
    }
    return texts;
  }

  /// A whole search of three configurations.
  void search(const tune::record_key& key, const std::vector<double>& scores) const {
    const auto search = database->begin_search(function, key, {}, "exhaustive");
    std::vector<tune::stored_trial> trials;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      trials.push_back({.configuration = tuning(std::int64_t{1} << i, 1),
                        .outcome = "measured",
                        .samples_ns = {scores[i]},
                        .score_ns = scores[i]});
    }
    database->add_trials(search, trials);
    database->finish_search(search, "found",
                            {.strategy = "exhaustive",
                             .ending = "complete",
                             .space = tune::stored_space{.configurations = scores.size()},
                             .seeds = tune::stored_seeds{.is_whole = true}});
    const auto least = std::ranges::min_element(scores);
    const auto place = least - scores.begin();
    database->store(function, key, tuning(std::int64_t{1} << place, 1), *least);
  }
};

using texts = std::vector<std::string>;

TEST_CASE("without a history there is nothing to begin with") {
  const history h;
  CHECK(h.similar(64).empty());
  const auto none = find_similar(tune::tuning_layers(nullptr, {}), function, key_of(64));
  CHECK(none.configurations.empty());
  CHECK(none.losses.after.empty());
}

TEST_CASE("the nearest keys count most, those of other devices of the maker among them") {
  const history h;
  h.database->store(function, key_of(4096), tuning(8, 1), 5.0);
  h.database->store(function, key_of(128), tuning(2, 1), 5.0);
  h.database->store(function, key_of(64, elsewhere), tuning(4, 1), 5.0);
  h.database->store(function, key_of(512, elsewhere), tuning(16, 1), 5.0);
  CHECK(h.similar(64) ==
        texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=16, rows=1", "wgs=8, rows=1"});
  CHECK(h.similar(4096).front() == "wgs=8, rows=1");
  h.database->store(function, key_of(64, {"device", "another platform", "1.0"}), tuning(32, 1),
                    5.0);
  CHECK(h.similar(64).size() == 4);
  const auto found = find_similar(h.layers, function, key_of(64));
  CHECK(found.losses.here == 2);
  CHECK(found.losses.elsewhere == 2);
  CHECK_MESSAGE(found.losses.after.empty(), "no search was asked");
}

TEST_CASE("the best trials behind a result come after it, and nothing comes twice") {
  const history h;
  h.search(key_of(64, elsewhere), {9.0, 7.0, 5.0});
  CHECK(h.similar(64) == texts{"wgs=4, rows=1", "wgs=2, rows=1", "wgs=1, rows=1"});
}

TEST_CASE("whole searches say what an end after the seeds would lose") {
  const history h;
  for (int i = 0; i < 12; ++i) h.search(key_of(64 + 4 * i), {5.0 + i, 10.0, 18.0 - i});
  const auto found = find_similar(h.layers, function, key_of(86));
  CHECK(found.losses.judges == 12);
  REQUIRE(found.losses.after.size() == tune::most_seeds);
  CHECK(found.losses.after[0].bound > 0.05);
  CHECK(found.losses.after[2].bound == 0);  // all three have been tried then
}

TEST_CASE("of another objective than time the results are known, and no losses") {
  const history h;
  tune::function_identity by_energy = function;
  by_energy.name = tune::detail::name_with_goal(function.name, *tune::goal_from_text("min energy"));
  h.database->store(by_energy, key_of(128), tuning(2, 1), 5.0);
  const auto found = find_similar(h.layers, by_energy, key_of(64));
  CHECK(found.configurations.size() == 1);
  CHECK(found.losses.judges == 0);
}

TEST_CASE("failures are known by their last program, else by their configuration") {
  const auto known = tune::to_known_failures(
      {{.outcome = "compile failed", .message = "one", .programs = {"a", "b"}},
       {.configuration = {{"wgs", std::int64_t{2}}}, .outcome = "compile failed", .message = "two"},
       {.outcome = "compile failed", .message = "three", .programs = {"c", "?"}}});
  REQUIRE(known.programs.size() == 1);
  CHECK(known.programs.at("b") == "one");
  REQUIRE(known.configurations.size() == 1);
  CHECK(known.configurations.begin()->second == "two");
}

std::string fingerprint(const tune::space<sample::scale_tuning>& space) {
  return tune::space_fingerprint(sample::problem_of(space));
}

TEST_CASE("equal spaces have one fingerprint, which stays the same, and other fields another") {
  const std::string own = fingerprint(sample::make_space());
  CHECK(fingerprint(sample::make_space()) == own);
  CHECK(own == "e522055bc54a44659ce577fce2a1e005");  // databases hold it
  auto restricted = sample::make_space();
  restricted.restrict([](const sample::scale_tuning&) { return true; }, "nothing");
  CHECK(fingerprint(restricted) != own);
  const auto with_rows = [](int rows) {
    tune::space<sample::scale_tuning> made({.wgs = 1, .rows = rows});
    return fingerprint(made.add(&sample::scale_tuning::wgs, {1, 2}));
  };
  CHECK(with_rows(1) != with_rows(2));
}

TEST_CASE("a space whose configurations cannot be listed has no fingerprint") {
  CHECK(
      tune::space_fingerprint({.space = sample::make_space().core(),
                               .configuration = [](std::size_t) -> std::vector<tune::named_value> {
                                 throw tune::argument_error("no");
                               },
                               .needs = {},
                               .generate = {}})
          .empty());
}

/// Trials of a kernel, and what is taken over of them when the kernel has another text.
struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::space<sample::scale_tuning> space = sample::make_space();
  int generated = 0;

  tune::search_problem problem(const std::string& text) {
    return sample::problem_of(space, [this, text](const sample::scale_tuning& tuning) {
      ++generated;
      if (!text.empty()) tune::compile(context, {"scale.kernel", text}, tune::defines(tuning));
      return tune::make_measure(
          [at = *space.find(tuning)](int) { return 1e-6 * static_cast<double>(at + 1); });
    });
  }

  std::vector<tune::stored_trial> trials_of(const std::string& text) {
    std::vector<tune::stored_trial> stored;
    for (std::size_t i = 0; i < 3; ++i) {
      stored.push_back(
          tune::to_stored(tune::run_trial(problem(text), i, fake.device(), {}, fake.clock())));
    }
    generated = 0;
    return stored;
  }

  std::size_t taken(const std::vector<tune::stored_trial>& stored, const std::string& text) {
    return tune::trials_to_resume(stored, problem(text), {}).size();
  }
};

TEST_CASE("trials of the same kernel are taken over, and nothing is compiled for it") {
  bench b;
  const auto stored = b.trials_of("one");
  const std::size_t compiled = b.fake.calls(fake_call::compile);
  CHECK(b.taken(stored, "one") == 3);
  CHECK(b.generated == 1);
  CHECK(b.fake.calls(fake_call::compile) == compiled);
}

TEST_CASE("trials of a kernel that has changed are not taken over") {
  bench b;
  const auto stored = b.trials_of("one");
  CHECK(b.taken(stored, "two") == 0);
  CHECK(b.taken(stored, "") == 0);  // it is no longer compiled
  tune::search_problem throws_first = b.problem("one");
  throws_first.generate = [](std::size_t) -> tune::measure { throw 7; };
  CHECK(tune::trials_to_resume(stored, throws_first, {}).empty());
}

TEST_CASE("trials whose programs are not known are taken over as they are") {
  bench b;
  CHECK(b.taken(b.trials_of(""), "two") == 3);
  CHECK(b.taken(b.trials_of("#include FILE\n"), "#include FILE\n// changed\n") == 3);
  CHECK(b.taken({}, "one") == 0);
  CHECK(b.generated == 0);
}

using indices = std::vector<std::size_t>;

/// So many configurations, of which number i takes 100 + i.
tune::earlier_times times_of_many(std::size_t count) {
  tune::earlier_times times;
  for (std::size_t i = count; i-- > 0;) {
    const run_time then(100 + static_cast<double>(i));
    times.add(i, then, then);
  }
  return times;
}

/// Measures those again on a device that takes so much longer.
void note_all(tune::earlier_times& times, const indices& named, double factor) {
  for (const std::size_t i : named) {
    times.note(i, run_time(factor * (100 + static_cast<double>(i))));
  }
}

TEST_CASE("the best of what was taken over are measured again in any case") {
  tune::earlier_times times = times_of_many(20);
  const indices first = times.next_references();
  CHECK(first == indices{0, 1, 2, 3, 4});
  CHECK(times.factor() == 1);
  note_all(times, first, 1.25);
  CHECK(times.next_references().empty());
  CHECK(times.factor() == doctest::Approx(1.25));
  CHECK(times.estimate(10)->count() == doctest::Approx(1.25 * 110));
  CHECK_FALSE(times.estimate(20));
  CHECK(tune::earlier_times().next_references().empty());
}

TEST_CASE("where one cannot be measured any more the next best takes its place") {
  tune::earlier_times times = times_of_many(20);
  CHECK(times.next_references().size() == 5);
  times.note(1, run_time(101));
  times.note(3, run_time(103));
  CHECK(times.next_references() == indices{5, 6, 7});
  CHECK(times.next_references() == indices{8, 9, 10});
}

TEST_CASE("what may still win is measured again, at the level of now") {
  tune::earlier_times times = times_of_many(40);
  note_all(times, times.next_references(), 0.8);
  SUBCASE("the best is new") { CHECK(times.next_rivals(run_time(50), 8).empty()); }
  SUBCASE("what is new does not come close") {
    // 1 % beside what is known: up to 0.8 * (100 + i) = 88 * 1.01.
    CHECK(times.next_rivals(run_time(88), 8).size() == 7);
    CHECK(times.next_rivals(run_time(88), 8).empty());
  }
  SUBCASE("few at a time") {
    CHECK(times.next_rivals(run_time(88), 2) == indices{5, 6});
    CHECK(times.next_rivals(run_time(88), 2) == indices{7, 8});
  }
  SUBCASE("whatever is named, nothing is named twice") {
    CHECK(times.next_rivals(run_time(1000), 100).size() == 35);
    CHECK(times.next_rivals(run_time(1000), 100).empty());
  }
}

TEST_CASE("while nothing is known of the device now, all may win") {
  tune::earlier_times times = times_of_many(100);
  CHECK(times.next_rivals(std::nullopt, 8).size() == 8);
  CHECK(times.next_rivals(run_time(1), 1000).size() == 56);
  CHECK_MESSAGE(times.next_references().empty(), "64 are enough of whatever there is");
}

TEST_CASE("quotients that differ make an estimate less certain") {
  tune::earlier_times times = times_of_many(40);
  const indices first = times.next_references();
  for (const std::size_t i : first) {
    times.note(i,
               run_time((100 + static_cast<double>(i)) * (0.95 + 0.025 * static_cast<double>(i))));
  }
  CHECK(times.factor() == doctest::Approx(1));
  CHECK(times.next_rivals(run_time(105), 40).size() == 8);
}

TEST_CASE("who had few runs may have been faster than it seemed") {
  std::vector<tune::trial> trials(9);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    trials[i].index = i;
    trials[i].outcome = tune::outcome::measured;
    trials[i].level = i == 7 ? 2 : 1;
    const double time = i == 8 ? 104 : i == 7 ? 208 : 100 + 0.1 * static_cast<double>(i);
    const double spread = i == 8 ? 0.03 : 0.003;
    for (int run = 0; run < (i == 8 ? 2 : 16); ++run) {
      trials[i].samples.add(run_time(time * (run % 2 == 0 ? 1 - spread : 1 + spread)));
    }
    trials[i].score = run_time(time);
  }
  tune::earlier_times times = tune::times_of(trials);
  for (const std::size_t i : times.next_references()) times.note(i, *trials[i].score);
  CHECK(times.next_rivals(run_time(100), 8) == indices{3, 4, 5, 6, 8});
}

TEST_CASE("what was never named goes on as it would be now") {
  tune::earlier_times times = times_of_many(8);
  note_all(times, times.next_references(), 1.5);
  tune::earlier_times left = times.unnamed();
  CHECK(left.estimate(5)->count() == doctest::Approx(157.5));
  CHECK_FALSE(left.estimate(1));
  CHECK(left.next_references() == indices{2, 3});
}

/// wgs from 1 to 7.
indices list(const trial_choice& choice) {
  static const tune::device device = sample::make_device().device();
  tune::space<scale_tuning> space;
  space.add(&scale_tuning::wgs, {1, 2, 3, 4, 5, 6, 7});
  return list_of(choice, sample::problem_of(space), device);
}

std::vector<tune::named_value> wgs(int value) {
  return tune::to_values(scale_tuning{.wgs = value});
}

TEST_CASE("given configurations are tried in their order, each once, as far as they are there") {
  CHECK(list({.configurations = {wgs(5), wgs(99), wgs(2), wgs(5)}}) == indices{4, 1});
  // The rest of the space is not meant.
  CHECK_THROWS_AS(list({.configurations = {wgs(99)}}), tune::argument_error);
  // Without a choice the strategy decides.
  CHECK(list({}).empty());
  CHECK_FALSE(trial_choice{}.is_strict());
}

TEST_CASE("what is verified is the winners and no strict choice") {
  trial_choice choice;
  choice.known.winners.emplace_back().values = wgs(3);
  choice.known.test_default = wgs(1);
  CHECK(list(choice) == indices{2, 0});
  CHECK_FALSE(choice.is_strict());
}

TEST_CASE("configurations of the space have a number there, each once") {
  const auto space = sample::make_space();
  const auto problem = sample::problem_of(space);
  const std::vector<std::vector<tune::named_value>> given{
      tuning(2, 1), tuning(3, 1), {{"other", std::int64_t{1}}}, tuning(8, 2), tuning(2, 1)};
  const auto numbers = numbers_of(given, problem);
  REQUIRE(numbers.size() == 2);
  CHECK(space[numbers[0]] == sample::scale_tuning{.wgs = 2, .rows = 1});
  CHECK(space[numbers[1]] == sample::scale_tuning{.wgs = 8, .rows = 2});
}

stored_trial ended(outcome result, std::vector<std::string> programs = {}) {
  return {.outcome = std::string(outcome_name(result)), .programs = std::move(programs)};
}

TEST_CASE("what was lost with its process, or broke the device's context, is an incident") {
  for (const outcome lost : {outcome::timed_out, outcome::crashed, outcome::out_of_memory}) {
    CHECK(is_incident(ended(lost)));
    CHECK_FALSE(is_incident(ended(lost, {"digest"})));  // by the compiler
  }
  CHECK(is_incident(ended(outcome::device_fault)));
  CHECK(is_incident(ended(outcome::device_fault, {"digest"})));
  for (const outcome other :
       {outcome::measured, outcome::skipped, outcome::over_limit, outcome::compile_failed,
        outcome::launch_failed, outcome::wrong_result, outcome::invalid_time, outcome::failed}) {
    CHECK_FALSE(is_incident(ended(other)));
  }
  CHECK_FALSE(is_incident({.outcome = "melted"}));
  stored_trial again = ended(outcome::crashed);
  again.remembered = true;
  CHECK_FALSE(is_incident(again));
  CHECK(tune::incident_outcomes().size() == 4);
  for (const std::string& word : tune::incident_outcomes()) {
    CHECK(is_incident({.outcome = word}));
  }
}

TEST_CASE("so many incidents deny a configuration, and the latest of them says why") {
  const auto crash = [](std::int64_t n, const std::string& message) {
    stored_trial trial = ended(outcome::crashed);
    trial.configuration = {{"n", n}};
    trial.message = message;
    return trial;
  };
  stored_trial compiled = ended(outcome::crashed, {"digest"});
  compiled.configuration = {{"n", std::int64_t{2}}};
  const std::vector<stored_trial> latest_first{crash(1, "second"), crash(2, "only"), compiled,
                                               crash(1, "first")};
  const auto denied = tune::denied_by(latest_first, 2);
  REQUIRE(denied.size() == 1);
  CHECK(to_string(denied[0].configuration) == "n=1");
  CHECK(denied[0].message ==
        "second (it is on the denylist after 2 incidents; see tunedb denylist)");
  CHECK(is_incident(denied[0]));
  CHECK(tune::denied_by(latest_first, 3).empty());
}

}  // namespace prior_knowledge_test

namespace prior_knowledge_test::of_trial_conversion {

tune::search_problem sample_problem() { return sample::problem_of(sample::make_space()); }

tune::trial measured() {
  tune::trial made;
  made.index = 3;  // wgs 2, rows 2
  made.configuration = sample_problem().configuration(3);
  made.outcome = outcome::measured;
  made.samples = tune::samples({tune::run_time(3), tune::run_time(1), tune::run_time(2)});
  made.score = tune::run_time(2);
  made.bounds = {tune::run_time(1), tune::run_time(3)};
  made.preparation = std::chrono::nanoseconds(77);
  made.programs = {"a", "b"};
  made.level = 1.25;
  return made;
}

TEST_CASE("a trial comes back from what is stored of it") {
  stored_trial stored = tune::to_stored(measured());
  CHECK_FALSE(stored.remembered);
  stored.score_ns = 0.001;  // that of the samples counts
  const auto back = tune::from_stored(stored, sample_problem());
  REQUIRE(back);
  CHECK(back->index == 3);
  CHECK(back->configuration == measured().configuration);
  CHECK(back->outcome == outcome::measured);
  CHECK(back->score == tune::run_time(2));
  CHECK(back->bounds == measured().bounds);
  CHECK(back->samples.size() == 3);
  CHECK(back->preparation == std::chrono::nanoseconds(77));
  CHECK(back->programs == measured().programs);
  CHECK(back->level == 1.25);
  CHECK(back->origin == tune::trial_origin::resumed);
  tune::trial known = measured();
  known.origin = tune::trial_origin::cached;
  CHECK(tune::to_stored(known).remembered);
}

TEST_CASE("a failure comes back with its reason") {
  tune::trial failed = measured();
  failed.outcome = outcome::wrong_result;
  failed.reason = "3 of 4 differ";
  failed.score.reset();
  failed.samples = {};
  const auto back = tune::from_stored(tune::to_stored(failed), sample_problem());
  REQUIRE(back);
  CHECK(back->outcome == outcome::wrong_result);
  CHECK(back->reason == "3 of 4 differ");
  CHECK_FALSE(back->score);
}

TEST_CASE("what does not fit the space, or contradicts itself, is not taken over") {
  stored_trial stored = tune::to_stored(measured());
  SUBCASE("a value that is no candidate") { stored.configuration[0].value = std::int64_t{3}; }
  SUBCASE("a value of another type") { stored.configuration[0].value = std::uint64_t{2}; }
  SUBCASE("a missing field") { stored.configuration.pop_back(); }
  SUBCASE("a field too many") { stored.configuration.push_back({"x", true}); }
  SUBCASE("an unknown outcome") { stored.outcome = "crashed"; }
  SUBCASE("measured without samples") { stored.samples_ns.clear(); }
  SUBCASE("a time that is not a number") { stored.samples_ns[0] = std::nan(""); }
  SUBCASE("an infinite time") { stored.samples_ns[0] = std::numeric_limits<double>::infinity(); }
  SUBCASE("a time of zero") { stored.samples_ns[0] = 0; }
  SUBCASE("failed and yet with samples") { stored.outcome = "skipped"; }
  CHECK_FALSE(tune::from_stored(stored, sample_problem()));
}

}  // namespace prior_knowledge_test::of_trial_conversion

namespace prior_knowledge_test::of_verification {

using tune::make_shortlist;
using tune::verification;

/// wgs from 1 to 9, of which the device allows up to 8 where that is declared.
struct line {
  line() {
    space.add(&scale_tuning::wgs, {1, 2, 3, 4, 5, 6, 7, 8, 2048});
    space.needs([](const scale_tuning& t) {
      return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), 1, 1}};
    });
  }

  indices shortlist(const verification& known) const {
    return make_shortlist(known, sample::problem_of(space), device);
  }

  tune::space<scale_tuning> space;
  tune::device device = sample::make_device().device();
};

tune::record winner(int wgs) {
  tune::record made;
  made.values = tune::to_values(scale_tuning{.wgs = wgs});
  return made;
}

tune::stored_trial trial(int wgs, std::optional<double> score) {
  return {.configuration = tune::to_values(scale_tuning{.wgs = wgs}),
          .outcome = score ? "measured" : "skipped",
          .score_ns = score};
}

TEST_CASE("winners come first, then the best of the trials, then the test default") {
  const line space;
  CHECK(space.shortlist({.winners = {winner(5), winner(3)},
                         .trials = {trial(6, 30.0), trial(5, 10.0), trial(7, 20.0)},
                         .test_default = tune::to_values(scale_tuning{.wgs = 1})}) ==
        indices{4, 2, 6, 5, 0});
}

TEST_CASE("no more than a few of each are listed, each once, and none that cannot be used") {
  const line space;
  const auto smallest = tune::to_values(scale_tuning{.wgs = 1});
  CHECK(space.shortlist({.winners = {winner(1), winner(1), winner(2), winner(3), winner(4)},
                         .trials = {trial(1, 1.0), trial(4, 2.0), trial(5, 3.0), trial(6, 4.0),
                                    trial(7, 5.0), trial(8, 6.0)},
                         .test_default = smallest}) == indices{0, 1, 2, 3, 4, 5, 6});
  // Over a limit, not in the space, of other fields, or without a time.
  CHECK(space.shortlist({.winners = {winner(2048), winner(77), {}, winner(2)},
                         .trials = {trial(3, std::nullopt), trial(2048, 1.0), trial(4, 2.0)},
                         .test_default = {{"other", std::int64_t{1}}}}) == indices{1, 3});
  // Without a winner there is no list.
  CHECK(space.shortlist({}).empty());
  CHECK(space
            .shortlist(
                {.winners = {winner(2048)}, .trials = {trial(3, 1.0)}, .test_default = smallest})
            .empty());
}

}  // namespace prior_knowledge_test::of_verification

namespace prior_knowledge_test::of_incident_recorder {

using tune::incident_recorder;

struct workbench {
  tune::testing::temporary_directory folder;
  std::shared_ptr<tune::tuning_database> database =
      std::make_shared<tune::tuning_database>((folder / "tuning.db").string());
  tune::function_identity function{.name = "sample",
                                   .version = 0,
                                   .key_fields = {},
                                   .value_fields = tune::describe_fields<sample::scale_tuning>()};
  tune::record_key key{{}, {"device", "platform", "1.0"}};
  tune::search_identity search{.space = "a space", .compiler = "a compiler"};

  void try_one(int wgs, outcome result) const {
    incident_recorder log(database, function, key);
    log.read_prior(search);
    tune::trial made;
    made.configuration = tune::to_values(sample::scale_tuning{.wgs = wgs, .rows = 1});
    made.outcome = result;
    made.reason = "of what happened";
    log.trial_finished({}, made);
  }
  std::vector<tune::stored_trial> denied() const {
    return incident_recorder(database, function, key).read_prior(search).denied;
  }
};

TEST_CASE("after two incidents the next knows, and what was none is not kept") {
  workbench bench;
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
  bench.try_one(4, outcome::crashed);
  bench.try_one(8, outcome::measured);
  bench.try_one(2, outcome::launch_failed);
  const auto known = bench.denied();
  REQUIRE(known.size() == 1);
  CHECK(to_string(known.front().configuration) == "wgs=4, rows=1");
  CHECK(known.front().message.starts_with("of what happened"));
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->trials.size() == 2);
}

TEST_CASE("a search that was interrupted before is the one that goes on") {
  workbench bench;
  const auto before = bench.database->begin_search(bench.function, bench.key, bench.search);
  bench.try_one(4, outcome::timed_out);
  bench.try_one(8, outcome::device_fault);
  const auto search = bench.database->unfinished_search(bench.function, bench.key, 0);
  REQUIRE(search.has_value());
  CHECK(search->id == before);
  CHECK(search->trials.size() == 2);
}

TEST_CASE("one of another space does not") {
  workbench bench;
  tune::search_identity other = bench.search;
  other.space = "another space";
  const auto before = bench.database->begin_search(bench.function, bench.key, other);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.database->unfinished_search(bench.function, bench.key, 0)->id != before);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().size() == 1);
}

TEST_CASE("without a database nothing is known and nothing is kept") {
  workbench bench;
  bench.database = nullptr;
  bench.try_one(4, outcome::crashed);
  bench.try_one(4, outcome::crashed);
  CHECK(bench.denied().empty());
}

}  // namespace prior_knowledge_test::of_incident_recorder
