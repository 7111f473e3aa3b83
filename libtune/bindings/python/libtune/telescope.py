# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The operations of a radio telescope on arrays, and the numbers that they need.

The functions are like those of libtune.operations: numpy arrays are copied, arrays on the device are used in place.
Operations with more inputs or with state, quantise, correlate and correlate_reduce, are made by their templates:

    template = context.template("correlate", antennas=64, channels=512, spectra=256)
    correlate = template.instantiate(batches=4)
    correlate.set(zero=True)
    visibilities = correlate(**{"in": voltages}).get("visibilities").sum(0)
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Union

from ._arrays import numpy
from ._device import Value
from ._elements import element_name
from ._errors import ArgumentError
from .operations import _prepared, _run, _shape_of


def _packed_bytes(samples: int, bits: int) -> int:
    return -(-(-(-samples * bits // 8) + 8) // 128) * 128


def pack(samples: Any, bits: int) -> Any:
    """Packs rows of integers of 2 to 16 bits, as unpack, pfb and ddc read them: a big-endian stream with at least eight
    more bytes, in multiples of 128. Of larger integers the lowest bits are taken."""
    np = numpy()
    given = np.asarray(samples)
    if given.dtype.kind not in "iu" or given.ndim != 2:
        raise ArgumentError(f"samples are rows of integers, not {given.dtype} of the shape {given.shape}")
    if not 2 <= bits <= 16:
        raise ArgumentError(f"a sample has 2 to 16 bits, not {bits}")
    digits = (given.astype("int64")[..., None] >> np.arange(bits - 1, -1, -1)) & 1
    packed = np.packbits(digits.astype("uint8").reshape(given.shape[0], -1), axis=1)
    made = np.zeros((given.shape[0], _packed_bytes(given.shape[1], bits)), "uint8")
    made[:, : packed.shape[1]] = packed
    return made


def pfb_weights(taps: int, step: int, cutoff: float = 1.0, window: str = "hann") -> Any:
    """The taps * step weights of a polyphase filter bank: a sinc of this width in channels, times a window ("hann" or
    "rectangular"), with 1 as the sum of the squares. step: samples of a row, twice the channels for real samples."""
    np = numpy()
    if window not in ("hann", "rectangular"):
        raise ArgumentError(f"the window is 'hann' or 'rectangular', not '{window}'")
    at = np.arange(taps * step)
    made = np.sinc(cutoff * ((at + 0.5) / step - taps / 2))
    if window == "hann":
        made = made * np.sin(np.pi * at / (taps * step - 1)) ** 2
    return (made / np.sqrt((made**2).sum())).astype("float32")


def ddc_taps(filter: Any, frequency: float) -> Any:
    """The taps of a down-converter: a real low-pass filter, times the mixer of a frequency in cycles per sample."""
    np = numpy()
    real = np.asarray(filter, "float64")
    return (real * np.exp(2j * np.pi * frequency * np.arange(real.size))).astype("complex64")


def unpack(packed: Any, samples: int, bits: int = 10, context: Any = None, *, dtype: str = "float32") -> Any:
    """Unpacks rows of samples of 2 to 16 bits, as pack writes them, to float32 or int16."""
    packed, context = _prepared(packed, context)
    rows, _ = _shape_of(packed, 2, "the array")
    template = context.template("unpack", bits=bits, type=dtype)
    return _run(context, template, {"rows": rows, "samples": samples}, {"samples": packed}, "out")


def pfb(
    samples: Any,
    weights: Any,
    channels: int,
    context: Any = None,
    *,
    bits: int = 0,
    count: Optional[int] = None,
    unzip: int = 1,
) -> Any:
    """The windowed sums of a polyphase filter bank, before the transform: polarisations x spectra x unzip x
    (channels / unzip) of complex64.

    samples: polarisations x samples of complex64; with bits, packed real ones, whose number is count.
    weights: see pfb_weights; of real samples for rows of 2 * channels, else of channels.
    """
    samples, context = _prepared(samples, context)
    polarisations, columns = _shape_of(samples, 2, "the array of samples")
    if bits and count is None:
        raise ArgumentError("the number of packed samples is needed: count")
    number = count if bits and count is not None else columns
    step = 2 * channels if bits else channels
    taps = int(weights.shape[0]) // step
    sizes: Dict[str, Value] = {
        "polarisations": polarisations,
        "channels": channels,
        "samples": number,
        "spectra": max(number // step - taps + 1, 0),
    }
    template = context.template("pfb", taps=taps, bits=bits, unzip=unzip)
    return _run(context, template, sizes, {"samples": samples, "weights": weights}, "spectra")


def ddc(
    packed: Any,
    samples: int,
    taps: Any,
    subsampling: int,
    frequency: Union[float, str] = 0.0,
    context: Any = None,
    *,
    bits: int = 10,
    first_sample: int = 0,
) -> Any:
    """Mixes, filters and subsamples packed real samples: polarisations x outputs of complex64.

    taps: see ddc_taps.
    frequency: in cycles per sample, as a number or as a fraction such as "3/16", which is exact.
    first_sample: the number of the first sample in the stream, for the phase of the mixer.
    """
    packed, context = _prepared(packed, context)
    polarisations, _ = _shape_of(packed, 2, "the array of samples")
    template = context.template("ddc", taps=int(taps.shape[0]), subsampling=subsampling, bits=bits)
    return _run(
        context,
        template,
        {"polarisations": polarisations, "samples": samples},
        {"samples": packed, "taps": taps},
        "out",
        {"frequency": frequency, "first_sample": first_sample},
    )


def beamform(
    samples: Any,
    weights: Any,
    delays: Any,
    context: Any = None,
    *,
    polarisations: Union[Sequence[int], int, None] = None,
    seed: Optional[int] = None,
    first_spectrum: int = 0,
) -> Any:
    """Sums the channels of antennas to beams: batches x beams x channels x spectra x 2 of int8.

    samples: batches x antennas x channels x spectra x 2 polarisations x 2 of int8, the last axis real and imaginary.
    weights, delays: antennas x beams of complex64 and float32.
    polarisations: of each beam; 0 and 1 in turn by default.
    seed, first_spectrum: of the dither, which is added if there is a seed.
    """
    samples, context = _prepared(samples, context)
    batches, antennas, channels, spectra, _, _ = _shape_of(samples, 6, "the array of samples")
    _, beams = _shape_of(weights, 2, "the array of weights")
    settings: Dict[str, Value] = {"seed": seed or 0, "first_spectrum": first_spectrum}
    if polarisations is not None:
        given = [polarisations] if isinstance(polarisations, int) else polarisations
        settings["polarisations"] = ",".join(str(int(each)) for each in given)
    template = context.template("beamform", beams=beams, has_dither=seed is not None)
    sizes: Dict[str, Value] = dict(
        batches=batches, antennas=antennas, channels=channels, spectra=spectra, beams=beams
    )
    arrays = {"in": samples, "weights": weights, "delays": delays}
    return _run(context, template, sizes, arrays, "out", settings)


def _is_complex(array: Any) -> bool:
    name = element_name(array.dtype)
    if name not in ("complex64", "float32"):
        raise ArgumentError(f"visibilities are of complex64, amplitudes of float32; the array is of {name}")
    return name == "complex64"


def rfi(
    vis: Any,
    flags: Any = None,
    context: Any = None,
    *,
    width: int = 13,
    n_windows: int = 4,
    **thresholds: Value,
) -> Any:
    """Flags interference in spectra, channels x baselines of complex64, or float32 for amplitudes: 1 where a sample is
    far above its baseline's noise.

    flags: samples to be ignored: channels, or channels x baselines of uint8.
    width: of the median filter, in channels.
    n_windows, n_sigma, threshold_falloff, flag_value: of the thresholds; see libtune.operations.parameters().
    """
    vis, context = _prepared(vis, context)
    channels, baselines = _shape_of(vis, 2, "the array of visibilities")
    use = "no_flags"
    arrays = {"vis": vis}
    if flags is not None:
        use = "channel_flags" if len(flags.shape) == 1 else "full_flags"
        arrays["input_flags"] = flags
    template = context.template(
        "rfi", width=width, is_amplitude=not _is_complex(vis), flag_use=use, n_windows=n_windows
    )
    sizes: Dict[str, Value] = {"channels": channels, "baselines": baselines, **thresholds}
    return _run(context, template, sizes, arrays, "flags")


def rfi2d(vis: Any, flags: Any = None, context: Any = None, **parameters: Union[Value, Sequence[int]]) -> Any:
    """Flags interference in times x channels x baselines of complex64, or float32 for magnitudes: 1 or 0 for each.

    flags: samples to be ignored: of uint8, in the same shape.
    parameters: those of libtune.operations.parameters() for "rfi2d", such as outlier_nsigma, and the lists
        windows_time and windows_freq.
    """
    vis, context = _prepared(vis, context)
    times, channels, baselines = _shape_of(vis, 3, "the array of visibilities")
    if flags is None:
        flags = numpy().zeros((times, channels, baselines), "uint8")
    sizes: Dict[str, Value] = {"times": times, "channels": channels, "baselines": baselines}
    for name, given in parameters.items():
        is_list = not isinstance(given, str) and hasattr(given, "__len__")
        sizes[name] = ",".join(str(int(each)) for each in given) if is_list else given  # type: ignore
    template = context.template("rfi2d", is_complex=_is_complex(vis))
    return _run(context, template, sizes, {"vis": vis, "input_flags": flags}, "flags")
