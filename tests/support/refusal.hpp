// What an action says when it refuses: the text of its Error, after a look at the category.
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
