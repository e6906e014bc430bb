#!/usr/bin/env python3
"""The Python package on a fake CUDA runtime: arrays of other libraries by their device pointers, on the stream of the caller, and XLA's
handler for CUDA. Nothing is multiplied; what is enqueued, where and on which stream is known.

Usage: python_test.py SOURCE_FOLDER MODULE
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

SOURCE, MODULE = map(pathlib.Path, sys.argv[1:3])
folder = tempfile.TemporaryDirectory()
package = pathlib.Path(folder.name) / "tessera"
package.mkdir()
for each in (SOURCE / "python/tessera").iterdir():
    (package / each.name).symlink_to(each)
(package / "_core.so").symlink_to(MODULE)
sys.path[:0] = [folder.name, str(SOURCE / "tests/python"), str(SOURCE / "tests/graphs"), str(SOURCE / "build/python")]
import numpy as np  # noqa: E402

import tessera  # noqa: E402
from tessera import _arrays, _core  # noqa: E402
from xla_recorder import ADDRESS, INT, Buffer, Buffers, Call, Head  # noqa: E402

CAPABILITY = int(os.environ.get("FAKE_CAPABILITY", "9"))
DEVICE, STREAM = 1, 0x5150  # the fake runtime has two devices; its streams are of the second
fake = ctypes.CDLL(str(package / "_core.so"))
fake.fake_last_stream.restype = ADDRESS


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ADDRESS), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(INT)),
                ("strides", ctypes.POINTER(INT)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ADDRESS), ("deleter", ADDRESS)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ADDRESS, ctypes.c_char_p, ADDRESS]
NAME = ctypes.c_char_p(b"dltensor")


class CreateError(ctypes.Structure):
    _fields_ = [("head", Head), ("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class GetStream(ctypes.Structure):
    _fields_ = [("head", Head), ("context", ADDRESS), ("stream", ADDRESS)]


CreateErrorCall = ctypes.CFUNCTYPE(ADDRESS, ctypes.POINTER(CreateError))
GetStreamCall = ctypes.CFUNCTYPE(ADDRESS, ctypes.POINTER(GetStream))


class Functions(ctypes.Structure):
    _fields_ = [("head", Head), ("version", Head), ("numbers", ctypes.c_int * 2), ("internal", ADDRESS),
                ("create_error", CreateErrorCall), ("unused", ADDRESS * 3), ("get_stream", GetStreamCall)]


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Scalar(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("value", ADDRESS)]


class Attributes(ctypes.Structure):
    _fields_ = [("head", Head), ("size", INT), ("kinds", ctypes.POINTER(ctypes.c_int)),
                ("names", ctypes.POINTER(ctypes.POINTER(Text))), ("values", ctypes.POINTER(ADDRESS))]


class WholeCall(Call):
    _fields_ = [("attributes", Attributes)]


class OnGpu:
    """An f32 array that says it is on the GPU, as DLPack says it."""

    def __init__(self, *shape):
        self.array = np.ones(shape, np.float32)
        extents, strides = ((INT * len(shape))(*each) for each in (shape, [s // 4 for s in self.array.strides]))
        self.managed = Managed(DLTensor(self.array.ctypes.data, 2, DEVICE, len(shape), 2, 32, 1, extents, strides, 0), None, None)
        self.device = f"cuda:{DEVICE}"

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), NAME, None)

    def __dlpack_device__(self):
        return 2, DEVICE

    def is_inference(self):
        return True


class PythonOnCuda(unittest.TestCase):
    def setUp(self):
        fake.fake_memory(DEVICE)
        fake.fake_capability(CAPABILITY)
        fake.fake_current(DEVICE)
        self.before = fake.fake_launches()

    def launched(self):
        """The stream of the launches since then."""
        self.assertGreater(fake.fake_launches(), self.before)
        return fake.fake_last_stream() or 0

    def multiply(self, **more):
        return tessera.matmul(OnGpu(64, 48), OnGpu(48, 32), out=OnGpu(64, 32), **more)

    def as_kind(self, kind, module):
        """As if the arrays were those of a library."""
        saved = _arrays.kind_of
        _arrays.kind_of = lambda array: kind
        sys.modules[kind] = module
        self.addCleanup(sys.modules.pop, kind)
        self.addCleanup(setattr, _arrays, "kind_of", saved)

    def test_arrays_of_dlpack_are_multiplied_where_they_are(self):
        copies = fake.fake_calls_of(b"copy")
        self.multiply()
        self.assertEqual(self.launched(), 0)
        self.assertEqual(fake.fake_calls_of(b"copy"), copies)
        self.assertEqual(fake.fake_calls_of(b"wait"), 0)

    def test_the_stream_is_that_of_pytorch_or_cupy(self):
        stream = types.SimpleNamespace(cuda_stream=STREAM, ptr=STREAM)
        for kind in ("torch", "cupy"):
            current = {"current_stream": lambda device: stream, "get_current_stream": lambda: stream}
            module = types.ModuleType(kind)
            module.Tensor = module.ndarray = type("Tensor", (), {})
            module.cuda = types.SimpleNamespace(**current)
            self.as_kind(kind, module)
            self.before = fake.fake_launches()
            self.multiply()
            self.assertEqual(self.launched(), STREAM, kind)

    def test_host_memory_that_claims_to_be_of_a_gpu_is_refused(self):
        fake.fake_memory(-1)
        with self.assertRaisesRegex(ValueError, "A is in host memory"):
            self.multiply()
        self.assertEqual(fake.fake_launches(), self.before)

    def test_without_warpgroups_they_are_refused_with_the_reason(self):
        if CAPABILITY == 9:  # a device is asked once in a process
            run = subprocess.run([sys.executable, __file__, SOURCE, MODULE], env={**os.environ, "FAKE_CAPABILITY": "8"}, capture_output=True,
                                 text=True)
            return self.assertEqual(run.returncode, 0, run.stderr)
        with self.assertRaisesRegex(ValueError, "it needs compute capability 9.0, device 1 has 8.0"):
            self.multiply(algorithm="bulk_tiled")
        self.multiply()
        self.launched()

    def test_a_fault_of_a_launch_is_an_error_of_the_call(self):
        fake.fake_fail(b"launch", 1)
        with self.assertRaises(Exception) as raised:
            self.multiply()
        self.assertIn("cudaErrorInvalidValue", str(raised.exception))

    # ---- XLA ----------------------------------------------------------------------------------------------------------

    def call_of_xla(self, stream=STREAM, algorithm=b"auto"):
        """What XLA's handler for CUDA answers to one product (64,48) x (48,32): None, or (code, message)."""
        answers, keep = [], []

        @CreateErrorCall
        def create_error(given):
            answers.append((given.contents.code, given.contents.message.decode()))
            return 1

        @GetStreamCall
        def get_stream(given):
            given.contents.stream = stream
            return None

        def text(value):
            keep.append(Text(value, len(value)))
            return keep[-1]

        def scalar(kind, value):
            keep.append(value)
            keep.append(Scalar(kind, ctypes.addressof(value)))
            return keep[-1]

        def buffers(*shapes):
            out = []
            for shape in shapes:
                array = np.ones(shape, np.float32)
                keep.append(array)
                out.append(ctypes.pointer(Buffer(Head(), 11, array.ctypes.data, len(shape), (INT * len(shape))(*shape))))
            keep.append(out)
            return Buffers(Head(), len(out), None, (ctypes.POINTER(Buffer) * len(out))(*out))

        values = {b"transpose_a": scalar(1, ctypes.c_bool(False)), b"transpose_b": scalar(1, ctypes.c_bool(False)),
                  b"alpha": scalar(12, ctypes.c_double(1)), b"threads": scalar(5, ctypes.c_int64(0)), b"activation": text(b"none"),
                  b"algorithm": text(algorithm)}
        count = len(values)
        kinds = (ctypes.c_int * count)(*(4 if isinstance(each, Text) else 3 for each in values.values()))
        names = (ctypes.POINTER(Text) * count)(*(ctypes.pointer(text(each)) for each in values))
        places = (ADDRESS * count)(*map(ctypes.addressof, values.values()))
        functions = Functions(Head(), Head(), (ctypes.c_int * 2)(0, 1), None, create_error, (ADDRESS * 3)(), get_stream)
        call = WholeCall(Head(), ctypes.addressof(functions), None, 3, buffers((64, 48), (48, 32)), buffers((64, 32)),
                         Attributes(Head(), count, kinds, names, places))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ADDRESS, [ctypes.py_object, ctypes.c_char_p]
        handler = ctypes.CFUNCTYPE(ADDRESS, ctypes.POINTER(WholeCall))(pointer(_core.xla_targets()["CUDA"], None))
        error = handler(call)
        return answers[-1] if error else None

    def test_xla_multiplies_on_its_own_stream_without_a_wait(self):
        self.assertIsNone(self.call_of_xla())
        self.assertEqual(self.launched(), STREAM)
        self.assertEqual(fake.fake_calls_of(b"wait"), 0)

    def test_errors_go_back_to_xla_in_words(self):
        code, message = self.call_of_xla(algorithm=b"packed")
        self.assertIn("packed", message)
        self.assertIn(code, (3, 14))
        fake.fake_fail(b"launch", 1)
        self.assertIn("cudaErrorInvalidValue", self.call_of_xla()[1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
