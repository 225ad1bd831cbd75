"""NVRTC through its own functions: whether a text becomes machine code, without a device."""
import ctypes
import glob
import os


def library():
    """Return NVRTC's library, or None."""
    folders = [*os.environ.get("DRAGON_CUDA_LIBRARIES", "").split(":"), *glob.glob("/usr/local/cuda*/lib64")]
    for path in [name for folder in folders if folder for name in sorted(glob.glob(f"{folder}/libnvrtc.so.1?"))]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def compile_text(nvrtc, text, headers, options):
    """Return the bytes of machine code and the compiler's words; no bytes if it refuses."""
    program = ctypes.c_void_p()
    names = (ctypes.c_char_p * len(headers))(*[name.encode() for name in headers])
    texts = (ctypes.c_char_p * len(headers))(*[body.encode() for body in headers.values()])
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"generated.cu", len(headers), texts,
                                    names) == 0
    status = nvrtc.nvrtcCompileProgram(program, len(options),
                                       (ctypes.c_char_p * len(options))(*[option.encode() for option in options]))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    code = b""
    if status == 0:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, buffer)
        code = buffer.raw
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return code, log.value.decode()
