"""Sounds: out of files, at other rates, and as spectra."""
import functools
import io

import numpy as np

from dragon.vm.dali.core.kinds import FLOAT, to_numpy_type
from dragon.vm.dali.core.operators.values import convert, kind_or, number
from dragon.vm.dali.core.refusals import got
from dragon.vm.dali.core.schema import Laid, operator

FINE = 32  # values of the window in one lobe
WIDTHS = {1: np.uint8, 2: np.int16, 4: np.int32}


def read_wave(data):
    """Return the sound in the bytes of a WAV file, channels last, as float32 from -1 to 1, and its rate."""
    import wave
    try:
        with wave.open(io.BytesIO(data)) as file:
            frames, width, rate = file.readframes(file.getnframes()), file.getsampwidth(), file.getframerate()
            channels = file.getnchannels()
    except (wave.Error, EOFError) as error:
        return _read_other(data, error)
    if width > 4:
        return _read_other(data, f"samples of {width} bytes")
    if width == 3:
        raw = np.frombuffer(frames, np.uint8).reshape(-1, 3)
        numbers = np.zeros((len(raw), 4), np.uint8)
        numbers[:, 1:] = raw
        sound = numbers.view("<i4")[:, 0] / np.float32(2 ** 31)
    elif width == 1:
        sound = (np.frombuffer(frames, np.uint8).astype(np.float32) - 128) / 128
    else:
        sound = np.frombuffer(frames, WIDTHS[width]) / np.float32(2 ** (8 * width - 1))
    return sound.astype(np.float32).reshape(-1, channels), rate


def _read_other(data, error):
    """Return the sound of a file of another format, if the package that reads it is there."""
    try:
        import soundfile
    except ImportError:
        raise RuntimeError(got("decoders.audio", f"what is no WAV file of whole numbers ({error})",
                               "one, or the package soundfile for FLAC and OGG: pip install soundfile")) from None
    sound, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    return sound, rate


@functools.lru_cache(64)
def _window(lobes):
    """Return the values of a windowed sinc at 32 places for each lobe, beginning in its middle."""
    x = np.arange(lobes * FINE + 2) / FINE
    # The bell is a little wider than the lobes: its table has one place more.
    bell = 0.5 + 0.5 * np.cos(np.pi * x / (lobes + 0.5 / FINE))
    return np.where(x <= lobes, np.sinc(x) * bell, 0)


def lobes_of(quality):
    """Return how many lobes a quality from 0 to 100 has: 3, 16 at 50, and 64."""
    if not 0 <= quality <= 100:
        raise ValueError(got("audio_resample", f"quality={quality}", "0 to 100"))
    return int(round(0.007 * quality * quality - 0.09 * quality + 3))


def resample(sound, step, length, quality):
    """Return a sound at another rate: `step` samples of it for each of the result."""
    lobes = lobes_of(quality)
    table, count = _window(lobes), len(sound)
    made = np.zeros((length, *sound.shape[1:]), np.float32)
    for start in range(0, length, 8192):
        places = np.arange(start, min(start + 8192, length)) * step
        first = np.ceil(places - lobes).astype(int)
        near = first[:, None] + np.arange(2 * lobes + 1)
        far = np.minimum(np.abs(near - places[:, None]) * FINE, lobes * FINE)
        low = far.astype(int)
        part = far - low
        weight = table[low] * (1 - part) + table[low + 1] * part
        weight = np.where((near >= 0) & (near < count), weight, 0)
        made[start:start + len(places)] = np.einsum("ij,ij...->i...", weight, sound[np.clip(near, 0, count - 1)])
    return made


def decode_audio(data, *, downmix=False, dtype=FLOAT, sample_rate=0.0, quality=50.0):
    """Return the sound in a file's bytes, and its rate."""
    sound, rate = read_wave(data.tobytes())
    if downmix:
        sound = sound.mean(1, dtype=np.float32)
    wanted = number(sample_rate)
    if wanted and wanted != rate:
        sound, rate = resample(sound, rate / wanted, int(np.ceil(len(sound) * wanted / rate)), quality), wanted
    return to_range(sound, np.dtype(to_numpy_type(dtype))), np.float32(rate)


def to_range(sound, kind):
    """Return numbers from -1 to 1 in the range of a type."""
    if kind.kind == "f":
        return sound.astype(kind)
    info = np.iinfo(kind)
    return convert(sound.astype(np.float64) * info.max if info.min else (sound + 1.0) * (info.max / 2), kind)


@operator("decoders.audio", outputs=2)
def audio(data, *, downmix=False, dtype=FLOAT, sample_rate=0.0, quality=50.0):
    """Decode a sound, time before channels; return it and its rate."""
    sound, rate = decode_audio(data, downmix=downmix, dtype=dtype, sample_rate=sample_rate, quality=quality)
    return Laid(sound, ""), Laid(rate, "")


