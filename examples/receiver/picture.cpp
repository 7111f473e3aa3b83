// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The picture of a run.
#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <fstream>
#include <numbers>
#include <string>

#include "examples/receiver/checks.hpp"

namespace receiver {
namespace {

constexpr double width = 900;
constexpr double height = 180;
constexpr double margin = 50;

/// One diagram over the channels, from the left edge to the right edge.
class panel {
 public:
  panel(std::ostream& out, std::size_t channels, double top, const std::string& title)
      : out_(out), channels_(channels), top_(top) {
    out_ << fmt::format(
        "<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#888'/>\n"
        "<text x='{}' y='{}'>{}</text>\n",
        margin, top, width, height, margin, top - 8, title);
  }
  /// @param level  0 is the lower edge, 1 the upper edge
  void point(std::size_t channel, double level, const char* colour) const {
    out_ << fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='1.2' fill='{}'/>\n", x(channel),
                        y(level), colour);
  }
  void mark(std::size_t channel, double from, double to, const char* colour) const {
    out_ << fmt::format(
        "<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}' stroke='{3}'/>\n", x(channel),
        y(from), y(to), colour);
  }

 private:
  double x(std::size_t channel) const {
    return margin + width * (static_cast<double>(channel) + 0.5) / static_cast<double>(channels_);
  }
  double y(double level) const { return top_ + height * (1 - std::clamp(level, 0.0, 1.0)); }

  std::ostream& out_;
  std::size_t channels_;
  double top_;
};

std::complex<double> visibility(const results& of, std::size_t channel, std::size_t product) {
  return {static_cast<double>(of.visibilities(channel, product, std::size_t{0})),
          static_cast<double>(of.visibilities(channel, product, std::size_t{1}))};
}

double decibels(double power) { return 10 * std::log10(std::max(power, 1e-9)); }

}  // namespace

void draw(const std::string& path, const settings& sizes, const sky& injected,
          const results& found) {
  std::ofstream out(path);
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='1000' height='800' "
         "font-family='sans-serif' font-size='14'>\n<rect width='1000' height='800' "
         "fill='white'/>\n";
  const std::size_t channels = sizes.channels;
  const std::size_t last = sizes.antennas - 1;
  const std::size_t baseline = 4 * tune::operations::baseline_index(0, last);
  const panel spectra(out, channels, 40,
                      "Power of antenna 0 (black) and of the beam on the source (blue): 30 dB");
  const panel fringe(out, channels, 290,
                     fmt::format("Phase of antennas 0 and {} (black), from the delays that were "
                                 "injected (orange): -180 to 180 degrees",
                                 last));
  const panel flags(out, channels, 540,
                    "Flags: channels with interference (red below), part of the products that "
                    "are flagged (black)");
  const double own = visibility(found, channels / 3, 0).real();
  const std::size_t products = 4 * tune::operations::baseline_count(sizes.antennas);
  const double delay = injected.residual(0) - injected.residual(last);
  for (std::size_t c = 0; c < channels; ++c) {
    spectra.point(c, 0.4 + decibels(visibility(found, c, 0).real() / own) / 30, "black");
    double beam = 0;
    for (std::size_t t = 0; t < sizes.heap_spectra; ++t) {
      const double re = found.beams(std::size_t{0}, std::size_t{0}, c, t, std::size_t{0});
      const double im = found.beams(std::size_t{0}, std::size_t{0}, c, t, std::size_t{1});
      beam += re * re + im * im;
    }
    const auto frames = static_cast<double>(sizes.heaps * sizes.frames_of_dump);
    spectra.point(c, 0.2 + decibels(beam * frames / own) / 30, "#1f77b4");
    const double turn = -delay * static_cast<double>(c) / static_cast<double>(2 * channels);
    fringe.point(c, turn - std::floor(turn + 0.5) + 0.5, "#ff7f0e");
    fringe.point(c, 0.5 + std::arg(visibility(found, c, baseline)) / (2 * std::numbers::pi),
                 "black");
    std::size_t flagged = 0;
    for (std::size_t i = 0; i < products; ++i) flagged += found.flags(c, i) != 0 ? 1U : 0U;
    if (flagged > 0) {
      flags.mark(c, 0.1, 0.1 + 0.85 * static_cast<double>(flagged) / static_cast<double>(products),
                 "black");
    }
  }
  for (const std::size_t c : injected.carriers) flags.mark(c, 0, 0.08, "red");
  out << "</svg>\n" << std::flush;
  if (!out) throw tune::error("'" + path + "' could not be written; name another file");
}

}  // namespace receiver
