# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""The operations by their names against numpy, and sequences of them."""

import os
import tempfile
import unittest

import numpy

import libtune
from libtune import operations, telescope

context = None


def setUpModule():
    global context
    if not libtune.devices():
        raise unittest.SkipTest("there is no device")
    context = libtune.Context(mode="default", database="")


def normal(*shape, seed=7, dtype="float32"):
    generator = numpy.random.default_rng(seed)
    made = generator.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        made = made + 1j * generator.standard_normal(shape)
    return made.astype(dtype)


def whole(least, most, *shape, seed=7, dtype="int8"):
    return numpy.random.default_rng(seed).integers(least, most, shape, endpoint=True).astype(dtype)


def as_complex(pairs):
    return pairs[..., 0] + 1j * pairs[..., 1].astype("float64")


class Names(unittest.TestCase):
    def test_all_operations_are_described(self):
        self.assertEqual(
            {row["operation"] for row in operations.parameters()},
            {
                "fill", "transpose", "hreduce", "maskedsum", "percentile5", "fft", "gemm", "unpack", "pfb", "ddc",
                "quantise", "correlate", "correlate_reduce", "beamform", "rfi", "rfi2d",
            },
        )

    def test_keys_are_those_of_the_operation(self):
        keys = {}
        for row in operations.parameters():
            if row["stage"] == "key":
                keys.setdefault(row["operation"], {})[row["parameter"]] = row["default_value"]
        self.assertEqual(keys["pfb"], {"taps": 16, "bits": 10, "unzip": 4})
        self.assertEqual(keys["unpack"], {"bits": 10, "type": "float32"})
        self.assertEqual(keys["rfi"]["flag_use"], "no_flags")

    def test_values_that_do_not_fit(self):
        with self.assertRaisesRegex(libtune.ArgumentError, "less than zero"):
            context.template("unpack", bits=-1)
        with self.assertRaises(libtune.ElementTypeError):
            context.template("rfi", flag_use="some_flags")
        rfi = context.template("rfi", width=5, is_amplitude=False, flag_use="no_flags", n_windows=4)
        with self.assertRaisesRegex(libtune.ArgumentError, "'flag_value' of the operation 'rfi' is 300, more than 255"):
            rfi.instantiate(channels=16, baselines=2, flag_value=300)


class Arrays(unittest.TestCase):
    def test_percentile5(self):
        for dtype in ("float32", "complex64"):
            given = normal(6, 33, dtype=dtype)
            ordered = numpy.sort(numpy.abs(given) if dtype == "complex64" else given, axis=1)
            wanted = ordered[:, [0, 32, 8, 24, 16]].T
            self.assertTrue(numpy.allclose(operations.percentile5(given, context), wanted, rtol=1e-6))
        part = context.template("percentile5").instantiate(rows=6, columns=33, begin=3, end=8)
        given = normal(6, 33)
        self.assertTrue((part(src=given).get("dest")[:2] == [given[:, 3:8].min(1), given[:, 3:8].max(1)]).all())