@operator()
def audio_resample(sound, *, in_rate=None, out_rate=None, scale=None, out_length=None, quality=50.0, dtype=None):
    """Tell a sound at another rate."""
    if (scale is not None) + (out_length is not None) + (in_rate is not None or out_rate is not None) != 1:
        raise RuntimeError(got("fn.audio_resample", "none or several of in_rate with out_rate, scale and out_length",
                               "one way to say the rate"))
    if scale is None and out_length is None and (in_rate is None or out_rate is None):
        raise RuntimeError(got("fn.audio_resample", "one of in_rate and out_rate", "both"))
    if out_length is not None:
        length = int(number(out_length))
        factor = length / max(len(sound), 1)
    else:
        # As told in single precision: 0.4 is a little more than that, and so is the length.
        factor = float(np.float32(number(scale))) if scale is not None else number(out_rate) / number(in_rate)
        length = int(np.ceil(len(sound) * factor))
    kind, wave = kind_or(dtype, sound), sound.astype(np.float32)
    if sound.dtype.kind in "iu" and kind != sound.dtype:  # numbers of one type keep their scale, of two their range
        wave = wave / np.float32(np.iinfo(sound.dtype).max)
        return to_range(resample(wave, 1 / factor, length, quality), kind)
    return convert(resample(wave, 1 / factor, length, quality), kind)


