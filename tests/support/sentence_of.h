// sentence_of.h: the sentence with which something fails, after a check of its kind.
#pragma once

#include "base/error.h"

#include <gtest/gtest.h>

#include <string>

namespace lagoon::testing_support {

/// "no error" if `body` returns.
template <typename Body>
std::string sentence_of(ErrorKind kind, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_STREQ(name_of(error.kind()), name_of(kind)) << error.what();
    return error.what();
  }
  return "no error";
}

}  // namespace lagoon::testing_support
