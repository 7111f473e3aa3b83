// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// A program that resume_test starts, and kills while it tunes: interrupted_search <database> <log>.
// It writes a line to the log when it starts, and one for each configuration just before that is
// measured. Then it prints the winner.
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>

#include "libtune/testing/fixtures.hpp"
#include "libtune/tune/options.hpp"
#include "tests/tune/scale.hpp"

namespace {

// One write of a short line: it is in the file, or it is not, when the program is killed.
void append_line(const std::string& path, const std::string& line) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::perror("interrupted_search");
    ::_exit(2);
  }
  ::close(file);
}

tune::space<sample::scale_tuning> make_space() {
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {8, 7, 6, 5, 4, 3, 2, 1});
  space.add(&sample::scale_tuning::rows, {4, 3, 2, 1, 5, 6});
  return space;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const tune::testing::test_mode_guard application(tune::testing::test_mode::off);
  const std::string log = arguments[2];
  append_line(log, "started\n");
  const tune::testing::fake_device fake = sample::make_device();
  const auto measure_one = [&](const sample::scale_tuning& tuning) {
    auto name = std::to_string(tuning.wgs) + ' ' + std::to_string(tuning.rows) + '\n';
    return tune::make_measure([=, logged = false](int) mutable {
      if (!logged) append_line(log, name);
      logged = true;
      // A trial is two calls at least, and thus enough for its own commit.
      std::this_thread::sleep_for(std::chrono::milliseconds(11));
      return (tuning.wgs * 10 + tuning.rows) * 1e-6;
    });
  };
  const tune::autotuner<sample::scale_key, sample::scale_tuning> autotune{
      {.name = "sample.interrupted"}, [&](tune::tuning_session& session, const auto&) {
        return session.tune(make_space(), [&](const sample::scale_tuning& tuning) {
          static_cast<void>(sample::compile(session.context(), tuning));
          return measure_one(tuning);
        });
      }};
  tune::tuning_options options{.database = arguments[1], .mode = tune::tuning_mode::tune};
  options.measure =
      tune::measure_settings{.time_limit = std::chrono::milliseconds(1), .max_iterations = 3};
  const auto best = autotune(fake.device().create_context(), {}, options);
  std::printf("%d %d\n", best.wgs, best.rows);
  return 0;
}
