"""Our words for XLA's C interface (src/python/xla_abi.hpp) against the header that jaxlib carries: every place and every number."""
import importlib.util
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Ours: theirs, and the fields of each in order.
STRUCTS = {
    "Extension": ("decltype(XLA_FFI_Metadata_Extension::extension_base)", ["bytes:struct_size", "kind:type", "next"]),
    "Version": ("XLA_FFI_Api_Version", ["head:struct_size", "major:major_version", "minor:minor_version"]),
    "Metadata": ("XLA_FFI_Metadata", ["bytes:struct_size", "version:api_version", "traits"]),
    "MetadataExtension": ("XLA_FFI_Metadata_Extension", ["base:extension_base", "metadata"]),
    "Buffer": ("XLA_FFI_Buffer", ["head:struct_size", "type:dtype", "data", "rank", "extents:dims"]),
    "Text": ("XLA_FFI_ByteSpan", ["data:ptr", "size:len"]),
    "Scalar": ("XLA_FFI_Scalar", ["type:dtype", "value"]),
    "Attributes": ("XLA_FFI_Attrs", ["head:struct_size", "size", "kinds:types", "names", "values:attrs"]),
    "CreateError": ("XLA_FFI_Error_Create_Args", ["head:struct_size", "message", "code:errc"]),
    "GetStream": ("XLA_FFI_Stream_Get_Args", ["head:struct_size", "context:ctx", "stream"]),
    "Functions": ("XLA_FFI_Api", ["head:struct_size", "version:api_version", "create_error:XLA_FFI_Error_Create",
                                  "get_stream:XLA_FFI_Stream_Get"]),
    "Call": ("XLA_FFI_CallFrame", ["head:struct_size", "functions:api", "context:ctx", "stage", "arguments:args", "results:rets",
                                   "attributes:attrs"]),
}
NUMBERS = {
    "Stage::execute": "XLA_FFI_ExecutionStage_EXECUTE", "ExtensionKind::metadata": "XLA_FFI_Extension_Metadata",
    "AttributeKind::scalar": "XLA_FFI_AttrType_SCALAR", "AttributeKind::text": "XLA_FFI_AttrType_STRING",
    "Type::pred": "XLA_FFI_DataType_PRED", "Type::s8": "XLA_FFI_DataType_S8", "Type::u8": "XLA_FFI_DataType_U8",
    "Type::s32": "XLA_FFI_DataType_S32", "Type::s64": "XLA_FFI_DataType_S64", "Type::f16": "XLA_FFI_DataType_F16",
    "Type::bf16": "XLA_FFI_DataType_BF16", "Type::f32": "XLA_FFI_DataType_F32", "Type::f64": "XLA_FFI_DataType_F64",
    "Code::invalid_argument": "XLA_FFI_Error_Code_INVALID_ARGUMENT", "Code::internal": "XLA_FFI_Error_Code_INTERNAL",
    "Code::unavailable": "XLA_FFI_Error_Code_UNAVAILABLE", "Code::resource_exhausted": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "kCommandBufferCompatible": "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE",
}


def program():
    lines = [f'#include "{ROOT}/src/python/xla_abi.hpp"', '#include "xla/ffi/api/c_api.h"', "namespace x = tessera::python::xla;"]
    for ours, (theirs, fields) in STRUCTS.items():
        for field in fields:
            mine, _, other = field.partition(":")
            lines.append(f"static_assert(offsetof(x::{ours}, {mine}) == offsetof({theirs}, {other or mine}));")
    lines += [f"static_assert(int(x::{ours}) == int({theirs}));" for ours, theirs in NUMBERS.items()]
    for theirs in ("XLA_FFI_Args", "XLA_FFI_Rets"):  # one struct of ours for both
        last = theirs[8:].lower()
        lines.append(f"static_assert(offsetof(x::Arguments, buffers) == offsetof({theirs}, {last}) && "
                     f"sizeof(x::Arguments) == sizeof({theirs}));")
    return "\n".join(lines)


def compiles(text):
    package = importlib.util.find_spec("jaxlib")
    compiler = shutil.which("g++") or shutil.which("clang++")
    if package is None or compiler is None:
        pytest.skip("XLA's C interface is NOT compared: it needs jaxlib and a C++ compiler")
    include = pathlib.Path(package.submodule_search_locations[0]) / "include"
    return subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-Wno-invalid-offsetof", "-isystem", include, "-x", "c++", "-"],
                          input=text, capture_output=True, text=True)


def test_every_field_and_number_is_where_xla_has_it():
    run = compiles(program())
    assert run.returncode == 0, run.stderr


def test_a_difference_would_be_seen():
    moved = program().replace("offsetof(x::Buffer, data)", "offsetof(x::Buffer, rank)")
    assert "static assertion failed" in compiles(moved).stderr


def test_every_struct_of_ours_is_compared():
    text = (ROOT / "src/python/xla_abi.hpp").read_text()
    declared = set(re.findall(r"^struct (\w+) \{", text, re.M))
    assert declared - set(STRUCTS) == {"Head", "Arguments"}
