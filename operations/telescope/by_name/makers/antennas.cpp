// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/by_name/makers/makers.hpp"
#include "operations/telescope/correlate/correlate.hpp"
#include "operations/telescope/correlate/correlate_reduce.hpp"

namespace tune::operations::makers {
namespace {

using stage = parameter_stage;

void set_correlate(operations::correlate& of, std::string_view name, const value& v) {
  if (name == "zero") {
    if (natural_of(name, v) != 0) of.zero();
    return;
  }
  const auto range = naturals_of(name, v);
  if (range.size() != 2) {
    throw type_error(
        fmt::format("'batches' is '{}', not the first and the one past the last, such as '0,16'",
                    to_string(v)));
  }
  of.set_batches({range[0], range[1]});
}

/// The polarisation and the dither of each beam.
class beam_list {
 public:
  explicit beam_list(std::size_t beams) : dithered_(beams, 1) {
    for (std::size_t beam = 0; beam < beams; ++beam) polarisations_.push_back(beam % 2);
  }

  void operator()(operations::beamform& of, std::string_view name, const value& v) {
    if (name == "seed") return of.set_seed(natural_of(name, v));
    if (name == "first_spectrum") return of.set_first_spectrum(natural_of(name, v));
    auto& list = name == "polarisations" ? polarisations_ : dithered_;
    auto given = naturals_of(name, v);
    if (given.size() == 1) given.resize(list.size(), given.front());
    check(name, given);
    list = std::move(given);
    for (std::size_t beam = 0; beam < list.size(); ++beam) {
      of.set_beam(beam, polarisations_[beam], dithered_[beam] != 0);
    }
  }

 private:
  void check(std::string_view name, const std::vector<std::uint64_t>& given) const {
    if (given.size() != dithered_.size()) {
      throw argument_error(
          fmt::format("'{}' of the operation 'beamform' has {} numbers for {} beams", name,
                      given.size(), dithered_.size()));
    }
    for (const std::uint64_t each : given) {
      if (each <= 1) continue;
      throw argument_error(fmt::format(
          "'{}' of the operation 'beamform' is 0 or 1 for each beam, not {}", name, each));
    }
  }

  std::vector<std::uint64_t> polarisations_;
  std::vector<std::uint64_t> dithered_;
};

}  // namespace

operation_maker correlate() {
  return operation_maker("correlate")
      .add_fields<correlate_key>(
          stage::key, {{"antennas", "antennas"},
                       {"channels", "channels"},
                       {"spectra", "of a batch, a multiple of 16"},
                       {"bits", "of the real and of the imaginary part of a voltage: 8 or 4"}})
      .add(stage::size, "batches", {}, "batches of spectra in the slot in")
      .add(stage::setting, "batches", {},
           "those that a run adds: the first and the one past the last, such as '0,16'; at first "
           "all")
      .add(stage::setting, "zero", false, "true sets all accumulators to 0, on the queue, at once")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return correlate_template(in, key.all<correlate_key>());
          },
          [](const correlate_template& made, const command_queue& queue,
             const given_parameters& size) {
            return with_settings(made.instantiate(queue, size.count("batches")), set_correlate);
          });
}

operation_maker correlate_reduce() {
  return operation_maker("correlate_reduce")
      .add_fields<correlate_reduce_key>(
          stage::key, {{"copies", "about how many of the accumulators, to tune for"}})
      .add(stage::size, "antennas", {}, "of the correlation")
      .add(stage::size, "channels", {}, "of the correlation")
      .add(stage::size, "copies", std::int64_t{1},
           "of the accumulators: the first extent of correlate's visibilities")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return correlate_reduce_template(in, key.count("copies"));
          },
          [](const correlate_reduce_template& made, const command_queue& queue,
             const given_parameters& size) {
            return without_settings(made.instantiate(queue, size.count("antennas"),
                                                     size.count("channels"), size.count("copies")));
          });
}

operation_maker beamform() {
  return operation_maker("beamform")
      .add_fields<beamform_key>(stage::key,
                                {{"beams", "formed in one pass over the input: 1, 2, 4, 8 or 16"},
                                 {"has_dither", "a random number is added before rounding"}})
      .add_fields<beamform_shape>(stage::size, {{"batches", "batches", true},
                                                {"antennas", "1 to 32768", true},
                                                {"channels", "channels", true},
                                                {"spectra", "of a batch, a multiple of 4", true},
                                                {"beams", "1 to 64", true}})
      .add(stage::setting, "polarisations", {},
           "0 or 1, or one for each beam, such as '0,1,1'; at first 0 for even beams, 1 for odd "
           "ones")
      .add(stage::setting, "dithered", std::int64_t{1},
           "1 or 0, or one for each beam: dither is added, if the key has it")
      .add(stage::setting, "first_spectrum", std::int64_t{0},
           "the number of the first spectrum, for the dither")
      .add(stage::setting, "seed", std::int64_t{0}, "of the dither")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return beamform_template(in, key.all<beamform_key>());
          },
          [](const beamform_template& made, const command_queue& queue,
             const given_parameters& size) {
            const auto shape = size.all<beamform_shape>();
            return with_settings(made.instantiate(queue, shape), beam_list(shape.beams));
          });
}

}  // namespace tune::operations::makers
