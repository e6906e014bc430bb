"""An XLA target in Python that notes the addresses that XLA hands over, then calls the compiled one."""
import ctypes

ADDRESS, INT = ctypes.c_void_p, ctypes.c_int64


class Head(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_size_t), ("extensions", ADDRESS)]


class Buffer(ctypes.Structure):
    _fields_ = [("head", Head), ("type", ctypes.c_int), ("data", ADDRESS), ("rank", INT), ("extents", ctypes.POINTER(INT))]


class Buffers(ctypes.Structure):
    _fields_ = [("head", Head), ("size", INT), ("kinds", ADDRESS), ("buffers", ctypes.POINTER(ctypes.POINTER(Buffer)))]

    def addresses(self):
        return [self.buffers[i].contents.data for i in range(self.size)]


class Call(ctypes.Structure):
    _fields_ = [("head", Head), ("functions", ADDRESS), ("context", ADDRESS), ("stage", ctypes.c_int), ("arguments", Buffers),
                ("results", Buffers)]


Handler = ctypes.CFUNCTYPE(ADDRESS, ctypes.POINTER(Call))


class Recorder:
    """Its `target` is registered with XLA in place of `capsule`, the compiled handler."""

    def __init__(self, capsule):
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ADDRESS, [ctypes.py_object, ctypes.c_char_p]
        compiled = Handler(pointer(capsule, None))
        self.calls = []

        def handle(call):
            frame = call.contents
            if not frame.head.extensions:
                self.calls.append(frame.arguments.addresses() + frame.results.addresses())
            return compiled(call)

        self.target = Handler(handle)

    @property
    def addresses(self):
        """Of the operands and the result of the only call."""
        (only,) = self.calls
        return only
