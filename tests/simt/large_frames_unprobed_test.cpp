// Stack overflows by large local arrays, compiled without stack probes: the guards alone must do.
#include "simt/large_frames.hpp"

namespace tessera {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LargeFramesUnprobed, EndInAMessage) { expect_messages_for_large_frames(); }
#endif

}  // namespace
}  // namespace tessera
