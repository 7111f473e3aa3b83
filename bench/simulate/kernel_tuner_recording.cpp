// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include "bench/simulate/read_recording.hpp"
#include "bench/simulate/recording_builder.hpp"
#include "libtune/extra/formats/kernel_tuner_cache.hpp"

namespace tune {

recorded_space read_kernel_tuner(std::string_view text, std::string name) {
  kernel_tuner_cache cache = read_kernel_tuner_cache(text);
  detail::recording_builder builder(std::move(cache.parameters));
  for (kernel_tuner_entry& entry : cache.entries) {
    builder.add({.values = std::move(entry.values),
                 .result = {.score_ms = entry.objective,
                            .failure = std::move(entry.failure),
                            .compile_ms = entry.compile_time,
                            .verification_ms = entry.verification_time,
                            .benchmark_ms = entry.benchmark_time,
                            .framework_ms = entry.framework_time,
                            .samples_ms = std::move(entry.times)}});
  }
  return std::move(builder).build(std::move(name));
}

}  // namespace tune
