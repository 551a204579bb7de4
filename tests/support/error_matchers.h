// error_matchers.h: what a case expects of a refusal: its kind and the words that a reader needs.
#pragma once

#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lagoon::testing_support {

/// The Error that `body` throws; nullopt (and a failure) if it throws none.
inline std::optional<Error> error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no Error was thrown";
  return std::nullopt;
}

/// Expects an Error of this kind whose sentence holds each of `parts` and follows the form of base/error.h.
inline void expect_error(const std::function<void()>& body, ErrorKind kind, const std::vector<std::string>& parts) {
  const std::optional<Error> error = error_of(body);
  if (!error) return;
  const std::string sentence = error->what();
  EXPECT_STREQ(name_of(error->kind()), name_of(kind)) << sentence;
  for (const std::string& part : parts) EXPECT_THAT(sentence, ::testing::HasSubstr(part));
  EXPECT_FALSE(sentence.ends_with(".")) << sentence;
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
}

}  // namespace lagoon::testing_support
