// Which sanitizer this build runs under: some tests need what a sanitizer cannot do, and say so
// in a skip; some repeat themselves more often than a sanitizer has time for.
#pragma once

namespace tessera::testing {

#if defined(__has_feature)
inline constexpr bool kAddressSanitizer = __has_feature(address_sanitizer);
inline constexpr bool kThreadSanitizer = __has_feature(thread_sanitizer);
#else
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#endif
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

/// Under a sanitizer a case is repeated fewer times, by this factor; every case still runs.
inline constexpr int kFewer = kSanitized ? 10 : 1;
constexpr int repetitions(int times) { return times < kFewer ? 1 : times / kFewer; }

}  // namespace tessera::testing
