// The command `tessera`: its standard streams, its signals, and the command line. No exception
// escapes main.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "commands.hpp"
#include "process/signals.hpp"

namespace {

/// Runs before the constructors of global objects.
[[gnu::constructor(101)]] void before_main() { tessera::process::install_terminate_handler(); }

/// Files opened later must not take the numbers of standard streams that the caller closed.
void occupy_standard_streams() {
  for (int stream : {0, 1, 2}) {
    // Opened for the opposite direction, so that using the stream is an error as before.
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF)
      open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  tessera::process::install_signal_handlers();
  const int code = tessera::cli::run_command_line(argc, argv);
  // After a failed write, what stdout still holds cannot be written either; exit() would only try
  // again.
  std::fflush(stdout);
  return code;
}
