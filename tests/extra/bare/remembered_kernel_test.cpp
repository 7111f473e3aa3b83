// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/testing/fixtures.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "libtune/tune/error.hpp"
#include "tests/extra/bare/bare_sample.hpp"

namespace remembered_kernel_test {

using bare_sample::chosen;
using bare_sample::counted;
using bare_sample::doubled;
using bare_sample::on_device;
using bare_sample::scaling;
using bare_sample::scaling_kernel;
using tune::bare_kernel;
using tune::configuration;

struct remembered : on_device {
  tune::testing::temporary_directory folder;
  tune::testing::test_mode_guard mode{tune::testing::test_mode::off};
  tune::tuning_options options{.database = (folder / "tuning.db").string()};

  bare_kernel kernel(std::int64_t count, int version = 0) const {
    auto made = scaling_kernel(static_cast<std::size_t>(count));
    return made.remember({"test.scale", version, {{"count", count}}});
  }
};

TEST_CASE_FIXTURE(remembered, "a result is remembered under a name, a version and a key") {
  const auto first = kernel(1000).tune(context, options);
  CHECK(first.trials().size() == 9);
  const auto again = kernel(1000).tune(context, options);
  CHECK(again.best() == first.best());
  CHECK(again.trials().empty());
  CHECK_FALSE(again.time());
  CHECK(again.run(context).get<float>(0)(4) == 10);
  CHECK(kernel(500).tune(context, options).trials().size() == 9);
  CHECK(kernel(1000, 1).tune(context, options).trials().size() == 9);
  options.mode = tune::tuning_mode::cached;
  CHECK_NOTHROW(kernel(500).tune(context, options));
  CHECK_THROWS_AS(kernel(600).tune(context, options), tune::not_tuned_error);
}

TEST_CASE_FIXTURE(remembered, "the work of a kernel may depend on the names of its key") {
  auto made = kernel(1000);
  made.define("each", std::int64_t{5}).work("2.0 * count * each", "8.0 * count");
  const auto best = made.tune(context, options);
  REQUIRE(best.trials().size() == 9);
  CHECK(tune::metric_value(best.trials().front(), "flops") == 10'000);
  CHECK(tune::metric_value(best.trials().front(), "bytes") == 8000);
}

TEST_CASE_FIXTURE(remembered, "whole candidates among real ones are real, and are remembered") {
  auto made = kernel(100);
  made.parameter("factor", std::vector<tune::value>{std::int64_t{3000}, 1.5});
  const auto first = made.tune(context, options);
  CHECK(first.trials().size() == 18);
  CHECK(first.best().at("factor") == tune::value(3000.0));
  CHECK(made.tune(context, options).best() == first.best());
  CHECK(made.tune(context, options).trials().empty());
  CHECK(made.space().parameters()[2].candidates == std::vector<tune::value>{3000.0, 1.5});
  const configuration given{{"block_size_x", 32}, {"width", 1}, {"factor", 3000}};
  CHECK(made.instantiate(queue, given).configuration().at("factor") == tune::value(3000.0));
  CHECK_NOTHROW(made.test_default(given));
}

TEST_CASE_FIXTURE(remembered,
                  "candidates of types that no column holds are refused before a search") {
  const auto mixed = [&](std::vector<tune::value> candidates) {
    auto made = kernel(100);
    return made.parameter("mixed", candidates);
  };
  for (const std::vector<tune::value>& candidates :
       {std::vector<tune::value>{std::int64_t{1}, std::string("fast")},
        std::vector<tune::value>{true, std::int64_t{2}},
        std::vector<tune::value>{std::string("fast"), 0.5}}) {
    CHECK_THROWS_WITH_AS(mixed(candidates).tune(context, options),
                         doctest::Contains("'mixed' has candidates of several types"),
                         tune::argument_error);
  }
  CHECK(fake.launches().empty());
  CHECK(scaling_kernel(100)
            .parameter("mixed", std::vector<tune::value>{true, std::string("fast")})
            .tune(context)
            .trials()
            .size() == 18);
  CHECK_THROWS_WITH_AS(mixed({std::int64_t{9007199254740993}, 0.5}),
                       doctest::Contains("9007199254740993, which is no exact number"),
                       tune::argument_error);
}

TEST_CASE_FIXTURE(remembered, "numbers beyond the signed ones stay what they are") {
  constexpr std::uint64_t largest = 18446744073709551615U;
  auto made = kernel(100);
  made.parameter("mask", {largest, std::uint64_t{5}}).restrict("mask > 0").define("all", largest);
  CHECK(made.space().size() == 18);
  CHECK(made.space().parameters()[2].candidates ==
        std::vector<tune::value>{largest, std::uint64_t{5}});
  CHECK(made.tune(context, options).best() == made.tune(context, options).best());
  CHECK(fake.launches().front().macros.text("mask") == "18446744073709551615");
  CHECK(fake.launches().front().macros.text("all") == "18446744073709551615");
  CHECK_THROWS_AS(made.parameter("neither", std::vector<tune::value>{largest, std::int64_t{-1}}),
                  tune::argument_error);
}

TEST_CASE_FIXTURE(remembered, "contents that functions make are made for a search, not for a hit") {
  int made = 0;
  const auto lazy = [&] {
    const auto numbers = [&made] { return ++made, counted(1000); };
    auto lazy_kernel = kernel(1000);
    lazy_kernel.arguments(tune::out<float>({1000}), tune::in({1000}, numbers, "from"),
                          scaling{2.0F, 1000});
    return lazy_kernel.answer(0, [&made] { return ++made, doubled(counted(1000)); });
  };
  CHECK(lazy().tune(context, options).best() == chosen(128, 1));
  CHECK(made == 2);
  CHECK(lazy().tune(context, options).trials().empty());
  CHECK(made == 2);
  auto wrong = lazy();
  wrong.arguments(tune::out<float>({1000}), tune::in({999}, [] { return counted(1000); }), 1.0F);
  CHECK_THROWS_WITH_AS(wrong.run(context, chosen(32, 1)),
                       "argument 1 of the kernel 'scale': an array of a bare kernel is (999,), and "
                       "its contents are (1000,)",
                       tune::argument_error);
}

TEST_CASE_FIXTURE(remembered, "a result that the kernel does not allow any more is tuned anew") {
  CHECK(kernel(1000).tune(context, options).best() == chosen(128, 1));
  auto restricted = kernel(1000);
  restricted.restrict("block_size_x < 128");
  CHECK(restricted.tune(context, options).best() == chosen(64, 1));
}

TEST_CASE_FIXTURE(remembered, "without a search the declared default is used, or the first") {
  const auto first = kernel(1000);
  CHECK(first.tune(context, {.mode = tune::tuning_mode::defaults}).best() == chosen(32, 1));
  auto declared = kernel(1000);
  declared.test_default(chosen(64, 2));
  CHECK(declared.tune(context, {.mode = tune::tuning_mode::defaults}).best() == chosen(64, 2));
  CHECK_THROWS_AS(declared.test_default(chosen(65, 2)), tune::argument_error);
  const tune::testing::test_mode_guard defaults(tune::testing::test_mode::defaults);
  CHECK(declared.tune(context).best() == chosen(64, 2));
  CHECK(declared.tune(context).trials().empty());
}

TEST_CASE_FIXTURE(remembered, "a kernel tuner describes a kernel for each key, and remembers it") {
  const tune::kernel_tuner tuner("test.made", 2, [](const configuration& key) {
    return scaling_kernel(static_cast<std::size_t>(key["count"]));
  });
  const auto best = tuner(context, {{"count", 300}}, options);
  CHECK(best.trials().size() == 9);
  CHECK(tuner(context, {{"count", 300}}, options).trials().empty());
  CHECK_THROWS_AS(tuner(context, {{"size", 300}}, options), tune::argument_error);
}

TEST_CASE_FIXTURE(remembered, "what a tuner's function throws says whose it is") {
  const tune::kernel_tuner tuner("test.thrower", 0, [](const configuration& key) -> bare_kernel {
    if (key["count"] == 1) throw std::runtime_error("no taps");
    return scaling_kernel(static_cast<std::size_t>(key["size"]));
  });
  CHECK_THROWS_WITH_AS(tuner(context, {{"count", 1}}, options),
                       "the function of the kernel tuner 'test.thrower' for count=1: no taps",
                       tune::error);
  CHECK_THROWS_WITH_AS(tuner(context, {{"count", 2}}, options),
                       "the function of the kernel tuner 'test.thrower' for count=2: there is no "
                       "value 'size' among count=2",
                       tune::argument_error);
}

}  // namespace remembered_kernel_test