class FilterBanks(unittest.TestCase):
    def test_unpack(self):
        for bits, dtype in ((10, "float32"), (3, "int16"), (16, "int16")):
            given = whole(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 3, 77, dtype="int16")
            packed = telescope.pack(given, bits)
            self.assertEqual(packed.shape[1] % 128, 0)
            made = telescope.unpack(packed, 77, bits, context, dtype=dtype)
            self.assertEqual(made.dtype, dtype)
            self.assertTrue((made == given).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "2 to 16 bits"):
            telescope.pack(given, 17)

    def test_pfb_of_complex_samples(self):
        channels, taps = 16, 3
        samples, weights = normal(2, 5 * channels, dtype="complex64"), telescope.pfb_weights(taps, channels)
        self.assertAlmostEqual(float((weights.astype("float64") ** 2).sum()), 1, places=5)
        made = telescope.pfb(samples, weights, channels, context, unzip=2)
        rows = samples.reshape(2, 5, channels)
        wanted = sum(weights.reshape(taps, channels)[t] * rows[:, t : t + 3] for t in range(taps))
        wanted = wanted.reshape(2, 3, channels // 2, 2).swapaxes(2, 3)
        self.assertTrue(numpy.allclose(made, wanted, atol=1e-5))

    def test_pfb_of_a_range(self):
        channels, taps, bits, number = 16, 2, 8, 32 * 5 + 7
        samples = whole(-128, 127, 2, number, dtype="int16")
        weights = telescope.pfb_weights(taps, 2 * channels)
        template = context.template("pfb", taps=taps, bits=bits, unzip=1)
        pfb = template.instantiate(polarisations=2, channels=channels, samples=number, spectra=4)
        pfb.set(offsets="0,7", first_spectrum=1)  # spectra: as many as fit
        pfb(samples=telescope.pack(samples, bits), weights=weights, total_power=numpy.zeros(2, "uint64"))
        made, power = pfb.get("spectra"), pfb.get("total_power")
        for pol, offset in enumerate((0, 7)):
            rows = samples[pol, offset : offset + 160].reshape(5, 32)
            sums = sum(weights.reshape(taps, 32)[t] * rows[t : t + 3] for t in range(taps))
            self.assertTrue(numpy.allclose(made[pol, 1:, 0], sums[:, ::2] + 1j * sums[:, 1::2], atol=1e-3))
            self.assertEqual(power[pol], (rows[1:4].astype("int64") ** 2).sum())
        with self.assertRaisesRegex(libtune.ArgumentError, "from place 3 on"):
            pfb.set(spectra=2, first_spectrum=3)
        with self.assertRaisesRegex(libtune.ElementTypeError, "'offsets' is '0;7'"):
            pfb.set(offsets="0;7")

    def test_ddc(self):
        bits, subsampling, number = 10, 4, 150
        samples = whole(-512, 511, 2, number, dtype="int16")
        taps = telescope.ddc_taps(numpy.hanning(34)[1:-1], 3 / 16)
        made = telescope.ddc(
            telescope.pack(samples, bits), number, taps, subsampling, "3/16", context, bits=bits, first_sample=5
        )
        outputs = (number - 32) // subsampling + 1
        self.assertEqual(made.shape, (2, outputs))
        starts = subsampling * numpy.arange(outputs)
        windows = samples[:, starts[:, None] + numpy.arange(32)].astype("float64")
        wanted = (windows * taps).sum(2) * numpy.exp(2j * numpy.pi * 3 / 16 * (starts + 5))
        self.assertTrue(numpy.allclose(made, wanted, rtol=1e-4, atol=1e-1))
        same = telescope.ddc(
            telescope.pack(samples, bits), number, taps, subsampling, 3 / 16, context, bits=bits, first_sample=5
        )
        self.assertTrue((same == made).all())

    def test_quantise(self):
        n, heap, seeded = 32, 32, []
        spectra, gains = normal(2, heap, 1, n, dtype="complex64"), 30 * normal(n, 2, dtype="complex64")
        delay, phase = normal(heap, 2, seed=1), normal(heap, 2, seed=2)
        slots = dict(spectra=spectra, gains=gains, delay=delay, phase=phase)
        for dither in (False, True):
            template = context.template("quantise", real=True, unzip=1, bits=8, has_dither=dither)
            quantise = template.instantiate(channels=n, spectra=heap, spectra_per_heap=heap)
            made = as_complex(quantise(**slots).get("out"))  # heaps x channels x spectra x polarisations
            z = spectra[:, :, 0]
            mirrored = numpy.conj(z[:, :, -numpy.arange(n) % n])
            x = (z + mirrored) / 2 + numpy.exp(-1j * numpy.pi * numpy.arange(n) / n) * (z - mirrored) / 2j
            theta = -numpy.pi * delay[..., None] * (numpy.arange(n) - n / 2) / n + phase[..., None]
            y = x.transpose(2, 1, 0) * gains[:, None] * numpy.exp(1j * theta).transpose(2, 0, 1)
            error = 0.502 + (0.5 if dither else 0)
            for part in (numpy.real, numpy.imag):
                self.assertLess(numpy.abs(part(made[0]) - numpy.clip(part(y), -127, 127)).max(), error)
        for seed in (0, 2**64 - 1):
            quantise.set(seed=seed)
            seeded.append(quantise(**slots).get("out"))
        self.assertFalse((seeded[0] == seeded[1]).all())


class Antennas(unittest.TestCase):
    def visibilities(self, voltages):
        """Of batches x antennas x channels x spectra x 2 x 2: channels x baselines x 4."""
        x = as_complex(voltages)
        made = []
        for a2 in range(x.shape[1]):
            for a1 in range(a2 + 1):
                made.append([(x[:, a1, ..., p % 2] * x[:, a2, ..., p // 2].conj()).sum((0, 2)) for p in range(4)])
        return numpy.array(made).transpose(2, 0, 1)

    def test_correlate(self):
        voltages = whole(-127, 127, 2, 3, 2, 16, 2, 2)
        correlate = context.template("correlate", antennas=3, channels=2, spectra=16).instantiate(batches=2)
        correlate.set(zero=True)
        correlate(**{"in": voltages})
        self.assertTrue((as_complex(correlate.get("visibilities").sum(0)) == self.visibilities(voltages)).all())
        correlate.set(zero=True, batches="1,2")
        correlate.run()
        self.assertTrue((as_complex(correlate.get("visibilities").sum(0)) == self.visibilities(voltages[1:])).all())
        with self.assertRaisesRegex(libtune.ElementTypeError, "'batches' is '1'"):
            correlate.set(batches=1)

    def test_dumps_of_a_correlator(self):
        voltages = whole(-127, 127, 1, 2, 2, 16, 2, 2)
        correlate = context.template("correlate", antennas=2, channels=2, spectra=16).instantiate(batches=1)
        copies = correlate.slots["visibilities"].shape[0]
        reduce = context.template("correlate_reduce").instantiate(antennas=2, channels=2, copies=copies)
        dump = libtune.OperationSequence(
            context.queue,
            [("correlate", correlate), ("reduce", reduce)],
            compounds={"visibilities": ["correlate:visibilities", "reduce:visibilities"]},
        )
        dump.set(**{"correlate:zero": True})
        dump(**{"correlate:in": voltages, "reduce:absent": numpy.array([0, 1, 0], "uint8")})
        made = as_complex(dump.get("reduce:out")).reshape(2, 3, 4)
        wanted = self.visibilities(voltages)
        self.assertTrue((made[:, [0, 2]] == wanted[:, [0, 2]]).all())
        self.assertTrue((made[:, 1] == -(2.0**31) + 1j).all())
        self.assertEqual(dump.get("reduce:clamped")[0], 0)

    def test_beamform(self):
        samples = whole(-127, 127, 2, 5, 3, 8, 2, 2)
        weights, delays = 0.2 * normal(5, 3, dtype="complex64"), normal(5, 3)
        polarisations = [1, 0, 0]
        made = as_complex(telescope.beamform(samples, weights, delays, context, polarisations=polarisations))
        factors = weights * numpy.exp(1j * numpy.pi * numpy.arange(3)[:, None, None] * delays)
        x = as_complex(samples)[..., polarisations]  # batches x antennas x channels x spectra x beams
        wanted = numpy.einsum("bacts,cas->bsct", x, factors)
        for part in (numpy.real, numpy.imag):
            self.assertLess(numpy.abs(part(made) - numpy.clip(part(wanted), -127, 127)).max(), 0.502)
        with self.assertRaisesRegex(libtune.ArgumentError, "2 numbers for 3 beams"):
            telescope.beamform(samples, weights, delays, context, polarisations=[0, 1])


def sum_threshold(deviations, noise, n_sigma=11.0, falloff=1.2, windows=4):
    """Flags of one spectrum."""
    flags = numpy.zeros(deviations.size, bool)
    for k in range(windows):
        limit, length = noise * n_sigma / falloff**k, 2**k
        values = numpy.where(flags, limit, deviations)
        sums = numpy.convolve(values, numpy.ones(length), "valid")
        for start in numpy.flatnonzero(sums > limit * length):
            flags[start : start + length] = True
    return flags


class Flaggers(unittest.TestCase):
    def test_rfi(self):
        channels, baselines, width = 90, 3, 5
        vis = normal(channels, baselines, dtype="complex64")
        vis[20, 0] += 300
        vis[40:44, 1] += 25
        vis[60:62, 2] += 60
        amplitudes = numpy.abs(vis)
        medians = numpy.array(
            [numpy.median(amplitudes[max(i - width // 2, 0) : i + width // 2 + 1], axis=0) for i in range(channels)]
        )
        deviations = amplitudes - medians
        wanted = numpy.zeros((channels, baselines), "uint8")
        for b in range(baselines):
            sizes = numpy.abs(deviations[:, b])
            noise = 1.4826 * numpy.median(sizes[sizes > 0])
            wanted[:, b] = 3 * sum_threshold(deviations[:, b], noise, 7.0)
        self.assertGreater((wanted > 0).sum(), 2)
        made = telescope.rfi(vis, None, context, width=width, n_sigma=7.0, flag_value=3)
        self.assertTrue((made == wanted).all())
        flagged = numpy.zeros(channels, "uint8")
        flagged[20] = 1  # is missing
        made = telescope.rfi(amplitudes, flagged, context, width=width, n_sigma=7.0)
        self.assertEqual(made[20, 0], 0)
        self.assertTrue((made[40:44, 1] == wanted[40:44, 1] // 3).all())

    def test_rfi2d(self):
        vis = normal(12, 40, 2, dtype="complex64") + 10
        vis[3, 10, 0] += 500
        vis[:, 30, 1] += 100
        alone = dict(time_extend=1, freq_extend=1, windows_time=[1, 2], freq_chunks=2)
        made = telescope.rfi2d(vis, None, context, **alone)
        self.assertEqual(made[3, 10, 0], 1)
        self.assertTrue((made[:, 30, 1] == 1).all())
        self.assertLess(made.sum(), 12 + 1 + 40)
        spread = telescope.rfi2d(vis, None, context, **{**alone, "time_extend": 3})
        self.assertTrue((spread[2:5, 10, 0] == 1).all())
        hidden = numpy.zeros(vis.shape, "uint8")
        hidden[3, 10, 0] = 1
        other = telescope.rfi2d(vis, hidden, context, **alone)  # with another background around it
        self.assertTrue((other[:, 30, 1] == 1).all())
        self.assertFalse((other == made).all())


class CapturesTest(unittest.TestCase):
    def test_each_second_frame(self):
        with tempfile.TemporaryDirectory() as folder:
            turn = context.template("transpose", type="int16").instantiate(rows=2, columns=9)
            turn.bind("src", whole(-128, 127, 2, 9, dtype="int16"))
            frames = libtune.Capture("turning", f"{folder}, each 2, frames 3")
            point = frames.add("turn", turn, unchanged=["src"], overwritten=["dest"])
            with self.assertRaisesRegex(libtune.ArgumentError, "two operations"):
                frames.add("turn", turn)
            frames.prepare()
            for n in range(4):
                with frames.frame() as frame:
                    self.assertEqual(frame.is_captured, n % 2 == 1)
                    frame.run(point)
                self.assertTrue(frames.wait())
            frames.request()
            with self.assertRaises(KeyError):
                with frames.frame() as frame:
                    frame.run(point)
                    raise KeyError
            self.assertTrue(frames.wait())
            counts = frames.counts()
            self.assertEqual((counts["frames"], counts["written"], counts["failed"]), (5, 3, 0))
            self.assertEqual(counts["last_failure"], "")
            self.assertEqual(len([name for name in os.listdir(folder) if name.endswith(".ltcapture")]), 3)

    def test_off(self):
        turn = context.template("transpose", type="int16").instantiate(rows=2, columns=9)
        frames = libtune.Capture("off")
        point = frames.add("turn", turn)
        frames.prepare()
        with frames.frame() as frame:
            self.assertFalse(frame.is_captured)
            frame.run(point)
        with self.assertRaisesRegex(libtune.ArgumentError, "each N"):
            libtune.Capture("wrong", "folder, all")


class MetricsTest(unittest.TestCase):
    def test_frames(self):
        with tempfile.TemporaryDirectory() as folder:
            metrics = libtune.Metrics(f"{folder}/python.prom, each 1 min")
            frames = libtune.FrameClock("frames of Python", deadline=5e-3)
            with frames:
                pass
            frames.record(0.5)
            labels = '{program="python",pipeline="frames of Python"}'
            self.assertIn(f"\nlibtune_frame_seconds_count{labels} 2\n", metrics.text())
            self.assertTrue(metrics.write())
            del metrics
            with open(f"{folder}/python.prom", encoding="utf-8") as file:
                written = file.read()
            self.assertIn(f"\nlibtune_frame_longest_seconds{labels} 0.5\n", written)
            self.assertIn('\nlibtune_running{program="python"} 0\n', written)
        with self.assertRaisesRegex(libtune.ArgumentError, "each 15 s"):
            libtune.Metrics("metrics.txt")
        with self.assertRaisesRegex(libtune.ArgumentError, "negative"):
            libtune.FrameClock("frames", deadline=-1)


class Sequences(unittest.TestCase):
    def transposes(self, *names):
        template = context.template("transpose", type="float32")
        shape = {"rows": 3, "columns": 4}
        made = []
        for name in names:
            made.append((name, template.instantiate(**shape)))
            shape = {"rows": shape["columns"], "columns": shape["rows"]}
        return made

    def test_a_shared_array(self):
        unpack = context.template("unpack", bits=8, type="int16").instantiate(rows=2, samples=9)
        turn = context.template("transpose", type="int16").instantiate(rows=2, columns=9)
        pipeline = libtune.OperationSequence(
            context.queue, {"unpack": unpack, "turn": turn}, {"samples": ["unpack:out", "turn:src"]}
        )
        self.assertEqual(set(pipeline.slots), {"unpack:samples", "samples", "turn:dest"})
        given = whole(-128, 127, 2, 9, dtype="int16")
        for shift in (0, 1):
            packed = telescope.pack(given >> shift, 8)
            self.assertTrue((pipeline(**{"unpack:samples": packed}).get("turn:dest") == (given >> shift).T).all())
        self.assertTrue((pipeline.get("samples") == given >> 1).all())
        self.assertIs(pipeline["turn"], turn)
        self.assertTrue((turn.get("dest") == (given >> 1).T).all())

    def test_shared_memory(self):
        parts = self.transposes("first", "second", "third")
        pipeline = libtune.OperationSequence(
            context.queue,
            parts,
            compounds={"a": ["first:dest", "second:src"], "b": ["second:dest", "third:src"]},
            aliases={"memory": ["first:src", "b"]},
        )
        self.assertEqual(set(pipeline.slots), {"memory", "a", "third:dest"})
        self.assertGreaterEqual(pipeline.slots["memory"].nbytes, 48)
        given = normal(3, 4)
        pipeline["first"].bind("src", given)
        pipeline.run()
        self.assertTrue((pipeline.get("third:dest") == given.T).all())
        self.assertTrue((pipeline["first"].get("src") == given).all())  # as "b", it has the same contents

    def test_a_part_of_it(self):
        parts = self.transposes("first", "second")
        pipeline = libtune.OperationSequence(context.queue, parts, {"between": ["first:dest", "second:src"]})
        held = libtune.asarray(normal(3, 4), context)
        pipeline.bind("first:src", held)
        pipeline.bind("between", numpy.zeros((4, 3), "float32"))
        pipeline.bind("second:dest", numpy.ones((3, 4), "float32"))
        pipeline.run_range("second", "second")
        self.assertTrue((pipeline.get("second:dest") == 0).all())
        pipeline.run_range("first", "second")
        self.assertTrue((pipeline.get("second:dest") == held.get()).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "runs after"):
            pipeline.run_range("second", "first")

    def test_settings_and_nesting(self):
        fill = context.template("fill").instantiate(shape="3x4")
        turn = self.transposes("turn")[0][1]
        inner = libtune.OperationSequence(context.queue, [("fill", fill)])
        outer = libtune.OperationSequence(
            context.queue, [("inner", inner), ("turn", turn)], {"values": ["inner:fill:data", "turn:src"]}
        )
        outer.set(**{"inner:fill:value": 4})
        outer.run()
        self.assertTrue((outer.get("turn:dest") == 4).all())
        fill.set(value=5)
        outer.run()
        self.assertTrue((outer.get("turn:dest") == 5).all())
        with self.assertRaisesRegex(libtune.ArgumentError, "no setting 'value'.*inner, turn"):
            outer.set(value=4)

    def test_the_parts_may_go(self):
        parts = self.transposes("first", "second")
        pipeline = libtune.OperationSequence(context.queue, parts, {"between": ["first:dest", "second:src"]})
        core = pipeline._core
        del parts, pipeline
        given = normal(3, 4)
        core.write("first:src", given.reshape(-1).view("uint8"))
        core.run()
        made = numpy.empty_like(given)
        core.read("second:dest", made.reshape(-1).view("uint8"))
        self.assertTrue((made == given).all())

    def test_errors(self):
        parts = self.transposes("first", "second")
        with self.assertRaisesRegex(libtune.ArgumentError, "first:source"):
            libtune.OperationSequence(context.queue, parts, {"x": ["first:source", "second:src"]})
        with self.assertRaisesRegex(libtune.ArgumentError, "one shape"):
            libtune.OperationSequence(context.queue, parts, {"x": ["first:src", "second:src"]})
        libtune.OperationSequence(context.queue, parts)  # which ends, and leaves them alone
        kept = libtune.OperationSequence(context.queue, parts)
        with self.assertRaisesRegex(libtune.ArgumentError, "part of one already"):
            libtune.OperationSequence(context.queue, parts)
        with self.assertRaisesRegex(libtune.ArgumentError, "no operation 'third'; it has first, second"):
            kept["third"]
        with self.assertRaisesRegex(libtune.ArgumentError, "no operation"):
            libtune.OperationSequence(context.queue, [("first", 3)])
        with self.assertRaisesRegex(libtune.ArgumentError, "is no sequence"):
            self.transposes("only")[0][1]._core.run_range("a", "b")


if __name__ == "__main__":
    unittest.main()
