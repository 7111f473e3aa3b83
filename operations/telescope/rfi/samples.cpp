// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/samples.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "libtune/base/error.hpp"
#include "operations/telescope/rfi/host.hpp"
#include "operations/workload.hpp"

namespace tune::operations::rfi {
namespace {

class generator {
 public:
  std::uint32_t next() { return next_number(state_) >> 8; }
  float uniform() { return static_cast<float>(next()) / 16777216.0F; }
  /// Approximately normal, with a standard deviation of 1.
  float normal() { return (uniform() + uniform() + uniform() + uniform() - 2.0F) * 1.7320508F; }

 private:
  std::uint32_t state_ = 12345;
};

template <class T, class Draw>
host_array<T> matrix(std::size_t rows, std::size_t columns, Draw&& draw) {
  host_array<T> made({rows, columns});
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) made(r, c) = draw();
  }
  return made;
}

float amplitude(generator& from) {
  switch (from.next() % 64) {
    case 0: return std::numeric_limits<float>::infinity();
    case 1: return std::numeric_limits<float>::quiet_NaN();
    case 2: return -1.0F;
    case 3: return 0.0F;
    case 4: return 1.0F;
    case 5: return 1e30F;
    default: return from.uniform();
  }
}

}  // namespace

std::vector<dimension> dimensions_of(data_order order, std::size_t channels,
                                     std::size_t baselines) {
  if (order == data_order::channel_major) return {channels, baselines};
  return {baselines, channels};
}

void check_groups(const char* what, std::size_t channels, std::size_t baselines,
                  std::size_t groups) {
  if (groups <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) return;
  throw argument_error(
      fmt::format("{} of {} channels x {} baselines takes {} work groups, more "
                  "than a launch can have; run it on a part of the baselines at a "
                  "time",
                  what, channels, baselines, groups));
}

host_array<float> random_amplitudes(std::size_t channels, std::size_t baselines) {
  generator from;
  return matrix<float>(channels, baselines, [&] { return amplitude(from); });
}

host_array<std::complex<float>> random_visibilities(std::size_t channels, std::size_t baselines) {
  generator from;
  return matrix<std::complex<float>>(channels, baselines, [&] {
    const float real = amplitude(from);
    return std::complex<float>(real, 0.5F * from.uniform());
  });
}

host_array<float> random_deviations(std::size_t channels, std::size_t baselines) {
  generator from;
  return matrix<float>(channels, baselines, [&] {
    const float noise = from.normal();
    switch (from.next() % 64) {
      case 0: return std::numeric_limits<float>::quiet_NaN();
      case 1: return 0.0F;
      case 2:
      case 3: return noise + 20.0F;
      default: return noise;
    }
  });
}

host_array<float> random_noise(std::size_t baselines) {
  generator from;
  host_array<float> noise({baselines});
  for (std::size_t b = 0; b < baselines; ++b) noise(b) = 2.0F * from.uniform();
  return noise;
}

host_array<std::uint8_t> sparse_flags(const shape& size) {
  generator from;
  host_array<std::uint8_t> flags(size);
  for (std::size_t i = 0; i < flags.padded_elements(); ++i) {
    flags.data()[i] = from.next() % 8 == 0 ? static_cast<std::uint8_t>(1 + from.next() % 255) : 0;
  }
  return flags;
}

std::size_t tuning_baselines(const tuning_session& session, std::size_t sample_bytes) {
  const bool is_gpu = session.context().device().kind() == device_kind::gpu;
  constexpr std::size_t elsewhere = std::size_t{2} << 20;
  const std::size_t bytes = is_gpu ? workload_bytes(session) : elsewhere;
  return divide_up(bytes, tuning_channels * sample_bytes);
}

void fill_with_noise(command_queue& queue, const device_array& array) {
  generator from;
  const std::size_t bytes = array.layout().bytes();
  std::vector<float> numbers(std::min<std::size_t>(bytes / sizeof(float), 1000003));
  for (float& number : numbers) {
    number = from.normal() + (from.next() % 1024 == 0 ? 40.0F : 0.0F);
  }
  write_again(queue, array.buffer(), bytes, std::as_bytes(std::span(numbers)));
}

void fill_with_deviations(command_queue& queue, const device_array& array) {
  generator from;
  const auto amplitudes = matrix<float>(200003, 1, [&] {
    const float strong = from.next() % 100 == 0 ? 40.0F : 0.0F;
    return amplitude_of({from.normal() + strong, from.normal()});
  });
  const auto deviations = background_median_filter_host(13)(amplitudes);
  write_again(queue, array.buffer(), array.layout().bytes(),
              std::as_bytes(std::span(deviations.data(), deviations.size()[0])));
}

}  // namespace tune::operations::rfi
