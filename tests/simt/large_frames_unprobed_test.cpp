// Stack overflows by large local arrays, compiled without stack probes: the guards alone must do.
#include "simt/large_frames.hpp"

namespace tessera {
namespace {

TEST(LargeFramesUnprobed, EndInAMessage) { expect_messages_for_large_frames(); }

}  // namespace
}  // namespace tessera
