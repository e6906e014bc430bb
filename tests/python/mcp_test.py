"""tessera.mcp by a client of the Model Context Protocol, as another program starts it."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

PACKAGES = pathlib.Path(__file__).resolve().parents[2] / "build/mcp"
REVERSE = ("__global__ void reverse(const float* a, float* b, int n) {\n  __shared__ float s[64];\n  int i = threadIdx.x;\n  s[i] = a[i];\n"
           "  %s\n  b[i] = s[63 - i];\n}\n")
LAUNCH = "reverse<<<1, 64>>>(a: f32[n], b: f32[n], n)"
GEMM = ("__global__ void gemm(const float* A, const float* B, float* C, int m, int n, int k) {\n"
        "  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;\n  if (i >= m || j >= n) return;\n"
        "  float sum = %s;\n  for (int l = 0; l < k; ++l) sum += A[i * k + l] * B[l * n + j];\n  C[i * n + j] = sum;\n}\n")
GEMM_LAUNCH = "gemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(A: f32[m,k], B: f32[k,n], C: f32[m,n], m, n, k)"


# A client in a process of its own: its packages are newer than some of those that pytest has loaded.
CLIENT = """
import asyncio, json, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

async def ask(questions):
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=["-m", "tessera.mcp"], env=dict(os.environ)))) as client:
        tools = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        given = {name: await client.call_tool(tool, arguments) for name, (tool, arguments) in questions.items()}
        return [tools, {name: [answer.structured_content, answer.content[0].text] for name, answer in given.items()}]

print(json.dumps(asyncio.run(ask(json.load(sys.stdin)))))
"""
QUESTIONS = {
    "race": ("check", {"source": REVERSE % "", "launch": LAUNCH, "n": 64}),
    "clean": ("check", {"source": REVERSE % "__syncthreads();", "launch": LAUNCH, "n": 64}),
    "broken": ("check", {"source": "__global__ void f( {", "launch": "f<<<1, 1>>>()"}),
    "right": ("judge", {"source": GEMM % "0", "launch": GEMM_LAUNCH, "m": 20, "n": 20, "k": 20}),
    "wrong": ("judge", {"source": GEMM % "0.001f", "launch": GEMM_LAUNCH, "m": 20, "n": 20, "k": 20}),
    "explain": ("explain", {"source": GEMM % "0", "launch": GEMM_LAUNCH, "m": 64, "n": 64, "k": 64}),
    "layout": ("layout", {"expression": "row_major(2,4)"}),
    "no layout": ("layout", {"expression": "row_major(2,"}),
    "plan": ("plan", {"m": 1000, "n": 1000, "k": 1000, "threads": 1}),
    "no plan": ("plan", {"m": 0, "n": 8, "k": 8}),
}


@pytest.fixture(scope="module")
def answers():
    """Tools with their descriptions, and to each question (structured answer, text): one server, one session."""
    if not (PACKAGES / "mcp").is_dir():
        pytest.skip("tessera.mcp is NOT TESTED: build/mcp has no package mcp; scripts/setup puts it there")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(PACKAGES), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run([sys.executable, "-c", CLIENT], input=json.dumps(QUESTIONS), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(answers, name):
    return answers[1][name][0]


def test_tools_say_what_they_do(answers):
    assert set(answers[0]) == {"check", "judge", "explain", "layout", "plan"}
    assert all(answers[0].values())


def test_check_finds_a_race_and_is_silent_without(answers):
    found = said(answers, "race")["findings"]
    assert [finding["kind"] for finding in found] == ["race"] and found[0]["location"]["line"] == 4
    assert said(answers, "clean")["summary"]["clean"]
    assert "kernel.cu:1" in said(answers, "broken")["error"]


def test_judge_accepts_the_right_kernel_only(answers):
    assert said(answers, "right")["accepted"] is True
    assert said(answers, "wrong")["accepted"] is False


def test_explain_layout_and_plan(answers):
    assert said(answers, "explain")["advice"]
    assert "| 4 | 5 | 6 | 7 |" in answers[1]["layout"][1]
    assert "row_major(2," in answers[1]["no layout"][1]
    assert said(answers, "plan")["route"] == "packed"
    assert "at least 1" in said(answers, "no plan")["error"]


def test_says_what_is_missing():
    done = subprocess.run([sys.executable, "-c", "import sys; sys.modules['mcp'] = None; import tessera.mcp"], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'mcp>=2'" in done.stderr
