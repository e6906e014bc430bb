// The text of the Error that an action throws, after a check of its category.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tessera/core/error.hpp"

namespace tessera::testing {

template <class Action>
std::string refusal(Action action, Category category) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.category(), category) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

}  // namespace tessera::testing
