#include "engine/session.h"

#include "support/scripted_model.h"
#include "support/sentence_of.h"

#include <gmock/gmock.h>

namespace lagoon {
namespace {

using testing_support::ScriptedModel;
using testing_support::sentence_of;

std::vector<int32_t> counting(int32_t count) {
  std::vector<int32_t> tokens;
  for (int32_t at = 0; at < count; ++at) tokens.push_back(at);
  return tokens;
}

TEST(Session, ExtendsWhatItHas) {
  ScriptedModel model({3}, 100, 1000);
  Session session(model);
  EXPECT_EQ(session.sync(counting(10)).reused, 0);

  const Session::Synced synced = session.sync(counting(15));

  EXPECT_EQ(synced.reused, 10);
  EXPECT_EQ(synced.processed, 5);
  EXPECT_EQ(model.only_sequence(), counting(15));
  EXPECT_EQ(session.logits()[3], 10.0f);
}

TEST(Session, AnEqualPrefixComputesItsLastTokenAgain) {
  ScriptedModel model({3}, 100, 1000);
  Session session(model);
  session.sync(counting(10));

  const Session::Synced synced = session.sync(counting(10));

  EXPECT_EQ(synced.reused, 9);
  EXPECT_EQ(synced.processed, 1);
}

TEST(Session, ADifferentEndIsCutOff) {
  ScriptedModel model({3}, 100, 1000);
  Session session(model);
  session.sync(counting(10));
  std::vector<int32_t> other = counting(8);
  other[6] = 50;

  EXPECT_EQ(session.sync(other).reused, 6);
  EXPECT_EQ(model.only_sequence(), other);
}

TEST(Session, WhatTheModelCannotCutIsBuiltAgain) {
  ScriptedModel model({3}, 100, 1000);
  model.most_rewound = 2;
  Session session(model);
  session.sync(counting(10));

  EXPECT_EQ(session.sync(counting(4)).reused, 0);
  EXPECT_EQ(model.only_sequence(), counting(4));
  EXPECT_EQ(model.sequences(), 1u);
}

TEST(Session, AStoppedPromptLeavesTheSessionUsable) {
  ScriptedModel model({3}, 100, 1000, 4);
  Session session(model);
  const auto stop = [](int64_t done, int64_t) {
    if (done == 8) throw Error(ErrorKind::cancelled, "stopped");
  };
  EXPECT_THROW(session.sync(counting(20), stop), Error);
  EXPECT_EQ(session.tokens().size(), 8u);

  EXPECT_EQ(session.sync(counting(20)).reused, 8);
  EXPECT_EQ(model.only_sequence(), counting(20));
}

TEST(Session, AnEmptyPromptIsRefused) {
  ScriptedModel model({3}, 100, 1000);
  Session session(model);
  EXPECT_THAT(sentence_of(ErrorKind::invalid, [&] { session.sync({}); }), testing::HasSubstr("no tokens"));
}

TEST(Session, ItsSequenceEndsWithIt) {
  ScriptedModel model({3}, 100, 1000);
  { const Session session(model); }
  EXPECT_EQ(model.sequences(), 0u);
}

}  // namespace
}  // namespace lagoon