@operator()
def spectrogram(sound, *, nfft=None, window_length=512, window_step=256, window_fn=None, power=2,
                center_windows=True, reflect_padding=True, layout="ft", context):
    """Return how strong each frequency is, window by window."""
    if power not in (1, 2):
        raise RuntimeError(got("fn.spectrogram", f"power={power}", "1 or 2"))
    window_length, window_step = int(window_length), int(window_step)
    size = int(nfft or window_length)
    if size < window_length:
        raise RuntimeError(got("fn.spectrogram", f"nfft={size}", f"at least window_length={window_length}"))
    if layout not in ("ft", "tf"):
        raise RuntimeError(got("fn.spectrogram", f"layout={layout!r}", "'ft' or 'tf'"))
    wave = sound.reshape(-1).astype(np.float32)
    if window_fn is not None and len(window_fn):
        window = np.asarray(window_fn, np.float32)
        if len(window) != window_length:
            raise RuntimeError(got("fn.spectrogram", f"window_fn of {len(window)}", f"window_length={window_length}"))
    else:
        window = (0.5 * (1 - np.cos(2 * np.pi * (np.arange(window_length) + 0.5) / window_length))).astype(np.float32)
    half = window_length // 2
    if center_windows:
        count = len(wave) // window_step + 1
        wide = np.pad(wave, (half, window_length), "reflect") if reflect_padding and len(wave) > window_length \
            else _reflected(wave, half, window_length) if reflect_padding else np.pad(wave, (half, window_length))
    else:
        count = max(0, (len(wave) - window_length) // window_step + 1) if len(wave) >= window_length else 0
        wide = wave
    starts = np.arange(count)[:, None] * window_step
    frames = wide[starts + np.arange(window_length)] * window if count else np.zeros((0, window_length), np.float32)
    strength = np.abs(np.fft.rfft(frames, size))
    strength = (strength ** 2 if power == 2 else strength).astype(np.float32)
    return Laid(strength if layout == "tf" else np.ascontiguousarray(strength.T), layout)


def _reflected(wave, before, after):
    """Return a short sound continued by mirrors at both ends."""
    count = len(wave)
    places = np.arange(-before, count + after)
    if count > 1:
        places = np.abs((places + count - 1) % (2 * count - 2) - count + 1)
    return wave[np.clip(places, 0, count - 1)]


def _mels(formula):
    if formula == "htk":
        return lambda hz: 2595 * np.log10(1 + hz / 700), lambda mel: 700 * (10 ** (mel / 2595) - 1)
    if formula != "slaney":
        raise RuntimeError(got("fn.mel_filter_bank", f"mel_formula={formula!r}", "'slaney' or 'htk'"))
    step, edge, rate = 200 / 3, 1000.0, np.log(6.4) / 27
    return (lambda hz: np.where(hz < edge, hz / step, edge / step + np.log(np.maximum(hz, 1e-9) / edge) / rate),
            lambda mel: np.where(mel < edge / step, mel * step, edge * np.exp(rate * (mel - edge / step))))


@operator()
def mel_filter_bank(spectrum, *, nfilter=128, sample_rate=44100.0, freq_low=0.0, freq_high=0.0,
                    mel_formula="slaney", normalize=True, context):
    """Return how strong bands of frequencies are that sound equally wide."""
    layout = context.layout
    axis = layout.index("f") if "f" in layout else max(0, spectrum.ndim - 2)
    to_mel, to_hertz = _mels(mel_formula)
    high = freq_high or sample_rate / 2
    if not 0 <= freq_low < high <= sample_rate / 2:
        raise RuntimeError(got("fn.mel_filter_bank", f"freq_low={freq_low} and freq_high={freq_high}",
                               f"rising numbers up to {sample_rate / 2}"))
    bins = spectrum.shape[axis]
    hertz = np.arange(bins) * (sample_rate / (2 * (bins - 1)))
    edges = to_hertz(np.linspace(to_mel(np.float64(freq_low)), to_mel(np.float64(high)), nfilter + 2))
    # Bands are triangles over the scale that sounds even, as librosa's are over hertz.
    lower, middle, upper = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    matrix = np.maximum(0, np.minimum((hertz - lower) / (middle - lower), (upper - hertz) / (upper - middle)))
    if normalize:
        matrix *= 2 / (upper - lower)
    made = np.tensordot(matrix, spectrum.astype(np.float64), (1, axis))
    return np.moveaxis(made, 0, axis).astype(np.float32)


@operator()
def to_decibels(data, *, multiplier=10.0, reference=0.0, cutoff_db=-200.0):
    """Tell strengths by their logarithms, to a reference or the greatest one."""
    top = float(data.max(initial=0)) if reference == 0 else reference
    top = top or 1.0
    least = 10.0 ** (cutoff_db / multiplier)
    return (multiplier * np.log10(np.maximum(least, data.astype(np.float64) / top))).astype(np.float32)


@operator()
def mfcc(data, *, n_mfcc=20, dct_type=2, normalize=False, axis=0, lifter=0.0):
    """Return the first numbers of a cosine transform along an axis: cepstral coefficients."""
    count = data.shape[axis]
    n, k = np.arange(count), np.arange(min(n_mfcc, count))[:, None]
    if dct_type == 1:
        if normalize:
            raise ValueError(got("fn.mfcc", "dct_type=1 with normalize", "a type from 2 to 4"))
        matrix = np.cos(np.pi * n * k / (count - 1))
        matrix[:, 0], matrix[:, -1] = 0.5, 0.5 * (-1.0) ** k[:, 0]
    elif dct_type == 2:
        matrix = np.cos(np.pi / count * (n + 0.5) * k)
    elif dct_type == 3:
        matrix = np.cos(np.pi / count * n * (k + 0.5))
        matrix[:, 0] = np.sqrt(0.5) if normalize else 0.5
    elif dct_type == 4:
        matrix = np.cos(np.pi / count * (n + 0.5) * (k + 0.5))
    else:
        raise ValueError(got("fn.mfcc", f"dct_type={dct_type}", "1 to 4"))
    if normalize:
        matrix = matrix * np.sqrt(2 / count)
        if dct_type == 2:
            matrix[0] *= np.sqrt(0.5)
    if lifter:
        matrix = matrix * (1 + lifter / 2 * np.sin(np.pi / lifter * (k + 1)))
    made = np.tensordot(matrix, data.astype(np.float64), (1, axis))
    return np.moveaxis(made, 0, axis).astype(np.float32)


@operator()
def power_spectrum(data, *, axis=-1, nfft=None, power=2):
    """Return how strong each frequency is along an axis."""
    strength = np.abs(np.fft.rfft(data, nfft or data.shape[axis], axis))
    return (strength ** 2 if power == 2 else strength).astype(np.float32)


@operator()
def preemphasis_filter(sound, *, preemph_coeff=0.97, border="clamp", dtype=FLOAT):
    """Take a part of the sample before from each one."""
    if border not in ("clamp", "reflect", "zero"):
        raise RuntimeError(got("fn.preemphasis_filter", f"border={border!r}", "'clamp', 'reflect' or 'zero'"))
    wave = sound.astype(np.float32).ravel()
    first = {"clamp": wave[:1], "zero": np.zeros(1, np.float32), "reflect": wave[1:2] if len(wave) > 1 else wave[:1]}
    before = np.concatenate([first[border], wave[:-1]])[:len(wave)]
    return convert((wave - np.float32(number(preemph_coeff)) * before).reshape(sound.shape), dtype)


@operator(outputs=2)
def nonsilent_region(sound, *, cutoff_db=-60.0, reference_power=0.0, window_length=2048, reset_interval=8192):
    """Return where a sound begins to be heard, and for how long."""
    if reset_interval > 0 and reset_interval % window_length:
        raise RuntimeError(got("fn.nonsilent_region", f"reset_interval={reset_interval} and window_length="
                               f"{window_length}", "a multiple of the window"))
    wave = sound.ravel().astype(np.float64)
    size = min(window_length, len(wave))
    running = np.concatenate([[0.0], np.cumsum(wave * wave)])
    power = (running[size:] - running[:-size]) / size if size else np.zeros(0)
    top = reference_power or power.max(initial=0)
    loud = np.flatnonzero(power >= top * 10 ** (cutoff_db / 10))
    begin, length = (loud[0], loud[-1] - loud[0] + size) if len(loud) else (0, 0)
    return Laid(np.asarray(begin, np.int32), ""), Laid(np.asarray(length, np.int32), "")
