// Switches in the environment.
#include "base/environment.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Environment, ASwitchIsOnUnlessItSaysThatItIsNot) {
  const char* name = "TESSERA_TEST_SWITCH";
  unsetenv(name);
  EXPECT_FALSE(tessera::is_switched_on(name));
  for (const char* off : {"", "0", "false", "FALSE", "False", "off", "OFF", "no"}) {
    setenv(name, off, 1);
    EXPECT_FALSE(tessera::is_switched_on(name)) << off;
  }
  for (const char* on : {"1", "true", "on", "yes", "2", "00", "verbose"}) {
    setenv(name, on, 1);
    EXPECT_TRUE(tessera::is_switched_on(name)) << on;
  }
  unsetenv(name);
}

}  // namespace
