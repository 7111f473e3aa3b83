// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libtune/extra/ranged/ranged_autotuner.hpp"
#include "libtune/libtune.hpp"

namespace tune::operations {

/// The types of numbers on both sides of a transform.
enum class fft_kind : std::uint8_t {
  c2c,  ///< complex to complex
  r2c,  ///< real to half a complex spectrum; always forward
  c2r,  ///< half a complex spectrum to real; always inverse
};

/// The precision of the numbers.
enum class fft_precision : std::uint8_t {
  /// Float16 in memory; on CUDA only lengths that are powers of two. OpenCL computes in float32.
  half,
  single,  ///< float32
  full,    ///< float64
};

/// The sign of the exponent.
enum class fft_direction : std::uint8_t {
  forward,  ///< exp(-2 pi i f t / n)
  inverse,  ///< exp(+2 pi i f t / n), not divided by n
};

/// A complex number of two float16: the element of complex arrays of half precision.
struct complex_half {
  float16 real{};       ///< the real part, first in memory
  float16 imaginary{};  ///< the imaginary part
};

/// Tuning key: the kind, precision and size of a transform.
struct fft_key {
  fft_kind kind = fft_kind::c2c;                     ///< the kinds of numbers
  fft_precision precision = fft_precision::single;   ///< the precision of the numbers
  fft_direction direction = fft_direction::forward;  ///< the direction of the transform
  std::string size = "1024";  ///< extents of the transformed axes, the slowest first: "16x48"
  std::size_t batch = 1024;   ///< number of transforms, rounded up to a power of two
};

/// Tuning key of a portfolio: transforms and ranges of their sizes. An axis with the range 1 is not
/// transformed; the last axis always is.
struct ranged_fft_key {
  fft_kind kind = fft_kind::c2c;                     ///< the kinds of numbers
  fft_precision precision = fft_precision::single;   ///< the precision; half: OpenCL only
  fft_direction direction = fft_direction::forward;  ///< the direction of the transforms
  size_range planes{};                               ///< the slowest of three transformed axes
  size_range rows{};                                 ///< the one before the last
  size_range length{2, 8192};                        ///< the last transformed axis
  size_range batch{1, 8192};                         ///< number of transforms
};

/// The parameters of the transform library. 0 or false leaves the choice to the library.
struct fft_tuning {
  bool vkfft = false;               ///< VkFFT is used on CUDA too, instead of cuFFT
  bool jit = false;                 ///< cuFFT: kernels compiled for the plan
  bool lut = false;                 ///< VkFFT: sines and cosines from tables
  std::size_t threads = 0;          ///< VkFFT: the target number of work items in a group
  std::size_t coalesced_bytes = 0;  ///< VkFFT: the least run of memory to read at once
  /// VkFFT: the factor of registers used instead of local memory.
  std::size_t register_boost = 0;
  std::size_t bandwidth_boost = 0;   ///< VkFFT: a divisor of coalesced_bytes across memory
  std::size_t three_steps_from = 0;  ///< VkFFT: the power of two from which a line needs 3 kernels
};

}  // namespace tune::operations

LIBTUNE_ELEMENT(tune::operations::complex_half)
LIBTUNE_ENUM(tune::operations::fft_kind, c2c, r2c, c2r)
LIBTUNE_ENUM(tune::operations::fft_precision, half, single, full)
LIBTUNE_ENUM(tune::operations::fft_direction, forward, inverse)
LIBTUNE_FIELDS(tune::operations::fft_key, kind, precision, direction, size, batch)
LIBTUNE_FIELDS(tune::operations::ranged_fft_key, kind, precision, direction, planes, rows, length,
               batch)
LIBTUNE_FIELDS(tune::operations::fft_tuning, vkfft, jit, lut, threads, coalesced_bytes,
               register_boost, bandwidth_boost, three_steps_from)

