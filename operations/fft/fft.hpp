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

/// The numbers on both sides of a transform.
enum class fft_kind : std::uint8_t {
  c2c,  ///< complex to complex
  r2c,  ///< real to half a complex spectrum; always forward
  c2r,  ///< half a complex spectrum to real; always inverse
};

/// The precision of the numbers.
enum class fft_precision : std::uint8_t {
  half,  ///< float16 in memory; on CUDA lengths that are powers of two. OpenCL computes in float32
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

/// A transform, as far as its speed depends on it.
struct fft_key {
  fft_kind kind = fft_kind::c2c;                     ///< what becomes what
  fft_precision precision = fft_precision::single;   ///< of the numbers
  fft_direction direction = fft_direction::forward;  ///< of the transform
  std::string size = "1024";  ///< of the transformed axes, the slowest first: "16x48"
  std::size_t batch = 1024;   ///< transforms, rounded up to a power of two
};

/// Transforms, and the sizes that one portfolio of tunings serves. An axis whose range is 1 alone
/// is not transformed; the last one always is.
struct ranged_fft_key {
  fft_kind kind = fft_kind::c2c;                     ///< what becomes what
  fft_precision precision = fft_precision::single;   ///< of the numbers; half: OpenCL only
  fft_direction direction = fft_direction::forward;  ///< of the transforms
  size_range planes{};                               ///< the slowest of three transformed axes
  size_range rows{};                                 ///< the one before the last
  size_range length{2, 8192};                        ///< the last transformed axis
  size_range batch{1, 8192};                         ///< transforms
};

/// The parameters of the library that transforms. What is 0 or false is left to the library.
struct fft_tuning {
  bool vkfft = false;                ///< VkFFT runs on CUDA too, in place of cuFFT
  bool jit = false;                  ///< cuFFT: kernels that are compiled for the plan
  bool lut = false;                  ///< VkFFT: sines and cosines from tables
  std::size_t threads = 0;           ///< VkFFT: work items that it aims at for a group
  std::size_t coalesced_bytes = 0;   ///< VkFFT: the least run of memory to read at once
  std::size_t register_boost = 0;    ///< VkFFT: registers used in place of local memory, as factor
  std::size_t bandwidth_boost = 0;   ///< VkFFT: a divisor of coalesced_bytes across memory
  std::size_t three_steps_from = 0;  ///< VkFFT: the power of two from which a line takes 3 kernels
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
  /// The array, of the real side where there is one: axes that are only repeated, the batch, then
  /// those that are transformed.
  tune::shape size;
  std::size_t axes = 1;                  ///< the number of transformed axes, 1 to 8
  element_type src = dtype::complex64;   ///< complex64, complex128, float32, float64; or float16
                                         ///< and complex_half
  element_type dest = dtype::complex64;  ///< of the same precision; real for an inverse transform
  std::optional<fft_direction> direction{};  ///< nothing: forward, unless dest is real
  tune::shape padded_src{};   ///< rank 0: no padding. That of axes of the batch costs a copy
  tune::shape padded_dest{};  ///< the same for dest
};

/// The discrete Fourier transform of the last axes of an array, unnormalised: the inverse of the
/// forward transform is the array times the number of elements that a transform has. It is run by
/// cuFFT or VkFFT on CUDA, and by VkFFT on OpenCL. Made by fft_template.
///
/// Padded axes of the batch, more than three axes, and half precision on OpenCL take copies through
/// the work area.
///
/// Slots src and dest, with exactly the padding of the description, which is neither read nor
/// written; and, only if the library needs memory, work_area: bytes, whose contents are lost, so
/// that it can be an alias of other scratch in a sequence. The last axis of the complex side of a
/// real transform has n / 2 + 1 elements. A transform to real numbers may overwrite src; others
/// leave it, and take one array as both where its layout allows it.
///
/// It can be captured in a command graph. Several operations may run at the same time, each on a
/// thread of its own; a plan belongs to one operation.
class fft final : public operation {
 public:
  /// For fft_template, which has checked the description.
  fft(const command_queue& queue, const fft_description& description, const fft_tuning& tuning);

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  std::shared_ptr<transforms::fft_plan> plan_;  // null where there is nothing to transform
  fft_key key_;
  io_slot* src_;
  io_slot* dest_;
  io_slot* work_area_ = nullptr;  // null if the library needs none
};

/// A transform of one description, tuned for a context. Immutable, so thread-safe.
class fft_template {
 public:
  /// Looks up the parameters of the library in the database; without them it searches, and stores
  /// them.
  static const autotuner<fft_key, fft_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context      runs the transform
  /// @param description  the arrays
  /// @param tuning       nothing: the one that autotune finds
  /// @throws argument_error if the description makes no sense, type_error if no library transforms
  ///         such elements, device_error with what to install if there is no library, what
  ///         autotuner throws
  fft_template(const context& context, const fft_description& description,
               const std::optional<fft_tuning>& tuning = std::nullopt);

  /// The parameters that operations get.
  const fft_tuning& tuning() const noexcept { return tuning_; }

  /// An operation with a plan of its own: the library may compile kernels for it.
  /// @param queue  of the context that the template was made for
  /// @throws device_error if the library refuses the plan, what compile throws
  fft instantiate(const command_queue& queue) const;

 private:
  fft_description description_;
  fft_tuning tuning_;
};

/// Transforms of all sizes of some ranges, by tunings that one portfolio has: a size that is new is
/// no search. Immutable, so thread-safe.
class ranged_fft_template {
 public:
  /// Looks up the portfolio in the database; without it it searches, and stores it.
  static const ranged_autotuner<ranged_fft_key, fft_tuning> autotune;

  /// Tunes on first use.
  /// @param context  runs the transforms
  /// @param key      the transforms, with the ranges of their sizes
  /// @throws argument_error if real transforms have the other direction, planes are transformed and
  ///         rows are not, or a CUDA device is to transform half precision, where lengths are
  ///         powers of two; device_error with what to install if there is no library; what
  ///         ranged_autotuner throws
  ranged_fft_template(const context& context, const ranged_fft_key& key);

  /// The tunings, and the choice among them.
  const tune::portfolio<fft_tuning>& portfolio() const noexcept { return portfolio_; }

  /// An operation with a plan of its own, by the tuning for its size: the library may compile
  /// kernels for it, as for fft_template.
  /// @param queue        of the context that the template was made for
  /// @param description  the arrays, of the kind, precision, direction and number of axes of the
  ///                     key, in its ranges or not
  /// @throws argument_error if the description is another or makes no sense, type_error if no
  ///         library transforms such elements, device_error if the library refuses the plan, what
  ///         compile throws
  fft instantiate(const command_queue& queue, const fft_description& description) const;

 private:
  ranged_fft_key key_;
  tune::portfolio<fft_tuning> portfolio_;
};

/// The configurations that are searched on a device.
space<fft_tuning> tuning_space(const fft_key& key, const device& device);

/// The reason why a device cannot transform: which library is missing, and what to install; empty
/// if it can.
std::string fft_absence(const device& device);

}  // namespace tune::operations
