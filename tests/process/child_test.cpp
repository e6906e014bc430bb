#include "process/child.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "tessera/core/error.hpp"
#include "tessera/core/text.hpp"

namespace tessera::process {
namespace {

using ::testing::HasSubstr;

Child::Answer echo() {
  return [](const std::string& question) { return cat("<", question, ">"); };
}

Error refusal(Child& child, const std::string& question, double seconds = 0) {
  try {
    child.ask(question, seconds);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "an answer to " << question;
  return Error(Category::failed, "");
}

TEST(Child, AnswersAnyNumberOfQuestionsOfAnySize) {
  Child child(echo);
  EXPECT_EQ(child.ask(""), "<>");
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(child.ask(large), cat("<", large, ">"));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(child.ask(std::to_string(i)), cat("<", i, ">"));
}

TEST(Child, KeepsItsStateAndItsEnvironmentToItself) {
  Child child([]() -> Child::Answer {
    setenv("TESSERA_CHILD_TEST", "set", 1);
    return [count = 0](const std::string&) mutable {
      return std::string(getenv("TESSERA_CHILD_TEST")) + std::to_string(++count);
    };
  });
  EXPECT_EQ(child.ask(""), "set1");
  EXPECT_EQ(child.ask(""), "set2");
  EXPECT_EQ(getenv("TESSERA_CHILD_TEST"), nullptr);
}

TEST(Child, AnErrorKeepsItsCategoryAndTheChildItsLife) {
  Child child([]() -> Child::Answer {
    return [](const std::string& question) -> std::string {
      if (question == "bad") throw Error(Category::shape, "does not fit", "4", "5");
      return question;
    };
  });
  const Error error = refusal(child, "bad");
  EXPECT_EQ(error.category(), Category::shape);
  EXPECT_STREQ(error.what(), "does not fit: expected 4, got 5");
  EXPECT_EQ(child.ask("good"), "good");
}

TEST(Child, AFailedStartIsToldAtEachQuestion) {
  Child child([]() -> Child::Answer { throw Error(Category::unavailable, "no such library"); });
  EXPECT_EQ(refusal(child, "a").category(), Category::unavailable);
  EXPECT_THAT(refusal(child, "b").what(), HasSubstr("no such library"));
}

TEST(Child, ACrashIsAnErrorHereAndForEverAfter) {
  for (int number : {SIGSEGV, SIGABRT}) {
    Child child([number]() -> Child::Answer {
      return [number](const std::string&) -> std::string {
        std::signal(number, SIG_DFL);
        raise(number);
        return {};
      };
    });
    EXPECT_EQ(refusal(child, "a").category(), Category::failed);
    EXPECT_THAT(refusal(child, "b").what(), HasSubstr("crashed"));
  }
}

TEST(Child, AnExitInsideIsAnErrorHere) {
  Child child(
      []() -> Child::Answer { return [](const std::string&) -> std::string { _exit(0); }; });
  EXPECT_THAT(refusal(child, "a").what(), HasSubstr("ended without answering"));
}

TEST(Child, ASlowAnswerIsNotWaitedFor) {
  Child child([]() -> Child::Answer {
    return [](const std::string&) -> std::string {
      for (;;) pause();
    };
  });
  EXPECT_THAT(refusal(child, "a", 0.05).what(), HasSubstr("no answer after"));
}

TEST(Child, WhatItPrintsDoesNotReachStdout) {
  ::testing::internal::CaptureStdout();
  {
    Child child([]() -> Child::Answer {
      return [](const std::string&) -> std::string {
        std::printf("chatter\n");
        std::fflush(stdout);
        return "done";
      };
    });
    EXPECT_EQ(child.ask(""), "done");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace tessera::process