namespace tune::operations {

namespace transforms {
class fft_plan;
}  // namespace transforms

/// The arrays of a transform.
struct fft_description {
  /// The array, of the real side if there is one: repeated axes, the batch, then the transformed
  /// axes.
  tune::shape size;
  std::size_t axes = 1;                  ///< the number of transformed axes, 1 to 8
  element_type src = dtype::complex64;   ///< complex64, complex128, float32, float64; or float16
                                         ///< and complex_half
  element_type dest = dtype::complex64;  ///< with src's precision; real for an inverse transform
  std::optional<fft_direction> direction{};  ///< empty: forward, unless dest is real
  tune::shape padded_src{};   ///< rank 0: no padding. Padded axes of the batch cost a copy
  tune::shape padded_dest{};  ///< padding of dest, like padded_src
};

/// The discrete Fourier transform of the last axes of an array, unnormalised: forward and inverse
/// together multiply the array by the number of elements of a transform. cuFFT or VkFFT runs it on
/// CUDA, and VkFFT on OpenCL. Made by fft_template.
///
/// Padded axes of the batch, more than three axes, and half precision on OpenCL need copies through
/// the work area.
///
/// Slots src and dest, with exactly the padding of the description, which is neither read nor
/// written; and, only if the library needs memory, work_area: bytes with undefined contents after a
/// run, so it may be an alias of other scratch in a sequence. The last axis of the complex side of
/// a real transform has n / 2 + 1 elements. A transform to real numbers may overwrite src; others
/// do not, and accept one array as both slots if its layout allows it.
///
/// It can be captured in a command graph. Several operations may run at the same time, each on its
/// own thread; each has its own plan.
class fft final : public operation {
 public:
  /// For fft_template, which has checked the description.
  fft(const command_queue& queue, const fft_description& description, const fft_tuning& tuning);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  std::shared_ptr<transforms::fft_plan> plan_;  // null if there is nothing to transform
  fft_key key_;
  io_slot* src_;
  io_slot* dest_;
  io_slot* work_area_ = nullptr;  // null if the library needs none
  fft_tuning tuning_;
};

/// A transform of one description, tuned for a context. Immutable, so thread-safe.
class fft_template {
 public:
  /// Looks up the parameters of the library in the database; without a result it searches, and
  /// stores one.
  static const autotuner<fft_key, fft_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context      runs the transform
  /// @param description  the arrays
  /// @param tuning       empty: autotune finds it
  /// @throws argument_error for an invalid description, type_error for elements that no library
  ///         transforms, device_error that names the package to install without a library, the
  ///         errors of autotuner
  fft_template(const context& context, const fft_description& description,
               const std::optional<fft_tuning>& tuning = std::nullopt);

  /// The parameters for operations.
  const fft_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation with its own plan: the library may compile kernels for it.
  /// @param queue  a queue of the template's context
  /// @throws device_error if the library refuses the plan, the errors of compile
  fft instantiate(const command_queue& queue) const;

 private:
  fft_description description_;
  fft_tuning tuning_;
};

/// Transforms of all sizes of some ranges, with the tunings of one portfolio: a new size needs no
/// search. Immutable, so thread-safe.
class ranged_fft_template {
 public:
  /// Looks up the portfolio in the database; without one it searches, and stores it.
  static const ranged_autotuner<ranged_fft_key, fft_tuning> autotune;

  /// Tunes on first use.
  /// @param context  runs the transforms
  /// @param key      the transforms, with the ranges of their sizes
  /// @throws argument_error if real transforms have the wrong direction, planes are transformed and
  ///         rows are not, or for half precision on a CUDA device, which supports only lengths that
  ///         are powers of two; device_error that names the package to install without a library;
  ///         the errors of ranged_autotuner
  ranged_fft_template(const context& context, const ranged_fft_key& key);

  /// The portfolio: the tunings and the choice among them.
  const tune::portfolio<fft_tuning>& portfolio() const noexcept { return portfolio_; }

  /// Makes an operation with its own plan, with the tuning for its size: the library may compile
  /// kernels for it, as for fft_template.
  /// @param queue        a queue of the template's context
  /// @param description  the arrays, of the kind, precision, direction and number of axes of the
  ///                     key, inside or outside of its ranges
  /// @throws argument_error for another or an invalid description, type_error for elements that no
  ///         library transforms, device_error if the library refuses the plan, the errors of
  ///         compile
  fft instantiate(const command_queue& queue, const fft_description& description) const;

 private:
  ranged_fft_key key_;
  tune::portfolio<fft_tuning> portfolio_;
};

/// The search space on a device.
space<fft_tuning> tuning_space(const fft_key& key, const device& device);

/// The reason why a device cannot transform: the missing library, and the package to install; empty
/// if it can.
std::string fft_absence(const device& device);

}  // namespace tune::operations
