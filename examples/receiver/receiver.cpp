// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/receiver.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "libtune/extra/pipeline.hpp"
#include "operations/telescope/pfb/pfb_weights.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace receiver {
namespace {

using namespace tune::operations;

constexpr double output_level = 18;      // standard deviation of the real part of an output
constexpr double frames_until_late = 3;  // frames from a frame's last sample to its results

tune::device_array make_array(const tune::context& context, tune::element_type type,
                              const tune::shape& size) {
  return tune::device_array(context, tune::array_layout(type, size, size));
}

tune::shape voltages_shape(const settings& sizes) {
  return {sizes.heaps, sizes.antennas, sizes.channels, sizes.heap_spectra, polarisations, 2};
}

std::size_t products_of(const settings& sizes) { return 4 * baseline_count(sizes.antennas); }

template <class T>
tune::host_array<T> pinned_like(const tune::device_array& array) {
  return array.staging_array<T>();
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double quantile_of(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(part * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size() - 1));
  std::ranges::nth_element(values, at);
  return *at;
}

double median_of(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

tune::task<> tell(tune::event when, tune::heartbeat& pulse,
                  void (tune::heartbeat::*what)() noexcept) {
  co_await tune::wait_for_events(std::move(when));
  (pulse.*what)();
}

// A future without a result ends at its deadline.
tune::task<> sleep_until(std::chrono::steady_clock::time_point time) {
  const tune::promise<int> never;
  try {
    co_await tune::wait_until(never.get_future(), time);
  } catch (const tune::deadline_error&) {
  }
}

void set_array(tune::command_queue& queue, tune::operation& of, const std::string& slot,
               const auto& values) {
  of.ensure_bound(slot);
  of.buffer(slot).set(queue, values);
}

}  // namespace

telescope::telescope(const tune::context& context, const settings& sizes, const digitiser& input,
                     bool together, const tune::capture_options& capture)
    : sizes_(sizes),
      context_(context),
      uploads_{context.create_command_queue(), context.create_command_queue()},
      compute_(context.create_tuning_command_queue()),
      download_(context.create_command_queue()),
      gain_(output_level * std::numbers::sqrt2 / input.seen().noise_level),
      spectra_(make_array(context, tune::dtype::complex64,
                          {polarisations, sizes.spectra(), 4, sizes.channels / 4})),
      heaps_(make_array(context, tune::dtype::int8,
                        {sizes.heaps, sizes.channels, sizes.heap_spectra, polarisations, 2})),
      voltages_(make_array(context, tune::dtype::int8, voltages_shape(sizes))),
      voltages_turn_(voltages_),
      capture_("receiver", capture),
      results_{.visibilities = tune::host_array<std::int32_t>({1}),
               .flags = tune::host_array<std::uint8_t>({1}),
               .beams = tune::host_array<std::int8_t>({1}),
               .power = tune::host_array<std::uint64_t>({sizes.antennas, polarisations}),
               .saturated =
                   tune::host_array<std::uint32_t>({sizes.antennas, sizes.heaps, polarisations})} {
  const front_tunings tunings = together ? tune_together(context, sizes) : front_tunings{};
  const front_templates made(context, sizes, tunings);
  for (std::size_t a = 0; a < sizes.antennas; ++a) {
    antennas_.push_back(make_antenna(a, made, input));
  }
  make_correlator();
  make_beamformer(input.seen());
  prepare_capture();
  start();
}

// ---- the parts

std::unique_ptr<telescope::antenna> telescope::make_antenna(std::size_t index,
                                                            const front_templates& made,
                                                            const digitiser& input) {
  const sky& seen = input.seen();
  auto filter = std::make_shared<pfb>(made.filter.instantiate(compute_, filter_shape(sizes_)));
  tune::operation_sequence channelise(
      compute_, {{"filter", filter}, {"transform", made.transform.instantiate(compute_)}},
      {{"spectra", {"filter:spectra", "transform:src", "transform:dest"}}});
  channelise.bind("spectra", spectra_);
  channelise.ensure_all_bound();
  const tune::device_array samples = channelise.buffer("filter:samples");

  // Whole samples of the delay are skipped in the input, the rest is a phase.
  const double model = seen.model[index];
  const auto first =
      static_cast<std::uint64_t>(static_cast<double>(settings::largest_delay) + std::rint(model));
  filter->set_range({first, first}, 0, sizes_.spectra());
  const std::vector<float> weights = pfb_weights(sizes_.taps, sizes_.step());
  channelise.buffer("filter:weights")
      .set(compute_, tune::host_array<float>::wrap_const(weights, {weights.size()}));
  channelise.buffer("filter:total_power").zero(compute_);

  auto post = made.quantise.instantiate(compute_, quantise_shape_of(sizes_));
  const auto fine = static_cast<float>(std::rint(model) - model);
  tune::host_array<float> delay({sizes_.spectra(), polarisations});
  tune::host_array<float> phase(delay.size());
  tune::host_array<std::complex<float>> gains({sizes_.channels, polarisations});
  delay.fill(fine);
  phase.fill(-std::numbers::pi_v<float> * fine / 2);  // a delay has no phase at frequency 0
  gains.fill(std::complex<float>(static_cast<float>(gain_), 0));
  post.bind("spectra", spectra_);
  post.bind("out", heaps_);
  set_array(compute_, post, "delay", delay);
  set_array(compute_, post, "phase", phase);
  set_array(compute_, post, "gains", gains);
  post.set_seed(index);

  corner_turn turn(compute_, sizes_, index);
  turn.bind("from", heaps_);
  turn.bind("to", voltages_);
  // A resource cannot be moved, so it is constructed in place.
  std::unique_ptr<antenna> one(new antenna{.input = tune::resource<tune::device_array>(samples),
                                           .samples = pinned_like<std::uint8_t>(samples),
                                           .filter = std::move(filter),
                                           .channelise = std::move(channelise),
                                           .replay = nullptr,
                                           .quantise = std::move(post),
                                           .turn = std::move(turn)});
  one->quantise.ensure_all_bound();
  one->replay = std::make_unique<tune::captured_operation>(one->channelise);
  const std::size_t row_bytes = one->samples.layout().padded()[1];
  for (std::size_t p = 0; p < polarisations; ++p) {
    input.pack(index, p, {one->samples.data() + p * row_bytes, row_bytes});
  }
  return one;
}

void telescope::make_correlator() {
  const std::size_t products = products_of(sizes_);
  const correlate_template correlates(
      context_,
      {.antennas = sizes_.antennas, .channels = sizes_.channels, .spectra = sizes_.heap_spectra});
  correlate_ = correlates.instantiate(compute_, sizes_.heaps);
  correlate_->bind("in", voltages_);
  correlate_->ensure_all_bound();
  correlate_replay_ = std::make_unique<tune::captured_operation>(*correlate_);

  const correlate_reduce_template reduces(context_, correlate_->copies());
  const rfi::flagger_template flags =
      rfi::make_flagger(context_, {.width = 13, .is_amplitude = true, .channels = sizes_.channels});
  dump_.emplace(compute_,
                std::vector<tune::named_operation>{
                    {"reduce", reduces.instantiate(compute_, sizes_.antennas, sizes_.channels,
                                                   correlate_->copies())},
                    {"magnitude", magnitude(compute_, sizes_.channels, products)},
                    {"flag", flags.instantiate(compute_, sizes_.channels, products)}},
                std::vector<tune::shared_slots>{{"visibilities", {"reduce:out", "magnitude:src"}},
                                                {"magnitudes", {"magnitude:dest", "flag:vis"}}});
  dump_->bind("reduce:visibilities", correlate_->buffer("visibilities"));
  dump_->ensure_all_bound();
  dump_->buffer("reduce:absent").zero(compute_);
  dump_turn_.emplace(dump_->buffer("visibilities"));
  dump_replay_ = std::make_unique<tune::captured_operation>(*dump_);
  results_.visibilities = pinned_like<std::int32_t>(dump_->buffer("visibilities"));
  results_.flags = pinned_like<std::uint8_t>(dump_->buffer("flag:flags"));
}

// Beams of the first pair are steered to the source, so that its residual delays cancel; the others
// point elsewhere.
void telescope::make_beamformer(const sky& seen) {
  const beamform_template beams(context_, {.beams = sizes_.beams, .has_dither = true});
  beamform_ = beams.instantiate(compute_, {.batches = sizes_.heaps,
                                           .antennas = sizes_.antennas,
                                           .channels = sizes_.channels,
                                           .spectra = sizes_.heap_spectra,
                                           .beams = sizes_.beams});
  const auto antennas = static_cast<double>(sizes_.antennas);
  beam_weight_ = 4 / (3 * antennas);  // gives a steered beam about the level of an antenna
  tune::host_array<std::complex<float>> weights({sizes_.antennas, sizes_.beams});
  tune::host_array<float> delays(weights.size());
  weights.fill(std::complex<float>(static_cast<float>(beam_weight_), 0));
  for (std::size_t a = 0; a < sizes_.antennas; ++a) {
    for (std::size_t b = 0; b < sizes_.beams; ++b) {
      const std::size_t step = b / polarisations * ((a * a) % 11);
      const double away = 3.1 * static_cast<double>(step);
      delays(a, b) =
          static_cast<float>((seen.residual(a) + away) / static_cast<double>(sizes_.channels));
    }
  }
  beamform_->bind("in", voltages_);
  set_array(compute_, *beamform_, "weights", weights);
  set_array(compute_, *beamform_, "delays", delays);
  beamform_->ensure_all_bound();
  beamform_->buffer("saturated").zero(compute_);
  beams_turn_.emplace(beamform_->buffer("out"));
  results_.beams = pinned_like<std::int8_t>(beamform_->buffer("out"));
}

// Drivers load, graphs are recorded and coroutines get their memory during the first frames.
void telescope::start() {
  run(sizes_.frames_of_dump, false, {});
  pulse_.emplace();
}

// ---- frames

void telescope::channelise(antenna& of, std::uint64_t number, bool graphs,
                           tune::frame_snapshot& frame) {
  if (graphs) {
    of.channelised->run(frame);
  } else {
    of.channelise.run();
  }
  // Dither differs in each frame, so the operation that adds it is not recorded.
  of.quantise.set_first_spectrum(number * sizes_.spectra());
  of.quantised->run(frame);
  of.turn.run();
}

// A delay above this of a thread that only enqueues is caused by the system.
tune::task<> telescope::watch(const bool& ended, run_report& report) {
  constexpr std::chrono::microseconds between{100};
  constexpr double long_stop = 1e-3;
  while (!ended) {
    const auto due = clock::now() + between;
    co_await sleep_until(due);
    const auto now = clock::now();
    report.stopped = std::max(report.stopped, seconds(now - due));
    if (seconds(now - due) > long_stop) last_stop_ = now;
  }
}

// [frame]
tune::task<> telescope::frame(tune::event_loop& loop, std::uint64_t number, clock::time_point ready,
                              std::shared_ptr<const run_knobs> knobs, run_report& report) {
  using turn = tune::resource_allocation<tune::device_array>;
  // All turns are requested before anything waits, in the same order in each frame.
  std::vector<turn> written;
  std::vector<turn> read;
  for (const auto& each : antennas_) {
    written.push_back(each->input.acquire());
    read.push_back(each->input.acquire());
  }
  turn voltages = voltages_turn_.acquire();
  turn formed = beams_turn_->acquire();
  turn sent = beams_turn_->acquire();
  turn dumped = dump_turn_->acquire();
  turn saved = dump_turn_->acquire();
  const bool ends_dump = (number + 1) % sizes_.frames_of_dump == 0;

  for (std::size_t a = 0; a < antennas_.size(); ++a) {
    tune::command_queue& upload = uploads_[a % knobs->uploads];
    const tune::device_array& samples = co_await written[a].enter(upload);
    upload.write(samples.buffer(), antennas_[a]->samples.data(), samples.layout().bytes(), 0,
                 false);
    written[a].ready(upload);
  }
  for (std::size_t u = 0; u < knobs->uploads; ++u) uploads_[u].flush();
  // What is tuned behind the receiver looks for the times in which nothing computes.
  if (pulse_) loop.spawn(tell(uploads_.front().enqueue_marker(), *pulse_, &tune::heartbeat::begin));
  co_await voltages.enter(compute_);
  tune::frame_snapshot snapshot = capture_.begin();
  for (std::size_t a = 0; a < antennas_.size(); ++a) {
    co_await read[a].enter(compute_);
    channelise(*antennas_[a], number, knobs->graphs, snapshot);
    read[a].ready(compute_);
  }
  if (knobs->graphs) {
    correlated_->run(snapshot);
  } else {
    correlate_->run();
  }
  co_await formed.enter(compute_);
  beamform_->set_first_spectrum(number * sizes_.spectra());
  formed_->run(snapshot);
  formed.ready(compute_);
  voltages.ready(compute_);
  co_await dumped.enter(compute_);
  if (ends_dump) {
    dumped_->run(snapshot);
    correlate_->zero();
  }
  capture_.end(snapshot);
  dumped.ready(compute_);
  compute_.flush();
  if (pulse_) loop.spawn(tell(compute_.enqueue_marker(), *pulse_, &tune::heartbeat::end));

  const tune::device_array& beams = co_await sent.enter(download_);
  download_.read(beams.buffer(), results_.beams.data(), beams.layout().bytes(), 0, false);
  sent.ready(download_);
  co_await saved.enter(download_);
  if (ends_dump) save_dump();
  saved.ready(download_);
  const tune::event end = download_.enqueue_marker();
  download_.flush();
  co_await tune::wait_for_events(end);

  const double latency = note_latency(ready, report);
  frame_knobs_->ended(*knobs, latency);
  results_.dumps += ends_dump ? 1 : 0;
  ++results_.frames;
}
// [frame]

double telescope::note_latency(clock::time_point ready, run_report& report) {
  if (pulse_) pulse_->beat();
  const auto end = clock::now();
  if (pulse_) clock_.record(end - ready);
  const double latency = seconds(end - ready);
  latencies_.push_back(latency);
  record_.add(ready - begin_, end - begin_);
  if (report.allowed > 0 && latency > report.allowed) {
    ++report.late;
    if (last_stop_ > ready) {
      ++report.late_stopped;
      record_.excuse();
    }
    if (pulse_) pulse_->late();
  }
  return latency;
}

void telescope::save_dump() {
  const tune::device_array& visibilities = dump_->buffer("visibilities");
  download_.read(visibilities.buffer(), results_.visibilities.data(), visibilities.layout().bytes(),
                 0, false);
  const tune::device_array& flags = dump_->buffer("flag:flags");
  download_.read(flags.buffer(), results_.flags.data(), flags.layout().bytes(), 0, false);
}

run_report telescope::run(std::size_t frames, bool paced, const run_knobs& knobs) {
  const auto same = std::make_shared<const run_knobs>(knobs);
  return run(frames, paced, knobs, {[&] { return same; }, [](const run_knobs&, double) {}});
}

run_report telescope::run(std::size_t frames, bool paced, const run_knobs& knobs,
                          const frame_knobs& each_knobs) {
  frame_knobs_ = &each_knobs;
  run_report report{.frames = frames};
  const double period = sizes_.frame_seconds();
  if (paced) {
    const std::chrono::duration<double> allowed(deadline_ > 0 ? deadline_
                                                              : frames_until_late * period);
    report.allowed = allowed.count();
    clock_ = tune::frame_clock("receiver", std::chrono::duration_cast<clock::duration>(allowed));
  }
  correlate_->zero();
  for (const auto& each : antennas_) {
    each->channelise.buffer("filter:total_power").zero(compute_);
  }
  compute_.finish();
  results_.frames = results_.dumps = 0;
  latencies_.clear();
  latencies_.reserve(frames);
  record_ = {};
  record_.reserve(frames);

  bool ended = false;  // must outlive the task that reads it
  tune::event_loop loop(knobs.wait);
  tune::job_queue jobs;
  const tune::future<> watching = loop.spawn(watch(ended, report));
  begin_ = clock::now();
  for (std::size_t n = 0; n < frames; ++n) {
    auto ready = clock::now();
    if (paced) {
      ready = begin_ + std::chrono::duration_cast<clock::duration>(
                           std::chrono::duration<double>(static_cast<double>(n + 1) * period));
      loop.run(sleep_until(ready));
    }
    const std::shared_ptr<const run_knobs> its = each_knobs.next();
    jobs.add(loop.spawn(frame(loop, n, ready, its, report)));
    loop.run(jobs.finish(its->in_flight - 1));
  }
  loop.run(jobs.finish());
  ended = true;
  loop.run_until(watching);
  if (pulse_) pulse_->rest();
  report.elapsed = seconds(clock::now() - begin_);
  record_.finish(static_cast<double>(frames * sizes_.samples()),
                 tune::frame_record::seconds(report.elapsed));
  report.median = median_of(latencies_);
  report.p999 = quantile_of(latencies_, 0.999);
  if (!latencies_.empty()) report.longest = *std::ranges::max_element(latencies_);
  collect(frames);
  const auto count = static_cast<double>(frames);
  report.bytes_in =
      count * static_cast<double>(antennas_.size() * antennas_.front()->samples.layout().bytes());
  const std::size_t dump_bytes =
      results_.visibilities.layout().bytes() + results_.flags.layout().bytes();
  report.bytes_out = count * static_cast<double>(results_.beams.layout().bytes()) +
                     static_cast<double>(results_.dumps * dump_bytes);
  return report;
}

void telescope::collect(std::size_t frames) {
  if (frames == 0) return;
  for (std::size_t a = 0; a < antennas_.size(); ++a) {
    const tune::device_array& power = antennas_[a]->channelise.buffer("filter:total_power");
    compute_.read(power.buffer(), &results_.power(a, std::size_t{0}), power.layout().bytes());
    const tune::device_array& saturated = antennas_[a]->quantise.buffer("saturated");
    compute_.read(saturated.buffer(), &results_.saturated(a, std::size_t{0}, std::size_t{0}),
                  saturated.layout().bytes());
  }
}

std::size_t telescope::bytes_of_frame() const noexcept {
  const std::size_t samples = antennas_.front()->samples.layout().bytes();
  const std::size_t spectra = spectra_.layout().bytes();
  const std::size_t heaps = heaps_.layout().bytes();
  // Bytes written and read: the samples, the spectra, the channels, the heaps and the voltages.
  return antennas_.size() * (2 * samples + 4 * spectra + 2 * heaps + 3 * heaps) +
         results_.beams.layout().bytes();
}

// ---- times

std::vector<telescope::stage> telescope::stages() {
  const std::size_t antennas = antennas_.size();
  return {{"filter", antennas, [](antenna& of) { of.channelise.run("filter"); }},
          {"transform", antennas, [](antenna& of) { of.channelise.run("transform"); }},
          {"quantise", antennas, [](antenna& of) { of.quantise.run(); }},
          {"corner turn", antennas, [](antenna& of) { of.turn.run(); }},
          {"correlate", 1, [this](antenna&) { correlate_->run(); }},
          {"beamform", 1, [this](antenna&) { beamform_->run(); }}};
}

// [frame_parts]
std::vector<tune::frame_part> telescope::frame_parts() {
  const auto antennas = static_cast<double>(antennas_.size());
  antenna& one = *antennas_.front();
  return {{&one.channelise, antennas},
          {&one.quantise, antennas},
          {&one.turn, antennas},
          {&*correlate_, 1},
          {&*beamform_, 1},
          {&*dump_, 1 / static_cast<double>(sizes_.frames_of_dump)}};
}
// [frame_parts]

// The device's seconds in each stage of a frame.
std::vector<double> telescope::time_in_place(const std::vector<stage>& stages) {
  constexpr std::size_t of_antenna = 4;
  const auto visit = [&](const auto& visitor) {
    for (const auto& each : antennas_) {
      for (std::size_t s = 0; s < of_antenna; ++s) visitor(s, *each);
    }
    for (std::size_t s = of_antenna; s < stages.size(); ++s) visitor(s, *antennas_.front());
  };
  std::vector<std::size_t> stage_of;
  compute_.start_recording();
  visit([&](std::size_t s, antenna& of) {
    stages[s].run(of);
    stage_of.resize(compute_.recorded(), s);
  });
  const auto commands = compute_.stop_recording();
  std::vector<double> sums(stages.size());
  for (std::size_t c = 0; c < commands.size(); ++c) sums[stage_of[c]] += seconds(commands[c]);
  return sums;
}

// The host's seconds for each of consecutive frames.
double telescope::time_frames(int frames) {
  const auto begin = clock::now();
  for (int i = 0; i < frames; ++i) {
    tune::frame_snapshot none;
    for (const auto& each : antennas_) channelise(*each, static_cast<std::uint64_t>(i), true, none);
    correlate_replay_->run();
    beamform_->run();
  }
  compute_.finish();
  return seconds(clock::now() - begin) / frames;
}

frame_times telescope::time_stages() {
  const std::vector<stage> timed = stages();
  frame_times times;
  for (const stage& each : timed) {
    tune::measure alone = tune::make_measure(compute_, [&] { each.run(*antennas_.front()); });
    alone.run();
    const double once =
        std::chrono::duration<double>(tune::take_samples(alone, {.max_iterations = 50}).median())
            .count();
    times.stages.push_back({.name = each.name, .alone = once * static_cast<double>(each.times)});
  }
  constexpr int repeats = 7;
  std::vector<std::vector<double>> in_place(timed.size());
  for (int i = 0; i < repeats; ++i) {
    const std::vector<double> seconds_of = time_in_place(timed);
    for (std::size_t s = 0; s < timed.size(); ++s) in_place[s].push_back(seconds_of[s]);
  }
  for (std::size_t s = 0; s < timed.size(); ++s) {
    times.stages[s].in_place = median_of(std::move(in_place[s]));
  }
  const double predicted =
      std::accumulate(times.stages.begin(), times.stages.end(), 0.0,
                      [](double sum, const stage_time& each) { return sum + each.in_place; });
  times.whole = time_frames(std::clamp(static_cast<int>(0.3 / std::max(predicted, 1e-6)), 3, 1000));
  return times;
}

}  // namespace receiver
