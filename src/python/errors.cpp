// tessera::Error as Python's own exceptions; the category decides which.
#include "bindings.hpp"
#include "matmul/overlap_error.hpp"

namespace tessera::python {

namespace {

PyObject* exception_of(const Error& error) {
  if (dynamic_cast<const OverlapError*>(&error) != nullptr) return PyExc_BufferError;
  switch (error.category()) {
    case Category::argument:
    case Category::shape: return PyExc_ValueError;
    case Category::type: return PyExc_TypeError;
    case Category::file: return PyExc_OSError;
    case Category::unavailable: return PyExc_NotImplementedError;
    case Category::resource: return PyExc_MemoryError;
    default: return PyExc_RuntimeError;
  }
}

}  // namespace

void add_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(exception_of(error), error.what());
    }
  });
}

}  // namespace tessera::python
