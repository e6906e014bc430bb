// `tessera mcp`: replaces this process with the server of python/tessera/mcp.py.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands.hpp"
#include "shell/options.hpp"
#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::cli {

namespace {

/// Starts the server, or says in one line what is missing and ends with exit code 4.
constexpr const char* kServer = R"python(
import runpy, sys
for name, package, advice in (
        ("tessera", "tessera", "install this project's (docs/python.md)"),
        ("mcp.server.mcpserver", "mcp 2 or later", "run pip install 'mcp>=2'")):
    try:
        __import__(name)
    except ImportError as error:
        print(f"tessera mcp: {sys.executable} has no package {package} ({error}); {advice}, or name another Python in TESSERA_PYTHON", file=sys.stderr)
        sys.exit(4)
runpy.run_module("tessera.mcp", run_name="__main__", alter_sys=True)
)python";

int serve(const shell::Context& context) {
  const char* const chosen = std::getenv("TESSERA_PYTHON");
  const char* const python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  context.flush();
  execlp(python, python, "-c", kServer, static_cast<char*>(nullptr));
  throw Error(Category::unavailable,
              cat("Python does not start: ", python, ": ", std::strerror(errno)),
              "Python 3.10 or later", {}, "install it, or name it in TESSERA_PYTHON");
}

}  // namespace

void add_mcp(CLI::App& root, shell::Context& context) {
  CLI::App* app = shell::add_command(
      root, context, "mcp", "Serve check, judge, explain, layout and plan to programs (MCP)",
      "  tessera mcp   # stdin and stdout; needs pip install 'mcp>=2'");
  shell::on_run(*app, context, [&context] { return serve(context); });
}

}  // namespace tessera::cli
