// Signals end the command as errors do: temporaries removed, one line on stderr, a documented exit
// code.
#pragma once

#include <string>

namespace tessera::cli {

/// Ctrl-C, SIGTERM and SIGHUP remove temporaries and end with 128 + number (130 for Ctrl-C). A file
/// that shrinks while it is read (SIGBUS) ends with 3. Closed pipes and file-size limits become
/// ordinary errors. An exception that no one catches ends with 1.
void install_signal_handlers();

/// "tessera multiply", for the line that a handler writes.
void set_signal_name(const std::string& command);

}  // namespace tessera::cli
